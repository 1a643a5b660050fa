"""The reference of the command line is what the commands say."""

from docs.cli import page
from tests.docs.test_documents import ROOT


def test_the_reference_is_up_to_date():
    assert (ROOT / "docs" / "cli.md").read_text() == page(), "run `python docs/cli.py`"
