"""When a belief learns its own parameters, and when it learns them again."""

ENOUGH = 3  # labels, or types that have some: with fewer no error is finite if mean and scale are unknown
GROWTH = 1.2  # learn again at so many times the labels, or types, of the last time
