"""The report in a real browser: drawn, in the reader's colours, within the screen, moved by the keyboard."""

import re

import pytest
from msgspec.structs import replace

from breakeven.report import write_bill
from breakeven.values.exhibit import Chart, Figure, Line, Section, Table
from tests.browser.sample import CONFIGURATION, sample_bill
from tests.unit.test_report_bill import evil_bill

SCREENS = {"laptop": {"width": 1280, "height": 800}, "phone": {"width": 390, "height": 844}}
PAPER = {"light": "rgb(255, 255, 255)", "dark": "rgb(22, 24, 28)"}
VALUE = {"light": "rgb(0, 114, 178)", "dark": "rgb(86, 180, 233)"}
EVERY_CHART = 6
DRAWN = ".main-svg .subplot"


class Visit:
    """A page that was opened, what it complained of and what it asked the network for."""

    def __init__(self, browser, path, size="laptop", scheme="light", **rest):
        by_finger = {"has_touch": True, "is_mobile": True} if size == "phone" else {}
        self.context = browser.new_context(viewport=SCREENS[size], color_scheme=scheme, **by_finger, **rest)
        self.page, self.size, self.scheme = self.context.new_page(), size, scheme
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
        for box in self.page.locator("[data-chart]").all():
            box.scroll_into_view_if_needed()
            box.locator(DRAWN).wait_for(state="attached")
        return self

    def turn(self, scheme):
        self.scheme = scheme
        self.page.emulate_media(color_scheme=scheme)
        for paper in self.page.locator("[data-chart] .main-svg:first-child").all():
            self.expect(paper).to_have_css("background-color", PAPER[scheme])
        return self

    def expect(self, locator):
        from playwright.sync_api import expect  # may be missing where these tests are skipped

        return expect(locator)

    def colour(self, selector, kind):
        return self.page.eval_on_selector(selector, f"one => getComputedStyle(one).{kind}")

    def text(self, selector):
        return self.page.inner_text(selector)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    return write_bill(sample_bill(), tmp_path_factory.mktemp("report"))


@pytest.fixture(scope="module")
def laptop(chromium, report):
    with Visit(chromium, report, permissions=["clipboard-read", "clipboard-write"]) as visit:
        yield visit.scroll_through()


@pytest.fixture(scope="module")
def phone(chromium, report):
    with Visit(chromium, report, "phone", "dark") as visit:
        yield visit.scroll_through()


@pytest.fixture(scope="module", params=["laptop-light", "laptop-dark", "phone-dark", "phone-light"])
def visit(request):
    """Each screen as it was opened, and after its reader's colours changed."""
    size, _, scheme = request.param.partition("-")
    return request.getfixturevalue(size).turn(scheme)


def test_every_chart_is_drawn(visit):
    assert visit.page.locator(f"[data-chart] {DRAWN}").count() == EVERY_CHART


def test_the_page_complains_of_nothing_and_loads_nothing(visit):
    assert (visit.complaints, set(visit.requests)) == ([], {"file"})


def test_page_and_charts_have_the_readers_colours(visit):
    assert visit.colour("body", "backgroundColor") == PAPER[visit.scheme]
    assert visit.colour("[data-chart] .main-svg", "backgroundColor") == PAPER[visit.scheme]
    lines = visit.page.locator("[data-chart=over-time-spend] .scatterlayer .js-line")
    assert VALUE[visit.scheme] in lines.evaluate_all("all => all.map((one) => one.style.stroke)")


def test_nothing_is_wider_than_the_screen(visit):
    width = SCREENS[visit.size]["width"]
    assert visit.page.evaluate("document.documentElement.scrollWidth") == width
    cells = visit.page.locator(".bill tbody td, .bill tbody th").evaluate_all(
        "all => all.map((one) => one.getBoundingClientRect()).map((box) => [box.left, box.right])"
    )
    assert len(cells) == 6 * 6
    assert all(0 <= left < right <= width for left, right in cells)


