"""The averaged belief as a whole against plain formulas, below and beyond every switch of its algebra."""

import numpy as np
import pytest

from breakeven import Averaged
from breakeven.beliefs.averaged import proposing
from breakeven.beliefs.averaged.averaged import MOST_LABELS
from breakeven.beliefs.averaged.members import all_members
from breakeven.beliefs.averaged.posterior import HALVED_FROM, growing_evidence
from breakeven.beliefs.averaged.proposing import affordable
from tests.oracle.plain_average import MOVING, SHAPED, PlainAverage, count_errors

DIM = 2
FIT_WITH = 60  # labels, at most: members found with more of them are slow to find


def stream(count, *, skewed=False):
    random = np.random.default_rng(3)
    X = random.normal(size=(count, DIM))
    if skewed:
        X[:, 1] = np.exp(1.5 * X[:, 1])  # far out, so that it has ranks
    y = np.sin(2.0 * X[:, 0]) + 0.3 * np.log1p(np.abs(X[:, 1])) + 0.3 * random.standard_normal(count)
    return X, np.exp(1.5 * y) if skewed else y


def lived(begun, grown=0, *, awaited=3, noises=(None,), skewed=False, few=False, **arguments):
    """A belief that took `begun` labels in at once and then `grown` one by one; and a point elsewhere.

    With `few` only the first of the members found and the last two are taken.
    """
    X, y = stream(begun + grown + awaited + 1, skewed=skewed)
    belief = Averaged(DIM, **arguments)
    belief.watch(16)
    points = [belief.point(x) for x in X]
    for i, point in enumerate(points[: begun + grown]):
        belief.arrive(point)
        belief.learn(point, float(y[i]), i, noise_std=noises[i % len(noises)])
        if i + 1 == min(begun, FIT_WITH):
            found = belief.fit(belief.fit_job(), np.random.default_rng(0))
        if i + 1 == begun:
            members = found["members"]
            belief.adopt({**found, "members": [members[0], *members[-2:]] if few else members})
    for i, point in enumerate(points[begun + grown : -1], start=begun + grown):
        belief.arrive(point)
        belief.ask(i, point, noise_std=noises[i % len(noises)])
    return belief, points[-1]


def assert_is_plain(belief, point, *, noise_std=None, widened=1.0):
    """Everything that the belief says at a point is what plain formulas say; returns these."""
    plain = PlainAverage(belief.state(), DIM, belief.noise_std, belief.level, widened)
    np.testing.assert_allclose(belief._posterior.weights, plain.weights, rtol=1e-6, atol=1e-12)
    view = belief.look(point)
    assert_predicts_plainly(belief, view, plain, point)
    assert_saves_plainly(belief, view, plain, point, noise_std)
    return plain


def placed(plain, point, age=0):
    return plain.place(np.append(point, plain.clock - age)[None])


def assert_predicts_plainly(belief, view, plain, point):
    close = lambda one: pytest.approx(one, rel=1e-6, abs=1e-6 * plain.std)  # noqa: E731
    prediction, place = view.prediction, placed(plain, point)
    assert prediction == belief.predict(point)
    assert prediction.f_quantiles == close(tuple(plain.quantiles(place, of_label=False)))
    assert prediction.label_quantiles == close(tuple(plain.quantiles(place, of_label=True)))
    assert prediction.mean == close(plain.answer(place))
    assert prediction.std == close((prediction.f_quantiles[7] - prediction.f_quantiles[3]) / 2.0)
    assert view.uncertainty == close(prediction.std * plain.narrowing(place))
    assert belief.traits.noise_std == close(belief.noise_std or plain.label_noise())
    high = prediction.label_quantiles[8]
    for age, noise_std in ((0, None), (2, 1.5)):
        below = plain.below(placed(plain, point, age + 1), high, plain.ratio(noise_std))
        assert belief.rank(point, high, noise_std, age) == (pytest.approx(below, rel=1e-6), 0.0)


def assert_saves_plainly(belief, view, plain, point, noise_std):
    saving = view.saves(belief.traits.noise_std if noise_std is None else noise_std)
    place = placed(plain, point)
    here, later, later_labels, ahead = plain.saving(place, plain.ratio(noise_std))
    found = saving.here, saving.later, saving.later_labels, saving.lesson
    assert found == pytest.approx((here, later, later_labels, plain.lesson(ahead)), rel=1e-5)
    values, weights = plain.claims(place, of_label=True)
    outright = weights @ count_errors(values - view.prediction.mean, belief.level)
    assert saving.outright == pytest.approx(outright, rel=1e-6)


# -- every number, from three labels to more than a thousand -------------------------------------------------


SWITCHES = [
    (3, 0),
    (4, 0),
    (5, 4),
    pytest.param(40, 8, marks=pytest.mark.slow),
    (HALVED_FROM - 10, 25),
    pytest.param(HALVED_FROM, 0, marks=pytest.mark.slow),
    (764, 20),
    (MOST_LABELS - 10, 20),
]


