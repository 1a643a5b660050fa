"""A Spark for a file of tests, on Debian's Java: installed under CI; elsewhere skipped where it is not."""

import os
import shutil

import pytest

from tests.debian import needed, under_ci


@pytest.fixture(scope="session")
def java():
    if not under_ci():
        pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'breakeven[spark]'")
    home = os.environ.get("JAVA_HOME")
    return needed("default-jre-headless", lambda: (home and f"{home}/bin/java") or shutil.which("java"))


@pytest.fixture(scope="module")
def spark(java, tmp_path_factory):
    from tests.engines.local_spark import session

    found = session(tmp_path_factory.mktemp("spark"))
    yield found
    found.stop()
