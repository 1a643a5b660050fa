"""What Hypothesis draws in a run of the tests: the same every time, or what follows from a seed."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).parents[2]
DRAWING = """
from hypothesis import given, strategies as st

drawn = []

@given(st.integers())
def test_drawing(number):
    drawn.append(number)

def test_told(worker_id):
    raise AssertionError(f"drew {hash(tuple(drawn))} by {worker_id}")
"""


@pytest.mark.parametrize("profile", ["seeded", "proof"])
def test_fresh_examples_can_be_drawn_again(profile):
    """Also under CI, where Hypothesis by itself draws the same examples every time."""
    profile = settings.get_profile(profile)
    assert not profile.derandomize
    assert profile.print_blob
    assert profile.database is None  # else a failure would depend on the runs before


def test_a_seed_reaches_every_run_of_the_tests():
    command = ["make", "--dry-run", "--always-make", "test", "SEED=77"]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    runs = [line.split() for line in made.splitlines() if "pytest" in line]
    assert len(runs) == 2
    for run in runs:
        assert {"--hypothesis-profile=seeded", "--hypothesis-seed=77"} <= set(run)


def drawn(folder, *options):
    """The workers of a run in two processes, and what was drawn in it."""
    for name in ("test_one.py", "test_other.py"):
        (folder / name).write_text(DRAWING)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-n2",
        "--dist=loadfile",
        "-p",
        "tests.conftest",
        *options,
    ]
    run = subprocess.run([*command, folder, f"--rootdir={folder}"], cwd=ROOT, capture_output=True, text=True)
    told = [line.split("drew ")[1] for line in run.stdout.splitlines() if line.startswith("FAILED")]
    return {one.split(" by ")[1] for one in told}, {one.split(" by ")[0] for one in told}


@pytest.mark.slow
def test_processes_side_by_side_draw_by_the_same_seed(tmp_path):
    seeded = ["--hypothesis-profile=seeded", "--hypothesis-seed=1"]
    workers, examples = drawn(tmp_path, *seeded)
    assert workers == {"gw0", "gw1"}
    assert len(examples) == 1
    assert drawn(tmp_path, *seeded)[1] == examples
    assert drawn(tmp_path, seeded[0], "--hypothesis-seed=2")[1] != examples
