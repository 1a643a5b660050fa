"""The trail of audits: what it counts, what it waits for, and what it says."""

import msgspec
import numpy as np
import pytest

from breakeven.errors import ConflictingLabel, DuplicateId, InvalidInput, UnknownId
from breakeven.learner.trail import Trail

A, B, C, D, E, Z = range(10, 16)  # keys


def trail(**changed):
    return Trail(**{"rate": 0.25, "bound": 1.0, "noise_std": 0.1, **changed})


def walked():
    """Four audits among 20 declined arrivals: A told, B awaited, C told, D missing."""
    made = trail()
    for key in (A, B, C, D):
        made.decline(4)
        made.audit(key, prediction=0.5)
    made.tell(C, 0.9)
    made.tell(A, 0.6)
    made.withdraw(D)
    return made


def test_the_averages_stop_short_of_the_first_label_awaited():
    made = walked()
    report = made.report()
    assert (report.declined, report.audited, report.awaited, report.missing) == (20, 4, 1, 1)
    assert report.covers == 9
    made.tell(B, 0.2)
    made.decline(3)
    assert made.report().covers == 23


def test_errors_are_weighted_by_the_rate_around_the_guess_so_far():
    made = trail(bound_on="labels")
    made.decline(3)
    made.audit(A, 0.5)
    made.decline(4)
    made.tell(A, 0.9)
    report = made.report()
    assert report.absolute.estimate == pytest.approx((0.4 / 0.25 + 4 * 0.2) / 8)
    assert report.squared.estimate == pytest.approx((0.16 / 0.25 + 4 * 0.08) / 8 - 0.01)


def test_nothing_is_known_of_nothing():
    report = trail().report()
    assert (report.covers, report.absolute.estimate, report.squared.low) == (0, None, 0.0)
    assert (report.squared.high, report.rms_bound) == (1.0, 1.0)
    assert report.absolute.high == pytest.approx(1.01**0.5)


def test_a_corrected_label_leaves_no_trace():
    made, plain = walked(), walked()
    made.tell(B, 0.3)
    made.report()
    made.correct(A, 0.1)
    made.report()
    made.correct(A, 0.6)
    plain.tell(B, 0.3)
    assert made.report() == plain.report()


def test_a_label_withdrawn_late_is_missing_and_widens_the_interval():
    made = trail()
    for key in range(200):
        made.decline(3)
        made.audit(key, 0.5)
        made.tell(key, 0.7)
    before = made.report()
    made.withdraw(60)
    after = made.report()
    assert (after.missing, after.covers) == (1, 800)
    assert after.absolute.low < before.absolute.low < before.absolute.high < after.absolute.high
    assert after.rms_bound > before.rms_bound


def test_a_missing_label_is_named_no_more():
    made = walked()
    made.withdraw(A)
    assert A not in made
    made.audit(A, 0.5)
    assert A in made


def test_what_comes_after_the_stop_is_declined_and_not_covered():
    made = walked()
    made.tell(B, 0.4)
    made.stop(57)
    made.decline(1000)
    report = made.report()
    assert (report.declined, report.covers, report.stopped_at) == (1020, 20, 57)
    assert "covered           the first 20 declined arrivals; audits stopped at round 57" in str(report)
    with pytest.raises(InvalidInput, match="audit: expected none after the stop at round 57, got one"):
        made.audit(Z, 0.5)
    made.stop(99)
    assert made.report().stopped_at == 57


def test_telling_twice_is_harmless_and_another_value_is_refused():
    made = walked()
    before = made.state()
    made.tell(A, 0.6)
    with pytest.raises(
        ConflictingLabel, match=r"^key 10: expected the label 0\.6 told before, got 0\.7; use corr"
    ):
        made.tell(A, 0.7)
    assert made.state() == before


def test_keys_that_are_not_audited_are_refused():
    made = walked()
    for verb in (lambda: made.tell(Z, 1.0), lambda: made.correct(Z, 1.0), lambda: made.withdraw(D)):
        with pytest.raises(UnknownId, match=r"key: expected an audited arrival, got 1[35]"):
            verb()
    with pytest.raises(UnknownId, match="still awaited, use tell"):
        made.correct(B, 1.0)
    with pytest.raises(DuplicateId, match="got 10, which is audited already"):
        made.audit(A, 0.5)


