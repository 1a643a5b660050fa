"""`python -m breakeven` is `breakeven`."""

import sys

from breakeven.cli import main

if __name__ == "__main__":
    sys.exit(main())
