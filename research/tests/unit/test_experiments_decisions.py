"""The table of decisions: what it compares, how it sums it up, and what makes it run again."""

from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import trapezoid

from breakeven import Learner, Prediction, from_table
from breakeven.values import Traits, View
from breakeven_research.datasets import drawn_streams
from breakeven_research.datasets.drawn_streams import DRAWN, drawn, rare_setting
from breakeven_research.experiments import Curve, catalogue
from breakeven_research.experiments.exhibits import decisions
from breakeven_research.experiments.runs import decision_jobs, workshop
from breakeven_research.experiments.runs.decision_jobs import (
    DEFAULT,
    EQUAL_MONEY,
    FITTED,
    KINDS,
    OWN,
    BeliefJob,
    DecisionJob,
    EnsembleJob,
    RivalsJob,
    StoppingJob,
    equal_money,
    make_learner,
)
from breakeven_research.experiments.runs.decision_jobs import (
    decision_jobs as jobs_of,
)
from breakeven_research.experiments.runs.decision_streams import REAL, STREAMS, arrivals
from breakeven_research.experiments.runs.published_rules import (
    LENGTHS,
    NOISES,
    Ensemble,
    Market,
    Selective,
    ensemble_run,
)
from breakeven_research.experiments.runs.rivals import ALL, MARK, NONE, score

SHORT = 40
DOCS = Path(__file__).parents[3] / "docs"


# -- streams -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DRAWN)
def test_a_drawn_stream_is_its_seed(name):
    one, again, other = drawn(name, 1), drawn(name, 1), drawn(name, 2)
    assert one.equals(again)
    assert not one.equals(other)
    assert np.isfinite(one.to_numpy()).all()


def test_a_rare_yes_is_as_rare_as_it_says_and_its_inputs_say_so_or_not():
    for share in (0.03, 0.3):
        for useful in (True, False):
            random = np.random.default_rng(0)
            points, labels = drawn_streams.rare_yes(random, share, useful=useful, rounds=20_000)
            assert labels.mean() == pytest.approx(share, rel=0.1)
            gap = points[labels == 1.0, 0].mean() - points[labels == 0.0, 0].mean()
            assert (gap > 1.0) == useful
            assert abs(gap) < 0.2 or useful


def test_loans_default_and_lose_as_much_as_they_should():
    defaults, losses = (drawn(name, 3)["y"].to_numpy() for name in ("loan-defaults", "loan-losses"))
    assert len(defaults) == 2000
    assert defaults.mean() == pytest.approx(0.08, abs=0.02)
    assert losses[losses > 0.0].mean() == pytest.approx(drawn_streams.MEAN_LOSS)
    assert (losses == 0.0).mean() == pytest.approx(0.92, abs=0.02)


def test_settings_of_rare_labels_lie_where_they_should():
    settings = [rare_setting(number) for number in range(drawn_streams.SETTINGS)]
    assert all(0.01 <= one.share <= 0.3 and 500 <= one.rounds <= 5000 for one in settings)
    assert all(0.1 <= one.cost / one.share <= 10.0 for one in settings)
    assert (sum(one.useful for one in settings), sum(one.yes_no for one in settings)) == (50, 50)
    assert len(settings[0].frame()) == settings[0].rounds


def test_text_of_a_stream_is_read_as_categories(monkeypatch):
    import polars as pl

    frame = pl.DataFrame({"sex": ["M", "F", "I", "M"], "x": [1.0, 2.0, 3.0, 5.0], "y": [1.0, 2.0, 3.0, 4.0]})
    monkeypatch.setitem(STREAMS, "texts", STREAMS["step"]._replace(make=lambda seed: frame))
    assert arrivals("texts", 0).columns.names == ["sex = F", "sex = I", "sex = M", "x"]


# -- learners ------------------------------------------------------------------------------------------------


