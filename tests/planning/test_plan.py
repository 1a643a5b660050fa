"""Streams to plan by have the variance they claim, a plan scores as a bill does, and its bounds are ones."""

from math import log, sqrt

import msgspec
import numpy as np
import pytest

from breakeven import algorithm1, simulate
from breakeven.beliefs.gp import SMOOTHNESS, kernel_named
from breakeven.errors import InvalidInput
from breakeven.planning.plan import plan
from breakeven.planning.prospect import Prospect, function_values, information_gain, proven, stream_of
from breakeven.theory import greedy_information_gain, label_bound

TYPES = Prospect(types=6, rounds=300, cost=3.0, noise_std=0.4, trials=2)

every_kernel = pytest.mark.parametrize("name", SMOOTHNESS)


@every_kernel
@pytest.mark.parametrize("dim", [1, 5, 20])
def test_a_function_has_variance_1_everywhere(name, dim):
    random = np.random.default_rng(dim)
    kernel = kernel_named(name, 0.5)
    draws = [function_values(kernel, random.random((20, dim)), random) for _ in range(400)]
    assert np.std(draws) == pytest.approx(1.0, abs=0.05)


@every_kernel
def test_a_function_is_as_alike_at_two_points_as_its_kernel_says(name):
    random = np.random.default_rng(0)
    kernel, points = kernel_named(name, (0.5, 2.0)), np.array([[0.1, 0.2], [0.4, 0.2], [0.4, 1.9]])
    draws = np.array([function_values(kernel, points, random) for _ in range(3_000)])
    assert draws.T @ draws / len(draws) == pytest.approx(kernel(points, points), abs=0.07)


@pytest.mark.parametrize("prospect", [TYPES, Prospect(dim=3, rounds=1_500, cost=1.0, noise_std=0.2)])
def test_streams_differ_by_trial_and_seed_only(prospect):
    one, again, other = (stream_of(prospect, trial) for trial in (0, 0, 1))
    assert np.array_equal(one.labels, again.labels)
    assert not np.array_equal(one.labels, other.labels)
    assert not np.array_equal(one.labels, stream_of(msgspec.structs.replace(prospect, seed=1), 0).labels)
    assert np.std(one.labels - one.truth) == pytest.approx(prospect.noise_std, rel=0.15)


def test_a_plan_scores_as_a_bill_does():
    one = msgspec.structs.replace(TYPES, trials=1)
    stream, found = stream_of(one, 0), plan(one)
    papers = algorithm1(label_cost=3.0, noise_std=0.4, delta=one.delta)
    bill = simulate(papers, stream.points, stream.labels).ledger
    everyone, no_one, _, _, threshold = found.rows
    assert (everyone.labels, everyone.mean_error, everyone.simple) == (300, 0.0, True)
    assert no_one.mean_error == pytest.approx(np.abs(stream.labels - np.median(stream.labels)).mean())
    assert (threshold.labels, threshold.spend) == (bill.labels, bill.label_spend)
    assert threshold.total == pytest.approx(bill.total_loss)
    paper = algorithm1(label_cost=3.0, noise_std=0.4, delta=one.delta)
    truly = simulate(paper, stream.points, stream.labels, stream.truth).ledger
    assert found.against_f.total == pytest.approx(truly.total_loss)


@every_kernel
@pytest.mark.parametrize(("dim", "side"), [(1, 200), (2, 20), (4, 4)])
def test_no_labels_in_the_unit_cube_tell_more(name, dim, side):
    kernel = kernel_named(name, 0.5)
    axes = np.meshgrid(*[np.linspace(0.0, 1.0, side)] * dim)
    points = np.stack([axis.ravel() for axis in axes], axis=1)
    gains = greedy_information_gain(kernel(points, points), 150, noise_std=0.3).gains
    for n in (1, 7, 40, 150):
        bound = information_gain(n, kernel=kernel, dim=dim, noise_std=0.3)
        assert gains[n - 1] <= bound <= 0.5 * n * log(1.0 + 0.3**-2) + 1e-9


