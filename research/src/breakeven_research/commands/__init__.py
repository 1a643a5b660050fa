"""The commands that join `breakeven` where this package is installed: `datasets`, `reproduce` and `bench`.

`pyproject.toml` names them as entry points; one is a function, or a `typer.Typer` with commands below it.
"""