@pytest.mark.parametrize("y", [float("nan"), float("inf"), "0.5", None])
def test_a_label_is_a_finite_number(y):
    made = walked()
    before = made.state()
    for verb in (lambda: made.tell(B, y), lambda: made.correct(A, y)):
        with pytest.raises(InvalidInput, match="y: expected a finite number, got "):
            verb()
    with pytest.raises(InvalidInput, match="prediction: expected a finite number, got "):
        made.audit(E, y)
    assert made.state() == before


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"rate": 0.0}, r"rate: expected a number in \(0, 1\), got 0\.0"),
        ({"rate": 1.0}, r"rate: expected a number in \(0, 1\), got 1\.0"),
        ({"bound": 0.0}, "bound: expected a positive, finite number, got 0"),
        ({"bound": -1.0}, "bound: expected a positive, finite number, got -1"),
        ({"noise_std": float("nan")}, "noise_std: expected a positive, finite number, got nan"),
        ({"bound_on": "both"}, "bound_on: expected one of 'labels', 'truth', got 'both'"),
    ],
)
def test_settings_that_cannot_be_right_are_refused(changed, message):
    with pytest.raises(InvalidInput, match=message):
        trail(**changed)


@pytest.mark.parametrize("level", [0.0, 1.0, 95])
def test_a_level_is_a_chance_even_of_nothing(level):
    with pytest.raises(InvalidInput, match="level: expected a number in"):
        trail().report(level=level)


def test_errors_that_contradict_the_bound_are_named():
    made = trail(bound_on="labels")
    made.audit(A, 0.0)
    made.tell(A, 1.5)
    report = made.report()
    assert report.exceeded == 1
    assert str(report).endswith("That is not so: an audited error is larger. Give a wider bound.")


@pytest.mark.parametrize("on", ["labels", "truth"])
def test_the_noise_that_is_taken_off_is_that_of_the_label_that_came(on):
    made = trail(noise_std=0.5, least_noise_std=0.1, bound_on=on)
    for key, asked, came in ((A, None, None), (B, 0.1, None), (C, 0.3, 0.1), (D, 0.1, 0.5)):
        made.decline(3)
        made.audit(key, 0.0, asked)
        made.tell(key, 0.8, came)
    noises = [one.noise_std for one in made._audits]
    assert noises == [0.5, 0.1, 0.1, 0.5]
    again = trail(noise_std=9.0, bound=20.0)
    again.load(msgspec.msgpack.decode(msgspec.msgpack.encode(made.state())))
    assert (again.noise_stds, again.state()) == ((0.1, 0.5), made.state())
    assert "standard deviation 0.1 to 0.5" in str(made.report().assumption)


@pytest.mark.parametrize("on", ["labels", "truth"])
def test_squares_of_labels_that_differ_in_noise_have_the_mean_of_the_truth(on):
    random, made = np.random.default_rng(5), trail(noise_std=0.4, least_noise_std=0.1, bound=2.0, bound_on=on)
    for key in range(4000):
        noise = 0.1 if random.random() < 0.8 else 0.4
        made.audit(key, 0.0, noise)
        made.decline(3)
        made.tell(key, 0.3 + noise * float(random.uniform(-1, 1)) * 3**0.5)
    squared = made.report().squared
    assert squared.estimate == pytest.approx(0.09, abs=0.01)
    assert squared.low < 0.09 < squared.high


@pytest.mark.parametrize("noise_std", [0.05, 0.6, float("nan"), "0.2"])
def test_a_noise_that_was_not_assumed_is_refused(noise_std):
    made = trail(noise_std=0.5, least_noise_std=0.1)
    made.audit(A, 0.0)
    before = made.state()
    for verb in (lambda: made.audit(B, 0.0, noise_std), lambda: made.tell(A, 0.0, noise_std)):
        with pytest.raises(InvalidInput, match=r"noise_std: expected a number from 0\.1 to 0\.5, got "):
            verb()
    assert made.state() == before


def test_arrivals_that_could_not_be_drawn_are_counted_and_left_out():
    made = walked()
    made.leave_out(7)
    report = made.report()
    assert (report.declined, report.covers, report.uncovered) == (20, 9, 7)
    assert "the first 9 declined arrivals; 7 others could not be drawn" in str(report)


def test_a_report_reads_well_and_is_plain_data():
    report = walked().report()
    assert str(report).splitlines()[0] == (
        "audits            4 of 20 declined arrivals, drawn at 25%   (1 awaited, 1 missing)"
    )
    assert "if |f − p| ≤ 1 and label noise has mean 0 and standard deviation 0.1" in str(report)
    assert msgspec.json.decode(msgspec.json.encode(report), type=type(report)) == report


def test_the_error_against_the_truth_is_below_both_upper_ends():
    made = trail(bound_on="labels")
    for key in range(300):
        made.decline(3)
        made.audit(key, 0.0)
        made.tell(key, 0.6)
    report = made.report()
    assert report.truth_bound == min(report.absolute.high, report.rms_bound) < 0.7
