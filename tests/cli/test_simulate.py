"""`breakeven simulate`: from a file to the bill; one line for each fault."""

import json
import os
import pty
import re
import signal
import sqlite3
import subprocess
import sys
from contextlib import contextmanager, suppress
from time import sleep

import polars as pl
import pytest

from breakeven.cli import main
from breakeven.cli.failures import interruptible
from breakeven.rows import open_bill
from breakeven.tables.workbooks import ENCRYPTED, OLD_OFFICE_MARK
from tests.tables.samples import smooth, typed


def simulate(capsys, *words):
    """Run the command in this process: exit code, output and what it complains of."""
    code = main(["simulate", *map(str, words)])
    return code, *capsys.readouterr()


@pytest.fixture
def cases(own):
    path = own / "cases.csv"
    smooth(80).write_csv(path)
    return path


# -- a run -----------------------------------------------------------------------------------------------


def test_the_bill_is_a_table_and_everything_is_in_the_folder(capsys, cases, own):
    code, out, err = simulate(
        capsys, cases, "--label", "y", "--cost", 0.5, "--no-sweep", "--out", own / "bill"
    )
    assert (code, err) == (0, "")
    assert out.startswith(f"{cases}: 80 cases in ")
    names = ["label everyone", "label no one *", "breakeven", "at random, same money"]
    rows = [line for line in out.splitlines() if line.startswith(tuple(f"{name}  " for name in names))]
    assert [row.split("  ")[0] for row in rows] == names
    assert all(len(line) <= 80 for line in out.splitlines() if str(own) not in line)
    assert re.search(r"\n(You would have saved|Labelling .* would have been cheaper: breakeven) ", out)
    assert out.endswith(f"Open {own / 'bill' / 'report.html'}\n")
    files = {path.name for path in (own / "bill").iterdir()}
    assert files == {"columns.json", "decisions.parquet", "learner.snapshot", "report.html", "summary.json"}


def test_other_rules_prices_and_orders_follow(capsys, cases, own):
    words = ("--label", "y", "--cost", 0.5, "--compare", "--trials", 2, "--out", own / "bill")
    code, out, _ = simulate(capsys, cases, *words)
    assert code == 0
    parts = [
        "label everyone",
        "Other ways",
        "at random, same money",
        "Totals at other costs of a label",
        "Over shuffled orders",
        "against the cheapest simple way",
        "Up to about ",
    ]
    places = [out.index(part) for part in parts]
    assert places == sorted(places)


def test_json_is_one_document_and_what_the_folder_says(capsys, cases, own):
    words = ("--label", "y", "--cost", 0.5, "--no-sweep", "--out", own / "bill", "--json")
    code, out, err = simulate(capsys, cases, *words)
    assert (code, err, out.count("\n")) == (0, "", 1)
    told = json.loads(out)
    assert told.pop("folder") == str(own / "bill")
    assert told == json.loads((own / "bill" / "summary.json").read_text())


def test_all_options_together(capsys, own):
    frame = smooth(60).with_columns(
        pl.Series("who", [f"p{i}" for i in range(60)]),
        pl.Series("day", list(range(60, 0, -1))),
        pl.Series("price", [0.5, 1.0] * 30),
        pl.Series("sex", ["f", "m", None] * 20),
    )
    frame.write_ndjson(own / "cases.jsonl")
    smooth(20, seed=1).with_columns(pl.lit("f").alias("sex")).write_csv(own / "owned.csv")
    words = "--label y --features a,b --features sex --order day --id who --cost-column price --missing mean"
    more = "--noise-std 0.1 --rule value --kernel matern52 --horizon 100 --error-cost 2 --delay 3 --seed 1"
    files = ("--seed-labels", own / "owned.csv", "--out", own / "bill", "--no-sweep", "--json")
    code, out, err = simulate(capsys, own / "cases.jsonl", *words.split(), *more.split(), *files)
    assert (code, err) == (0, "")
    assert json.loads(out)["notes"][-1] == "20 missing values of 'sex' are of no category."
    assert pl.read_parquet(own / "bill" / "decisions.parquet")["id"][0] == "p59"
    columns, learner = open_bill(own / "bill")
    row = {"a": 0.0, "b": 1.0, "sex": "m", "price": 0.7}
    assert learner.decide(columns.point(row), cost=columns.cost(row), id="new").cost == 0.7


