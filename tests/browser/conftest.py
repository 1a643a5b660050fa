"""A real browser: Debian's chromium. Under CI it is installed; elsewhere its tests are skipped without it."""

import os
import shutil
import subprocess

import pytest


def sh(*words):
    subprocess.run([*(["sudo"] if os.geteuid() else []), *words], check=True, stdout=subprocess.DEVNULL)


def chromium_path():
    found = shutil.which("chromium")
    if found is None and os.environ.get("CI"):
        sh("apt-get", "update", "-qq")
        sh("apt-get", "install", "-qq", "--yes", "--no-install-recommends", "chromium")
        found = shutil.which("chromium")
    return found


@pytest.fixture(scope="session")
def chromium():
    if not os.environ.get("CI"):
        pytest.importorskip("playwright", reason="playwright is not installed: pip install 'breakeven[dev]'")
    path = chromium_path()
    if path is None and os.environ.get("CI"):
        pytest.fail("chromium could not be installed, and under CI its tests must run")
    if path is None:
        pytest.skip("chromium is not installed: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()
