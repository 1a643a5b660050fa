"""Parkinsons: which recordings arrive, and when, against what the authors' notebook shows of its sample."""

import os
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from breakeven.errors import InvalidInput
from breakeven_research.datasets import (
    PARKINSONS,
    Recordings,
    locate,
    parkinsons_figures_trials,
    parkinsons_stream,
    read_recordings,
    recordings_per_patient,
)
from breakeven_research.datasets.parkinsons import FEATURES, sampled_rows

SHARED = Path(__file__).parents[4] / "shared" / "data"

UNIFORM = {
    1: [145, 89, 54, 77, 84],
    2: [189, 215, 165, 279, 202],
    9: [1257, 1231, 1267, 1325, 1229],
    23: [3075, 3073, 3117, 3045, 3059],
    42: [5739, 5823, 5800, 5741, 5856],
}
LOPSIDED = {
    1: [145, 89, 54, 77, 84, 105, 91, 53, 44, 59, 5, 16, 93, 14, 58, 33, 73, 29, 66, 35],
    9: [1257],
    10: [1450],
    42: [5739],
}


@pytest.fixture(scope="module")
def recordings():
    folders = [Path(folder) for folder in (os.environ.get("BREAKEVEN_DATA"), SHARED) if folder]
    with pytest.MonkeyPatch.context() as patch:
        for folder in folders:
            if (folder / PARKINSONS.filename).is_file():
                patch.setenv("BREAKEVEN_DATA", str(folder))
                assert locate(PARKINSONS) == folder / PARKINSONS.filename
                return read_recordings()
    pytest.skip(f"no {PARKINSONS.filename} in $BREAKEVEN_DATA or {SHARED}")


def made_up(per_patient=25):
    patients = np.repeat(np.arange(1, 43), per_patient)
    features = np.random.default_rng(0).random((len(patients), 9))
    return Recordings(patients, features, patients + np.linspace(0, 0.5, len(patients)))


def test_the_file_holds_5875_recordings_of_42_patients(recordings):
    assert recordings.features.shape == (5875, 9)
    assert sorted(set(recordings.patients.tolist())) == list(range(1, 43))
    assert FEATURES == ("age", "sex", "Jitter(%)", "Shimmer", "NHR", "HNR", "RPDE", "DFA", "PPE")


def test_features_and_score_are_taken_from_their_columns(recordings):
    first = [72, 0, 0.00662, 0.02565, 0.01429, 21.64, 0.41888, 0.54842, 0.16006]
    assert recordings.features[0].tolist() == first
    assert (recordings.patients[0], recordings.scores[0]) == (1, 34.398)
    shown = [72, 0, 0.00378, 0.02038, 0.013739, 25.078, 0.41783, 0.53659, 0.17886]
    assert recordings.features[145].tolist() == shown
    assert recordings.scores[145] == 46.013


@pytest.mark.parametrize(("arrivals", "published"), [("uniform", UNIFORM), ("lopsided", LOPSIDED)])
def test_the_sample_is_the_one_that_the_authors_show(recordings, arrivals, published):
    rows = sampled_rows(arrivals, recordings)
    for patient, shown in published.items():
        assert rows[recordings.patients[rows] == patient].tolist() == shown
    assert (np.diff(recordings.patients[rows]) >= 0).all()
    assert len(set(rows.tolist())) == len(rows)


def test_uniform_has_210_rounds_and_lopsided_194(recordings):
    assert len(parkinsons_stream("uniform", seed=0, recordings=recordings)) == 210
    assert len(parkinsons_stream("lopsided", seed=0, recordings=recordings)) == 194


def test_each_patient_arrives_as_often_as_stated():
    assert recordings_per_patient("uniform") == (5,) * 42
    assert recordings_per_patient("lopsided") == (20,) * 8 + (1,) * 34
    sample = made_up()
    for arrivals in ("uniform", "lopsided"):
        seen = Counter(
            np.floor(parkinsons_stream(arrivals, seed=3, recordings=sample).truth).astype(int).tolist()
        )
        assert tuple(seen[patient] for patient in range(1, 43)) == recordings_per_patient(arrivals)


def test_the_published_order_and_noise_come_from_one_shuffled_state(recordings):
    for arrivals in ("uniform", "lopsided"):
        rows = sampled_rows(arrivals, recordings)
        index = np.arange(len(rows))
        random = np.random.RandomState(0)
        random.shuffle(index)
        streams = parkinsons_figures_trials(arrivals, recordings=recordings)
        assert len(streams) == 5
        for stream in streams:
            noise = random.normal(0, 1, (len(rows), 1))[:, 0]
            assert (stream.points == recordings.features[rows[index]]).all()
            assert (stream.truth == recordings.scores[rows[index]]).all()
            assert (stream.labels == recordings.scores[rows[index]] + noise).all()
            assert (stream.noise_std, stream.dim) == (1.0, 9)


@pytest.mark.parametrize("count", [1, 2, 194, 210])
def test_a_permutation_is_a_shuffled_index_and_leaves_the_same_state(count):
    index, one, two = np.arange(count), np.random.RandomState(0), np.random.RandomState(0)
    one.shuffle(index)
    assert (two.permutation(count) == index).all()
    assert one.normal() == two.normal()


def test_always_answering_the_mean_costs_what_was_measured(recordings):
    for arrivals, measured in (("uniform", 8.5), ("lopsided", 8.7)):
        truth = parkinsons_figures_trials(arrivals, trials=1, recordings=recordings)[0].truth
        assert np.abs(truth - truth.mean()).mean() == pytest.approx(measured, abs=0.05)


def test_a_seed_changes_the_noise_and_nothing_else():
    sample = made_up()
    one, same, other = (parkinsons_stream("lopsided", seed=seed, recordings=sample) for seed in (1, 1, 2))
    (published,) = parkinsons_figures_trials("lopsided", trials=1, recordings=sample)
    assert (one.labels == same.labels).all()
    assert (one.labels != other.labels).all()
    for stream in (other, published):
        assert (one.points == stream.points).all()
        assert (one.truth == stream.truth).all()


def test_noise_has_the_stated_spread():
    sample = made_up()
    streams = [parkinsons_stream("uniform", seed=seed, recordings=sample) for seed in range(20)]
    noise = np.concatenate([stream.labels - stream.truth for stream in streams])
    assert noise.std() == pytest.approx(1.0, abs=0.05)
    assert noise.mean() == pytest.approx(0.0, abs=0.05)


def test_other_samples_and_orders_have_their_own_seeds():
    sample = made_up()
    one = parkinsons_stream("uniform", seed=1, recordings=sample)
    resampled = parkinsons_stream("uniform", seed=1, sample_seed=2, recordings=sample)
    reordered = parkinsons_stream("uniform", seed=1, order_seed=2, recordings=sample)
    assert set(resampled.truth) != set(one.truth)
    assert (reordered.truth != one.truth).any()
    assert sorted(reordered.truth) == sorted(one.truth)


def test_too_few_recordings_of_a_patient_are_refused():
    with pytest.raises(InvalidInput, match="recordings: expected 20 of patient 1 at least, got 19"):
        parkinsons_stream("lopsided", seed=0, recordings=made_up(19))


def test_unknown_arrivals_are_refused():
    with pytest.raises(InvalidInput, match="arrivals: expected one of 'uniform', 'lopsided', got 'one_type'"):
        parkinsons_stream("one_type", seed=0, recordings=made_up())
    with pytest.raises(InvalidInput, match="sample_seed: expected a whole number of at least 0, got -1"):
        parkinsons_stream(seed=0, sample_seed=-1, recordings=made_up())