def test_a_configuration_file_says_the_same_and_the_command_line_wins(capsys, cases, own):
    config = own / "bill.toml"
    config.write_text('table = "cases.csv"\nlabel = "y"\ncost = 9\nsweep = false\nfeatures = ["a", "b"]\n')
    words = ("--config", config, "--cost", 0.5, "--out", own / "bill", "--json")
    code, out, err = simulate(capsys, *words)
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert (told["options"]["cost"], told["options"]["sweep"], told["sweep"]) == (0.5, False, None)
    plain = ("--label", "y", "--cost", 0.5, "--no-sweep", "--out", own / "other", "--json")
    assert json.loads(simulate(capsys, cases, *plain)[1])["rows"] == told["rows"]


def test_a_wrong_configuration_file_is_one_line(capsys, own):
    (own / "bill.toml").write_text('lable = "y"\n')
    code, out, err = simulate(capsys, "--config", own / "bill.toml")
    assert (code, out) == (2, "")
    assert err.startswith(
        f"breakeven: {own / 'bill.toml'}: expected the name of an option, got 'lable'; did you"
    )
    assert err.endswith("mean 'table' or 'label'?\n")


def test_types_from_standard_input(breakeven, own):
    table = typed(200).write_csv()
    words = ("--label", "y", "--type", "kind", "--cost", "2", "--no-sweep", "--out", str(own / "bill"))
    done = breakeven("simulate", "-", *words, input=table)
    assert (done.returncode, done.stderr) == (0, "")
    assert "standard input: 200 cases" in done.stdout
    assert "pooled within types from the first" in " ".join(done.stdout.split())


def test_a_feature_may_have_a_comma_in_its_name(capsys, own):
    smooth(40).rename({"a": "a, b"}).write_csv(own / "cases.csv")
    words = ("--label", "y", "--cost", 0.5, "--features", "a, b", "--no-sweep", "--out", own / "bill")
    assert simulate(capsys, own / "cases.csv", *words)[0] == 0
    assert open_bill(own / "bill")[0].names == ["a, b"]


def test_one_case_is_one_case(capsys, own):
    (own / "cases.csv").write_text("a,y\n1,2\n")
    code, out, _ = simulate(capsys, own / "cases.csv", "--label", "y", "--cost", 1, "--out", own / "bill")
    assert (code, out.startswith(f"{own / 'cases.csv'}: 1 case in ")) == (0, True)


def test_means_of_labels_have_one_decimal_at_most(capsys, cases, own):
    words = ("--label", "y", "--cost", 0.5, "--no-sweep", "--trials", 3, "--out", own / "bill")
    _, out, _ = simulate(capsys, cases, *words)
    row = [line for line in out.splitlines() if line.startswith("breakeven")][-1]
    assert re.fullmatch(r"[0-9]+(\.[0-9])?", row.split()[1])


# -- interrupted -----------------------------------------------------------------------------------------


@contextmanager
def started(own, *words, before="pass", **options):
    """The command in a process of its own, after some Python."""
    program = f"import sys; from breakeven.cli import main; {before}; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", program, "simulate", *map(str, words), "--label", "y"]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    with subprocess.Popen([*command, "--out", own / "bill"], text=True, **streams) as running:
        yield running


def wait_for(running, path):
    while not path.exists():
        assert running.poll() is None
        sleep(0.1)


def test_ctrl_c_prints_the_bill_so_far_and_writes_what_is_done(own):
    smooth(20_000).write_csv(own / "long.csv")
    with started(own, own / "long.csv", "--cost", 0.001) as running:
        wait_for(running, own / "bill")  # which is made just before the first round
        running.send_signal(signal.SIGINT)
        out, err = running.communicate()
    assert (running.returncode, err) == (2, "breakeven: interrupted\n")
    assert "Interrupted: all numbers are of the first" in out
    summary = json.loads((own / "bill" / "summary.json").read_text())
    assert (summary["whole"], summary["cases"]) == (False, open_bill(own / "bill")[1].rounds)
    assert summary["unfinished"] == ["labelling at random", "other costs"]


