"""A piece of an experiment: everything it depends on is in its fields, so its result can be kept."""

import msgspec

from breakeven.experiments.runs.curve import Curve


class Job(msgspec.Struct, frozen=True, tag=True):
    """Some runs over one stream. The same fields always give the same curves."""

    @property
    def title(self) -> str:
        """What a progress bar calls it; jobs of one title share a bar."""
        raise NotImplementedError

    @property
    def effort(self) -> float:
        """About how many seconds it takes; long ones are begun first."""
        return 1.0

    def run(self) -> dict[str, Curve]:
        """The curve of each run, by its name."""
        raise NotImplementedError
