"""The averaged belief against dense solves, refits without a label, and Monte Carlo."""

import numpy as np
import pytest
from scipy.stats import kurtosis, norm, rankdata

from breakeven.beliefs.averaged.coming import Coming, Narrowing
from breakeven.beliefs.averaged.frame import Frame, Moments
from breakeven.beliefs.averaged.members import NOISES, SHAPES, Kernels, Member, all_members
from breakeven.beliefs.averaged.mixture import NODE_WEIGHTS, Mixture, below, nodes
from breakeven.beliefs.averaged.posterior import TAMED, LabelScale, Posterior
from breakeven.beliefs.averaged.proposing import AxesClimb

DIM, LABELS = 3, 12
RANDOM = np.random.default_rng(7)
WIDTH = DIM + 1  # the last column is time
PLACES = RANDOM.standard_normal((LABELS, WIDTH))
LABELLED = np.sin(2.0 * PLACES[:, 0]) + 0.5 * PLACES[:, 1] + 0.2 * RANDOM.standard_normal(LABELS)
RATIOS = np.where(np.arange(LABELS) % 3, 1.0, 4.0)
AXES = np.array([[1.0, 1.0, 1.0, np.inf], [0.5, 1.0, 4.0, np.inf], [0.5, 1.0, 4.0, 2.0]])
FRAME = Frame(np.zeros(WIDTH), np.ones(WIDTH), np.ones(WIDTH), AXES, spent=(0.0, 1.5, 2.5))
MEMBERS = all_members(range(3))
ELSEWHERE = RANDOM.standard_normal((5, WIDTH))


def made(count: int = LABELS, members: list[Member] = MEMBERS) -> Posterior:
    posterior = Posterior(members, FRAME, PLACES[:count], RATIOS[:count])
    posterior.learn(LABELLED[:count])
    return posterior


def kernel(member: Member, a: np.ndarray, b: np.ndarray) -> float:
    """One value of a member's kernel, as docs/belief.md writes it."""
    shape, axes = SHAPES[member.shape], FRAME.axes[member.axes]
    apart = (a - b) ** 2
    r = np.sqrt(np.sum(apart / axes**2) / (2.0 * DIM))
    shares = axes**-2.0 / np.sum(axes**-2.0)

    def matern(q: np.ndarray | float) -> np.ndarray | float:
        q = np.sqrt(5.0) * q
        return (1.0 + q + q * q / 3.0) * np.exp(-q)

    profile = {
        "none": 0.0,
        "matern": matern(r / shape.length),
        "gauss": np.exp(-0.5 * (r / shape.length) ** 2),
        "additive": 0.6 * np.sum(shares * matern(np.sqrt(apart / 2.0) / (shape.length * axes)))
        + 0.4 * matern(r / (2.0 * shape.length)),
    }[shape.profile]
    return float((1.0 - shape.linear) * profile + shape.linear * np.sum(shares * a * b))


@pytest.mark.parametrize("which", range(0, len(MEMBERS), 13))
def test_a_member_is_a_process_with_a_flat_mean(which: int) -> None:
    """Against a dense solve in which the mean has a huge prior variance."""
    member, x = MEMBERS[which], ELSEWHERE[0]
    K = np.array([[kernel(member, a, b) for b in PLACES] for a in PLACES])
    noise = NOISES[member.noise] * RATIOS
    huge = 1e6
    covariance = K + np.diag(noise) + huge
    row = np.array([kernel(member, a, x) for a in PLACES])
    z = LabelScale.of(LABELLED).targets(LABELLED)[0]
    solved = np.linalg.solve(covariance, np.column_stack([z, row + huge]))
    mean = (row + huge) @ solved[:, 0]
    variance = kernel(member, x, x) + huge - (row + huge) @ solved[:, 1]
    posterior = made()
    look = posterior.look(x, ELSEWHERE[:0])
    assert posterior.centres(look)[0, which] == pytest.approx(mean, abs=1e-5)
    assert look.variance[which] == pytest.approx(variance, abs=1e-5)