def test_ctrl_c_after_the_bill_shows_what_was_compared_by_then(cases, own):
    with started(own, cases, "--cost", 0.5, "--no-sweep", "--trials", 100_000) as running:
        wait_for(running, own / "bill" / "summary.json")
        first = (own / "bill" / "summary.json").read_text()
        running.send_signal(signal.SIGINT)
        out, err = running.communicate()
    announced, interrupted = err.splitlines()
    assert (running.returncode, interrupted) == (2, "breakeven: interrupted")
    assert re.match(
        r"About .* hours more on \d+ cores?: labelling at random and other orders\. Ctrl-C", announced
    )
    assert re.search(r"Interrupted: (labelling at random and )?other orders\s+were not run to\s+the end", out)
    summary = json.loads((own / "bill" / "summary.json").read_text())
    assert (summary["whole"], summary["unfinished"][-1]) == (True, "other orders")
    assert [row for row in summary["rows"] if row["name"] != "at random, same money"] == json.loads(first)[
        "rows"
    ]


def test_a_second_ctrl_c_ends_at_once():
    with interruptible() as stop:
        signal.raise_signal(signal.SIGINT)
        assert stop()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_who_is_told_to_terminate_leaves_the_bill_and_nothing_else(monkeypatch, cases, own):
    (own / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(own / "tmp"))
    on_disk = "from breakeven.tables import record; record.IN_MEMORY = 0"
    with started(own, cases, "--cost", 0.5, "--trials", 100_000, before=on_disk) as running:
        wait_for(running, own / "bill" / "summary.json")
        assert list((own / "tmp").iterdir())
        running.terminate()
        out, err = running.communicate()
    assert (running.returncode, err.count("\n")) == (143, 1)
    assert err.startswith("About ")
    assert "label everyone" in out
    assert open_bill(own / "bill")[1].rounds == 80
    assert not list((own / "tmp").iterdir())


# -- a terminal ------------------------------------------------------------------------------------------


def on_terminal(own, *words):
    """What is drawn on a terminal that is standard error, while standard output is a file."""
    ours, theirs = pty.openpty()
    with open(own / "bill.txt", "w") as file, started(own, *words, stdout=file, stderr=theirs) as running:
        os.close(theirs)
        drawn = b""
        with suppress(OSError):  # which says that the other end is closed
            while some := os.read(ours, 65536):
                drawn += some
    os.close(ours)
    assert running.returncode == 0
    return drawn.decode(), (own / "bill.txt").read_text()


def test_a_bar_is_drawn_on_a_terminal_and_shows_rounds_and_money(own):
    smooth(300).write_csv(own / "cases.csv")
    drawn, _ = on_terminal(own, own / "cases.csv", "--cost", 0.1, "--no-sweep")
    assert "rounds/s" in drawn
    assert "spent" in drawn


def test_the_bill_goes_where_standard_output_goes_though_a_bar_is_drawn(cases, own):
    drawn, printed = on_terminal(own, cases, "--cost", 0.5, "--compare")
    assert "comparing" in drawn
    assert printed.startswith(f"{cases}: 80 cases in ")
    for part in ("label everyone", "Other ways", "Totals at other costs", "Open"):
        assert part in printed
        assert part not in drawn


# -- bad input -------------------------------------------------------------------------------------------


def write_truncated(path):
    smooth(500).write_parquet(path)
    path.write_bytes(path.read_bytes()[:-200])