@pytest.mark.parametrize(("begun", "grown"), SWITCHES)
def test_the_average_is_that_of_plain_formulas(begun, grown):
    belief, point = lived(begun, grown, few=begun > FIT_WITH)
    plain = assert_is_plain(belief, point)
    assert len(plain.y) == begun + grown
    assert belief._begun == begun


def test_beyond_a_thousand_labels_an_even_part_is_averaged_and_then_some_more():
    belief, point = lived(1_050, 205, few=True)
    plain = assert_is_plain(belief, point)
    used = belief.state()["used"]
    assert used[:MOST_LABELS] == np.linspace(0, 1_049, MOST_LABELS).round().astype(int).tolist()
    assert used[MOST_LABELS:] == list(range(1_050, 1_250))  # a fifth more, until the next fit
    assert len(plain.y) == 1_200


@pytest.mark.parametrize("begun", [7, pytest.param(205, marks=pytest.mark.slow)])
@pytest.mark.parametrize("level", [0.2, pytest.param(0.9, marks=pytest.mark.slow)])
def test_the_average_where_answers_too_low_and_too_high_cost_differently(begun, level):
    assert_is_plain(*lived(begun, level=level))


@pytest.mark.parametrize(("begun", "grown"), [(4, 3), (HALVED_FROM - 5, 10)])
def test_the_average_where_the_noise_is_known(begun, grown):
    plain = assert_is_plain(*lived(begun, grown, noise_std=0.4))
    assert (plain.weights[1] == 0.0).all()  # labels are taken as they are


@pytest.mark.parametrize("noise_std", [None, 0.5], ids=["unknown", "known"])
@pytest.mark.parametrize(("begun", "grown"), [(8, 4), (HALVED_FROM - 5, 10)])
def test_the_average_of_labels_of_several_noises(begun, grown, noise_std):
    belief, point = lived(begun, grown, noises=(0.5, 1.0, 0.1), noise_std=noise_std, few=begun > 8)
    plain = assert_is_plain(belief, point, noise_std=1.5)
    assert sorted(set(plain.ratios)) == pytest.approx([0.04, 1.0, 4.0])


def test_the_average_along_ranks():
    plain = assert_is_plain(*lived(30, 5, skewed=True))
    assert plain.ranks
    assert plain.weights[1].sum() > 0.3  # some of it is tamed


def test_the_average_without_labels_awaited():
    assert_is_plain(*lived(12, awaited=0))


def test_labels_awaited_shorten_the_reach_of_others():
    """The same, at the point of a label awaited, where hardly anything is left to be told."""
    belief, _ = lived(14, awaited=6)
    row = belief._awaited[-1].row
    assert_is_plain(belief, row[:-1])
    silent, _ = lived(14, awaited=0)
    both = [one.look(row[:-1]).saves(one.traits.noise_std).later for one in (belief, silent)]
    assert both[0] < 0.8 * both[1]


def test_one_more_label_awaited_counts_at_once():
    belief, point = lived(14)
    assert_is_plain(belief, point)  # what follows from the labels awaited is computed by now
    belief.ask(99, point)
    assert_is_plain(belief, point)
    belief.withdraw(99, point, None)
    assert_is_plain(belief, point)


@pytest.mark.parametrize("begun", [20, HALVED_FROM + 3])
def test_the_average_after_labels_changed(begun):
    belief, point = lived(begun, 3, few=True)
    belief.correct(3, None, 0.0, 2.5)
    assert_is_plain(belief, point)
    belief.withdraw(5, None, 0.0)
    belief.reopen(6, None, 0.0)
    belief.tell(begun + 4, None, 1.5)
    assert_is_plain(belief, point)
    belief.give_way(begun + 2, 0, 2.0)
    assert_is_plain(belief, point, widened=2.0)
    for x in stream(80)[0][:30]:  # time goes on, and others are kept
        belief.arrive(belief.point(x))
    assert_is_plain(belief, point, widened=2.0)


def test_48_arrivals_at_most_stand_for_those_to_come():
    belief = Averaged(DIM)
    belief.watch(256)
    kept = []
    for x in stream(200)[0]:
        belief.arrive(belief.point(x))
        kept.append(len(belief._kept))
    assert max(kept) == 48
    assert min(kept[48:]) >= 20


def test_the_arrivals_kept_are_as_of_now_but_for_a_twentieth():
    belief, _ = lived(12)
    for x in stream(300)[0]:
        belief.arrive(belief.point(x))
        assert belief._kept_at <= belief._clock <= 1.05 * belief._kept_at


# -- what a fit finds ----------------------------------------------------------------------------------------


def weighed(belief, found, members, places):
    """The plain weight of each of these members, on the labels at these places."""
    state = {**belief.state(), "fitted": {**found, "members": members}, "used": places}
    return PlainAverage(state, DIM, belief.noise_std).weights.sum(axis=0)