def test_the_default_decides_as_from_table_does():
    frame, cases = drawn("friedman1", 0)[:SHORT], arrivals("friedman1", 0, SHORT)
    outcome = from_table(frame, label="y", cost=8.0, sweep=False)
    steps = outcome.decisions
    run = score(make_learner(DEFAULT, cases, 8.0), cases.points, cases.labels)
    assert run.labels[-1] == steps["wants_label"].sum()
    assert run.errors[-1] == pytest.approx(steps["error"].sum())


def test_the_fitted_process_stays_what_it_was():
    learner = make_learner(FITTED, arrivals("friedman1", 0, SHORT), 8.0, noise_std=None)
    assert type(learner.belief).__name__ == "GaussianProcess"
    assert (learner.belief.mean, learner.belief.fit_schedule) == ("fit", "growing")
    assert (type(learner.rule).__name__, learner.rule.horizon) == ("FirstValue", SHORT)


def test_equal_money_buys_as_many_labels_at_random():
    assert equal_money(10, 0, seed=1) == []
    assert equal_money(10, 2, seed=1) == [1, 2]
    assert equal_money(10, 10, seed=1) == list(range(1, 11))
    many = [equal_money(100, 20, seed) for seed in range(200)]
    assert all(len(set(one)) == 20 and one[:3] == [1, 2, 3] and max(one) <= 100 for one in many)
    assert np.mean([len([n for n in one if n > 50]) for one in many]) == pytest.approx(17 * 50 / 97, rel=0.05)


# -- rules published since 2023 ------------------------------------------------------------------------------


def view(uncertainty, price=1.0, round=10):
    traits = Traits(noise_std=0.5, exponent=0.5, unit=1.0, prior_std=1.0, dim=2)
    prediction = Prediction(0.0, uncertainty, 0.5)
    return View(uncertainty, prediction, None, 5, traits, round=round, price=price)


def test_the_market_buys_information_at_its_price():
    nats = 0.5 * np.log(1 + (1.5 / 0.5) ** 2)
    assert Market(1.0).decide(view(1.5, price=nats * 0.999)).wants_label
    assert not Market(1.0).decide(view(1.5, price=nats * 1.001)).wants_label
    assert Market(2.0).decide(view(1.5, price=nats * 1.999)).wants_label


def test_selective_sampling_accepts_what_it_spends():
    rule = Selective(root_beta=2.0)
    assert rule.decide(view(0.051, price=1.0, round=10)).wants_label
    rule.observe(labelled=True)
    rule.observe(labelled=False)
    assert not rule.decide(view(0.051, price=1.0, round=10)).wants_label
    assert rule.decide(view(0.101, price=1.0, round=10)).wants_label


def test_an_ensemble_weighs_by_evidence_and_answers_by_the_mixture():
    random = np.random.default_rng(0)
    points = random.uniform(-1, 1, (40, 1))
    ensemble = Ensemble(1)
    ensemble.learn(points, np.sin(3 * points[:, 0]))
    assert ensemble.look(np.array([0.5]))[0] == pytest.approx(np.sin(1.5), abs=0.1)


def test_an_ensemble_is_that_of_the_textbook():
    random = np.random.default_rng(1)
    points, labels = random.normal(size=(6, 2)), random.normal(size=6)
    ensemble, x = Ensemble(2), np.array([0.3, -0.2])
    ensemble.learn(points, labels)
    z, at = (
        (points - points.mean(axis=0)) / points.std(axis=0),
        (x - points.mean(axis=0)) / points.std(axis=0),
    )
    y = (labels - labels.mean()) / labels.std()
    logs, means, variances = [], [], []
    for length in LENGTHS:
        for noise in NOISES:
            scaled = np.vstack([z, at]) / (2 * length)  # √(2d) = 2
            k = np.exp(-0.5 * ((scaled[:, None] - scaled[None]) ** 2).sum(axis=2))
            K = k[:6, :6] + noise * np.eye(6)
            logs.append(stats.multivariate_normal(np.zeros(6), K).logpdf(y))
            means.append(k[6, :6] @ np.linalg.solve(K, y))
            variances.append(1.0 + noise - k[6, :6] @ np.linalg.solve(K, k[6, :6]))
    w = np.exp(logs - np.max(logs)) / np.exp(logs - np.max(logs)).sum()
    mean = w @ means
    mixed = stats.norm(mean, np.sqrt(w @ (np.array(variances) + (np.array(means) - mean) ** 2)))
    grid = np.linspace(-12, 12, 20_001)
    apart = 0.0
    for weight, one in zip(w, map(stats.norm, means, np.sqrt(variances)), strict=True):
        apart += weight * trapezoid(one.pdf(grid) * (one.logpdf(grid) - mixed.logpdf(grid)), grid)
    assert ensemble.look(x) == pytest.approx((labels.mean() + labels.std() * mean, apart), rel=1e-6)


