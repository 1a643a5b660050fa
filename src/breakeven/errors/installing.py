"""What to type where a package is missing, in one place."""


def how_to_install(extra: str) -> str:
    """How to get what an extra of breakeven brings.

    >>> how_to_install("tables")
    "install it with `pip install '.[tables]'` in the folder of breakeven's source"
    """
    return f"install it with `pip install '.[{extra}]'` in the folder of breakeven's source"
