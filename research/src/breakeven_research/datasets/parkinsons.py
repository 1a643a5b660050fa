"""The medical streams: voice recordings of 42 patients, and the score that an expert would give.

Uniform: 5 recordings of each patient. Lopsided: 20 of each of the first 8, one of each of the others. Which
recordings, and in which order, is fixed; trials differ in their noise only.
"""

import csv
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from breakeven.errors import expect
from breakeven.planning.streams import Stream
from breakeven_research.datasets.files import PARKINSONS, contents
from breakeven_research.datasets.synthetic import generator, legacy

FEATURES = ("age", "sex", "Jitter(%)", "Shimmer", "NHR", "HNR", "RPDE", "DFA", "PPE")
SUBJECT, SCORE = "subject#", "total_UPDRS"
PATIENTS, FREQUENT_PATIENTS = 42, 8
PARKINSONS_NOISE_STD = 1.0

PatientArrivals = Literal["uniform", "lopsided"]
PATIENT_ARRIVALS = ("uniform", "lopsided")


class Recordings(NamedTuple):
    """Patients (from 1), nine features and the score, one row for each recording.

    >>> Recordings(np.array([1]), np.zeros((1, 9)), np.array([34.4])).features.shape
    (1, 9)
    """

    patients: NDArray[np.int64]
    features: NDArray[np.float64]
    scores: NDArray[np.float64]


def read_recordings() -> Recordings:
    """All 5875 recordings, in the order of the file; raises what `locate` raises.

    >>> from breakeven_research.datasets import PARKINSONS, verify
    >>> not verify()[0].ok or len(read_recordings().scores) == 5875
    True
    """
    header, *rows = csv.reader(contents(PARKINSONS).decode("ascii").splitlines())
    columns = [header.index(name) for name in (SUBJECT, *FEATURES, SCORE)]
    table = np.array([[float(row[column]) for column in columns] for row in rows])
    return Recordings(table[:, 0].astype(np.int64), table[:, 1:-1], table[:, -1])


def recordings_per_patient(arrivals: PatientArrivals) -> tuple[int, ...]:
    """How many recordings of each patient arrive.

    >>> sum(recordings_per_patient("uniform")), sum(recordings_per_patient("lopsided"))
    (210, 194)
    """
    if expect.one_of("arrivals", arrivals, PATIENT_ARRIVALS) == "uniform":
        return (5,) * PATIENTS
    return (20,) * FREQUENT_PATIENTS + (1,) * (PATIENTS - FREQUENT_PATIENTS)


def sampled_rows(
    arrivals: PatientArrivals, recordings: Recordings, *, sample_seed: int = 1
) -> NDArray[np.intp]:
    """The rows that were sampled, patient after patient, before they are shuffled.

    For each patient anew, as pandas does: its `sample(n, random_state=1)` takes the positions
    `RandomState(1).choice(count, n, replace=False)`.

    >>> patients = np.repeat(np.arange(1, 43), 20)
    >>> recordings = Recordings(patients, np.zeros((840, 9)), np.zeros(840))
    >>> sampled_rows("uniform", recordings)[:5].tolist()
    [3, 16, 6, 10, 2]
    """
    chosen = []
    for patient, wanted in enumerate(recordings_per_patient(arrivals), start=1):
        rows = np.flatnonzero(recordings.patients == patient)
        if len(rows) < wanted:
            expect.refuse("recordings", f"{wanted} of patient {patient} at least", len(rows))
        random = legacy("sample_seed", sample_seed)
        chosen.append(rows[random.choice(len(rows), wanted, replace=False)])
    return np.concatenate(chosen)


def parkinsons_stream(
    arrivals: PatientArrivals = "uniform",
    *,
    seed: int,
    sample_seed: int = 1,
    order_seed: int = 0,
    recordings: Recordings | None = None,
) -> Stream:
    """The published recordings in the published order, with noise of this seed.

    Another `sample_seed` takes other recordings of the same patients: streams to tune on.

    >>> patients = np.repeat(np.arange(1, 43), 20)
    >>> sample = Recordings(patients, np.zeros((840, 9)), patients / 1.0)
    >>> stream = parkinsons_stream("lopsided", seed=1, recordings=sample)
    >>> len(stream), int((stream.truth <= 8).sum())
    (194, 160)
    """
    given = read_recordings() if recordings is None else recordings
    rows = sampled_rows(arrivals, given, sample_seed=sample_seed)
    order = legacy("order_seed", order_seed).permutation(len(rows))
    noise = generator("noise", seed).standard_normal(len(rows))
    return _stream(given, rows[order], noise, arrivals)


def parkinsons_figures_trials(
    arrivals: PatientArrivals = "uniform", *, trials: int = 5, recordings: Recordings | None = None
) -> list[Stream]:
    """The published streams: one `RandomState(0)` shuffles the rows, then draws the noise of each trial.

    `permutation(n)` gives the order that `shuffle` gives an index of n rows, and leaves the same state.

    >>> patients = np.repeat(np.arange(1, 43), 20)
    >>> sample = Recordings(patients, np.zeros((840, 9)), patients / 1.0)
    >>> one, two = parkinsons_figures_trials("uniform", trials=2, recordings=sample)
    >>> len(one), bool((one.truth == two.truth).all()), bool((one.labels == two.labels).any())
    (210, True, False)
    """
    given = read_recordings() if recordings is None else recordings
    rows, random = sampled_rows(arrivals, given), legacy("seed", 0)
    rows = rows[random.permutation(len(rows))]
    noises = [random.normal(size=len(rows)) for _ in range(expect.whole("trials", trials))]
    return [_stream(given, rows, noise, arrivals) for noise in noises]


def _stream(
    recordings: Recordings, rows: NDArray[np.intp], noise: NDArray[np.float64], arrivals: str
) -> Stream:
    truth = recordings.scores[rows]
    labels = truth + noise * PARKINSONS_NOISE_STD
    return Stream(recordings.features[rows], labels, truth, PARKINSONS_NOISE_STD, f"parkinsons-{arrivals}")
