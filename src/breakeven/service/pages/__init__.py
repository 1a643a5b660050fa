"""The page: server-made HTML for people who label, watch and set up; one style sheet and one script.

Reading order: page_routes (the table of all pages, and how one is asked for and sent), rendering (what one
is made of), then one module for each page, with its templates.
"""