def test_the_gain_of_many_labels_is_far_less_than_that_of_as_many_alone():
    bound = information_gain(1_000_000, kernel=kernel_named("se", 0.5), dim=1, noise_std=0.3)
    assert bound < 1e-2 * 0.5 * 1_000_000 * log(1.0 + 0.3**-2)


def test_the_most_labels_hold_however_arrivals_are_split():
    K, T = 5, 1_000
    prospect = Prospect(types=K, rounds=T, cost=50.0, noise_std=0.1, trials=1)
    most = plan(prospect).proven.labels
    for split in ([200] * 5, [996, 1, 1, 1, 1], [400, 300, 200, 99, 1]):
        assert label_bound(split, label_cost=50.0, noise_std=0.1, delta=prospect.delta).sum() <= most


@pytest.mark.parametrize("rounds", [1_000, 100_000])
def test_the_largest_total_is_known_for_any_number_of_rounds(rounds):
    found = proven(Prospect(dim=2, rounds=rounds, cost=5.0, noise_std=0.3))
    assert sqrt(rounds) < found.labels <= rounds < found.total < float("inf")


def test_the_lengthscale_may_not_vanish():
    with pytest.raises(InvalidInput, match="lengthscale: expected a positive, finite number, got 0"):
        Prospect(dim=1, rounds=10, cost=1.0, noise_std=0.1, lengthscale=0.0)


# -- yes/no labels -----------------------------------------------------------------------------------------


def test_a_plan_of_yes_no_labels_answers_yes_or_no():
    prospect = Prospect(
        rounds=400, cost=0.2, types=4, share=0.1, miss_cost=3.0, false_alarm_cost=1.0, trials=2
    )
    found = plan(prospect)
    everyone, no_one, _, ours, papers = found.rows
    assert everyone.total == pytest.approx(80.0)
    assert ours.total < everyone.total
    assert 0 < ours.labels < 400
    assert no_one.mean_error <= 1.5 * 0.2
    assert papers.labels > 0


def test_rows_say_yes_as_often_as_types_do_and_alike_where_they_lie_together():
    common = {"rounds": 4_000, "cost": 1.0, "share": 0.2}
    rows = stream_of(Prospect(dim=1, lengthscale=0.02, **common), 0)
    types = stream_of(Prospect(types=4_000, **common), 0)
    even = np.linspace(0.0, 0.4, 21)
    for stream in (rows, types):
        assert np.quantile(stream.truth, np.linspace(0.0, 1.0, 21)) == pytest.approx(even, abs=0.06)
        assert abs(stream.labels.mean() - 0.2) < 0.05
        assert set(stream.labels) == {0.0, 1.0}
    along = rows.truth[np.argsort(rows.points[:, 0])]
    assert np.abs(np.diff(along)).mean() < 0.1 * np.abs(np.diff(types.truth)).mean()


def test_a_plan_of_yes_no_labels_of_rows_answers_yes_or_no_and_proves_nothing():
    costs = {"cost": 0.3, "miss_cost": 3.0, "false_alarm_cost": 1.0}
    found = plan(Prospect(rounds=40, dim=1, share=0.3, audit=0.1, trials=1, **costs))
    everyone, no_one, _, ours, papers = found.rows
    assert everyone.total == pytest.approx(12.0)
    assert 0 < ours.labels <= 40
    mistakes = 2.0 * 40 * ours.mean_error  # in money: 3 for a miss, 1 for a false alarm
    assert mistakes == pytest.approx(round(mistakes))
    assert no_one.mean_error <= 0.5
    assert papers.labels > 0
    assert found.proven is None


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"share": 0.7}, r"^share: expected a number above 0, up to 0.5"),
        ({"share": 0.1, "types": None}, r"^types, dim: expected one of the two"),
        ({"share": 0.1, "noise_std": 0.3}, r"^noise_std: expected none beside a share"),
    ],
)
def test_a_share_that_makes_no_sense_is_refused(wrong, message):
    with pytest.raises(InvalidInput, match=message):
        Prospect(**{"rounds": 10, "cost": 1.0, "types": 3} | wrong)
