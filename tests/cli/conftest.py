"""A folder of one's own, and the program in a process of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def own(tmp_path):
    folder = tmp_path / "own"
    folder.mkdir()
    return folder


@pytest.fixture
def breakeven():
    """Run the program in a process of its own."""

    def run(*words, **options):
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        command = [sys.executable, "-m", "breakeven", *words]
        return subprocess.run(command, cwd=ROOT, text=True, check=False, **streams)

    return run
