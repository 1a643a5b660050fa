"""Fits of a belief to its labels: when one is due, its job as plain data, and what it found.

A learner fits inside `tell` and `learn`, unless it was made with fitting="outside". Then `fit_due` says when
a fit is due, `fit_job` gives the job, `run_fit` runs it in any process, and `adopt` takes up what was found.
"""

from collections.abc import Iterable
from typing import Any

import msgspec
import numpy as np

from breakeven.beliefs import Belief, as_lists, belief_kind, kind_name
from breakeven.errors import WrongEvent, expect
from breakeven.learner import notices
from breakeven.learner.applying import apply
from breakeven.learner.state import CHANGING, WHOLE, State
from breakeven.rules.draws import name_words
from breakeven.values import Fitted


class FitJob(msgspec.Struct, frozen=True, kw_only=True):
    """All that a fit needs: the belief's kind and data, the seed, and how many labels there are.

    `fits` is how many fits the stream had before; the result is refused if there was another one meanwhile.
    """

    stream: str
    kind: str
    labels: int
    fits: int
    seed: list[int]
    data: dict[str, Any]


class FitFound(msgspec.Struct, frozen=True, kw_only=True):
    """The parameters that a job led to."""

    stream: str
    labels: int
    fits: int
    parameters: dict[str, Any]


def run_fit(job: FitJob, beliefs: Iterable[type[Belief]] = ()) -> FitFound:
    """Run a job. A pure function of it; `beliefs` names classes of your own.

    >>> from breakeven import GaussianProcess, Learner, Threshold
    >>> belief = GaussianProcess(1, noise_std=0.1, fit="growing")
    >>> learner = Learner(belief, Threshold(), label_cost=1.0, fitting="outside")
    >>> for x in (0.0, 0.5, 1.0):
    ...     learner.learn([x], x)
    >>> learner.fit_due
    True
    >>> learner.adopt(run_fit(learner.fit_job()))
    >>> learner.fit_due, learner.fits
    (False, 1)
    """
    kind = belief_kind(job.kind, beliefs)
    parameters = as_lists(kind.fit(job.data, np.random.default_rng(job.seed)))
    return FitFound(stream=job.stream, labels=job.labels, fits=job.fits, parameters=parameters)


class Fits:
    """The fits of one learner, inside it or elsewhere."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._out = False  # whether a job runs elsewhere

    @property
    def due(self) -> bool:
        """Whether the belief should be fitted to its labels now; not while a job is out."""
        return not self._out and self._state.fit_due

    def run_inside(self) -> bool:
        """Run a fit if one is due and fits run inside; returns whether one ran."""
        return self._state.fitting == "inside" and self.run_if_due()

    def run_if_due(self) -> bool:
        """Run a fit if one is due; returns whether one ran."""
        state = self._state
        if not state.fit_due:
            return False
        labels, data = state.belief.labels, self._data()
        self._out = False
        found = state.belief.fit(data, np.random.default_rng(self._seed()))
        self._happens(as_lists(found), labels)
        return True

    def job(self) -> FitJob:
        """The fit to the labels told so far."""
        state = self._state
        state.fit_due  # noqa: B018  (the belief hears whether the warm-up is over)
        return FitJob(
            stream=state.name,
            kind=kind_name(state.belief),
            labels=state.belief.labels,
            fits=state.fits,
            seed=self._seed(),
            data=self._data(),
        )

    def adopt(self, found: FitFound) -> None:
        """Go on with what a job led to."""
        state = self._state
        if not isinstance(found, FitFound):
            expect.refuse("found", "what run_fit returned", found)
        if found.stream != state.name or found.fits != state.fits:
            raise WrongEvent(
                f"found: expected the fit number {state.fits + 1} of the stream {state.name!r}, "
                f"got the fit number {found.fits + 1} of {found.stream!r}; make a new job"
            )
        self._out = False
        self._happens(found.parameters, expect.whole("labels", found.labels))

    def _data(self) -> dict[str, Any]:
        """The belief's part of a job, marked as a change: a belief may reorganise itself inside."""
        state = self._state
        state.phase = CHANGING
        data = state.belief.fit_job()
        state.phase = WHOLE
        self._out = state.fitting == "outside"
        return data

    def _happens(self, parameters: dict[str, Any], labels: int) -> None:
        state = self._state
        apply(state, Fitted(state.number + 1, state.name, parameters, labels))
        notices.fitted(state, labels)

    def _seed(self) -> list[int]:
        """Fits are seeded by the seed, the number of fits so far, and the stream's name."""
        return [self._state.seed, self._state.fits, *name_words(self._state.name)]
