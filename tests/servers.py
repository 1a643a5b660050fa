"""A PostgreSQL server of our own, made by Debian's package, for tests under CI; it does not run as root."""

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from glob import glob
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest

from tests.debian import needed, under_ci

NOBODY = 65534


class Server(NamedTuple):
    """Its address, and a way to stop it and to start it."""

    address: str
    run: Callable[..., None]

    def start(self) -> None:
        self.run("pg_ctl", "-w", "start")

    def stop(self) -> None:
        self.run("pg_ctl", "-m", "immediate", "stop")


@contextmanager
def postgresql() -> Iterator[Server]:
    """A server that runs meanwhile; the test is skipped without CI, or without psycopg."""
    if not under_ci():
        pytest.skip("a server is started under CI only")
    pytest.importorskip("psycopg", reason="psycopg, of the extra postgres, is not installed")
    tools = needed("postgresql", lambda: sorted(glob("/usr/lib/postgresql/*/bin")) or None)
    with TemporaryDirectory(prefix="breakeven-", dir="/tmp") as folder:
        as_nobody = []
        if os.getuid() == 0:
            os.chown(folder, NOBODY, NOBODY)
            as_nobody = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        more = f"-c listen_addresses= -c unix_socket_directories={folder} -c fsync=off"

        def run(tool: str, *words: str) -> None:
            settings = ["-o", more, "-l", f"{folder}/log"] if words[-1] == "start" else []
            command = [*as_nobody, f"{tools[-1]}/{tool}", "-D", f"{folder}/data", *settings, *words]
            subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, timeout=120, check=True)

        server = Server(f"postgresql://ann@/postgres?host={folder}", run)
        run("initdb", "-U", "ann", "-A", "trust", "--no-sync", "--locale=C", "--encoding=UTF8")
        server.start()
        try:
            yield server
        finally:
            server.stop()
