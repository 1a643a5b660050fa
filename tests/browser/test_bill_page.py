"""The report in a real browser: drawn, in the reader's colours, within the screen, and moved by the keyboard."""

import re

import pytest

from breakeven.report import write_bill
from breakeven.values.exhibit import Chart, Figure, Line, Section, Table
from tests.browser.sample import CONFIGURATION, sample_bill
from tests.unit.test_report_bill import evil_bill

SCREENS = {"laptop": {"width": 1280, "height": 800}, "phone": {"width": 390, "height": 844}}
PAPER = {"light": "rgb(255, 255, 255)", "dark": "rgb(22, 24, 28)"}
VALUE = {"light": "rgb(0, 114, 178)", "dark": "rgb(86, 180, 233)"}
EVERY_CHART = 6


class Visit:
    """A page that was opened, what it complained of and what it asked the network for."""

    def __init__(self, browser, path, size="laptop", scheme="light", **rest):
        by_finger = {"has_touch": True, "is_mobile": True} if size == "phone" else {}
        self.context = browser.new_context(viewport=SCREENS[size], color_scheme=scheme, **by_finger, **rest)
        self.page = self.context.new_page()
        self.complaints, self.requests = [], []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.complaints.append("dialog"), dialog.dismiss()))
        self.page.on("request", lambda request: self.requests.append(request.url.partition(":")[0]))
        self.page.goto(path.as_uri())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()

    def scroll_through(self):
        for box in self.page.query_selector_all("[data-chart]"):
            box.scroll_into_view_if_needed()
            self.page.wait_for_function("box => box.querySelector('.main-svg .plot')", arg=box)
        return self

    def colour(self, selector, kind):
        return self.page.eval_on_selector(selector, f"one => getComputedStyle(one).{kind}")

    def text(self, selector):
        return self.page.inner_text(selector)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    return write_bill(sample_bill(), tmp_path_factory.mktemp("report"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SCREENS)
def test_every_chart_is_drawn_within_the_screen_in_the_readers_colours(chromium, report, size, scheme):
    with Visit(chromium, report, size, scheme) as visit:
        visit.scroll_through()
        page = visit.page
        assert page.locator("[data-chart] .main-svg .plot").count() == EVERY_CHART
        assert page.evaluate("document.documentElement.scrollWidth") == SCREENS[size]["width"]
        assert visit.colour("body", "backgroundColor") == PAPER[scheme]
        assert visit.colour("[data-chart] .main-svg", "backgroundColor") == PAPER[scheme]
        lines = "[data-chart=over-time-spend] .scatterlayer .js-line"
        assert VALUE[scheme] in page.eval_on_selector_all(lines, "all => all.map((one) => one.style.stroke)")
        assert (visit.complaints, set(visit.requests)) == ([], {"file"})


@pytest.mark.parametrize("size", SCREENS)
def test_words_of_a_chart_are_large_enough_and_stay_in_it(chromium, report, size):
    with Visit(chromium, report, size) as visit:
        visit.scroll_through()
        seen = visit.page.eval_on_selector_all(
            "[data-chart]",
            """boxes => boxes.flatMap((box) => [...box.querySelectorAll("text")].map((text) => {
              const [inner, outer] = [text.getBoundingClientRect(), box.getBoundingClientRect()];
              const inside = inner.left >= outer.left - 1 && inner.right <= outer.right + 1
                && inner.top >= outer.top - 1 && inner.bottom <= outer.bottom + 1;
              return [text.textContent, inside, parseFloat(getComputedStyle(text).fontSize)];
            }))""",
        )
    assert len(seen) > 50
    assert [words for words, inside, pixels in seen if not inside or pixels < 12] == []


def test_all_of_the_bill_is_to_be_seen_on_a_phone(chromium, report):
    with Visit(chromium, report, "phone") as visit:
        for cell in visit.page.locator(".bill tbody td, .bill tbody th").all():
            box = cell.bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 390
        assert visit.page.locator(".bill tbody td").count() == 6 * 5


def test_charts_follow_when_night_falls(chromium, report):
    with Visit(chromium, report) as visit:
        visit.scroll_through().page.emulate_media(color_scheme="dark")
        visit.page.wait_for_function(
            "dark => [...document.querySelectorAll('[data-chart] .main-svg:first-child')]"
            ".every((one) => getComputedStyle(one).backgroundColor === dark)",
            arg=PAPER["dark"],
        )


def test_the_price_is_moved_by_the_keyboard(chromium, report):
    with Visit(chromium, report) as visit:
        page = visit.scroll_through().page
        before = page.get_attribute("[data-chart=bill-at-other-prices] .shapelayer path", "d")
        page.focus("#price")
        page.keyboard.press("End")
        assert visit.text("output[data-price=price]") == "40"
        assert visit.text("dd[data-price=labels]") == "774"
        assert page.get_attribute("#price", "aria-valuetext") == "40"
        status = page.get_by_role("status").filter(has_text="At 40 a label")
        assert status.get_attribute("aria-live") == "polite"
        assert re.search(r"less than labelling everyone\.$", status.inner_text())
        assert page.get_attribute("[data-chart=bill-at-other-prices] .shapelayer path", "d") != before
        page.keyboard.press("ArrowLeft")
        assert visit.text("output[data-price=price]") == "28.28"
        assert visit.complaints == []


def test_the_configuration_is_copied(chromium, report):
    with Visit(chromium, report, permissions=["clipboard-read", "clipboard-write"]) as visit:
        visit.page.click("#copy")
        visit.page.wait_for_function("document.getElementById('copied').textContent")
        assert visit.text("#copied") == "Copied"
        assert visit.page.evaluate("navigator.clipboard.readText()") == CONFIGURATION


def test_a_chart_can_be_kept_as_a_picture(chromium, report):
    with Visit(chromium, report) as visit:
        visit.scroll_through()
        visit.page.hover("[data-chart=calibration]")
        with visit.page.expect_download() as download:
            visit.page.click("[data-chart=calibration] [data-title*=Download]")
        assert download.value.suggested_filename == "calibration.png"
        assert visit.complaints == []


def test_without_scripts_the_bill_is_still_there(chromium, report):
    with Visit(chromium, report, java_script_enabled=False) as visit:
        assert "You would have saved" in visit.text("h1")
        assert "need JavaScript" in visit.page.inner_text("noscript")


def test_nothing_given_runs(chromium, tmp_path):
    with Visit(chromium, write_bill(evil_bill(), tmp_path)) as visit:
        visit.scroll_through()
        assert visit.complaints == []
        shown = visit.text("[data-chart] .main-svg .g-ytitle, [data-chart] .yaxislayer-above")
        assert "</script><script>" in shown


def test_long_names_stay_on_a_phone(chromium, tmp_path):
    name = "the rule that somebody gave a very long name to, with a " + "w" * 60
    lines = [Line(label=f"{name} {number}", x=[1.0, 2.0], y=[1.0, 1e9 * number]) for number in range(3)]
    chart = Chart(name="c", title=name, x_label=name, y_label=name, lines=lines)
    none = Table(name="n", title="", columns=[], rows=[])
    figure = Figure(name="f", title=name, charts=[chart], data=none)
    bill = sample_bill(title=name, rule=name)
    bill.sections.append(Section(title=name, text=[name], figures=[figure]))
    with Visit(chromium, write_bill(bill, tmp_path), "phone") as visit:
        visit.scroll_through()
        assert visit.page.evaluate("document.documentElement.scrollWidth") == 390
        box, legend = (
            visit.page.locator(f"[data-chart=f]{part}").bounding_box() for part in ("", " .legend")
        )
        assert legend["x"] + legend["width"] <= box["x"] + box["width"] + 1
