"""The reference of the HTTP interface is what the routes say."""

from docs.http_page import page
from tests.docs.test_documents import ROOT


def test_the_reference_is_up_to_date():
    assert (ROOT / "docs" / "http.md").read_text() == page(), "run `python docs/http_page.py`"
