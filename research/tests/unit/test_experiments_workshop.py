"""Jobs done one by one and side by side: the same results, each once, and none lost when one goes wrong."""

import os
import signal
import subprocess
import sys
from multiprocessing import active_children, get_context
from pathlib import Path
from time import monotonic, sleep

import msgspec
import pytest

from breakeven.errors import InvalidInput
from breakeven_research.experiments import CodeChanged, Curve, Job, Shelf, WorkerLost, Workshop
from breakeven_research.experiments.runs import workshop
from breakeven_research.experiments.runs.jobs import PanelJob, ScaleJob

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0  # seconds after which a job stops waiting for what should have happened long before


class Counted(Job, frozen=True):
    """A job that writes down that it was run."""

    folder: str
    number: int
    title: str = "counted"
    effort: float = 1.0

    def run(self):
        with open(Path(self.folder) / "log", "a") as log:
            log.write(f"{self.number}\n")
        return {"run": Curve([1], [self.number], [0.1 * self.number])}


class Troubled(Counted, frozen=True):
    """A job that goes wrong once two others are on the shelf, until it is mended."""

    trouble: str = "fails"

    def run(self):
        if not (Path(self.folder) / "mended").exists():
            wait_for(lambda: len(list(Path(self.folder, "shelf").glob("*.json"))) == 2)
            TROUBLES[self.trouble]()
        return super().run()


class Waiting(Job, frozen=True):
    """A job that says that it began and then waits to be ended."""

    folder: str
    number: int
    title = "waiting"

    def run(self):
        Path(self.folder, str(self.number)).touch()
        sleep(PATIENCE)


def wait_side_by_side(folder):
    """Two jobs that never end, for a process of its own."""
    Workshop(Shelf(Path(folder, "shelf")), workers=2).do([Waiting(folder, 1), Waiting(folder, 2)])


def wait_for(condition):
    begun = monotonic()
    while not condition():
        assert monotonic() - begun < PATIENCE, "it never happened"
        sleep(0.01)


def fails():
    raise ArithmeticError("no such number")


def dies():
    os.kill(os.getpid(), signal.SIGKILL)


def is_interrupted():
    signal.raise_signal(signal.SIGINT)


def interrupts_the_parent():
    os.kill(os.getppid(), signal.SIGINT)
    sleep(PATIENCE)  # until it is ended


TROUBLES = {one.__name__: one for one in (fails, dies, is_interrupted, interrupts_the_parent)}
REAL = [
    PanelJob("branin", "text", trial=0, rounds=25),
    PanelJob("branin", "figures", trial=1, rounds=15),
    ScaleJob("discrete-k10-lopsided", "figures", 10.0, trial=0, scales=(0.5, 1.0), rounds=300),
    ScaleJob("hartmann", "text", 10.0, trial=2, scales=(0.5,), rounds=40),
]


@pytest.fixture
def shelf(tmp_path):
    return Shelf(tmp_path / "shelf")


