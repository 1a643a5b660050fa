"""`breakeven datasets`: list, fetch, verify; by eye and by JSON, with and without a network."""

import json
import os

import pytest
from typer.testing import CliRunner

from breakeven.cli import main
from breakeven.cli.program import program
from breakeven_research.datasets import PARKINSONS, SUPERNOVA, all_sources, cache_folder, files
from tests.cli.sample import CONTENT, SAMPLE, serving


def printed(capsys, *words):
    code = main(["datasets", *words])
    out, err = capsys.readouterr()
    assert err == ""
    return code, out


def put(folder, content=CONTENT):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / SAMPLE.filename
    path.write_bytes(content)
    return path


# -- list ----------------------------------------------------------------------------------------------


def test_list_shows_every_source_and_breaks_no_address():
    done = CliRunner().invoke(program(), ["datasets", "list"])
    assert done.exit_code == 0
    for source in all_sources():
        assert f"{source.filename}, {source.size:,} bytes\n" in done.stdout
        assert f"    origin   {source.url}\n" in done.stdout
        assert source.licence in " ".join(done.stdout.split())
    assert done.stdout.count("    here     no\n") == 2
    assert all(len(line) <= 80 for line in done.stdout.splitlines() if "https:" not in line)


def test_list_says_where_a_file_is_with_its_brackets(capsys, monkeypatch, own, sample):
    monkeypatch.setenv("BREAKEVEN_DATA", str(own))
    path = put(own)
    code, out = printed(capsys, "list")
    assert code == 0
    assert f"    here     {path}\n    file     sample [x].txt, 130,000 bytes\n" in out


def test_list_tells_a_damaged_file_from_none(capsys, sample):
    put(cache_folder(), CONTENT[:-1])
    assert "here     a damaged one; see `breakeven datasets verify`\n" in printed(capsys, "list")[1]


def test_list_as_json_has_all_that_is_known(capsys, sample):
    code, out = printed(capsys, "list", "--json")
    assert (code, json.loads(out)) == (
        0,
        {
            "datasets": [
                {
                    "name": "sample",
                    "file": "sample [x].txt",
                    "size": 130000,
                    "sha256": SAMPLE.sha256,
                    "licence": "none",
                    "citation": "nobody",
                    "origin": "https://example.org/sample",
                    "here": False,
                    "path": None,
                }
            ]
        },
    )


def test_a_path_that_is_no_text_is_shown_escaped(capsys, monkeypatch, tmp_path, sample):
    folder = tmp_path / os.fsdecode(b"own\xff\n")
    try:
        put(folder)
    except OSError:
        pytest.skip("no such names on this file system")
    monkeypatch.setenv("BREAKEVEN_DATA", str(folder))
    assert r"own\udcff" in printed(capsys, "list")[1]
    assert r"own\udcff" in json.loads(printed(capsys, "list", "--json")[1])["datasets"][0]["path"]


# -- fetch ---------------------------------------------------------------------------------------------


def test_fetch_says_where_the_file_is_and_then_that_it_is_there(capsys, monkeypatch, sample):
    path = cache_folder() / SAMPLE.filename
    monkeypatch.setattr(files, "_urlopen", serving)
    assert printed(capsys, "fetch", "sample") == (0, f"sample: fetched to {path}\n")
    assert printed(capsys, "fetch", "sample") == (0, f"sample: already at {path}\n")
    assert printed(capsys, "fetch", "all") == (0, f"sample: already at {path}\n")


def test_fetch_as_json_is_one_document(capsys, monkeypatch, sample):
    path = str(cache_folder() / SAMPLE.filename)
    monkeypatch.setattr(files, "_urlopen", serving)
    for downloaded in (True, False):
        code, out = printed(capsys, "fetch", "all", "--json")
        assert code == 0
        assert json.loads(out) == {"datasets": [{"name": "sample", "path": path, "downloaded": downloaded}]}


def test_a_file_of_ones_own_is_not_fetched(capsys, monkeypatch, own, sample):
    monkeypatch.setenv("BREAKEVEN_DATA", str(own))
    path = put(own)
    assert printed(capsys, "fetch", "sample") == (0, f"sample: already at {path}\n")


def test_a_damaged_file_in_the_cache_is_replaced(capsys, monkeypatch, sample):
    path = put(cache_folder(), b"damaged")
    monkeypatch.setattr(files, "_urlopen", serving)
    assert printed(capsys, "fetch", "sample") == (0, f"sample: fetched to {path}\n")
    assert path.read_bytes() == CONTENT


def test_a_damaged_file_of_ones_own_is_still_in_the_way_after_fetching(capsys, monkeypatch, own, sample):
    monkeypatch.setenv("BREAKEVEN_DATA", str(own))
    path = put(own, b"damaged")
    monkeypatch.setattr(files, "_urlopen", serving)
    assert main(["datasets", "fetch", "sample"]) == 2
    assert f"from {path}; remove that file and run" in capsys.readouterr().err
    path.unlink()
    assert printed(capsys, "fetch", "sample") == (0, f"sample: already at {cache_folder() / path.name}\n")


def test_an_unknown_name_is_one_line_with_the_known_ones(capsys):
    assert main(["datasets", "fetch", "supernovae"]) == 2
    assert capsys.readouterr().err == (
        "breakeven: name: expected one of 'all', 'parkinsons', 'supernova', got 'supernovae'\n"
    )


