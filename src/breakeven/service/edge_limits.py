"""How much a stranger or a token's holder may send: every limit of the service's own edge, in one place.

docs/operating.md lists them, and a test compares the two. Limits of what one call may hold are where that
call is described: `breakeven.wire`, and `most_bytes` in the table of routes.
"""

KILOBYTE, MEGABYTE = 1 << 10, 1 << 20

MOST_HEAD_BYTES = 16 * KILOBYTE  # of a call's first line and its headers together
MOST_HEAD_LINES = 200
MOST_LOG_IN_BYTES = 4 * KILOBYTE  # of a form that anybody may send
MOST_FORM_BYTES = MEGABYTE  # of any other form
LONGEST_TYPE = 1_000  # characters: a type is a name, and is kept for ever with what is known of it
MOST_FIELDS = 500  # of a form or a query
