"""Seeded streams: the same seed gives the same bits, others do not, and arrivals have the stated shares."""

from time import perf_counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from breakeven.errors import InvalidInput
from breakeven_research.datasets import (
    BRANIN,
    HARTMANN6,
    arrival_shares,
    branin_stream,
    discrete_stream,
    figures_trials,
    hartmann_stream,
    smooth_stream,
)

ARRIVALS = ["uniform", "lopsided", "one_type"]
kinds = st.sampled_from(ARRIVALS)
seeds = st.integers(0, 2**63 - 1)
MAKERS = {
    "discrete": lambda seed: discrete_stream(7, 60, arrivals="lopsided", seed=seed),
    "branin": lambda seed: branin_stream(60, seed=seed),
    "hartmann": lambda seed: hartmann_stream(60, seed=seed),
}


@given(types=st.integers(1, 300), arrivals=kinds)
def test_shares_are_probabilities_and_earlier_types_are_never_rarer(types, arrivals):
    shares = arrival_shares(types, arrivals)
    assert shares.shape == (types,)
    assert shares.sum() == pytest.approx(1.0, abs=1e-12)
    assert (shares >= 0).all()
    assert (np.diff(shares) <= 0).all()


@given(fifth=st.integers(1, 60))
def test_the_first_fifth_of_the_types_has_four_fifths_of_the_arrivals(fifth):
    shares = arrival_shares(5 * fifth, "lopsided")
    assert shares[:fifth].sum() == pytest.approx(0.8)
    assert len(set(shares[:fifth])) == len(set(shares[fifth:])) == 1


def test_a_single_type_gets_everything():
    assert [arrival_shares(1, arrivals).tolist() for arrivals in ARRIVALS] == [[1.0]] * 3


@given(types=st.integers(1, 50), rounds=st.integers(0, 200), arrivals=kinds, seed=seeds, means_seed=seeds)
def test_a_discrete_stream_has_one_mean_for_each_type(types, rounds, arrivals, seed, means_seed):
    stream = discrete_stream(types, rounds, arrivals=arrivals, seed=seed, means_seed=means_seed)
    assert len(stream) == len(stream.labels) == len(stream.truth) == rounds
    assert set(stream.points.tolist()) <= set(range(types))
    assert len(set(zip(stream.points.tolist(), stream.truth.tolist(), strict=True))) == len(
        set(stream.points.tolist())
    )
    assert ((stream.truth >= 0) & (stream.truth < 1)).all()


@given(seed=seeds, kind=st.sampled_from(sorted(MAKERS)))
def test_the_same_seed_gives_the_same_bits(seed, kind):
    one, two = MAKERS[kind](seed), MAKERS[kind](seed)
    assert one.points.tobytes() == two.points.tobytes()
    assert one.labels.tobytes() == two.labels.tobytes()


@given(seed=st.integers(0, 2**62), kind=st.sampled_from(sorted(MAKERS)))
def test_another_seed_gives_other_points_and_other_noise(seed, kind):
    one, two = MAKERS[kind](seed), MAKERS[kind](seed + 1)
    assert (one.points != two.points).any()
    assert np.abs((one.labels - one.truth) - (two.labels - two.truth)).max() > 1e-6


def test_means_have_a_seed_of_their_own():
    one, two = (discrete_stream(10, 200, seed=seed) for seed in (1, 2))
    other = discrete_stream(10, 200, seed=1, means_seed=5)
    means = dict(zip(one.points.tolist(), one.truth.tolist(), strict=True))
    assert means == dict(zip(two.points.tolist(), two.truth.tolist(), strict=True))
    assert (one.points == other.points).all()
    assert (one.truth != other.truth).all()


def test_equal_seeds_of_two_things_do_not_make_them_alike():
    stream = discrete_stream(100, 10_000, seed=3, means_seed=3)
    means = np.empty(100)
    means[stream.points] = stream.truth
    noise = stream.labels - stream.truth
    assert abs(np.corrcoef(means, stream.points[:100])[0, 1]) < 0.5
    assert abs(np.corrcoef(stream.points, noise)[0, 1]) < 0.05
    assert abs(np.corrcoef(stream.truth, noise)[0, 1]) < 0.05


