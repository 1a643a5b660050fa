"""Does what we ship work? `python -m tests.dist.install dist`, which `make dist` runs after the build.

The wheel goes into an empty environment for every set of extras that a page of the docs names, and the page
runs there; the laboratory's wheel is installed beside it. The source distribution is unpacked, and its own
`make check` must pass.
"""

import os
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from tests.docs.reader import ROOT, page_extras, pages, runs

OURS = {"dev", "docs", "test"}  # what those who work on the project need
README = ROOT / "README.md"
QUICK_DOCS = [f"tests/docs/test_{name}.py" for name in ("cli", "design", "release", "site")]
READ = "import sys; from pathlib import Path; from tests.docs.reader import run; run(Path(sys.argv[1]))"


def pages_by_extras() -> dict[frozenset[str], list[Path]]:
    """Every page that has something to run, by the extras it names; an extra without a page has the README."""
    found = defaultdict(list)
    for page in filter(runs, pages()):
        found[frozenset(page_extras(page))].append(page)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for extra in project["optional-dependencies"].keys() - OURS - frozenset().union(*found):
        found[frozenset({extra})] = [README]
    return dict(found)


def run(*command: object, cwd: Path, **variables: str) -> None:
    """Run a command, and end everything where it fails."""
    words = [str(word) for word in command]
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(words, cwd=cwd, env=kept | variables, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(words)} failed:\n{done.stdout}{done.stderr}")


def environment(folder: Path, *wanted: object) -> Path:
    """The Python of an environment that holds what is wanted and nothing else."""
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / "bin" / "python"
    quickly = ("--quiet", "--disable-pip-version-check", "--no-compile")
    run(python, "-m", "pip", "install", *quickly, *wanted, cwd=folder)
    return python


def check_wheel(wheel: Path, extras: Iterable[str], pages: list[Path], folder: Path) -> None:
    """Install the wheel with these extras, and run the pages."""
    names = ",".join(sorted(extras))
    python = environment(folder, f"{wheel}[{names}]" if names else wheel)
    for number, page in enumerate(pages):
        place = folder / f"page-{number}"
        place.mkdir()
        run(
            python, "-W", "error", "-c", READ, page,
            cwd=place, PYTHONPATH=str(ROOT), PYSPARK_PYTHON=str(python),
        )  # fmt: skip


def check_laboratory(wheel: Path, laboratory: Path, folder: Path) -> None:
    """Install both wheels; the program has the laboratory's commands then."""
    python = environment(folder, wheel, laboratory)
    run(python, "-W", "error", "-m", "breakeven", "datasets", "list", "--json", cwd=folder)


def check_source(archive: Path, folder: Path) -> None:
    """Unpack the source distribution, and run its fast tests and those of its pages that run nothing."""
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    (place,) = folder.iterdir()
    run("make", "check", f"PYTHON={sys.executable}", cwd=place)
    run(place / ".venv" / "bin" / "python", "-m", "pytest", "-q", "-m", "not slow", *QUICK_DOCS, cwd=place)


def cpu_seconds() -> float:
    """What the processes started here have used so far."""
    used = os.times()
    return used.children_user + used.children_system


def main(dist: Path) -> None:
    """Check the wheels and the source distribution in a folder."""
    (wheel,), (archive,) = dist.glob("breakeven-*.whl"), dist.glob("breakeven-*.tar.gz")
    (laboratory,) = dist.glob("breakeven_research-*.whl")
    for path in (wheel, archive, laboratory):
        print(f"{path.name}: {path.stat().st_size / 1024:,.0f} kB", flush=True)
    for extras, some in sorted(pages_by_extras().items(), key=lambda one: sorted(one[0])):
        begun = cpu_seconds()
        with tempfile.TemporaryDirectory() as folder:
            check_wheel(wheel, extras, some, Path(folder))
        names = ", ".join(page.name for page in some)
        print(f"[{','.join(sorted(extras))}] {names}: {cpu_seconds() - begun:.0f} s of CPU", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        check_laboratory(wheel, laboratory, Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        check_source(archive, Path(folder))
    print("the source distribution passes its own `make check`")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
