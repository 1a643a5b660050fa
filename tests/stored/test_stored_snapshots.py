"""Snapshots that an earlier version wrote are read, and go on as they would have."""

from math import inf

import msgspec
import pytest

from breakeven import Learner
from breakeven.errors import SnapshotError
from breakeven.learner.snapshot import FORMAT_VERSION
from tests.stored.kinds import FOLDER, KEY, KINDS, goes_on

VERSIONS = sorted(FOLDER.glob("version*"))
STORED = [path for folder in VERSIONS for path in sorted(folder.glob("*.json"))]


@pytest.mark.parametrize("path", STORED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_stored_snapshot_goes_on(path):
    expected = msgspec.json.decode(path.read_bytes())
    found = goes_on(Learner.restore(path.with_suffix(".snapshot").read_bytes()))
    for now, then in zip(found.pop("decisions"), expected.pop("decisions"), strict=True):
        assert now[:3] == then[:3]
        assert now[3:] == pytest.approx([inf if one is None else one for one in then[3:]], rel=1e-7, abs=1e-9)
    assert found == expected


def test_a_stored_snapshot_with_a_key_needs_it():
    for folder in VERSIONS:
        blob = (folder / "keyed.snapshot").read_bytes()
        assert Learner.restore(blob, key=KEY).rounds == 40
        with pytest.raises(SnapshotError, match="expected the key that it was made with"):
            Learner.restore(blob)


def test_every_kind_of_this_version_is_stored():
    stored = {path.stem for path in STORED if path.parent.name == f"version{FORMAT_VERSION}"}
    assert stored == set(KINDS)
