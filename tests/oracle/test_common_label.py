"""Labels of which most are one value: what is said of them, from the formulas of docs and docstrings."""

import numpy as np
import pytest
from scipy.integrate import trapezoid

from breakeven import Averaged, AveragedShares
from breakeven.beliefs.averaged.common_label import common_label, may_be_common, usual_size, worth_of_looking
from breakeven.beliefs.types.share_savings import each_of_several

DIM = 2


def lived(exceptions, labels=24, *, value=3.0, level=0.5, awaited=2):
    """A belief whose labels are all one value but for these exceptions, the last ones; and a point."""
    random = np.random.default_rng(6)
    belief = Averaged(DIM, level=level)
    belief.watch(12)
    points = [belief.point(x) for x in random.normal(size=(labels + awaited + 1, DIM))]
    ys = [*[value] * (labels - len(exceptions)), *exceptions]
    for key, (point, y) in enumerate(zip(points[:labels], ys, strict=True)):
        belief.arrive(point)
        belief.learn(point, y, key)
    belief.adopt(belief.fit(belief.fit_job(), random))
    for key, point in enumerate(points[labels:-1], start=labels):
        belief.arrive(point)
        belief.ask(key, point)
    return belief, points[-1], ys


def yes_no(belief, ys, value):
    """The belief about whether a label is an exception, made from the same data by itself."""
    state = belief.state()
    shares = AveragedShares(DIM)
    told = np.array([float(y != value) for y in ys]).tobytes()
    shares.load({**state, "labels": told, "fitted": state["fitted"]["rare"]})
    return shares


SEEN = [[], [5.0], [5.0, 4.0, 1.0, 9.0]]


@pytest.mark.parametrize("exceptions", SEEN, ids=str)
@pytest.mark.parametrize("level", [0.5, 0.8])
def test_a_label_is_the_common_value_or_one_of_the_exceptions(exceptions, level):
    belief, point, ys = lived(exceptions, level=level)
    probability = yes_no(belief, ys, 3.0).predict(point)
    size = np.mean(np.abs(np.array(exceptions) - 3.0)) if exceptions else 3.0
    view = belief.look(point)
    assert view.prediction.std == pytest.approx(probability.std * size)
    assert view.prediction.mean == 3.0
    share = probability.probability
    for y in (0.5, 3.0, 4.0, 20.0):
        lower = sum(one < y for one in exceptions)
        each = share / (len(exceptions) + 1)  # and one exception more, of any size
        if y == 3.0:
            expected = each * (lower + 0.5), 1.0 - share
        else:
            same = sum(one == y for one in exceptions)
            expected = each * lower + (1.0 - share) * (y > 3.0), each * (same + 1)
        assert belief.rank(point, y) == pytest.approx(expected)


@pytest.mark.parametrize("exceptions", SEEN[1:], ids=str)
@pytest.mark.parametrize("level", [0.5, 0.8])
def test_labels_say_less_where_the_sizes_of_exceptions_vary(exceptions, level):
    """1 + c² times less, with c² = 1 as if two had said so; and sizes may be larger than those seen."""
    belief, point, ys = lived(exceptions, level=level)
    off = np.array(exceptions) - 3.0
    sizes = np.abs(off) / np.abs(off).mean()
    thinned = 1.0 + (2.0 + ((sizes - 1.0) ** 2).sum()) / (2.0 + len(sizes) - 1.0)
    larger = thinned ** (0.5 / len(sizes))
    counted = lambda one: np.where(one > 0.0, 2.0 * level * one, -2.0 * (1.0 - level) * one).mean()  # noqa: E731
    miss, alarm = larger * counted(off), larger * counted(-off)
    shares = yes_no(belief, ys, 3.0)
    stakes = shares.look(point).saves(0.5)
    saving = belief.look(point).saves(belief.traits.noise_std)
    share = shares.predict(point).probability
    assert saving.here == saving.outright == pytest.approx(larger * share * counted(off))  # answered by 3
    expected = 0.0
    for ((yes, no), ahead), told in zip(stakes.alike, stakes.told, strict=True):
        known = float(f"{yes / thinned:.2g}"), float(f"{no / thinned:.2g}")
        if told > 1e-3:
            expected += told * each_of_several(*known, round(ahead / thinned), miss, alarm, 0.7, 500.0)
    assert saving.over(500, lessons=True, price=0.7) == pytest.approx(expected / thinned)


def test_before_the_first_exception_its_size_may_be_anything():
    belief, point, ys = lived([], awaited=2)
    shares = yes_no(belief, ys, 3.0)
    share = shares.predict(point).probability
    saving = belief.look(point).saves(belief.traits.noise_std)
    now = share * usual_size(1_000.0) * 7.0
    assert saving.now(labels=True, price=7.0) == pytest.approx(now)
    ahead = shares.look(point).saves(0.5).alike[0][1]
    whole = 7.0 * worth_of_looking(0.5 / share - 1.0 + ahead, 500)  # as many equal labels say this share
    assert saving.over(500, lessons=True, price=7.0) == pytest.approx(whole - now)


@pytest.mark.parametrize(("equal", "left"), [(5.0, 60), (40.0, 300), (3.0, 1)])
def test_the_worth_of_looking_is_that_of_the_best_plan(equal, left):
    """By sums over sizes that are log-uniform, plan after plan."""
    rest = left + 1
    most = min(max(rest, 2), 1_000)
    sizes = np.exp(np.linspace(-np.log(most), np.log(most), 20_001))
    mean = trapezoid(sizes, np.log(sizes)) / (2.0 * np.log(most))
    assert usual_size(float(most)) == pytest.approx(mean, rel=1e-6)
    costs, none, found = [], 1.0, 0.0
    for j in range(1, rest + 1):
        chance = 0.5 / (equal + j)
        each = trapezoid(np.minimum(1.0, 1.5 / (equal + j + 1) * sizes), np.log(sizes))
        found += none * chance * (j + (rest - j) * each / (2.0 * np.log(most)))
        none *= 1.0 - chance
        costs.append(found + none * (j + (rest - j) * mean * 0.5 / (equal + j + 1)))
    expected = 1.0 + rest * mean * 0.5 / (equal + 1) - min(costs)
    assert worth_of_looking(equal, left) == pytest.approx(expected, rel=1e-5)


def test_how_common_a_value_must_be():
    """All labels, or half of them and five at least; it is open while half have it, and fewer than five."""
    for count in range(1, 12):
        for others in range(12):
            labels = [4.0] * count + [10.0 + i for i in range(others)]
            common = others == 0 or (count >= 5 and count >= others)
            assert common_label(labels) == (4.0 if common else None)
            still_open = others > 0 and 2 <= count < 5 and count >= others
            assert may_be_common(labels) == still_open