def test_left_out_answers_are_those_of_a_refit() -> None:
    """Closed forms against posteriors that never saw the label."""
    posterior = made()
    targets = posterior.scale.targets(LABELLED)
    diagonal = np.einsum("mii->mi", posterior.inverse) - posterior.ones**2 / posterior.certain[:, None]
    answers = targets[:, None, :] - posterior.pulls / diagonal
    for left_out in (0, 5):
        rest = np.arange(LABELS) != left_out
        without = Posterior(MEMBERS, FRAME, PLACES[rest], RATIOS[rest])
        without.learn(LABELLED[rest])
        look = without.look(PLACES[left_out], ELSEWHERE[:0])
        z = targets[:, rest]
        means = np.einsum("mi,ti->tm", without.ones, z) / without.certain
        pulls = np.matmul(without.inverse, z.T).transpose(2, 0, 1) - means[:, :, None] * without.ones
        expected = means + np.einsum("tmi,mi->tm", pulls, look.k)
        np.testing.assert_allclose(answers[:, :, left_out], expected, atol=1e-7)


def test_fitted_axes_take_degrees_of_freedom() -> None:
    """Degrees and scales of members, by the formulas of docs/belief.md."""
    posterior = made()
    targets = posterior.scale.targets(LABELLED)
    spent = np.array([FRAME.spent[member.axes] for member in MEMBERS])
    degrees = LABELS - 1.0 - spent
    np.testing.assert_allclose(posterior.degrees, degrees)
    quadratic = np.einsum("tmi,ti->tm", posterior.pulls, targets)
    np.testing.assert_allclose(posterior.spreads**2, quadratic / degrees)


def test_what_axes_take_is_what_labels_tell_of_them() -> None:
    """Against information from differences of the covariance: tr(PΔPΔ)/2, and less for the unknown scale."""
    climb = AxesClimb(PLACES[:, :DIM], LABELLED, RATIOS, FRAME)
    at = np.array([-0.5, 0.3, 1.0, -1.5])
    K = lambda log_axes: covariance_along(PLACES[:, :DIM], log_axes, at[-1], RATIOS)  # noqa: E731
    assert climb.spent(at) == pytest.approx(taken(K, at[:-1]), rel=1e-5)


def test_growing_is_taking_all_in_at_once() -> None:
    """One label after the other leads to the same posterior, also at the arrivals to come."""
    whole, grown = made(), made(8)
    coming = Coming.of(grown, ELSEWHERE)
    for i in range(8, LABELS):
        look = grown.look(PLACES[i], ELSEWHERE)
        coming.tell(look, grown.pivot(look, RATIOS[i]))
        grown.grow(look, RATIOS[i])
        grown.learn(LABELLED[: i + 1])
        coming.survey(grown)
    np.testing.assert_allclose(grown.inverse, whole.inverse, atol=1e-8)
    np.testing.assert_allclose(grown.weights, whole.weights, atol=1e-9)
    np.testing.assert_allclose(coming.variance, Coming.of(whole, ELSEWHERE).variance, atol=1e-9)


def test_an_awaited_label_narrows_as_a_told_one_does() -> None:
    """Variances given labels awaited are those once they are told."""
    told, waiting = made(), made(9)
    coming = Coming.of(waiting, ELSEWHERE)
    awaited = Narrowing(waiting, coming, PLACES[9:], RATIOS[9:])
    narrowed, taken = awaited.narrow(waiting.look(ELSEWHERE[1], ELSEWHERE))
    look = told.look(ELSEWHERE[1], ELSEWHERE)
    after = Coming.of(told, ELSEWHERE)
    np.testing.assert_allclose(narrowed.narrowed, look.variance, atol=1e-9)
    np.testing.assert_allclose(awaited.coming, after.variance, atol=1e-9)
    np.testing.assert_allclose(coming.reach(narrowed, waiting) - taken, after.reach(look, told), atol=1e-9)


