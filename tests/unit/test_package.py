"""The package itself: its names, its words, and what importing it loads."""

import importlib.metadata
import inspect
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import breakeven
from breakeven import beliefs, errors, learner, rules, theory, values

ROOT = Path(breakeven.__file__).parent
PUBLIC = [
    (module, name)
    for module in (breakeven, beliefs, errors, learner, rules, theory, values)
    for name in module.__all__
]


def test_all_is_sorted_and_without_doubles():
    assert breakeven.__all__ == sorted(set(breakeven.__all__))


def test_all_is_everything_public():
    submodules = {path.stem for path in ROOT.iterdir()}
    own = {"Any", "ModuleType", "TYPE_CHECKING", "import_module", "sys"}
    visible = {name for name in dir(breakeven) if not name.startswith("_")} - own
    assert visible - set(breakeven.__all__) <= submodules
    assert set(breakeven.__all__) <= visible


@pytest.mark.parametrize(("module", "name"), PUBLIC, ids=[f"{m.__name__}.{n}" for m, n in PUBLIC])
def test_every_public_name_can_be_imported_and_says_what_it_is(module, name):
    thing = getattr(module, name)
    if inspect.ismodule(thing) or inspect.isclass(thing) or inspect.isfunction(thing):
        assert inspect.getdoc(thing)
        assert inspect.cleandoc(thing.__doc__)


@pytest.mark.parametrize("name", [n for n in breakeven.__all__ if inspect.isclass(getattr(breakeven, n))])
def test_every_public_method_says_what_it_does(name):
    for member, function in inspect.getmembers(getattr(breakeven, name)):
        if member.startswith("_"):
            continue
        what = function.fget if isinstance(function, property) else function
        if inspect.isfunction(what):
            assert what.__doc__, f"{name}.{member}"


def loaded_by(code):
    script = f"import sys\n{code}\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


SLOW = {"scipy.optimize", "scipy.special", "numba", "sklearn", "matplotlib", "statistics", "polars"}
SLOW |= {"starlette", "river", "skactiveml", "torch"}


COMMAND_LINE = {"breakeven.cli", "typer", "click", "rich"}


def test_importing_loads_nothing_slow():
    assert loaded_by("import breakeven") & (SLOW | {"scipy"}) == set()


def test_importing_loads_nothing_of_the_command_line():
    assert loaded_by("import breakeven, breakeven.planning") & COMMAND_LINE == set()


def test_the_help_of_the_command_line_loads_nothing_slow():
    loaded = loaded_by("from breakeven.cli import main; main(['--help'])")
    assert loaded & (SLOW | {"rich", "numpy", "scipy"}) == set()
    assert "breakeven.cli" in loaded


def test_deciding_and_telling_load_nothing_slow_either():
    code = """
from breakeven import *
one = algorithm1(label_cost=1.0, noise_std=0.1)
one.tell(one.decide("a").id, 1.0)
two = algorithm2(1, label_cost=1.0, noise_std=0.1, warmup=0, fit=None)
two.tell(two.decide(0.5).id, 1.0)
Learner.restore(two.snapshot()).summary()
"""
    assert loaded_by(code) & SLOW == set()


def test_replaying_a_short_stream_loads_nothing_slow_either():
    code = """
from breakeven import *
simulate(algorithm1(label_cost=1.0, noise_std=0.1), [1, 2, 1] * 100, [0.5] * 300)
"""
    assert loaded_by(code) & SLOW == set()


def test_the_package_is_typed():
    assert (ROOT / "py.typed").exists()


def test_the_version_is_the_projects():
    project = Path(__file__).parents[2] / "pyproject.toml"
    assert breakeven.__version__ == tomllib.loads(project.read_text())["project"]["version"]
    assert importlib.metadata.version("breakeven") == breakeven.__version__


BUILTIN = {
    "UnknownId": KeyError,
    "TornLearner": RuntimeError,
    "ListenerFailed": RuntimeError,
    "CalledByListener": RuntimeError,
    "NotANumber": FloatingPointError,
}


@pytest.mark.parametrize("name", errors.__all__)
def test_every_error_is_ours_and_a_builtin(name):
    error = getattr(errors, name)
    assert issubclass(error, errors.BreakevenError)
    if error is not errors.BreakevenError:
        assert issubclass(error, BUILTIN.get(name, ValueError))
        assert f"── {name}" in errors.__doc__
