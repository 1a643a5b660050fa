"""The published draws of types, Branin and Hartmann, drawn again here in another way."""

import numpy as np
import pytest

from breakeven.errors import InvalidInput
from breakeven_research.datasets import (
    BRANIN,
    HARTMANN6,
    branin_figures_trials,
    figures_trials,
    hartmann_figures_trials,
)

LOPSIDED = {10: [0.4] * 2 + [0.025] * 8, 100: [0.04] * 20 + [0.0025] * 80}


@pytest.mark.parametrize("types", [10, 100])
@pytest.mark.parametrize("arrivals", ["uniform", "lopsided"])
def test_types_arrive_as_published(types, arrivals):
    random, drawn = np.random.RandomState(0), 1_000_000 if (types, arrivals) == (10, "uniform") else 10_000
    means = random.rand(types)
    for stream in figures_trials(types, arrivals):
        if arrivals == "uniform":
            points = random.choice(types, drawn)[:10_000]
        else:
            points = random.choice(types, drawn, p=LOPSIDED[types])
        noise = random.normal(0, 1, drawn)[:10_000]
        assert (stream.points == points).all()
        assert (stream.truth == means[points]).all()
        assert (stream.labels == means[points] + 0.1 * noise).all()
        assert stream.noise_std == 0.1


def test_there_are_ten_trials_of_ten_thousand_rounds_with_the_same_means():
    trials = figures_trials(10, "lopsided")
    assert [len(stream) for stream in trials] == [10_000] * 10
    for stream in trials:
        assert {k: stream.truth[stream.points == k].max() for k in range(10)} == {
            k: trials[0].truth[trials[0].points == k].min() for k in range(10)
        }


def test_fewer_rounds_of_types_are_the_beginning_of_the_published_ones():
    for short, long in zip(
        figures_trials(100, "lopsided", 2, 50), figures_trials(100, "lopsided"), strict=False
    ):
        assert (short.points == long.points[:50]).all()
        assert (short.labels == long.labels[:50]).all()


def test_more_rounds_than_published_can_be_drawn():
    (stream,) = figures_trials(100, "uniform", trials=1, rounds=12_000)
    random = np.random.RandomState(0)
    random.rand(100)
    assert (stream.points == random.choice(100, 12_000)).all()


def test_as_many_rounds_can_be_drawn_as_one_says():
    random = np.random.RandomState(0)
    means = random.rand(10)
    for stream in figures_trials(10, "uniform", trials=2, rounds=100, drawn=100):
        points, noise = random.choice(10, 100), random.normal(0, 1, 100)
        assert (stream.points == points).all()
        assert (stream.labels == means[points] + 0.1 * noise).all()


def test_one_type_arrives_alone():
    (stream,) = figures_trials(10, "one_type", trials=1, rounds=50)
    assert stream.points.tolist() == [0] * 50


def test_branin_arrives_as_published():
    random = np.random.RandomState(0)
    streams = branin_figures_trials()
    assert [len(stream) for stream in streams] == [300] * 10
    for stream in streams:
        x1 = -5 + 15 * random.random_sample(1000)
        x2 = 15 * random.random_sample(1000)
        noise = random.standard_normal(1000)
        assert stream.points == pytest.approx(np.stack([x1, x2], axis=1)[:300], rel=1e-14)
        assert stream.truth == pytest.approx(BRANIN(stream.points), rel=1e-14)
        assert stream.labels - stream.truth == pytest.approx(5 * noise[:300], abs=1e-12)
        assert (stream.name, stream.noise_std) == ("branin-uniform", 5.0)


def test_hartmann_arrives_as_published():
    random = np.random.RandomState(0)
    streams = hartmann_figures_trials()
    assert [len(stream) for stream in streams] == [300] * 10
    for stream in streams:
        near = 0.2 * random.random_sample(1000)
        far = 0.2 + (0.8 - 0.2) * random.random_sample(1000)
        is_near = random.random_sample(1000) >= 0.2  # choice(2, p=[0.2, 0.8])
        others = random.random_sample((1000, 5))
        noise = random.standard_normal(1000)
        points = np.column_stack([np.where(is_near, near, far), others])[:300]
        assert stream.points == pytest.approx(points, rel=1e-14)
        assert stream.truth == pytest.approx(HARTMANN6(stream.points), rel=1e-14)
        assert stream.labels - stream.truth == pytest.approx(0.5 * noise[:300], abs=1e-12)
        assert (stream.name, stream.noise_std) == ("hartmann6-lopsided", 0.5)


def test_hartmanns_published_fifth_ends_early():
    first = np.concatenate([stream.points[:, 0] for stream in hartmann_figures_trials(20, 1000)])
    assert first.max() < 0.8
    assert (first <= 0.2).mean() == pytest.approx(0.8, abs=0.01)


@pytest.mark.parametrize("trials", [branin_figures_trials, hartmann_figures_trials])
def test_fewer_trials_and_rounds_are_the_beginning_of_more(trials):
    for short, long in zip(trials(3, 40), trials(20, 1000), strict=False):
        assert (short.points == long.points[:40]).all()
        assert (short.labels == long.labels[:40]).all()


def test_a_published_stream_goes_on_no_longer_than_it_was_drawn():
    with pytest.raises(InvalidInput, match="rounds: expected a whole number of at most 1000, got 1001"):
        hartmann_figures_trials(1, 1001)
    with pytest.raises(InvalidInput, match="drawn: expected a whole number of at least 10, got 9"):
        figures_trials(10, "uniform", rounds=10, drawn=9)
