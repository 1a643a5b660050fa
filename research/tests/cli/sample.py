"""The program with one small data file and an origin that serves it, breaks or is interrupted.

`python -m tests.cli.sample serving datasets fetch sample` runs it so.
"""

import hashlib
import io
import signal
import sys
from urllib.error import URLError

from breakeven.cli import main
from breakeven_research import datasets
from breakeven_research.datasets import Source, files

CONTENT = b"0.4260    41.98      0.23\n" * 5000
SAMPLE = Source(
    name="sample",
    filename="sample [x].txt",
    url="https://example.org/sample",
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    size=len(CONTENT),
    citation="nobody",
    licence="none",
)


class Response(io.BytesIO):
    headers = {"Content-Length": str(len(CONTENT))}  # noqa: RUF012


def serving(url):
    return Response(CONTENT)


def lying(url):
    return Response(b"<html>sorry</html>")


def unreachable(url):
    raise URLError(OSError(-2, "Name or service not known"))


def interrupted(url):
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may start us with Ctrl-C ignored
    signal.raise_signal(signal.SIGINT)


ORIGINS = {origin.__name__: origin for origin in (serving, lying, unreachable, interrupted)}

if __name__ == "__main__":
    datasets.all_sources = files.all_sources = lambda: (SAMPLE,)
    files._urlopen = ORIGINS[sys.argv[1]]
    sys.exit(main(sys.argv[2:]))
