"""A folder of one's own, an empty cache and no network, for this process and for those that it starts."""

import subprocess
import sys
from pathlib import Path

import pytest

from breakeven_research import datasets
from breakeven_research.datasets import files
from tests.cli.sample import SAMPLE, unreachable

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def own(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("BREAKEVEN_DATA", raising=False)
    for name in ("https_proxy", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # the discard port: nobody answers
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "own"
    folder.mkdir()
    return folder


@pytest.fixture
def sample(monkeypatch):
    """In this process: one small source, and no network."""
    for module in (datasets, files):
        monkeypatch.setattr(module, "all_sources", lambda: (SAMPLE,))
    monkeypatch.setattr(files, "_urlopen", unreachable)
    return SAMPLE


@pytest.fixture
def breakeven():
    """Run the program in a process of its own; with an `origin`, on the sample."""

    def run(*words, origin=None, **options):
        module = ("breakeven",) if origin is None else ("tests.cli.sample", origin)
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        command = [sys.executable, "-m", *module, *words]
        return subprocess.run(command, cwd=ROOT, text=True, check=False, **streams)

    return run