def test_the_mixture_is_that_of_its_components() -> None:
    """Quantiles and the expected error against a large sample."""
    random = np.random.default_rng(3)
    centres, spreads, weights, degrees = np.array([0.0, 3.0]), np.array([1.0, 0.5]), np.array([0.7, 0.3]), 6.0
    values = centres[:, None] + spreads[:, None] * nodes(degrees)
    mixture = Mixture(values.ravel(), np.multiply.outer(weights, NODE_WEIGHTS).ravel())
    which = random.random(400_000) < weights[0]
    sample = np.where(which, centres[0], centres[1]) + np.where(which, *spreads) * random.standard_t(
        degrees, len(which)
    )
    levels = [0.025, 0.1, 0.5, 0.9, 0.975]
    np.testing.assert_allclose([mixture.quantile(q) for q in levels], np.quantile(sample, levels), atol=0.06)
    answer = mixture.quantile(0.5)
    assert mixture.error(answer, 0.5) == pytest.approx(np.abs(sample - answer).mean(), rel=0.02)
    share = weights @ below((1.0 - centres) / spreads, np.full(2, degrees))
    assert share == pytest.approx((sample < 1.0).mean(), abs=0.003)
    assert NODE_WEIGHTS.sum() == pytest.approx(1.0)


def test_tamed_targets_are_labels_again() -> None:
    scale = LabelScale.of(LABELLED)
    np.testing.assert_allclose(scale.tamed(scale.targets(LABELLED)[TAMED]), LABELLED, atol=1e-12)


def test_moments_are_those_of_the_points() -> None:
    X = np.column_stack([RANDOM.normal(1e6, 3.0, 50), RANDOM.integers(0, 2, 50), np.full(50, 7.0)])
    moments = Moments(3)
    for row in X:
        moments.add(row)
    frame = moments.frame(clock=50)
    np.testing.assert_allclose(frame.scale[0], X[:, 0].std(), rtol=1e-9)
    assert frame.scale[1] == 1.0  # yes and no keep their scale
    assert frame.scale[2] == np.inf  # what never varies says nothing
    np.testing.assert_allclose(frame.variation, [1.0, X[:, 1].var(), 0.0, 1.0], atol=1e-9)
    assert frame.features == pytest.approx(1.0 + X[:, 1].var())
    times = np.arange(50.0)
    np.testing.assert_allclose([frame.centre[3], frame.scale[3]], [times.mean(), times.std()], rtol=1e-3)
    X = np.column_stack([X, times])
    alike = all_members(range(1))
    kernels = Kernels(alike, frame)
    column = kernels.column(kernels.features(frame.place(X[:4])), frame.place(X[0]))
    assert column.shape == (len(alike), 4)
    assert np.isfinite(column).all()


@pytest.mark.parametrize("families", [1, 2, 3])
@pytest.mark.parametrize("dim", [1, 3, 8])
def test_a_kernel_of_two_points_never_depends_on_which_others_are_beside_them(dim, families):
    random = np.random.default_rng(dim)
    still = np.append(0.5 + random.random((2, dim)), np.full((2, 1), np.inf), axis=1)
    frame = Frame(
        np.zeros(dim + 1),
        np.ones(dim + 1),
        np.ones(dim + 1),
        np.vstack([still, 0.5 + random.random(dim + 1)]),
    )
    kernels = Kernels(all_members(range(families)), frame)
    for count in (3, 4, 7, 16, 33):
        points, others = random.normal(size=(count, dim + 1)), random.normal(size=(5, dim + 1))
        between = kernels.between(points, others)
        for i, other in enumerate(others):
            both = kernels.between(np.vstack([points, others]), other[None])
            assert (both[:, :count, 0] == between[:, :, i]).all()
            np.testing.assert_allclose(
                kernels.column(kernels.features(points), other), between[:, :, i], rtol=1e-12, atol=1e-14
            )


# -- ranks of features that lie far out ----------------------------------------------------------------------


@pytest.mark.parametrize(("degrees", "ranked"), [(3, True), (200, False)])
def test_a_feature_has_ranks_where_its_kurtosis_is_beyond_chance(degrees, ranked):
    """Above 3 + 3·√(24/n); as normal scores of its own sample, through 25 values at most."""
    random = np.random.default_rng(1)
    X = random.standard_t(degrees, size=(200, 1))
    moments = Moments(1)
    for row in X:
        moments.add(row)
    frame = moments.frame(200, X)
    assert (kurtosis(X[:, 0], fisher=False) > 3.0 + 3.0 * np.sqrt(24.0 / 200)) == ranked
    assert bool(frame.ranks) == ranked
    if ranked:
        (ranks,) = frame.ranks
        scores = norm.ppf((rankdata(X[:, 0]) - 0.5) / 200)
        assert len(ranks.values) == 25
        np.testing.assert_allclose(ranks.scores_of(X[:, 0]), scores, atol=0.15)  # knots are 0.23 apart


