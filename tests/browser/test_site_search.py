"""The built site in a real browser, opened from its folder: search works, and no network is needed."""

import pytest

from tests.docs.test_site import build


@pytest.fixture(scope="module")
def start(tmp_path_factory):
    """The address of the first page."""
    folder = tmp_path_factory.mktemp("site")
    build(folder)
    return (folder / "index.html").as_uri()


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
def test_a_name_is_found_and_its_page_opens(chromium, start, width):
    tab = chromium.new_page(viewport={"width": width, "height": 844})
    asked = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(start)
    tab.keyboard.press("s")  # the theme's key for its search
    tab.keyboard.type("RandomSelect")
    tab.wait_for_selector("[data-md-component=search-result] a[href*='api/rules.html']")
    tab.click("[data-md-component=search-result] a[href*='#breakeven.rules.RandomSelect']")
    tab.wait_for_url("**/api/rules.html?h=randomselect#breakeven.rules.RandomSelect")
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:", "about:"))] == []