@pytest.mark.parametrize(("arrivals", "share"), [("uniform", 0.2), ("lopsided", 0.8), ("one_type", 1.0)])
@pytest.mark.parametrize("types", [10, 100])
def test_arrivals_of_types_have_the_stated_shares(arrivals, share, types):
    points = discrete_stream(types, 40_000, arrivals=arrivals, seed=2).points
    assert (points < types // 5).mean() == pytest.approx(share, abs=0.01)
    counts = np.bincount(points, minlength=types)
    spread = np.sqrt(40_000 * arrival_shares(types, arrivals))
    assert (np.abs(counts - 40_000 * arrival_shares(types, arrivals)) <= 5 * spread).all()


@pytest.mark.parametrize(("arrivals", "share"), [("uniform", 0.2), ("lopsided", 0.8), ("one_type", 1.0)])
@pytest.mark.parametrize("function", [BRANIN, HARTMANN6], ids=lambda function: function.name)
def test_arrivals_of_rows_have_the_stated_share_and_are_even_within(function, arrivals, share):
    stream = smooth_stream(function, 20_000, noise_std=1.0, seed=2, arrivals=arrivals)
    unit = (stream.points - function.low) / np.subtract(function.high, function.low)
    assert ((unit >= 0) & (unit <= 1)).all()
    near = unit[:, 0] <= 0.2
    assert near.mean() == pytest.approx(share, abs=0.012)
    assert np.histogram(unit[near, 0], 4, (0, 0.2))[0] / near.sum() == pytest.approx([0.25] * 4, abs=0.03)
    if share < 1:
        far = unit[~near, 0]
        assert np.histogram(far, 4, (0.2, 1.0))[0] / len(far) == pytest.approx([0.25] * 4, abs=0.03)
    for axis in unit.T[1:]:
        assert np.histogram(axis, 4, (0, 1))[0] / len(axis) == pytest.approx([0.25] * 4, abs=0.02)
    assert (stream.truth == function(stream.points)).all()


@pytest.mark.parametrize(
    ("stream", "noise_std"),
    [
        (discrete_stream(10, 20_000, seed=1), 0.1),
        (discrete_stream(10, 20_000, seed=1, noise_std=2.0), 2.0),
        (branin_stream(20_000, seed=1), 5.0),
        (hartmann_stream(20_000, seed=1), 0.5),
    ],
    ids=["discrete", "noisy", "branin", "hartmann"],
)
def test_noise_has_the_stated_spread(stream, noise_std):
    noise = stream.labels - stream.truth
    assert stream.noise_std == noise_std
    assert noise.std() == pytest.approx(noise_std, rel=0.02)
    assert noise.mean() == pytest.approx(0.0, abs=0.03 * noise_std)


def test_the_texts_hartmann_reaches_the_end_of_its_axis():
    assert hartmann_stream(5000, seed=1).points[:, 0].max() > 0.95


def test_a_million_rounds_take_a_moment():
    start = perf_counter()
    stream = discrete_stream(100, 10**6, arrivals="lopsided", seed=1)
    assert len(stream) == 10**6
    assert perf_counter() - start < 5.0  # 0.2 s on an idle machine; a Python loop would need longer


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: arrival_shares(0, "uniform"), "types: expected a whole number of at least 1, got 0"),
        (
            lambda: arrival_shares(3, "skewed"),
            "arrivals: expected one of 'uniform', 'lopsided', 'one_type', 'in_turn', got 'skewed'",
        ),
        (lambda: discrete_stream(3, -1, seed=0), "rounds: expected a whole number of at least 0, got -1"),
        (lambda: discrete_stream(3, 5, seed=-1), "^seed: expected a whole number of at least 0, got -1"),
        (lambda: discrete_stream(3, 5, seed=0, means_seed=0.5), "^means_seed: expected a whole number"),
        (
            lambda: discrete_stream(3, 5, seed=0, noise_std=0),
            "noise_std: expected a positive, finite number, got 0",
        ),
        (lambda: branin_stream(5, seed=None), "^seed: expected a whole number of at least 0, got None"),
        (lambda: hartmann_stream(2.5, seed=0), "rounds: expected a whole number of at least 0, got 2.5"),
        (lambda: smooth_stream(BRANIN, 5, noise_std=-1.0, seed=0), "noise_std: expected a positive"),
        (lambda: smooth_stream(BRANIN, 5, noise_std=1.0, seed=0, arrivals=""), "arrivals: expected one of"),
        (
            lambda: figures_trials(10, "uniform", trials=-1),
            "trials: expected a whole number of at least 0, got -1",
        ),
        (lambda: figures_trials(10, "even"), "arrivals: expected one of"),
    ],
)
def test_what_makes_no_stream_is_refused(call, message):
    with pytest.raises(InvalidInput, match=message):
        call()
