"""Names of test cases: the same in every process, as tests that run side by side must agree on them."""

import re


class Thing:
    """An object that is nothing in particular."""

    def __repr__(self):
        return "<a thing>"


def plain_name(value):
    """What a value looks like, without the place in memory that Python shows of some.

    >>> plain_name(iter([1]))
    '<list_iterator object>'
    """
    return re.sub(r" at 0x[0-9a-f]+", "", ascii(value))
