"""Data files: found, checked, fetched; and what is left behind when that goes wrong, which is nothing."""

import dataclasses
import hashlib
import http.client
import io
import os
import urllib.error
import zipfile
from pathlib import Path

import pytest

from breakeven.errors import BreakevenError, InvalidInput
from breakeven_research.datasets import (
    PARKINSONS,
    SUPERNOVA,
    CorruptData,
    MissingData,
    Source,
    all_sources,
    cache_folder,
    fetch,
    files,
    locate,
    source_named,
    verify,
)

CONTENT = b"0.4260    41.98      0.23\n" * 5000
ANOTHER = b"0.4260    41.98      0.24\n" * 5000
PLAIN = Source(
    name="sample",
    filename="sample.txt",
    url="https://example.org/sample",
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    size=len(CONTENT),
    citation="nobody",
    licence="none",
)
ZIPPED = dataclasses.replace(PLAIN, url="https://example.org/sample.zip", member="inside.txt")


def archive(**members):
    stored = io.BytesIO()
    with zipfile.ZipFile(stored, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name.replace("_", "."), content)
    return stored.getvalue()


class Response(io.BytesIO):
    """What an opener returns; breaks once `breaks_at` bytes were read."""

    def __init__(self, content, headers=None, breaks_at=None, error=None):
        super().__init__(content)
        self.headers = headers or {}
        self.breaks_at, self.error = breaks_at, error

    def read(self, size=-1):
        if self.breaks_at is not None and self.tell() >= self.breaks_at:
            raise self.error
        return super().read(size)


def serving(content, **options):
    def opener(url):
        opener.asked.append(url)
        return Response(content, **options)

    opener.asked = []
    return opener


def unreachable(url):
    raise urllib.error.URLError(OSError(-2, "Name or service not known"))


def never(url):
    pytest.fail(f"asked for {url}")


