"""The paper's first figure, from a real run: what was labelled, and two newcomers explained.

Arrivals crowd into the first fifth of Branin's first axis. Of the points that come next, each asked at the
same state, one is shown that comes to a crowded place and one that comes to a lonely one.
"""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from breakeven.learner import Learner, algorithm2
from breakeven.trace import simulate
from breakeven.values import Chart, Decision, Figure, Line, Note, Section
from breakeven_research.datasets import BRANIN, smooth_stream
from breakeven_research.experiments.exhibits.panels import figure_of

Array = NDArray[np.float64]

Kind = Literal["dots", "rings", "crosses"]

LABEL_COST, NOISE_STD = 10.0, 5.0
NEWCOMERS = 100
NEAR = 1.0  # how far from a newcomer an arrival still crowds it; Branin's box is 15 wide


class Newcomer(NamedTuple):
    """A point that comes next, and what the learner would say to it."""

    x: Array
    decision: Decision


class Scene(NamedTuple):
    """What has arrived, what of it was labelled, and the two newcomers."""

    arrived: Array
    labelled: Array
    crowded: Newcomer
    lonely: Newcomer


def section(*, rounds: int = 200, seed: int = 0) -> Section:
    """The figure, and why each newcomer is labelled or not, in the learner's own words."""
    scene = play(rounds, seed)
    text = [
        f"Algorithm 2 after {rounds} arrivals, of which it labelled {len(scene.labelled)}. "
        "Two newcomers, asked at the same moment:",
        f"In a crowded place: {scene.crowded.decision.why}",
        f"In a lonely place: {scene.lonely.decision.why}",
    ]
    return Section(title="What is labelled", text=text, figures=[_figure(scene)])


def play(rounds: int, seed: int) -> Scene:
    """Run the stream, then ask about what comes next without letting it count."""
    stream = smooth_stream(BRANIN, rounds + NEWCOMERS, noise_std=NOISE_STD, seed=seed, arrivals="lopsided")
    past = stream.first(rounds)
    learner = algorithm2(BRANIN.dim, label_cost=LABEL_COST, noise_std=NOISE_STD, seed=seed)
    labelled = past.points[simulate(learner, past.points, past.labels).wants_label]
    newcomers = ask(learner, stream.points[rounds:])
    return Scene(
        past.points,
        labelled,
        most_crowded([one for one in newcomers if not one.decision.wants_label], past.points),
        most_lonely([one for one in newcomers if one.decision.wants_label], labelled),
    )


def ask(learner: Learner, points: Array) -> list[Newcomer]:
    """What the learner would say to each point, were it the next to come."""
    state = learner.snapshot()
    return [Newcomer(x, Learner.restore(state).decide(x)) for x in points]


def most_crowded(newcomers: list[Newcomer], arrived: Array) -> Newcomer:
    """The one with the most arrivals near it."""
    return max(newcomers, key=lambda one: int((_distances(one.x, arrived) < NEAR).sum()))


def most_lonely(newcomers: list[Newcomer], labelled: Array) -> Newcomer:
    """The one farthest from everything labelled."""
    return max(newcomers, key=lambda one: float(_distances(one.x, labelled).min()))


def _distances(x: Array, points: Array) -> Array:
    distances: Array = np.linalg.norm(points - x, axis=1)
    return distances


def _figure(scene: Scene) -> Figure:
    chart = Chart(
        name="points",
        title="Which arrivals were labelled",
        x_label="x₁",
        y_label="x₂",
        lines=[
            _points("newcomer, not labelled", scene.crowded.x, "crosses"),
            _points("newcomer, labelled", scene.lonely.x, "crosses"),
            _points("labelled", scene.labelled, "rings"),
            _points("arrived", scene.arrived, "dots"),
        ],
        notes=[_note(scene.crowded, "no label"), _note(scene.lonely, "label it")],
    )
    return figure_of("first-figure", "What is labelled, and why", [chart])


def _points(label: str, points: Array, kind: Kind) -> Line:
    x, y = np.atleast_2d(points).T.tolist()
    return Line(label=label, x=x, y=y, kind=kind)


def _note(newcomer: Newcomer, words: str) -> Note:
    x, y = newcomer.x.tolist()
    return Note(x, y, words)
