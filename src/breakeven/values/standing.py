"""How a belief that is checked stands: what labels that tested it say of its claims."""

from typing import Literal

from msgspec import Struct

IN_DOUBT = 5.0
"""The evidence from which on a belief is in doubt."""

StandingState = Literal["consistent", "in doubt", "refuted"]


class Standing(Struct, frozen=True, kw_only=True):
    """What the labels say of a belief, after `tests` of them; `evidence` against it began at 1.

    At an evidence of `limit` it is refuted. That happened `alarms` times. `refuted_since` is the round of the
    last time, until what the belief did about it has held; it then set aside `outdated` labels, the first it
    was told, or made its claims wider by the factor `widened`, which is 1 where labels are yes or no: such
    claims cannot be made wider.

    >>> print(Standing(tests=40, evidence=0.3, limit=40.0))
    the belief        consistent   (40 labels tested it; evidence against it 0.3, refuted at 40)
    >>> Standing(tests=9, evidence=7.0, limit=40.0).words
    'in doubt'
    """

    tests: int = 0
    evidence: float = 1.0
    limit: float = 40.0
    alarms: int = 0
    refuted_since: int | None = None
    outdated: int = 0
    widened: float = 1.0

    @property
    def state(self) -> StandingState:
        """In one word, or two."""
        if self.refuted_since is not None:
            return "refuted"
        return "in doubt" if self.evidence >= IN_DOUBT else "consistent"

    @property
    def words(self) -> str:
        """The state, and since when."""
        since = "" if self.refuted_since is None else f" since round {self.refuted_since:,}"
        return self.state + since

    def __str__(self) -> str:
        """A line to read, or two."""
        line = (
            f"the belief        {self.words}   ({self.tests:,} labels tested it; "
            f"evidence against it {self.evidence:.3g}, refuted at {self.limit:.6g})"
        )
        return line if self.refuted_since is None else f"{line}\n{self._reaction}"

    @property
    def _reaction(self) -> str:
        if self.outdated:
            return f"                  it set aside its first {self.outdated:,} labels, from before a change"
        if self.widened == 1.0:
            return "                  no change explains it, and claims about yes and no cannot be made wider"
        return f"                  its claims are {self.widened:.3g} times as wide: no change explains it"
