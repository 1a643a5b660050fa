"""Runs that Theorem 1 covers and the paper's experiments leave out.

Its proof asks of noise only that it is sub-Gaussian, and of arrivals nothing at all. So here noise is normal,
uniform or ±σ; arrivals come evenly, one type after the other, or by an adversary who knows all means, sees
all labels and sends the type whose answer is most wrong; and there are loans, whose labels are yes or no.
Answers are clipped to [0, 1], as the theorem asks.
"""

from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from breakeven import theory
from breakeven.beliefs import Belief, SeparateTypes, TypeMeans
from breakeven.learner import Learner
from breakeven.rules import Never, Rule, Threshold, Value
from breakeven.trace import simulate
from breakeven_research.datasets import Stream, discrete_stream, loan_stream
from breakeven_research.experiments.runs.trials import Curve, Job, curve_of

Covered = Literal["normal noise", "uniform noise", "±σ noise", "in turn", "reacting", "loans"]
ALGORITHM_1, SEPARATE, VALUE, NEVER = "Algorithm 1", "Separate types", "Value", "Never"
TYPES, DELTA = 10, 0.01

STREAMS: dict[Covered, Callable[[int, int], Stream]] = {
    "normal noise": lambda rounds, seed: discrete_stream(TYPES, rounds, seed=seed),
    "uniform noise": lambda rounds, seed: discrete_stream(TYPES, rounds, seed=seed, noise="uniform"),
    "±σ noise": lambda rounds, seed: discrete_stream(TYPES, rounds, seed=seed, noise="signs"),
    "in turn": lambda rounds, seed: discrete_stream(TYPES, rounds, seed=seed, arrivals="in_turn"),
    "reacting": lambda rounds, seed: discrete_stream(TYPES, rounds, seed=seed),
    "loans": lambda rounds, seed: loan_stream(rounds, seed=seed),
}


class CoveredRun(Job, frozen=True, kw_only=True):
    """One stream of a kind, by Algorithm 1, by types that count their own labels, by `Value` and by nobody.

    >>> sorted(CoveredRun(arrivals="in turn", rounds=50, seed=1).run())
    ['Algorithm 1', 'Never', 'Separate types', 'Value']
    """

    arrivals: Covered
    seed: int
    rounds: int = 10_000
    label_cost: float = 10.0

    @property
    def title(self) -> str:
        """What a progress bar calls it."""
        return f"Types, {self.arrivals}, {self.rounds} rounds"

    @property
    def effort(self) -> float:
        """About how many seconds it takes."""
        return 3e-4 * self.rounds

    def run(self) -> dict[str, Curve]:
        """A curve for each method; its mark is what Theorem 1 allows at the arrivals that it met."""
        stream = STREAMS[self.arrivals](self.rounds, self.seed + 1)
        adversary = Adversary(stream) if self.arrivals == "reacting" else None
        curves = {}
        for name, belief, rule in self._methods(stream):
            learner = Learner(belief, rule, label_cost=self.label_cost, answers_within=(0.0, 1.0))
            labelled, errors, arrivals = adversary.meet(learner) if adversary else replayed(learner, stream)
            bound = theory.upper_bound(
                arrivals.tolist(), label_cost=self.label_cost, noise_std=stream.noise_std, delta=DELTA
            )
            marks = {"bound": bound, "types": float((arrivals > 0).sum()), "noise_std": stream.noise_std}
            found = curve_of(labelled, errors)
            curves[name] = Curve(found.rounds, found.labels, found.errors, marks)
        return curves

    def _methods(self, stream: Stream) -> Iterator[tuple[str, Belief, Rule]]:
        noise_std = stream.noise_std
        yield ALGORITHM_1, TypeMeans(noise_std, DELTA), Threshold()
        yield SEPARATE, SeparateTypes(noise_std, DELTA), Threshold()
        yield VALUE, TypeMeans(noise_std, DELTA, prior_std="learn"), Value(len(stream))
        yield NEVER, TypeMeans(noise_std, DELTA, prior_mean=0.5), Never()


Met = tuple[NDArray[np.bool_], NDArray[np.float64], NDArray[np.int64]]  # labelled, errors, arrivals by type


def replayed(learner: Learner, stream: Stream) -> Met:
    """A stream that comes as it is."""
    trace = simulate(learner, stream.points, stream.labels, stream.truth)
    return trace.wants_label, trace.error, np.bincount(stream.points)


class Adversary:
    """Sends every type once, then always the one whose answer is most wrong and that would not be labelled.

    It has the means and the noise of a stream, in order, and sees what the learner knows.
    """

    def __init__(self, stream: Stream) -> None:
        self.means = {int(k): float(f) for k, f in zip(stream.points, stream.truth, strict=True)}
        self.noise = stream.labels - stream.truth

    def meet(self, learner: Learner) -> Met:
        """Play as many rounds as there is noise for."""
        labelled, errors = np.zeros(len(self.noise), dtype=bool), np.zeros(len(self.noise))
        arrivals = dict.fromkeys(sorted(self.means), 0)
        for i, noise in enumerate(self.noise.tolist()):
            k = next((k for k, count in arrivals.items() if count == 0), None)
            k = self._worst(learner) if k is None else k
            decision = learner.decide(k)
            answer = decision.prediction
            if decision.wants_label:
                answer = learner.tell(decision.id, self.means[k] + noise)
            labelled[i], errors[i] = decision.wants_label, abs(answer.mean - self.means[k])
            arrivals[k] += 1
        return labelled, errors, np.array([*arrivals.values()])

    def _worst(self, learner: Learner) -> int:
        wrong = {k: abs(learner.predict(k).mean - mean) for k, mean in self.means.items()}
        order = sorted(wrong, key=lambda k: -wrong[k])
        return next((k for k in order if not _would_ask(learner, k)), order[0])


def _would_ask(learner: Learner, x: Any) -> bool:
    """What would be decided, without letting it arrive."""
    view = learner.belief.look(learner.belief.point(x))
    view.round, view.price = learner.rounds + 1, learner.label_cost / learner.error_cost
    return learner.rule.decide(view).wants_label
