"""The page: server-made HTML for people who label, watch and set up; one style sheet and one script.

Reading order: page_routes (the table of all pages), page_endpoint (how one is asked for and sent), then one
module for each page, with its template of the same name.
"""
