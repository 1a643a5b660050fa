"""The reference of the HTTP interface is what the routes say."""

import re

from breakeven.service.openapi import document
from docs.http_page import page
from tests.docs.test_documents import ROOT


def test_the_reference_is_up_to_date():
    assert (ROOT / "docs" / "http.md").read_text() == page(), "run `python docs/http_page.py`"


def test_the_reference_tells_of_every_refusal_that_the_document_tells_of():
    told = re.findall(r"^## (\w+) (/\S+)$.*?^- refused with: (.*?)$", page(), re.MULTILINE | re.DOTALL)
    said = {
        (method.upper(), path): [one for one in call["responses"] if int(one) >= 400]
        for path, methods in document()["paths"].items()
        for method, call in methods.items()
    }
    assert {(method, path): refused.split(", ") for method, path, refused in told} == said
