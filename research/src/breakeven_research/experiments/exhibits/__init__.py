"""From finished runs to what a report shows: figures, tables and the sentences between them."""