def test_words_of_a_chart_are_large_enough_and_stay_in_it(visit):
    words = visit.page.locator("[data-chart]").evaluate_all(
        """boxes => boxes.flatMap((box) => [...box.querySelectorAll("text")].map((text) => {
          const [inner, outer] = [text.getBoundingClientRect(), box.getBoundingClientRect()];
          const inside = inner.left >= outer.left - 1 && inner.right <= outer.right + 1
            && inner.top >= outer.top - 1 && inner.bottom <= outer.bottom + 1;
          return [text.textContent, inside, parseFloat(getComputedStyle(text).fontSize)];
        }))"""
    )
    assert len(words) > 50
    assert [text for text, inside, pixels in words if not inside or pixels < 12] == []


def test_the_price_is_moved_by_the_keyboard(laptop):
    page, line = laptop.page, "[data-chart=bill-at-other-prices] .shapelayer path"
    before = page.get_attribute(line, "d")
    page.focus("#price")
    page.keyboard.press("End")
    assert laptop.text("output[data-price=price]") == "40"
    assert laptop.text("dd[data-price=labels]") == "774"
    assert page.get_attribute("#price", "aria-valuetext") == "40"
    status = page.get_by_role("status").filter(has_text="At 40 a label")
    assert status.get_attribute("aria-live") == "polite"
    assert re.search(r"less than labelling everyone\.$", status.inner_text())
    assert page.get_attribute(line, "d") != before
    page.keyboard.press("ArrowLeft")
    assert laptop.text("output[data-price=price]") == "28.28"


def test_the_configuration_is_copied(laptop):
    laptop.page.click("#copy")
    laptop.expect(laptop.page.locator("#copied")).to_have_text("Copied")
    assert laptop.page.evaluate("navigator.clipboard.readText()") == CONFIGURATION


def test_a_chart_can_be_kept_as_a_picture(laptop):
    laptop.page.hover("[data-chart=calibration]")
    with laptop.page.expect_download() as download:
        laptop.page.click("[data-chart=calibration] [data-title*=Download]")
    assert download.value.suggested_filename == "calibration.png"


def test_without_scripts_the_bill_is_still_there(chromium, report):
    with Visit(chromium, report, java_script_enabled=False) as visit:
        assert "You would have saved" in visit.text("h1")
        assert "need JavaScript" in visit.text("noscript")


def test_nothing_given_runs_and_all_is_shown_as_it_is(chromium, tmp_path):
    with Visit(chromium, write_bill(evil_bill(), tmp_path)) as visit:
        visit.scroll_through()
        words = visit.page.locator("[data-chart] text").all_text_contents()
        assert visit.complaints == []
    assert sum(text.startswith("</script><script>alert('1 &") for text in words) >= 4


def test_long_names_stay_on_a_phone(chromium, tmp_path):
    name = "the rule with a very long name, and a " + "Word_" * 12
    lines = [Line(label=f"{name} {number}", x=[1.0, 2.0], y=[1.0, 1e9 * number]) for number in range(3)]
    chart = Chart(name="c", title=name, x_label=name, y_label=name, lines=lines)
    none = Table(name="n", title="", columns=[], rows=[])
    section = Section(
        title=name, text=[name], figures=[Figure(name="f", title=name, charts=[chart], data=none)]
    )
    bill = replace(sample_bill(title=name, rule=name), sections=[section])
    with Visit(chromium, write_bill(bill, tmp_path), "phone") as visit:
        visit.scroll_through()
        assert visit.page.evaluate("document.documentElement.scrollWidth") == 390
        for one in visit.page.locator("[data-chart]").all():
            box, legend = one.bounding_box(), one.locator("g.legend").bounding_box()
            assert legend["x"] + legend["width"] <= box["x"] + box["width"] + 1
            assert legend["y"] >= box["y"] - 1
