"""A run as pictures and words."""
