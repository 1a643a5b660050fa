"""The Gaussian process as a belief: what it refuses, when it fits, and what it says of itself."""

from math import inf, nan, sqrt

import msgspec
import numpy as np
import pytest

from breakeven import GaussianProcess, Matern, SquaredExponential
from breakeven.beliefs.gp import Kernel, Parameters
from breakeven.beliefs.gp.solver import KeyList
from breakeven.errors import InvalidInput

FIRST = Parameters(SquaredExponential((1.0, 1.0)), 0.1).plain()


def process(**arguments):
    return GaussianProcess(**({"dim": 2, "noise_std": 0.1} | arguments))


def learn(belief, count):
    for i in range(count):
        belief.learn(np.array([0.1 * i, 1.0]), float(i), str(belief.labels))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"dim": 0}, "dim: expected a whole number of at least 1, got 0"),
        ({"dim": 2.0}, "dim: expected a whole number of at least 1, got 2.0"),
        ({"dim": True}, "dim: expected a whole number of at least 1, got True"),
        ({"dim": "2"}, "dim: expected a whole number of at least 1, got '2'"),
        ({"noise_std": 0.0}, "noise_std: expected a positive, finite number, got 0.0"),
        ({"noise_std": -1.0}, "noise_std: expected a positive, finite number, got -1.0"),
        ({"noise_std": inf}, "noise_std: expected a positive, finite number, got inf"),
        ({"noise_std": "fit"}, "noise_std: expected a positive, finite number, got 'fit'"),
        (
            {"noise_std": None},
            "noise_std: expected a positive number, because fit=None fits nothing, got None",
        ),
        ({"mean": nan}, "mean: expected a finite number, got nan"),
        ({"mean": "zero"}, "mean: expected a finite number, got 'zero'"),
        ({"mean": None}, "mean: expected a finite number, got None"),
        ({"mean": np.zeros(2)}, r"mean: expected a finite number, got array\(\[0., 0.\]\)"),
        ({"mean": "fit"}, "mean: expected a number, because fit=None fits nothing, got 'fit'"),
        (
            {"fit": "always"},
            "fit: expected one of None, 'after_warmup', 'every_label', 'growing', got 'always'",
        ),
        ({"fit": True}, "fit: expected one of None, 'after_warmup', 'every_label', 'growing', got True"),
        ({"fit": ["growing"]}, r"fit: expected one of .*, got \['growing'\]"),
        ({"kernel": "rbf"}, "kernel: expected a SquaredExponential, a Matern, or one of 'se', .*, got 'rbf'"),
        ({"kernel": Matern}, "kernel: expected a SquaredExponential, a Matern, or one of .*, got <class"),
        (
            {"kernel": Matern(1.5, (1.0, 2.0, 3.0))},
            r"kernel: expected one lengthscale, or one for each of 2 dimensions, got \(1.0, 2.0, 3.0\)",
        ),
        (
            {"kernel": SquaredExponential(())},
            r"kernel: expected one lengthscale, or one for each of 2 dimensions, got \(\)",
        ),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(InvalidInput, match=message):
        process(**arguments)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ([1.0], r"x: expected a row of 2 finite numbers, got \[1.0\]"),
        (1.0, "x: expected a row of 2 finite numbers, got 1.0"),
        ([1.0, nan], r"x: expected a row of 2 finite numbers, got \[1.0, nan\]"),
        (["a", "b"], r"x: expected a row of 2 finite numbers, got \['a', 'b'\]"),
        ([[1.0, 2.0]], r"x: expected a row of 2 finite numbers, got \[\[1.0, 2.0\]\]"),
    ],
)
def test_bad_points_are_refused(x, message):
    with pytest.raises(InvalidInput, match=message):
        process().point(x)


def test_a_bad_row_of_many_is_named():
    with pytest.raises(InvalidInput, match=r"X\[1\]: expected 2 finite numbers, got \[3.0, inf\]"):
        process().points([[1.0, 2.0], [3.0, inf]])


def test_a_point_survives_storage():
    belief = process()
    point = belief.point([0.1, 1 / 3])
    plain = msgspec.json.decode(msgspec.json.encode(belief.plain(point)))
    assert belief.recall(plain).tobytes() == point.tobytes()


def test_the_default_kernel_has_one_lengthscale_per_dimension():
    assert process(dim=3).kernel == SquaredExponential((1.0, 1.0, 1.0))


@pytest.mark.parametrize("kernel", [SquaredExponential((2.0, 3.0), 4.0), Matern(1.5, 0.5, 4.0)], ids=str)
def test_traits_are_those_of_kernel_and_noise(kernel):
    traits = process(kernel=kernel, noise_std=0.3).traits
    assert (traits.noise_std, traits.prior_std, traits.dim) == (0.3, 2.0, 2)
    assert traits.exponent == kernel.exponent(2)
    assert traits.unit == pytest.approx(sqrt(2.0) * 0.3)


def test_a_noise_to_be_fitted_starts_at_a_tenth_of_the_prior_std():
    belief = process(noise_std=None, mean="fit", fit="growing", kernel=Matern(2.5, amplitude=9.0))
    assert (belief.parameters.noise_std, belief.parameters.mean) == (pytest.approx(0.3), 0.0)


