"""The limits in docs/operating.md are those of the code."""

import re
from pathlib import Path

import pytest

from breakeven.cli import log_messages
from breakeven.errors import expect
from breakeven.rules import rule
from breakeven.service import app, edge_limits, setting_up
from breakeven.service.access import callers, tokens
from breakeven.service.folded import OPEN_BY_DEFAULT
from breakeven.service.handlers import desk_handlers, stream_handlers
from breakeven.service.routes import SERVICE_ROUTES
from breakeven.wire import arrivals, log_pages, requests

KILO, MEGA = edge_limits.KILOBYTE, edge_limits.MEGABYTE
LIMITS = {
    "arrivals or predictions in one call": [arrivals.MOST_ARRIVALS],
    "lines of labels or history in one call": [requests.MOST_LINES],
    "rows of a page of requests, of entries, of the trail": [desk_handlers.MOST_REQUESTS],
    "an id, and the name of a token or person": [expect.LONGEST_NAME],
    "the name of a stream": [setting_up.LONGEST_STREAM_NAME],
    "a type": [edge_limits.LONGEST_TYPE],
    "rules around each other": [rule.MOST_LAYERS],
    "a body": sorted({one.most_bytes // MEGA for one in SERVICE_ROUTES}),
    "open requests of a belief over numbers": [OPEN_BY_DEFAULT],
    "open feeds": [callers.MOST_FEEDS_EACH, callers.MOST_FEEDS],
    "the first line and the headers of a call": [
        30,
        60,
        edge_limits.MOST_HEAD_BYTES // KILO,
        edge_limits.MOST_HEAD_LINES,
    ],
    "the form of a log-in, and of a page": [
        edge_limits.MOST_LOG_IN_BYTES // KILO,
        edge_limits.MOST_FORM_BYTES // MEGA,
        edge_limits.MOST_FIELDS,
    ],
    "tokens, sessions and people that are remembered for a second": [tokens.MOST_REMEMBERED],
    "callers whose rate is counted": [callers.MOST_BUCKETS],
    "log messages of one kind": [log_messages.MOST_A_SECOND],
    "the rest of a body, once it began": [int(app.BODY_SECONDS)],
}


def documented():
    page = Path("docs/operating.md").read_text().partition("## Limits")[2]
    return dict(re.findall(r"^\| (.+?) \| (.+?) \|$", page.partition("These have no limit")[0], re.MULTILINE))


@pytest.mark.parametrize("what", LIMITS)
def test_a_limit_is_the_one_of_the_code(what):
    numbers = [int(one.replace(",", "")) for one in re.findall(r"\b\d[\d,]*\b", documented()[what])]
    assert numbers[: len(LIMITS[what])] == LIMITS[what]


def test_pages_have_one_limit():
    assert log_pages.MOST_ENTRIES == stream_handlers.MOST_CHANGES == desk_handlers.MOST_REQUESTS


def test_every_limit_of_the_service_is_documented():
    used = Path(__file__).read_text()
    for name in vars(edge_limits):
        assert not name.startswith(("MOST_", "LONGEST_")) or f"edge_limits.{name}" in used, name