@pytest.mark.parametrize("name", ["parkinsons", "all"])
def test_without_a_network_fetching_is_one_line(breakeven, name):
    done = breakeven("datasets", "fetch", name)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(f"breakeven: parkinsons: could not download {PARKINSONS.url} (")
    assert done.stderr.endswith("; set BREAKEVEN_DATA to a folder that holds parkinsons_updrs.data\n")
    assert not cache_folder().exists()


def test_without_a_network_fetching_as_json_is_one_object(breakeven):
    done = breakeven("datasets", "fetch", "supernova", "--json")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    error = json.loads(done.stderr)["error"]
    assert error["kind"] == "MissingData"
    assert error["message"].startswith(f"supernova: could not download {SUPERNOVA.url} (")


def test_an_origin_with_another_content_is_one_line_and_leaves_nothing(breakeven):
    done = breakeven("datasets", "fetch", "sample", origin="lying")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "sample: expected 130000 bytes with SHA-256" in done.stderr
    assert "nothing was kept; try again" in done.stderr
    assert not cache_folder().exists()


def test_a_cache_that_cannot_be_written_to_is_one_line(breakeven, monkeypatch, own):
    (own / "file").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(own / "file"))
    done = breakeven("datasets", "fetch", "sample", origin="serving")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "(Not a directory); set XDG_CACHE_HOME to a folder that can be written to" in done.stderr


def test_ctrl_c_is_one_line_and_leaves_nothing(breakeven):
    done = breakeven("datasets", "fetch", "sample", origin="interrupted")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "breakeven: interrupted\n")
    assert not cache_folder().exists()


# -- the bar -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("force", ["", "FORCE_COLOR", "GITHUB_ACTIONS", "TTY_COMPATIBLE"])
def test_a_pipe_gets_one_plain_line_and_no_bar(breakeven, monkeypatch, force):
    if force:
        monkeypatch.setenv(force, "1")
    done = breakeven("datasets", "fetch", "sample", origin="serving")
    path = cache_folder() / SAMPLE.filename
    assert (done.returncode, done.stdout, done.stderr) == (0, f"sample: fetched to {path}\n", "")


@pytest.fixture
def terminal():
    """The two ends of a terminal: what is written to the second can be read from the first."""
    pty = pytest.importorskip("pty")
    ends = pty.openpty()
    yield ends
    for end in ends:
        os.close(end)


def shown_on(terminal):
    os.write(terminal[1], b"END")
    shown = b""
    while not shown.endswith(b"END"):
        shown += os.read(terminal[0], 1 << 16)
    return shown.removesuffix(b"END").decode()


@pytest.fixture
def plain_terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    for name in ("NO_COLOR", "TTY_INTERACTIVE", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("plain_terminal")
def test_a_terminal_sees_a_bar_and_standard_output_does_not(breakeven, terminal):
    done = breakeven("datasets", "fetch", "sample", origin="serving", stderr=terminal[1])
    shown = shown_on(terminal)
    assert "sample" in shown
    assert "100%" in shown
    assert done.stdout == f"sample: fetched to {cache_folder() / SAMPLE.filename}\n"


def test_with_json_a_terminal_sees_no_bar(breakeven, terminal):
    breakeven("datasets", "fetch", "sample", "--json", origin="serving", stderr=terminal[1])
    assert shown_on(terminal) == ""


@pytest.mark.usefixtures("plain_terminal")
def test_ctrl_c_under_a_bar_ends_with_the_one_line(breakeven, terminal):
    done = breakeven("datasets", "fetch", "sample", origin="interrupted", stderr=terminal[1])
    assert done.returncode == 2
    assert shown_on(terminal).endswith("breakeven: interrupted\r\n")


# -- verify --------------------------------------------------------------------------------------------


def test_missing_files_are_a_line_each_and_exit_code_2(breakeven):
    done = breakeven("datasets", "verify")
    assert (done.returncode, done.stderr) == (2, "")
    for line, source in zip(done.stdout.splitlines(), all_sources(), strict=True):
        assert line == (
            f"{source.name}: found no file {source.filename} in {cache_folder()}; "
            f"run `breakeven datasets fetch {source.name}`, "
            f"or set BREAKEVEN_DATA to a folder that holds {source.filename}"
        )


def test_a_damaged_file_of_ones_own_is_a_line_and_exit_code_2(breakeven, monkeypatch, own):
    monkeypatch.setenv("BREAKEVEN_DATA", str(own))
    (own / SUPERNOVA.filename).write_bytes(b"damaged")
    done = breakeven("datasets", "verify")
    assert (done.returncode, done.stderr) == (2, "")
    missing, damaged = done.stdout.splitlines()
    assert missing.startswith("parkinsons: found no file")
    assert damaged.startswith(f"supernova: expected 4992 bytes with SHA-256 {SUPERNOVA.sha256}, got 7 bytes")
    assert f"from {own / SUPERNOVA.filename}; remove that file and run" in damaged


def test_right_files_are_exit_code_0(capsys, sample):
    path = put(cache_folder())
    assert printed(capsys, "verify") == (0, f"sample: right, at {path}\n")
    code, out = printed(capsys, "verify", "--json")
    right = {"name": "sample", "ok": True, "path": str(path), "problem": None}
    assert (code, json.loads(out)) == (0, {"ok": True, "datasets": [right]})


def test_verify_as_json_gives_the_reason_and_exit_code_2(capsys, sample):
    path = put(cache_folder(), b"damaged")
    code, out = printed(capsys, "verify", "--json")
    document = json.loads(out)
    (verified,) = document["datasets"]
    assert (code, document["ok"], verified["ok"], verified["path"]) == (2, False, False, None)
    assert verified["problem"]["kind"] == "CorruptData"
    assert f"from {path}; remove that file" in verified["problem"]["message"]