def test_an_ensemble_asks_less_the_more_its_members_may_differ():
    cases = arrivals("friedman1", 0, SHORT)
    bought = [ensemble_run(cases.points, cases.labels, limit).labels[-1] for limit in (0.0, 0.1, 100.0)]
    assert bought[0] > bought[1] > bought[2] == 5


# -- jobs ----------------------------------------------------------------------------------------------------


def test_every_stream_has_every_job_it_should_have():
    found = jobs_of(["friedman1", "yes-0.1", "rare-000"])
    counts = {kind: sum(type(job) is kind for job in found) for kind in map(type, found)}
    assert counts == {
        RivalsJob: 7,
        StoppingJob: 3 * 2 + 3 * 7 + 1,
        DecisionJob: 2 * (3 * 7 + 3 * 7) + 1,
        BeliefJob: 6 * len(KINDS),
        EnsembleJob: 6,
    }


def test_other_rules_stop_where_nearly_all_are_labelled():
    curves = BeliefJob("step", 0, SHORT, decision_jobs.PAPER).run()
    *tried, last, everyone = [curve.labels[-1] for curve in curves.values()]
    assert all(labels <= decision_jobs.NEARLY_ALL * SHORT for labels in tried)
    assert decision_jobs.NEARLY_ALL * SHORT < last <= everyone == SHORT
    assert 0 < len(tried) < len(decision_jobs.SCALES) - 1


def test_the_same_belief_commits_by_the_slow_way():
    job = BeliefJob("friedman1", 0, SHORT, decision_jobs.COMMIT)
    cases, curve = job.cases, job.run()[f"{decision_jobs.COMMIT}-10"]
    first = decision_jobs.Listed(list(range(1, 11)))
    slow = score(Learner(job.belief(), first, label_cost=1.0), cases.points, cases.labels)
    assert (curve.labels[-1], curve.errors[-1]) == (10, pytest.approx(slow.errors[-1]))