@pytest.mark.parametrize("count", [50, 400])
def test_what_chance_does_to_a_kurtosis_gives_no_ranks(count):
    """Between one standard error beyond that of a normal, and three."""
    x = np.append(norm.ppf((np.arange(count) + 0.5) / count), [0.0])
    x[-1] = x.max() * (1.25 if count == 50 else 1.45)
    beyond = (kurtosis(x, fisher=False) - 3.0) / np.sqrt(24.0 / len(x))
    assert 0.0 < beyond < 3.0
    moments = Moments(1)
    for one in x:
        moments.add(np.array([one]))
    assert moments.frame(len(x), x[:, None]).ranks == ()


def test_ranks_go_on_beyond_the_last_and_nothing_lies_further_out_than_a_thousand_spreads():
    random = np.random.default_rng(1)
    X = np.exp(2.0 * random.standard_normal((100, 1)))
    moments = Moments(1)
    for row in X:
        moments.add(row)
    frame = moments.frame(100, X)
    (ranks,) = frame.ranks
    v, z = ranks.values, ranks.scores
    high = z[-1] + (z[-1] - z[-2]) / (v[-1] - v[-2]) * v[-1]
    low = z[0] - (z[1] - z[0]) / (v[1] - v[0]) * v[-1]
    np.testing.assert_allclose(ranks.scores_of(np.array([2.0 * v[-1], v[0] - v[-1]])), [high, low])
    far = frame.place(np.array([[1e12, 50.0], [-1e12, 50.0]]))
    np.testing.assert_array_equal(far[:, :-1], [[1e3, 1e3], [-1e3, -1e3]])
    assert frame.place(np.array([[X.mean() + 900.0 * X.std(), 50.0]]))[0, 0] == pytest.approx(900.0)


def test_what_axes_take_of_many_labels_is_told_from_some():
    """F of 64 labels, times how many more there are."""
    random = np.random.default_rng(2)
    X = random.standard_normal((120, WIDTH))
    y = np.sin(X[:, 0]) + 0.3 * random.standard_normal(120)
    at, some = np.array([0.5, 0.3, 1.0, -1.5]), np.unique(np.linspace(0, 119, 64).round().astype(int))
    K = lambda log_axes: covariance_along(X[some, :DIM], log_axes, at[-1])  # noqa: E731
    assert AxesClimb(X[:, :DIM], y, np.ones(120), FRAME).spent(at) == pytest.approx(
        taken(K, at[:-1], 120.0 / 64.0), rel=1e-4
    )


def covariance_along(places, log_axes, log_noise, ratios=1.0):
    apart = (places[:, None] - places[None]) / np.exp(log_axes)
    q = np.sqrt(5.0 * (apart**2).sum(axis=2) / (2.0 * DIM))
    return (1.0 + q + q * q / 3.0) * np.exp(-q) + np.exp(log_noise) * ratios * np.eye(len(places))


def taken(covariance, log_axes, times=1.0):
    """The trace of F/(F + 1), with F from differences of the covariance."""
    inverse = np.linalg.inv(covariance(log_axes))
    P = inverse - np.outer(inverse.sum(axis=1), inverse.sum(axis=0)) / inverse.sum()
    small = 1e-5 * np.eye(DIM)
    slopes = [P @ (covariance(log_axes + e) - covariance(log_axes - e)) / 2e-5 for e in small]
    count = len(inverse)
    F = [[np.trace(a @ b) - np.trace(a) * np.trace(b) / (count - 1) for b in slopes] for a in slopes]
    F = 0.5 * times * np.array(F)
    return np.trace(F @ np.linalg.inv(F + np.eye(DIM)))