BAD = {
    "missing": (None, (), "expected a file, got none of that name"),
    "empty": (lambda path: path.write_bytes(b""), (), "expected a table with a header and rows, got nothing"),
    "no such column": (
        lambda path: smooth().rename({"y": "score"}).write_csv(path),
        ("--label", "scores"),
        "expected a column 'scores', got none of that name; did you mean 'score'?",
    ),
    "a label of text": (
        lambda path: typed().write_csv(path),
        ("--label", "kind", "--features", "y"),
        "row 1, column 'kind': expected a finite number, got 't4'; labels are numbers",
    ),
    "a late word": (
        lambda path: path.write_text("a,y\n" + "1,2\n" * 3000 + "1,much\n"),
        (),
        "row 3,001, column 'y': expected a finite number, got 'much'",
    ),
    "a constant": (
        lambda path: smooth().with_columns(pl.lit(3.0).alias("c")).write_csv(path),
        ("--features", "a,c"),
        "row 1, column 'c': expected a feature that varies, got 3.0 in every row",
    ),
    "ids twice": (
        lambda path: smooth().with_columns(pl.Series("who", ["x"] * 120)).write_csv(path),
        ("--id", "who"),
        "row 2, column 'who': expected an id only once, got 'x' again",
    ),
    "a thousand columns": (
        lambda path: pl.DataFrame({f"c{i}": [1.0, 2.0] for i in range(999)} | {"y": [1, 2]}).write_csv(path),
        (),
        "expected 100 features at most, got 999, from column 'c0' to 'c998'",
    ),
    "invalid UTF-8": (
        lambda path: path.write_bytes(b"a,y\n1,2\n2,3\n\xff\xfe,3\n"),
        (),
        "row 3, column 'a': expected text in UTF-8",
    ),
    "two delimiters": (
        lambda path: path.write_text("a,b;y\n1,2;3\n2,3;4\n"),
        (),
        "header: expected one sign between fields, got commas and semicolons",
    ),
    "mixed decimals": (
        lambda path: path.write_text("a;y\n1.5;2\n2,5;3\n"),
        ("--features", "a"),
        "row 2, column 'a': expected a finite number, with one decimal sign in the whole column, got '2,5'",
    ),
    "a locked workbook": (
        lambda path: path.write_bytes(OLD_OFFICE_MARK + bytes(508) + ENCRYPTED + bytes(512)),
        (),
        "expected a workbook that anyone can open, got one with a password",
    ),
    "no such sheet": (
        lambda path: smooth().write_excel(path, worksheet="March"),
        ("--sheet", "April"),
        "expected a sheet 'April', got none of that name; there are 'March'",
    ),
    "dates with two readings": (
        lambda path: path.write_text("seen,y\n01/02/2024,1\n03/02/2024,2\n"),
        (),
        "got '01/02/2024', which is 1 February 2024 or 2 January 2024; say --dates dmy or --dates mdy",
    ),
    "a truncated Parquet": (write_truncated, (), "expected a whole Parquet file"),
    "missing values": (
        lambda path: path.write_text("a,y\n1,2\n,3\n2,NA\n"),
        (),
        "row 2, column 'a': expected no missing values, got 2 rows with some (1 in 'a', 1 in 'y')",
    ),
}


@pytest.mark.parametrize("as_json", [False, True], ids=["words", "json"])
@pytest.mark.parametrize(
    ("make", "words", "message"),
    [
        pytest.param(*case, id=name, marks=[pytest.mark.slow] if name == "a thousand columns" else [])
        for name, case in BAD.items()
    ],
)
def test_bad_input_is_one_line_that_names_the_place(capsys, own, make, words, message, as_json):
    path = own / "bad [1].data"
    if make is not None:
        make(path)
    label = () if "--label" in words else ("--label", "y")
    end = ("--cost", 1, "--out", own / "bill", *(["--json"] if as_json else []))
    code, out, err = simulate(capsys, path, *label, *words, *end)
    assert (code, out, err.count("\n")) == (2, "", 1)
    told = json.loads(err)["error"]["message"] if as_json else err.removeprefix("breakeven: ")
    assert told.startswith(str(path))
    assert message in told
    assert not (own / "bill").exists()


