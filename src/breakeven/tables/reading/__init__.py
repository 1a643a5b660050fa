"""A table of past cases, read and checked: what its columns hold, what is missing, and their order."""