def test_without_a_schedule_no_fit_is_ever_due():
    belief = process()
    learn(belief, 30)
    assert not belief.fit_due(warm=True)
    assert not belief.needs_warmup


def test_every_label_brings_a_fit_from_the_first_on():
    belief = process(fit="every_label")
    assert not belief.fit_due(warm=True)
    for _ in range(3):
        learn(belief, 1)
        assert belief.fit_due(warm=True)
        assert belief.fit_due(warm=False)
        belief.adopt(FIRST)
    assert not belief.needs_warmup


def test_after_warmup_a_fit_comes_once():
    belief = process(fit="after_warmup")
    assert belief.needs_warmup
    learn(belief, 5)
    assert not belief.fit_due(warm=False)
    assert belief.fit_due(warm=True)
    belief.adopt(FIRST)
    for _ in range(20):
        learn(belief, 1)
        assert not belief.fit_due(warm=True)


def test_growing_fits_again_at_exactly_a_fifth_more_labels():
    belief = process(fit="growing", dim=2)
    assert not belief.needs_warmup
    fits = []
    for count in range(1, 61):
        learn(belief, 1)
        assert not belief.fit_due(warm=False)
        if belief.fit_due(warm=True):
            belief.adopt(FIRST)
            fits.append(count)
    assert fits == [4, 5, 6, 8, 10, 12, 15, 18, 22, 27, 33, 40, 48, 58]


@pytest.mark.parametrize("fitted_at", [5, 10, 35, 45, 1000, 12_345])
def test_a_fifth_is_exact_at_every_size(fitted_at):
    belief = process(fit="growing")
    belief._fitted_at = fitted_at
    due = []
    for labels in (fitted_at * 6 // 5 - 1, fitted_at * 6 // 5):
        belief.solver.keys, belief._changes = KeyList([None] * labels), labels - fitted_at
        due.append(belief.fit_due(warm=True))
    assert due == [False, True]


def test_a_schedule_goes_on_after_storage():
    belief, copy = process(fit="growing"), process(fit="growing")
    learn(belief, 10)
    belief.adopt(Parameters(Matern(1.5, (2.0, 3.0), 4.0), 0.7, 5.0).plain())
    copy.load(msgspec.msgpack.decode(msgspec.msgpack.encode(belief.state())))
    assert not copy.fit_due(warm=True)
    assert copy.parameters == belief.parameters
    assert copy.traits == belief.traits
    assert copy.predict(np.zeros(2)) == belief.predict(np.zeros(2))


@pytest.mark.parametrize(
    "arguments",
    [
        {"kernel": Matern(1.7, (0.5, 2.0), 3.0), "mean": 4.0},
        {"kernel": SquaredExponential(2.0), "noise_std": None, "mean": "fit", "fit": "growing"},
    ],
    ids=["fixed", "fitted"],
)
def test_the_configuration_makes_the_same_belief_again(arguments):
    belief = process(**arguments)
    config = msgspec.json.decode(msgspec.json.encode(belief.config()))
    again = GaussianProcess(**config | {"kernel": msgspec.convert(config["kernel"], Kernel)})
    assert again.config() == belief.config()
    assert again.state() == belief.state()


def test_the_description_tells_parameters_and_likelihood():
    belief = process(noise_std=1.0, kernel=SquaredExponential())
    belief.learn(np.zeros(2), 2.0)
    about = belief.describe()
    assert (about["dim"], about["fit"], about["noise_std"], about["mean"]) == (2, None, 1.0, 0.0)
    assert about["kernel"]["lengthscale"] == 1.0
    assert about["log_likelihood"] == pytest.approx(-0.5 * (4.0 / 2.0 + np.log(2.0) + np.log(2.0 * np.pi)))


def test_a_state_taken_up_replaces_whatever_was_there():
    belief, empty = process(), process().state()
    learn(belief, 3)
    belief.ask("a", np.ones(2))
    belief.load(empty)
    belief.ask("b", np.zeros(2))
    assert (belief.labels, belief.state()["solver"]["awaited"]) == (0, ["b"])
    belief.load(empty)
    assert belief.state() == empty
    assert belief.look(np.ones(2)).uncertainty == 1.0


def test_a_view_counts_labels_told_and_awaited():
    belief = process()
    learn(belief, 3)
    counts = [belief.look(np.zeros(2)).labels]
    for id in ("a", "b"):
        belief.ask(id, np.zeros(2))
        counts.append(belief.look(np.zeros(2)).labels)
    assert counts == [3, 4, 5]
    assert (belief.look(np.zeros(2)).arrivals, belief.labels) == (None, 3)


def test_a_gift_is_not_taken_for_an_awaited_label_without_a_name():
    belief = process(dim=1)
    belief.ask("", np.zeros(1))
    belief.learn(np.array([5.0]), 7.0)
    assert belief.predict(np.zeros(1)).mean == pytest.approx(0.0, abs=1e-3)
    assert belief.predict(np.array([5.0])).mean == pytest.approx(7.0, rel=0.02)


def test_expecting_with_the_view_just_seen_is_expecting_without():
    seen, unseen, x = process(), process(), np.array([0.3, 0.4])
    for belief in (seen, unseen):
        learn(belief, 5)
        belief.ask("first", np.zeros(2))
    seen.ask("a", x, seen.look(x))
    unseen.ask("a", x)
    assert seen.state() == unseen.state()
