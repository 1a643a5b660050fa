"""The command line: `breakeven`. The only place where everything meets.

`program` holds the commands together, each in a file of its own; `failures` words what goes wrong.
"""

from breakeven.cli.program import main

__all__ = ["main"]