def test_what_a_job_depends_on_decides_what_is_run_again(tmp_path, monkeypatch):
    folder = tmp_path / "breakeven_research"
    for name in ("datasets/one.py", "experiments/runs/rivals.py", "experiments/runs/decision_jobs.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
    monkeypatch.setattr(workshop, "NOT_RUN", {folder: ("experiments/exhibits/",)})

    def keys():
        workshop.fingerprint.cache_clear()
        workshop.fingerprint_of.cache_clear()
        shelf = workshop.Shelf(tmp_path)
        jobs = (
            RivalsJob("step", 0, None),
            *(DecisionJob("step", 0, None, one, 1.0) for one in (DEFAULT, FITTED)),
        )
        return [shelf._path(job) for job in jobs]

    def changed(name):
        before = keys()
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(path.read_text() + "#" if path.exists() else "#")
        return [one != other for one, other in zip(before, keys(), strict=True)]

    try:
        assert changed("datasets/one.py") == [True, True, True]
        assert changed("experiments/runs/decision_jobs.py") == [True, True, True]
        assert changed("experiments/runs/published_rules.py") == [False, True, False]
        assert changed("experiments/runs/jobs.py") == [False, True, False]
        assert changed("experiments/exhibits/decisions.py") == [False, False, False]
    finally:
        workshop.fingerprint.cache_clear()
        workshop.fingerprint_of.cache_clear()


# -- what is shown -------------------------------------------------------------------------------------------


def curve(labels, error, rounds=100, **marks):
    return Curve([rounds], [labels], [error], marks)


def run_of(stream, seed, learner, labels, error, price=1.0):
    return (
        DecisionJob(stream, seed, None, learner, price),
        {
            OWN: curve(labels, error, cover50=0.5, cover80=0.8, cover95=0.9),
            EQUAL_MONEY: curve(labels, 2 * error),
        },
    )


def rivals_of(stream, seed, sd=2.0):
    curves = {ALL: curve(100, 0.0, sd=sd), NONE: curve(0, 900.0), MARK: curve(0, 150.0)}
    return RivalsJob(stream, seed, None), curves | {"ridge-10": curve(10, 120.0), "ridge-50": curve(50, 60.0)}


RESULTS = [
    rivals_of("airfoil", 0),
    rivals_of("airfoil", 1),
    rivals_of("concrete", 0),
    run_of("airfoil", 0, DEFAULT, 10, 120.0),
    run_of("airfoil", 1, DEFAULT, 10, 540.0),
    run_of("concrete", 0, DEFAULT, 10, 50.0),
    run_of("airfoil", 0, FITTED, 20, 240.0),
    run_of("airfoil", 1, FITTED, 20, 240.0),
    run_of("concrete", 0, FITTED, 20, 240.0),
]


def test_losses_count_in_spreads_of_the_labels():
    first = next(one for one in decisions.measured(RESULTS) if one.learner == DEFAULT)
    assert first.loss == pytest.approx((10 * 2.0 + 120.0) / 100 / 2.0)
    assert first.rivals == pytest.approx({"ridge": 0.7, ALL: 1.0, NONE: 4.5})
    assert (first.best, first.ratio, first.beside[MARK]) == ("ridge", pytest.approx(1.0), 0.75)


def test_a_rival_has_one_choice_for_all_seeds_and_a_lucky_one_for_each():
    (first, one), (second, other), *rest = RESULTS
    varied = [
        (first, one | {"ridge-5": curve(5, 0.0), "ridge-10": curve(10, 100.0)}),
        (second, other | {"ridge-5": curve(5, 900.0), "ridge-10": curve(10, 100.0)}),
        *rest,
    ]
    airfoil = [run for run in decisions.measured(varied) if (run.stream, run.learner) == ("airfoil", DEFAULT)]
    assert [run.rivals["ridge"] for run in airfoil] == pytest.approx([0.6, 0.6])
    assert [run.lucky for run in airfoil] == pytest.approx([0.05, 0.6])


def test_a_value_that_one_seed_did_not_try_stands_for_labelling_all():
    extra = {"paper's rule-1": curve(20, 10.0), "paper's rule-all": curve(100, 0.0)}
    job = BeliefJob("airfoil", 0, None, decision_jobs.PAPER)
    other = BeliefJob("airfoil", 1, None, decision_jobs.PAPER)
    few = {name: one for name, one in extra.items() if name.endswith("all")}
    found = decisions.measured([*RESULTS, (job, extra), (other, few)])
    losses = [
        one.rivals[decision_jobs.PAPER] for one in found if (one.stream, one.learner) == ("airfoil", DEFAULT)
    ]
    assert losses == pytest.approx([0.25, 1.0])


def test_a_simple_way_has_nothing_of_ours():
    jobs = [BeliefJob("airfoil", seed, None, decision_jobs.PAPER) for seed in (0, 1)]
    ours = [(job, {"paper's rule-1": curve(20, 10.0)}) for job in jobs]
    first = next(one for one in decisions.measured([*RESULTS, *ours]) if one.learner == DEFAULT)
    assert (first.ratio, first.ratio_to_simple) == pytest.approx((0.7 / 0.25, 1.0))


def test_a_mark_is_no_rival_even_where_it_is_cheapest():
    cheap = [(job, curves | {MARK: curve(0, 1.0)}) for job, curves in RESULTS[:1]] + RESULTS[1:]
    assert {one.best for one in decisions.measured(cheap)} == {"ridge"}


def test_a_cell_is_the_geometric_mean_of_its_seeds_and_a_stream_counts_once():
    own = [one for one in decisions.measured(RESULTS) if one.learner == DEFAULT]
    cells = decisions.cells_of(own, lambda run: run.ratio)
    assert cells == pytest.approx({("airfoil", 1.0): 2.0, ("concrete", 1.0): 0.5})
    found = decisions.spread(cells)
    assert (found.mean, found.worst, found.where) == (pytest.approx(1.0), pytest.approx(2.0), "airfoil")
    assert (found.low, found.high) == (None, None)  # of two streams
    found = decisions.spread({**cells, ("ccpp", 1.0): 1.0})
    half = 4.3027 * np.log(2) / np.sqrt(3)  # t of two degrees of freedom, three streams
    assert (np.log(found.low), np.log(found.high)) == pytest.approx((-half, half), rel=1e-3)


def test_the_page_says_what_loses_and_how_sure_it_is():
    sections = {one.title: one for one in decisions.sections(RESULTS)}
    assert "2 real tables, 3 streams of 100 arrivals," in sections["In short"].text[2]
    (lost,) = sections["What loses"].tables
    assert [row[:2] for row in lost.rows] == [["airfoil", 1.0]]
    assert lost.rows[0][2] == pytest.approx(2.0)
    (table,) = sections["Losses, stream by stream"].tables
    assert [row[0] for row in table.rows] == ["airfoil", "concrete"]
    every = decisions.table(RESULTS)
    assert len(every.rows) == 6
    assert set(map(len, every.rows)) == {len(every.columns)}


def longer(results, rounds=400):
    return [
        (job, {name: Curve([rounds], one.labels, one.errors, one.marks) for name, one in curves.items()})
        for job, curves in results
    ]


def test_runs_that_leave_few_unlabelled_say_nothing_of_coverage():
    assert "Do intervals hold what they promise?" not in {one.title for one in decisions.sections(RESULTS)}
    sections = {one.title: one for one in decisions.sections(longer(RESULTS))}
    rows = sections["Do intervals hold what they promise?"].tables[0].rows
    assert rows == [[name, 1.0, 3, *map(pytest.approx, (0.5, 0.8, 0.9)), 0] for name in (DEFAULT, FITTED)]


def test_the_words_of_the_page_are_those_that_the_program_writes():
    dear = [
        run_of("airfoil", seed, name, 5, 60.0, price=30.0) for seed in (0, 1) for name in (DEFAULT, FITTED)
    ]
    airfoil = [(job, curves) for job, curves in RESULTS if job.stream == "airfoil"]
    some, others = (
        {(one.title, words) for one in decisions.sections(results) for words in one.text}
        for results in (longer(RESULTS + dear), longer(airfoil + dear, rounds=300))
    )
    whatever_was_measured = some & others
    page = (DOCS / "decisions.md").read_text()
    parts = {part.partition("\n")[0]: part.split("\n\n") for part in page.split("\n## ")}
    assert {title for title, _ in whatever_was_measured} > {
        "In short",
        "Ratios by group and price",
        "What loses",
    }
    assert ("In short", decisions.RATIOS) in whatever_was_measured
    for title, words in whatever_was_measured:
        assert words in parts[title]


# -- what can be asked for -----------------------------------------------------------------------------------


def test_streams_are_asked_for_by_name_beginning_and_group():
    assert catalogue.stream_wish(["turbine"]).names == ("turbine",)
    assert catalogue.stream_wish(["yes"]).names == tuple(name for name in STREAMS if name.startswith("yes-"))
    assert set(catalogue.stream_wish([REAL]).names) == {"airfoil", "concrete", "ccpp", "turbine", "abalone"}
    assert catalogue.stream_wish().names == tuple(STREAMS)
    assert catalogue.stream_wish(quick=True).rounds < 100