@pytest.fixture(autouse=True)
def _heard():
    """A shell may have started us with Ctrl-C ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def counted(tmp_path, *numbers, **fields):
    return [Counted(str(tmp_path), number, **fields) for number in numbers]


def log(tmp_path):
    path = tmp_path / "log"
    return [int(line) for line in path.read_text().split()] if path.exists() else []


# -- results --------------------------------------------------------------------------------------------


def test_two_workers_give_the_results_of_one_to_the_bit(tmp_path):
    one, two = (Workshop(Shelf(tmp_path / str(n)), workers=n).do(REAL) for n in (1, 2))
    assert msgspec.json.encode(two) == msgspec.json.encode(one)
    kept = [{path.name: path.read_bytes() for path in (tmp_path / n).iterdir()} for n in ("1", "2")]
    assert kept[0] == kept[1]
    assert len(kept[0]) == len(REAL)


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_the_order_of_the_jobs(tmp_path, shelf, workers):
    jobs = counted(tmp_path, 3, 1, 2)
    results = Workshop(shelf, workers).do(jobs)
    assert [job for job, _ in results] == jobs
    assert [curves["run"].labels for _, curves in results] == [[3], [1], [2]]


def test_long_jobs_are_begun_first(tmp_path, shelf):
    jobs = [*counted(tmp_path, 1), *counted(tmp_path, 2, effort=9.0), *counted(tmp_path, 3, effort=5.0)]
    results = Workshop(shelf).do(jobs)
    assert log(tmp_path) == [2, 3, 1]
    assert [job.number for job, _ in results] == [1, 2, 3]


def test_equal_jobs_are_done_once_and_returned_each_time(tmp_path, shelf):
    told = []
    results = Workshop(shelf, progress=lambda *news: told.append(news)).do(counted(tmp_path, 1, 2, 1, 1))
    assert sorted(log(tmp_path)) == [1, 2]
    assert [curves["run"].labels[0] for _, curves in results] == [1, 2, 1, 1]
    assert told[-1] == ("counted", 2, 2)


def test_what_was_done_before_is_not_run_again(tmp_path, shelf):
    Workshop(shelf).do(counted(tmp_path, 1, 2))
    again = Workshop(Shelf(shelf.folder)).do(counted(tmp_path, 1, 2, 3))
    assert sorted(log(tmp_path)) == [1, 2, 3]
    assert [curves["run"].errors for _, curves in again] == [[0.1], [0.2], [0.1 * 3]]


def test_no_jobs_have_no_results(shelf):
    assert Workshop(shelf, workers=2).do([]) == []


@pytest.mark.parametrize("workers", [0, -1, 1.5])
def test_a_workshop_needs_a_worker(shelf, workers):
    with pytest.raises(InvalidInput, match=f"workers: expected a whole number of at least 1, got {workers}"):
        Workshop(shelf, workers)


# -- progress -------------------------------------------------------------------------------------------


def test_progress_is_told_for_each_title(tmp_path, shelf):
    told = []
    jobs = [*counted(tmp_path, 1, 2), *counted(tmp_path, 3, title="other")]
    Workshop(shelf, progress=lambda *news: told.append(news)).do(jobs)
    assert told == [("counted", 0, 2), ("other", 0, 1), ("counted", 1, 2), ("counted", 2, 2), ("other", 1, 1)]


def test_progress_counts_what_was_done_before(tmp_path, shelf):
    told = []
    Workshop(shelf).do(counted(tmp_path, 1, 2))
    Workshop(shelf, progress=lambda *news: told.append(news)).do(counted(tmp_path, 1, 2, 3))
    assert told == [("counted", 2, 3), ("counted", 3, 3)]


def test_a_result_is_on_the_shelf_before_it_is_told_of(tmp_path, shelf):
    jobs = counted(tmp_path, 1, 2)
    counts = []

    def compare(title, done, whole):
        counts.append((done, sum(shelf.find(job) is not None for job in jobs)))

    Workshop(shelf, progress=compare).do(jobs)
    assert counts == [(0, 0), (1, 1), (2, 2)]


# -- trouble --------------------------------------------------------------------------------------------

LOST = (
    "^a worker process was ended from outside, perhaps for want of memory; "
    "run again, with fewer workers: what is done is kept$"
)
CASES = {
    "a job that fails": (1, "fails", ArithmeticError, "^no such number$"),
    "a job that fails beside others": (2, "fails", ArithmeticError, "^no such number$"),
    "a worker that is killed": (2, "dies", WorkerLost, LOST),
    "an interrupt": (1, "is_interrupted", KeyboardInterrupt, "^$"),
    "an interrupt beside others": (2, "interrupts_the_parent", KeyboardInterrupt, "^$"),
}


@pytest.mark.parametrize(("workers", "trouble", "error", "message"), CASES.values(), ids=CASES)
def test_finished_jobs_outlast_trouble_and_only_the_others_are_run_again(
    tmp_path, shelf, workers, trouble, error, message
):
    early, late = counted(tmp_path, 1, 2, effort=9.0), counted(tmp_path, 4, effort=0.5)
    jobs = [Troubled(str(tmp_path), 3, trouble=trouble), *early]
    with pytest.raises(error, match=message):
        Workshop(shelf, workers).do(jobs)
    assert [shelf.find(job) is not None for job in jobs] == [False, True, True]
    wait_for(lambda: not active_children())

    (tmp_path / "mended").touch()
    results = Workshop(shelf, workers).do(jobs + late)
    assert [curves["run"].labels[0] for _, curves in results] == [3, 1, 2, 4]
    assert sorted(log(tmp_path)) == [1, 2, 3, 4]


def test_workers_end_with_a_parent_that_is_killed(tmp_path):
    code = f"from {__name__} import wait_side_by_side; wait_side_by_side({str(tmp_path)!r})"
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE) as parent:
        wait_for(lambda: all((tmp_path / name).exists() for name in "12"))
        parent.kill()
        assert parent.communicate(timeout=PATIENCE / 2) == (b"", None)  # as nobody else holds the pipe


def test_other_processes_of_the_program_are_left_alone(tmp_path, shelf):
    other = get_context("spawn").Process(target=sleep, args=(PATIENCE,))
    other.start()
    try:
        Workshop(shelf, workers=2).do(counted(tmp_path, 1, 2))
        other.join(0.5)
        assert other.is_alive()
    finally:
        other.kill()
        other.join()


def test_code_that_changes_during_a_run_is_noticed(tmp_path, shelf, monkeypatch):
    monkeypatch.setattr(workshop, "fingerprint", lambda: b"the code when the run began")
    with pytest.raises(CodeChanged, match="the code of breakeven changed during the run; run again: what is"):
        Workshop(shelf, workers=2).do(counted(tmp_path, 1, 2))
    assert log(tmp_path) == []
