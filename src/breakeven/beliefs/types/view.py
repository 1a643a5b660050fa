"""What a rule sees of an arrival of some type."""

from typing import Any

from breakeven.beliefs.types.tally import Tally
from breakeven.values import Saving, View


class TypeView(View):
    """A rule's view of one arrival, with the tally behind it, if there is one, and the belief."""

    tally: Tally | None = None
    belief: Any = None

    def saves(self, noise_std: float) -> Saving:
        """What a label of this noise would take off the errors, here and at arrivals to come."""
        saving: Saving = self.belief.saving(self.tally, noise_std)
        return saving
