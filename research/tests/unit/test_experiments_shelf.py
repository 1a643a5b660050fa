"""Finished jobs are found again by the same job and the same code, and by nothing else."""

import shutil

import msgspec
import pytest

from breakeven_research.experiments import Curve, Job, Shelf, Workshop
from breakeven_research.experiments.runs import workshop
from breakeven_research.experiments.runs.jobs import PanelJob, ScaleJob

JOB = PanelJob(problem="branin", recipe="text", trial=0)
CURVES = {
    "all": Curve([1, 2], [1, 2], [0.1, 0.1 + 0.2], {"fits": 3.0}),
    "never": Curve([1, 2], [0, 0], [1 / 3, 1.0]),
}
OTHERS = {
    "trial": PanelJob(problem="branin", recipe="text", trial=1),
    "recipe": PanelJob(problem="branin", recipe="figures", trial=0),
    "problem": PanelJob(problem="hartmann", recipe="text", trial=0),
    "rounds": PanelJob(problem="branin", recipe="text", trial=0, rounds=10),
    "kind": ScaleJob(problem="branin", recipe="text", label_cost=10.0, trial=0, scales=(1.0,)),
}


class Twin(Job, frozen=True):
    """Another kind of job, with the fields of a panel's."""

    problem: str
    recipe: str
    trial: int
    rounds: int | None = None


class Small(Job, frozen=True):
    """A job that is done at once."""

    labels: int
    title = "small"

    def run(self):
        return {"run": Curve([1], [self.labels], [0.5])}


@pytest.fixture
def kept(tmp_path):
    Shelf(tmp_path).keep(JOB, CURVES)
    return Shelf(tmp_path)


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """A copy of both packages, whose fingerprint is taken."""
    copies = {}
    for root, not_run in workshop.NOT_RUN.items():
        copy = tmp_path / root.name
        shutil.copytree(root, copy, ignore=shutil.ignore_patterns("__pycache__"))
        copies[copy] = not_run
    monkeypatch.setattr(workshop, "NOT_RUN", copies)
    return tmp_path


def fingerprint_now():
    return workshop.fingerprint.__wrapped__()


def only_file(folder):
    (path,) = folder.iterdir()
    return path


# -- the same job ---------------------------------------------------------------------------------------


def test_a_result_is_found_again_by_an_equal_job_to_the_bit(kept):
    found = Shelf(kept.folder).find(PanelJob(problem="branin", recipe="text", trial=0))
    assert msgspec.json.encode(found) == msgspec.json.encode(CURVES)


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_a_result_is_not_found_by_another_job(kept, other):
    assert kept.find(other) is None


def test_a_result_is_not_found_by_another_kind_of_job_with_the_same_fields(kept):
    assert kept.find(Twin("branin", "text", 0)) is None


def test_jobs_do_not_overwrite_each_other(kept):
    for trial, job in enumerate(OTHERS.values()):
        kept.keep(job, {"run": Curve([1], [trial], [0.0])})
    assert kept.find(JOB) == CURVES
    assert [kept.find(job)["run"].labels for job in OTHERS.values()] == [[0], [1], [2], [3], [4]]


def test_an_empty_shelf_and_one_that_is_no_folder_find_nothing(tmp_path):
    (tmp_path / "file").write_text("in the way")
    assert Shelf(tmp_path / "nowhere").find(JOB) is None
    assert Shelf(tmp_path / "file").find(JOB) is None


# -- damaged files --------------------------------------------------------------------------------------


def test_a_file_cut_short_anywhere_is_not_trusted(kept):
    path = only_file(kept.folder)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert kept.find(JOB) is None
    path.write_bytes(whole)
    assert kept.find(JOB) == CURVES


GARBLED = {
    "nothing": b"",
    "zeros": bytes(100),
    "no text": b"\xff\xfe\xfd",
    "a list": b"[]",
    "no curves": b'{"all": {}}',
    "a missing column": b'{"all": {"rounds": [1], "labels": [1]}}',
    "words for numbers": b'{"all": {"rounds": [1], "labels": [1], "errors": ["x"]}}',
    "two results": msgspec.json.encode(CURVES) * 2,
}


@pytest.mark.parametrize("content", GARBLED.values(), ids=GARBLED)
def test_a_garbled_file_is_not_trusted(kept, content):
    only_file(kept.folder).write_bytes(content)
    assert kept.find(JOB) is None


def test_a_file_with_a_name_that_is_no_text_is_not_trusted(kept):
    path = only_file(kept.folder)
    path.write_bytes(path.read_bytes().replace(b"never", b"n\xffver"))
    assert kept.find(JOB) is None


def test_a_digit_that_changed_is_not_trusted(kept):
    path = only_file(kept.folder)
    digest, content = path.read_bytes().split(b"\n")
    place = max(i for i, sign in enumerate(content) if chr(sign).isdigit())
    path.write_bytes(digest + b"\n" + content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
    assert kept.find(JOB) is None


def test_a_damaged_result_is_worked_out_again_and_kept(tmp_path):
    here = Shelf(tmp_path)
    whole = Workshop(here).do([Small(3)])
    path = only_file(tmp_path)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    assert Workshop(here).do([Small(3)]) == whole
    assert path.read_bytes() == content


# -- other code -----------------------------------------------------------------------------------------


def test_other_code_does_not_find_a_result(kept, monkeypatch):
    monkeypatch.setattr(workshop, "fingerprint", lambda: b"other code")
    assert kept.find(JOB) is None
    kept.keep(JOB, {})
    monkeypatch.undo()
    assert kept.find(JOB) == CURVES


@pytest.mark.parametrize(
    "name",
    [
        "breakeven/trace.py",
        "breakeven/beliefs/cells.py",
        "breakeven_research/experiments/runs/methods.py",
        "breakeven_research/datasets/synthetic.py",
    ],
)
def test_code_that_runs_is_part_of_the_fingerprint(copied, name):
    before = fingerprint_now()
    with (copied / name).open("a") as file:
        file.write("# changed\n")
    assert fingerprint_now() != before


@pytest.mark.parametrize(
    "folder",
    [
        "breakeven/cli",
        "breakeven/report",
        "breakeven/testing",
        "breakeven_research/commands",
        "breakeven_research/bench",
        "breakeven_research/experiments/exhibits",
    ],
)
def test_code_that_only_shows_is_not_part_of_the_fingerprint(copied, folder):
    before = fingerprint_now()
    paths = sorted((copied / folder).glob("*.py"))
    assert paths
    for path in paths:
        path.write_text("# changed\n")
    (copied / folder / "new.py").touch()
    assert fingerprint_now() == before


def test_a_renamed_file_changes_the_fingerprint(copied):
    before = fingerprint_now()
    (copied / "breakeven" / "trace.py").rename(copied / "breakeven" / "traces.py")
    assert fingerprint_now() != before


def test_the_fingerprint_does_not_depend_on_where_the_package_lies(copied, monkeypatch):
    there = fingerprint_now()
    monkeypatch.undo()
    assert fingerprint_now() == there


@pytest.mark.parametrize("library", [workshop.numpy, workshop.scipy], ids=lambda library: library.__name__)
def test_another_version_of_a_library_changes_the_fingerprint(monkeypatch, library):
    before = fingerprint_now()
    monkeypatch.setattr(library, "__version__", "0.0")
    assert fingerprint_now() != before