@pytest.fixture(autouse=True)
def own(monkeypatch, tmp_path):
    """Neither the user's files nor the user's cache; a folder to call one's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("BREAKEVEN_DATA", raising=False)
    folder = tmp_path / "own"
    folder.mkdir()
    return folder


@pytest.fixture
def cached():
    cache_folder().mkdir(parents=True)
    return cache_folder() / PLAIN.filename


def left_behind():
    return sorted(path.name for path in cache_folder().rglob("*"))


def one_line(caught):
    return "\n" not in str(caught.value)


# -- what the sources say ------------------------------------------------------------------------------


def test_the_sources_are_named_once_and_found_by_name():
    assert [source.name for source in all_sources()] == ["parkinsons", "supernova"]
    assert [source_named(source.name) for source in all_sources()] == [PARKINSONS, SUPERNOVA]
    with pytest.raises(InvalidInput, match="name: expected one of 'parkinsons', 'supernova', got 'iris'"):
        source_named("iris")


def test_hashes_and_sizes_are_those_of_the_provenance():
    assert PARKINSONS.sha256 == "f2c7d5025dec4e92e7feae367a5f7ccf58789a10ac6b54bdf15976c599f9dd39"
    assert SUPERNOVA.sha256 == "18142cc27d9ac3647db95b6c8a4542d65799057aba96caaf000e4a638bd24385"
    assert (PARKINSONS.size, SUPERNOVA.size) == (911261, 4992)


@pytest.mark.parametrize("source", all_sources(), ids=lambda source: source.name)
def test_a_source_is_encrypted_on_its_way_and_says_whose_it_is(source):
    assert source.url.startswith("https://")
    assert source.citation
    assert source.licence


# -- locate --------------------------------------------------------------------------------------------


def test_a_file_of_ones_own_is_found_first(monkeypatch, own, cached):
    monkeypatch.setenv("BREAKEVEN_DATA", str(own))
    cached.write_bytes(CONTENT)
    (own / PLAIN.filename).write_bytes(CONTENT)
    assert locate(PLAIN) == own / PLAIN.filename


def test_the_cache_is_looked_at_when_ones_own_folder_lacks_the_file(monkeypatch, own, cached):
    monkeypatch.setenv("BREAKEVEN_DATA", str(own))
    cached.write_bytes(CONTENT)
    assert locate(PLAIN) == cached


def test_the_cache_is_enough(cached):
    cached.write_bytes(CONTENT)
    assert locate(PLAIN) == cached
    assert files.contents(PLAIN) == CONTENT


def test_an_empty_variable_counts_as_unset(monkeypatch, cached, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / PLAIN.filename).write_bytes(ANOTHER)
    monkeypatch.setenv("BREAKEVEN_DATA", "")
    cached.write_bytes(CONTENT)
    assert locate(PLAIN) == cached


def test_a_tilde_means_home(monkeypatch, own):
    monkeypatch.setenv("HOME", str(own.parent))
    monkeypatch.setenv("BREAKEVEN_DATA", "~/own")
    (own / PLAIN.filename).write_bytes(CONTENT)
    assert locate(PLAIN) == own / PLAIN.filename


@pytest.mark.parametrize("value", [None, "", "relative/folder"])
def test_without_an_absolute_cache_home_the_cache_is_in_the_users_home(monkeypatch, own, value):
    monkeypatch.setenv("HOME", str(own))
    if value is None:
        monkeypatch.delenv("XDG_CACHE_HOME")
    else:
        monkeypatch.setenv("XDG_CACHE_HOME", value)
    assert cache_folder() == own / ".cache" / "breakeven"


def test_a_missing_file_is_one_line_that_says_what_and_how(monkeypatch, own):
    monkeypatch.setenv("BREAKEVEN_DATA", str(own))
    with pytest.raises(MissingData) as caught:
        locate(PLAIN)
    assert str(caught.value) == (
        f"sample: found no file sample.txt in {own} or {cache_folder()}; "
        "run `breakeven datasets fetch sample`, or set BREAKEVEN_DATA to a folder that holds sample.txt"
    )
    assert isinstance(caught.value, FileNotFoundError)
    assert isinstance(caught.value, BreakevenError)


def test_a_folder_of_that_name_is_no_file(own, monkeypatch):
    monkeypatch.setenv("BREAKEVEN_DATA", str(own))
    (own / PLAIN.filename).mkdir()
    with pytest.raises(MissingData, match="found no file"):
        locate(PLAIN)


DAMAGED = {
    "one byte differs": CONTENT[:-2] + b"9\n",
    "truncated": CONTENT[:4000],
    "empty": b"",
    "one byte more": CONTENT + b"\n",
    "other line ends": CONTENT.replace(b"\n", b"\r\n"),
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_file_is_refused_wherever_it_is(monkeypatch, own, cached, content):
    for place in (own / PLAIN.filename, cached):
        monkeypatch.setenv("BREAKEVEN_DATA", str(place.parent))
        place.write_bytes(content)
        with pytest.raises(CorruptData) as caught:
            locate(PLAIN)
        assert one_line(caught)
        assert str(caught.value) == (
            f"sample: expected {len(CONTENT)} bytes with SHA-256 {PLAIN.sha256}, "
            f"got {len(content)} bytes with {hashlib.sha256(content).hexdigest()} from {place}; "
            "remove that file and run `breakeven datasets fetch sample`, "
            "or set BREAKEVEN_DATA to a folder that holds sample.txt"
        )
        assert isinstance(caught.value, ValueError)
        assert isinstance(caught.value, BreakevenError)


def test_a_damaged_file_of_ones_own_is_not_passed_over_for_a_good_one_in_the_cache(monkeypatch, own, cached):
    monkeypatch.setenv("BREAKEVEN_DATA", str(own))
    (own / PLAIN.filename).write_bytes(ANOTHER)
    cached.write_bytes(CONTENT)
    with pytest.raises(CorruptData, match=str(own)):
        locate(PLAIN)


def test_a_file_that_turns_bad_is_noticed_at_the_next_use(cached):
    cached.write_bytes(CONTENT)
    locate(PLAIN)
    cached.write_bytes(ANOTHER)
    with pytest.raises(CorruptData, match="expected 130000 bytes"):
        locate(PLAIN)


def test_a_file_that_cannot_be_read_is_one_line_too(monkeypatch, cached):
    cached.write_bytes(CONTENT)

    def forbidden(self):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "read_bytes", forbidden)
    with pytest.raises(
        MissingData,
        match=r"could not read .*sample.txt \(Permission denied\); run `breakeven datasets fetch sample`",
    ):
        locate(PLAIN)


# -- verify --------------------------------------------------------------------------------------------


def test_verify_tells_of_every_file_and_raises_nothing(monkeypatch, own):
    monkeypatch.setenv("BREAKEVEN_DATA", str(own))
    (own / SUPERNOVA.filename).write_bytes(b"broken")
    parkinsons, supernova = verify()
    assert (parkinsons.source, parkinsons.ok, parkinsons.path) == (PARKINSONS, False, None)
    assert isinstance(parkinsons.problem, MissingData)
    assert (supernova.source, supernova.ok, supernova.path) == (SUPERNOVA, False, None)
    assert isinstance(supernova.problem, CorruptData)


def test_verify_tells_where_a_good_file_is(monkeypatch, own):
    monkeypatch.setattr(files, "all_sources", lambda: (PLAIN,))
    monkeypatch.setenv("BREAKEVEN_DATA", str(own))
    (own / PLAIN.filename).write_bytes(CONTENT)
    (status,) = verify()
    assert (status.ok, status.path, status.problem) == (True, own / PLAIN.filename, None)


# -- fetch ---------------------------------------------------------------------------------------------


def test_a_file_is_fetched_into_the_cache():
    opener = serving(CONTENT)
    path = fetch(PLAIN, opener=opener)
    assert (path, path.read_bytes(), opener.asked) == (cache_folder() / "sample.txt", CONTENT, [PLAIN.url])
    assert locate(PLAIN) == path
    assert left_behind() == ["sample.txt"]


def test_a_member_of_an_archive_is_fetched_under_the_files_own_name():
    path = fetch(ZIPPED, opener=serving(archive(readme_txt=b"no", inside_txt=CONTENT)))
    assert path.read_bytes() == CONTENT
    assert left_behind() == ["sample.txt"]


def test_a_good_file_is_not_fetched_again(cached):
    cached.write_bytes(CONTENT)
    assert fetch(PLAIN, opener=never) == cached


def test_a_damaged_file_in_the_cache_is_replaced(cached):
    cached.write_bytes(ANOTHER)
    assert fetch(PLAIN, opener=serving(CONTENT)).read_bytes() == CONTENT
    assert left_behind() == ["sample.txt"]


def test_progress_hears_of_every_block_and_of_the_whole():
    heard = []
    fetch(
        PLAIN,
        opener=serving(CONTENT, headers={"Content-Length": str(len(CONTENT))}),
        progress=lambda *told: heard.append(told),
    )
    assert heard == [(65536, 130000), (130000, 130000)]


@pytest.mark.parametrize("headers", [{}, {"Content-Length": "many"}], ids=str)
def test_progress_does_without_the_whole_where_it_is_unknown(headers):
    heard = []
    fetch(PLAIN, opener=serving(CONTENT, headers=headers), progress=lambda *told: heard.append(told))
    assert heard[-1] == (130000, None)


BROKEN = {
    "no network": (unreachable, r"\(.*Name or service not known\)"),
    "reset half-way": (
        serving(CONTENT, breaks_at=65536, error=ConnectionResetError(104, "Connection reset by peer")),
        r"\(Connection reset by peer\)",
    ),
    "timeout half-way": (
        serving(CONTENT, breaks_at=65536, error=TimeoutError("timed out")),
        r"\(timed out\)",
    ),
    "body too short": (
        serving(CONTENT, breaks_at=65536, error=http.client.IncompleteRead(b"", 64464)),
        r"\(IncompleteRead.*\)",
    ),
    "an error without words": (serving(CONTENT, breaks_at=0, error=TimeoutError()), r"\(TimeoutError\)"),
}


@pytest.mark.parametrize("source", [PLAIN, ZIPPED], ids=["plain", "zip"])
@pytest.mark.parametrize(("opener", "reason"), BROKEN.values(), ids=BROKEN)
def test_a_download_that_breaks_leaves_nothing(source, opener, reason):
    expected = (
        rf"^sample: could not download {source.url} {reason}; set BREAKEVEN_DATA to a folder that holds"
    )
    with pytest.raises(MissingData, match=expected) as caught:
        fetch(source, opener=opener)
    assert one_line(caught)
    assert not cache_folder().exists()


WRONG = {
    "other content": (PLAIN, ANOTHER),
    "cut short in silence": (PLAIN, CONTENT[:70000]),
    "a page that says sorry": (PLAIN, b"<html>404</html>"),
    "nothing": (PLAIN, b""),
    "a member with other content": (ZIPPED, archive(inside_txt=ANOTHER)),
    "a member that is longer": (ZIPPED, archive(inside_txt=CONTENT + b"x" * 10**6)),
}
NO_ARCHIVE = {
    "no archive": (ZIPPED, CONTENT),
    "an empty body": (ZIPPED, b""),
    "half an archive": (ZIPPED, archive(inside_txt=os.urandom(1000))[:500]),
    "an archive without the member": (ZIPPED, archive(outside_txt=CONTENT)),
    "an archive with a broken member": (
        ZIPPED,
        archive(inside_txt=CONTENT)[:60] + b"\xff" * 8 + archive(inside_txt=CONTENT)[68:],
    ),
}


@pytest.mark.parametrize(("source", "body"), WRONG.values(), ids=WRONG)
def test_a_download_of_the_wrong_content_leaves_nothing(source, body):
    expected = (
        f"^sample: expected 130000 bytes with SHA-256 {source.sha256}, got .* nothing was kept; try again"
    )
    with pytest.raises(CorruptData, match=expected) as caught:
        fetch(source, opener=serving(body))
    assert source.url in str(caught.value)
    assert one_line(caught)
    assert not cache_folder().exists()


@pytest.mark.parametrize(("source", "body"), NO_ARCHIVE.values(), ids=NO_ARCHIVE)
def test_an_archive_that_cannot_be_used_leaves_nothing(source, body):
    expected = (
        "^sample: expected a zip archive that holds inside.txt, got .* nothing was kept; try again, or set"
    )
    with pytest.raises(CorruptData, match=expected) as caught:
        fetch(source, opener=serving(body))
    assert one_line(caught)
    assert not cache_folder().exists()


def test_a_failed_fetch_leaves_an_older_file_as_it_was(cached):
    cached.write_bytes(ANOTHER)
    for opener in (unreachable, serving(CONTENT[:1000])):
        with pytest.raises(BreakevenError, match="sample: "):
            fetch(PLAIN, opener=opener)
        assert cached.read_bytes() == ANOTHER
        assert left_behind() == ["sample.txt"]


def test_a_body_without_end_is_given_up(monkeypatch):
    class Endless(Response):
        def read(self, size=-1):
            return b"x" * size

    monkeypatch.setattr(files, "LARGEST_DOWNLOAD", 300_000)
    with pytest.raises(CorruptData, match="got 327680 bytes"):
        fetch(PLAIN, opener=lambda url: Endless(b""))


def test_a_cache_that_cannot_be_made_is_one_line(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(
        MissingData, match=r"^sample: .*: could not write sample.txt \(Not a directory\); set "
    ) as caught:
        fetch(PLAIN, opener=serving(CONTENT))
    assert one_line(caught)
    assert "set XDG_CACHE_HOME to a folder that can be written to, or set BREAKEVEN_DATA" in str(caught.value)
    assert (tmp_path / "file").read_text() == "in the way"


@pytest.mark.skipif(os.geteuid() == 0, reason="to root every folder can be written to")
def test_a_cache_without_permission_is_one_line(cached):
    cache_folder().chmod(0o500)
    try:
        with pytest.raises(MissingData, match=r"could not write .*\(Permission denied\)"):
            fetch(PLAIN, opener=serving(CONTENT))
    finally:
        cache_folder().chmod(0o700)


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_full_disk_leaves_nothing(monkeypatch, step):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, full)
    with pytest.raises(MissingData, match=r"could not write .*sample.txt \(No space left on device\)"):
        fetch(PLAIN, opener=serving(CONTENT))
    assert left_behind() == []


def test_an_interrupt_while_writing_leaves_nothing_and_is_passed_on(monkeypatch):
    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        fetch(PLAIN, opener=serving(CONTENT))
    assert left_behind() == []


def test_the_final_name_appears_only_with_all_its_bytes(monkeypatch):
    seen = []
    replace = os.replace

    def watched(beside, path):
        seen.append((Path(path).exists(), Path(beside).read_bytes() == CONTENT))
        replace(beside, path)

    monkeypatch.setattr(os, "replace", watched)
    fetch(PLAIN, opener=serving(CONTENT))
    assert seen == [(False, True)]


def test_without_an_opener_the_network_is_asked_with_a_timeout(monkeypatch):
    asked = []

    def urlopen(url, timeout):
        asked.append((url, timeout))
        return Response(CONTENT)

    monkeypatch.setattr("urllib.request.urlopen", urlopen)
    fetch(PLAIN)
    assert asked == [(PLAIN.url, files.TIMEOUT_SECONDS)]