def heaviest(members, weights, most):
    order = np.argsort(-weights, kind="stable")[:most]
    return [members[i] for i in sorted(order) if weights[i] > 3e-3]


FITS = [
    (12, {}),
    (100, {}),
    pytest.param(100, {"noise_std": 0.4}, marks=pytest.mark.slow),
    pytest.param(100, {"skewed": True}, marks=pytest.mark.slow),
    pytest.param(790, {}, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("labels", "arguments"), FITS, ids=str)
def test_a_fit_goes_on_with_the_heaviest_members(labels, arguments):
    """All are weighed on 64 of the labels; then 24 of them, or thrice those kept, on all."""
    belief, _ = lived(3, labels - 3, awaited=0, few=True, **arguments)
    found = belief.fit(belief.fit_job(), np.random.default_rng(0))
    families = sorted({0, *range(1, 1 + len(found["axes"]))})
    members = [list(one) for one in all_members(families)]
    most = min(64, 2_000 // labels, 1 if labels >= 775 else 64)
    if labels > 64:
        some = sorted(set(np.linspace(0, labels - 1, 64).round().astype(int).tolist()))
        members = heaviest(members, weighed(belief, found, members, some), max(24, 3 * most))
    members = heaviest(members, weighed(belief, found, members, list(range(labels))), most)
    assert found["members"] == members


@pytest.mark.parametrize(("labels", "weighed_first", "most"), [(64, None, 31), (65, 90, 30), (300, 24, 6)])
def test_members_are_weighed_on_some_labels_first(labels, weighed_first, most, monkeypatch):
    calls = []
    whole = proposing._heaviest

    def heaviest(members, frame, places, y, ratios, known, most):
        calls.append((len(y), most))
        return whole(members, frame, places[:9], y[:9], ratios[:9], known, most)

    monkeypatch.setattr(proposing, "_heaviest", heaviest)
    belief, _ = lived(3, labels - 3, awaited=0, few=True)
    calls.clear()
    belief.fit(belief.fit_job(), np.random.default_rng(0))
    assert calls == [*([] if weighed_first is None else [(64, weighed_first)]), (labels, most)]


def test_how_many_members_are_kept():
    """64 at most, 2,000 over the labels, and one from 775 labels on."""
    assert [affordable(n) for n in (8, 31, 32, 774, 775, 2_000)] == [64, 64, 62, 2, 1, 1]


def test_families_of_axes_come_with_their_labels():
    """Eight labels, and four more than features that vary; time once labels are of several times."""
    counts = {}
    for labels in (7, 8, 9):
        belief, _ = lived(3, labels - 3, awaited=0)
        counts[labels] = len(belief.fit(belief.fit_job(), np.random.default_rng(0))["axes"])
    assert counts == {7: 0, 8: MOVING, 9: MOVING}
    belief, (X, y) = Averaged(DIM), stream(9)
    for x, label in zip(X, y, strict=True):
        belief.learn(belief.point(x), float(label))
    assert len(belief.fit(belief.fit_job(), np.random.default_rng(0))["axes"]) == SHAPED


# -- where labels changed ------------------------------------------------------------------------------------


@pytest.mark.parametrize("skewed", [False, True], ids=["plain", "tamed"])
def test_the_evidence_of_parts_is_that_of_the_labels_of_each(skewed):
    """Of labels as most of the weight looks at them, each with its own noise."""
    belief, _ = lived(30, noises=(0.5, 1.0, 0.1), skewed=skewed, few=True)
    plain = PlainAverage(belief.state(), DIM)
    tamed = int(plain.weights[1].sum() > 0.5)
    assert tamed == skewed
    before, after, z = belief._posterior.evidence_of_parts(plain.points, plain.y, plain.ratios)
    np.testing.assert_allclose(z, plain.targets[tamed])
    for i, member in enumerate(plain.members):
        K = plain.covariance(member, plain.points, plain.ratios)
        np.testing.assert_allclose(before[i], growing_evidence(K, z, None), rtol=1e-8)
        np.testing.assert_allclose(after[i], growing_evidence(K[::-1, ::-1], z[::-1], None)[::-1], rtol=1e-8)


@pytest.mark.parametrize(("changed", "outdated"), [(20, 0), (250, 250)])
def test_a_change_is_looked_for_among_the_last_four_hundred_labels(changed, outdated):
    X, y = stream(450)
    belief = Averaged(DIM)
    for i, (x, label) in enumerate(zip(X, y, strict=True)):
        belief.learn(belief.point(x), float(label) + (6.0 if i >= changed else 0.0), i)
        if i == 18:
            found = belief.fit(belief.fit_job(), np.random.default_rng(0))
    belief.adopt({**found, "members": found["members"][-1:]})
    assert belief.outdated() == pytest.approx(outdated, abs=20 if outdated else 0)
