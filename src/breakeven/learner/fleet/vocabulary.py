"""Keys, types and ids as whole numbers: integers as they are, texts numbered as they come.

The first value says which of the two it is, and all others must be of the same kind.
"""

from typing import Any, Literal

import numpy as np

from breakeven.beliefs.types.type_names import type_name
from breakeven.errors import expect
from breakeven.errors.expect import LONGEST_NAME
from breakeven.learner.bulk.arrays import Counts
from breakeven.learner.bulk.stream import holds_types

CheckedValues = Counts | list[str]  # checked values: an array of integers, or texts
ValueKind = Literal["integers", "texts"]
PASSING = -2  # the code of the first text that is numbered for one call only; others count down from there


class Vocabulary:
    """What stands behind the numbers of a column.

    >>> words = Vocabulary("types")
    >>> words.codes(words.checked(["flu", "cold", "flu"])).tolist(), words.values(np.array([1]))
    ([0, 1, 0], ['cold'])
    """

    def __init__(self, name: str, *, named: bool = True) -> None:
        self.name, self._named = name, named  # whether a text is a name: not empty, not too long
        self.kind: ValueKind | None = None
        self.texts: list[str] = []
        self._numbers: dict[str, int] = {}

    def codes(self, given: CheckedValues) -> Counts:
        """The numbers of values that were `checked`; texts that are new get the next ones."""
        if isinstance(given, np.ndarray):
            self._settle("integers", given)
            return given
        self._settle("texts", given)
        numbers = self._numbers
        for one in dict.fromkeys(given):
            if one not in numbers:
                numbers[one] = len(self.texts)
                self.texts.append(one)
        return np.fromiter(map(numbers.__getitem__, given), dtype=np.int64, count=len(given))

    def passing_codes(self, given: CheckedValues) -> Counts:
        """The numbers of values that were `checked`; new texts get numbers below 0, for this call only.

        `keep` turns those into lasting ones.
        """
        if isinstance(given, np.ndarray):
            self._settle("integers", given)
            return given
        self._settle("texts", given)
        fresh = dict.fromkeys(given)
        codes = dict(zip(fresh, range(PASSING, PASSING - len(fresh), -1), strict=True))
        for text in fresh.keys() & self._numbers.keys():
            codes[text] = self._numbers[text]
        return np.fromiter(map(codes.__getitem__, given), dtype=np.int64, count=len(given))

    def keep(self, codes: Counts, given: CheckedValues, places: Counts, rows: Counts) -> None:
        """Give lasting numbers to the codes at these places that are for this call only.

        `rows` says where the value of each code stands among those given.
        """
        if isinstance(given, np.ndarray):
            return
        for place in places[codes[places] <= PASSING].tolist():
            text = given[rows[place]]
            number = self._numbers.setdefault(text, len(self.texts))
            if number == len(self.texts):
                self.texts.append(text)
            codes[place] = number

    def known_code(self, value: Any) -> int | None:
        """The number of one value, None if it has none; nothing is noted."""
        if type(value) is str and self.kind == "texts":
            return self._numbers.get(value)
        if self.kind == "integers" and isinstance(value, int | np.integer) and not isinstance(value, bool):
            return int(value)
        return None

    def values(self, codes: Counts) -> list[Any]:
        """The values behind these numbers."""
        plain: list[int] = codes.tolist()
        return plain if self.kind != "texts" else [self.texts[code] for code in plain]

    def forget_others(self, used: Counts) -> Counts:
        """Keep only the texts with these numbers, each once, and number them anew: the new numbers."""
        if self.kind != "texts":
            return used
        kept, codes = np.unique(used, return_inverse=True)
        self.load("texts", self.values(kept))
        return np.asarray(codes, dtype=np.int64)

    def load(self, kind: ValueKind | None, texts: list[str]) -> None:
        """Take up texts in the order of their numbers."""
        self.kind, self.texts = kind, texts
        self._numbers = dict(zip(texts, range(len(texts)), strict=True))

    def checked(self, values: Any) -> CheckedValues:
        """Whole numbers as an array, or a list of texts, of the kind that came before; nothing is noted."""
        if isinstance(values, np.ndarray) and values.dtype.kind not in "iu" and values.ndim == 1:
            values = values.tolist()
        if isinstance(values, list | tuple):
            if len(values) == 0:
                return np.empty(0, dtype=np.int64)
            if set(map(type, values)) == {str}:
                self._check_kind("texts", values[0])
                self._check_all(list(values))
                return list(values)
            if set(map(type, values)) == {int}:
                values = np.array(values)
        if not holds_types(values):
            wanted = "integers of at most 64 bits, or texts, and not both"
            expect.refuse(self.name, wanted, _odd_one(values), described=True)
        if len(values):
            self._check_kind("integers", values[0])
        return np.require(values, np.int64, ["C", "A"])

    def _check_kind(self, kind: ValueKind, example: Any) -> None:
        if self.kind is not None and self.kind != kind:
            expect.refuse(self.name, f"{self.kind}, as before", example)

    def _settle(self, kind: ValueKind, given: CheckedValues) -> None:
        if self.kind is None and len(given):
            self.kind = kind

    def _check_all(self, given: list[str]) -> None:
        """Texts that are new must be sound; a batch is looked at as a whole first."""
        short = not self._named or 0 < min(map(len, given)) <= max(map(len, given)) <= LONGEST_NAME
        if short and expect.encodable("".join(given)):
            return
        for i, one in enumerate(given):
            where = f"{self.name}[{i}]"
            expect.name_of(where, one) if self._named else type_name(one, where)


def _odd_one(values: Any) -> str:
    """What was wrong with them."""
    if not isinstance(values, list | tuple):
        return expect.shown(values)
    wanted = {type(values[0])} & {str, int}
    odd = next((i for i, one in enumerate(values) if type(one) not in wanted), 0)
    return f"{expect.shown(values[odd])} in row {odd}"
