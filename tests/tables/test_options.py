"""Options exist once: Python, the command line and a configuration file cannot drift apart from it."""

import inspect
from typing import get_args

import pytest
import typer
from msgspec import NODEFAULT
from msgspec.structs import fields
from typer.testing import CliRunner

from breakeven.beliefs.gp import SMOOTHNESS, KernelName
from breakeven.cli.program import program
from breakeven.errors import InvalidInput
from breakeven.tables import from_table
from breakeven.tables.options import FileOptions, Missing, Options, RuleName, UnreadableOptions, read_options

OF_PYTHON_ALONE = {"df", "seed_labels"}  # frames, where a file has paths
OF_THE_COMMAND_ALONE = {"config", "yes_no", "as_json", "log_level", "help"}


def defaults(options):
    return {
        one.name: inspect.Parameter.empty if one.default is NODEFAULT else one.default
        for one in fields(options)
    }


def test_from_table_has_every_option_with_its_default():
    parameters = inspect.signature(from_table).parameters
    found = {name: one.default for name, one in parameters.items() if name not in OF_PYTHON_ALONE}
    assert found == defaults(Options)
    assert all(one.kind is not inspect.Parameter.VAR_KEYWORD for one in parameters.values())


def test_from_table_has_the_types_of_the_options():
    hints, fields_of = inspect.get_annotations(from_table), inspect.get_annotations(Options)
    for name in (
        set(hints) - OF_PYTHON_ALONE - {"return", "features", "labeller"}
    ):  # of which other forms will do
        assert hints[name] == get_args(fields_of[name])[0], name


def test_the_command_has_every_option_with_its_default_its_choices_and_a_help():
    command = typer.main.get_command(program()).commands["simulate"]
    found = {one.name: one for one in command.params if one.name not in OF_THE_COMMAND_ALONE}
    assert set(found) == set(defaults(FileOptions))
    for name, default in defaults(FileOptions).items():
        assert found[name].default == (None if default is inspect.Parameter.empty else default), name
        assert found[name].help, name
    said = CliRunner().invoke(program(), ["simulate", "--help"]).stdout
    for kind in (RuleName, KernelName, Missing):
        assert f"<{'|'.join(get_args(kind))}>" in said
    assert get_args(KernelName) == tuple(SMOOTHNESS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"label": 3}, "label: expected the name of a column, got 3"),
        ({"order": ["day"]}, r"order: expected the name of a column, got \['day'\]"),
        ({"features": 3}, "features: expected a list, got 3"),
        ({"features": ["age", 3]}, "features: a name: expected text, got 3"),
        ({"cost": "much"}, "cost: expected a positive, finite number, got 'much'"),
        ({"rule": "coin"}, "rule: expected one of 'value', 'threshold', .*, got 'coin'"),
        ({"kernel": "rbf"}, "kernel: expected one of None, 'se', .*, got 'rbf'"),
        ({"missing": "zero"}, "missing: expected one of None, 'drop', 'mean', got 'zero'"),
        ({"sweep": 1}, "sweep: expected True or False, got 1"),
        ({"delay": -1}, "delay: expected a whole number of at least 0, got -1"),
        ({"cost_column": "exam"}, r"cost: expected none beside the costs in 'exam', got 1\.0"),
        (
            {"cost": None, "labeller": {"nurse": {"cost": 2, "noise_std": 3}}},
            "labeller: expected NAME:COST:NOISE, such as nurse:2:3.0, or Labellers by name, got {'nurse': ",
        ),
        ({"type": "ward", "features": ["age"]}, "features: expected none beside a type"),
    ],
)
def test_what_cannot_be_is_refused_by_its_name(options, message):
    with pytest.raises(InvalidInput, match=message):
        Options(**{"label": "y", "cost": 1.0, **options})


# -- a configuration file --------------------------------------------------------------------------------


def written(folder, text):
    path = folder / "bill.toml"
    path.write_text(text)
    return path


def test_a_file_holds_any_options_and_its_paths_begin_at_its_folder(tmp_path):
    text = 'table = "cases.csv"\nlabel = "y"\ncost = 5\nfeatures = ["a", "b"]\nsweep = false\nout = "/bill"\n'
    options = FileOptions.of(read_options(written(tmp_path, text)))
    assert (options.table, options.out) == (str(tmp_path / "cases.csv"), "/bill")
    assert (options.cost, options.features, options.sweep) == (5.0, ("a", "b"), False)
    assert options.simulation == Options(label="y", cost=5.0, features=("a", "b"), sweep=False)


def test_standard_input_is_no_path(tmp_path):
    assert read_options(written(tmp_path, 'table = "-"\n')) == {"table": "-"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('lable = "y"', "expected the name of an option, got 'lable'; did you mean 'table' or 'label'\\?"),
        ("noise-std = 1", "expected the name of an option, got 'noise-std'; did you mean 'noise_std'\\?"),
        ("zzz = 1", "expected the name of an option, got 'zzz'; there are label, cost, "),
        ("label = y", "expected a TOML file, got one that cannot be read \\(Invalid value"),
        ('label = "\xff"', "expected a TOML file, got one that cannot be read"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_the_nearest_name(tmp_path, text, message):
    path = tmp_path / "bill.toml"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(UnreadableOptions, match=f"{path}: {message}"):
        read_options(path)


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(UnreadableOptions, match=r"cannot be read \(Is a directory\)"):
        read_options(tmp_path)


@pytest.mark.parametrize("name", ["table", "out", "seed_labels"])
def test_an_empty_path_is_refused_in_a_file_as_elsewhere(tmp_path, name):
    given = {"table": '"a.csv"', "label": '"y"', "cost": "1.0"} | {name: '""'}
    file = tmp_path / "bill.toml"
    file.write_text("\n".join(f"{one} = {value}" for one, value in given.items()))
    with pytest.raises(InvalidInput, match=rf"^{name}: expected text, got ''"):
        FileOptions.of(read_options(file))


def test_table_and_label_are_needed():
    with pytest.raises(InvalidInput, match="table: expected the file of a table, got none"):
        FileOptions.of({"label": "y", "cost": 1.0})
