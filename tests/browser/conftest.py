"""A real browser: Debian's chromium. Under CI it is installed; elsewhere its tests are skipped without it."""

import shutil

import pytest

from tests.debian import needed, under_ci


@pytest.fixture(scope="module")  # its event loop must not outlive a file: other tests have their own
def chromium():
    if not under_ci():
        pytest.importorskip("playwright", reason="playwright is not installed: pip install 'breakeven[dev]'")
    path = needed("chromium", lambda: shutil.which("chromium"))
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()