def test_a_query_that_returns_nothing_is_one_line(capsys, own):
    with sqlite3.connect(own / "clinic.db") as connection:
        connection.execute("CREATE TABLE cases (a, y)")
    connection.close()
    address = f"sqlite:///{own / 'clinic.db'}"
    code, out, err = simulate(capsys, address, "--label", "y", "--cost", 1, "--out", own / "bill")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"breakeven: {address}: expected rows, got none for the query")
    assert not (own / "bill").exists()


REFUSED = {
    "no cost": ((), "cost: expected what a label costs, or a column that says so, got None"),
    "one trial": (("--cost", "1", "--trials", "1"), "trials: expected 0, or 2 at least"),
    "a cost below 0": (("--cost", "-1"), "cost: expected a positive, finite number, got -1.0"),
    "no such rule": (("--cost", "1", "--rule", "coin"), "Invalid value for '--rule'"),
}


@pytest.mark.parametrize(("words", "message"), REFUSED.values(), ids=REFUSED)
def test_a_wrong_option_is_one_line(capsys, cases, own, words, message):
    code, out, err = simulate(capsys, cases, "--label", "y", "--out", own / "bill", *words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


def test_a_folder_that_cannot_be_written_to_is_one_line_before_any_work(capsys, cases, own):
    (own / "file").write_text("in the way")
    code, out, err = simulate(capsys, cases, "--label", "y", "--cost", 1, "--out", own / "file" / "bill")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err == f"breakeven: {own / 'file' / 'bill'}: cannot be written to (Not a directory)\n"


def test_a_folder_of_something_else_is_left_alone(capsys, cases, own):
    (own / "summary.json").write_text("{}")
    code, out, err = simulate(capsys, cases, "--label", "y", "--cost", 1, "--out", own)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(
        f"breakeven: {own}: expected a new folder, or that of a bill, got one whose summary"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("--cost", 1, "--forgetting", 50),
            "forgetting: expected a type or a kernel beside it: the default for",
        ),
        (
            ("--cost", 1, "--kernel", "se", "--forgetting", "data"),
            "forgetting: expected a number, or \"fit\" to leave it to the labels, got 'data'",
        ),
        (
            ("--cost", 1, "--labeller", "nurse:2:3"),
            "cost: expected none beside labellers, who have costs, got 1.0",
        ),
        (("--labeller", "nurse:2"), "labeller: expected NAME:COST:NOISE, such as nurse:2:3.0, got 'nurse:2'"),
        (("--cost", 1, "--budget", 0.5), "budget: expected at least 1, the cost of one label, got 0.5"),
        (("--cost", 1, "--audit", 1.5), "audit: expected a number in (0, 1), got 1.5"),
        (("--cost", 1, "--audit-bound", 3), "audit_bound: expected none without an audit, got 3.0"),
    ],
)
def test_limits_that_cannot_be_are_one_line(capsys, cases, own, words, message):
    code, out, err = simulate(capsys, cases, "--label", "y", *words, "--out", own / "bill")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"breakeven: {message}")


def test_limits_are_options_of_the_configuration_file_too(capsys, cases, own):
    config = own / "bill.toml"
    config.write_text(
        'table = "cases.csv"\nlabel = "y"\nsweep = false\nlabeller = ["nurse:0.1:0.5", "mri:1:0.1"]\n'
        "budget = 8\nper = [2, 20]\naudit = 0.1\n"
    )
    words = (
        "--config",
        config,
        "--labeller",
        "nurse:0.2:0.5",
        "--per",
        3,
        20,
        "--out",
        own / "bill",
        "--json",
    )
    told = json.loads(simulate(capsys, *words)[1])["options"]
    assert (told["labeller"], told["budget"], told["per"]) == (["nurse:0.2:0.5"], 8.0, [3.0, 20])


def test_without_polars_it_says_what_to_install(capsys, cases, monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    code, out, err = simulate(capsys, cases, "--label", "y", "--cost", 1)
    assert (code, out) == (2, "")
    assert err == (
        "breakeven: polars is needed to read tables; install it with `pip install '.[tables]'` in the folder "
        "of breakeven's source\n"
    )
