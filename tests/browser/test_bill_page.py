"""The report in a real browser: drawn, in the reader's colours, within the screen, moved by the keyboard."""

import functools
import itertools
import re

import pytest
from msgspec.structs import replace

from breakeven.report import write_bill
from breakeven.rows import open_bill
from breakeven.values.exhibit import Chart, Figure, Line, Section, Table
from tests.browser.reports import REPORTS, compared, written
from tests.report.test_bill import evil_bill

SCREENS = {"laptop": {"width": 1280, "height": 800}, "phone": {"width": 390, "height": 844}}
PAPER = {"light": "rgb(255, 255, 255)", "dark": "rgb(22, 24, 28)"}
OURS = {"light": "rgb(0, 114, 178)", "dark": "rgb(86, 180, 233)"}
DRAWN = ":scope > svg"
CHARTS = {"always": 5, "never": 5, "compared": 8, "billions": 8}

# What overlaps or stands out, as a script that gives the words of it.
OVERLAPPING = """rows => rows.flatMap((row) => {
  const boxes = [...row.children].map((cell) => {
    const words = document.createRange();
    words.selectNodeContents(cell);
    return [cell.textContent, words.getBoundingClientRect()];
  });
  return boxes.flatMap(([text, a], place) => boxes.slice(place + 1)
    .filter(([, b]) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
    .map(([other]) => [text, other]));
})"""
UNREADABLE = """boxes => boxes.flatMap((box) => [...box.querySelectorAll("text")].filter((text) => {
  const [inner, outer] = [text.getBoundingClientRect(), box.getBoundingClientRect()];
  return inner.left < outer.left - 1 || inner.right > outer.right + 1 || inner.top < outer.top - 1
    || inner.bottom > outer.bottom + 1 || parseFloat(getComputedStyle(text).fontSize) < 12;
}).map((text) => text.textContent))"""
PILED_UP = """boxes => boxes.flatMap((box) => {
  const ticks = [...box.querySelectorAll(".tick.x")].map((one) => one.getBoundingClientRect());
  const [left, right] = [ticks.map((one) => one.left), ticks.map((one) => one.right)];
  left.sort((a, b) => a - b); right.sort((a, b) => a - b);
  return left.slice(1).filter((one, place) => one < right[place] + 2).map(() => box.dataset.chart);
})"""
EMPTY = """boxes => boxes.filter((box) =>
  ![...box.querySelectorAll("[clip-path] path")].some((one) => one.getAttribute("d")?.length > 5)
  || box.querySelectorAll(".tick.x").length < 2 || box.querySelectorAll(".tick.y").length < 2
).map((box) => box.dataset.chart)"""


# Words whose contrast with the ground behind them is below 4.5 to 1 (3 to 1 where they are large).
FAINT = """(() => {
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((one) => one / 255)
      .map((one) => (one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const ground = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const colour = numbers(getComputedStyle(at).backgroundColor);
      if (colour.length < 4 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  return [...document.querySelectorAll("body *")].filter((one) => one.checkVisibility()
    && !one.closest("script, style, noscript")
    && [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim())).filter((one) => {
    const style = getComputedStyle(one);
    const ink = numbers(one.closest("svg") ? style.fill : style.color);
    const [a, b] = [light(ink), light(ground(one))].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05) < (parseFloat(style.fontSize) >= 24 ? 3 : 4.5);
  }).map((one) => one.textContent.trim().slice(0, 40));
})()"""


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
            box.locator(DRAWN).wait_for(state="attached")
        return self

    def turn(self, scheme):
        self.scheme = scheme
        self.page.emulate_media(color_scheme=scheme)
        return self

    def expect(self, locator):
        from playwright.sync_api import expect  # may be missing where these tests are skipped

        return expect(locator)

    def found(self, selector, script):
        return self.page.locator(selector).evaluate_all(script)

    def colour(self, selector, kind):
        return self.page.eval_on_selector(selector, f"one => getComputedStyle(one).{kind}")

    def text(self, selector):
        return self.page.inner_text(selector)


@pytest.fixture(scope="module")
def report_of(tmp_path_factory):
    """Each report is written once."""
    return functools.cache(lambda name: written(name, tmp_path_factory.mktemp(name)))


@pytest.fixture(scope="module")
def laptop(chromium, report_of):
    clipboard = ["clipboard-read", "clipboard-write"]
    with Visit(chromium, report_of("compared"), permissions=clipboard) as visit:
        yield visit.scroll_through()


# -- every report, on every screen -----------------------------------------------------------------------


@pytest.fixture(
    scope="module", params=[f"{name}-phone" for name in REPORTS] + ["billions-laptop", "many-laptop"]
)
def visit(request, chromium, report_of):
    name, _, size = request.param.partition("-")
    with Visit(chromium, report_of(name), size) as visit:
        visit.name = name
        yield visit.scroll_through()


def test_every_chart_is_drawn_and_none_is_empty(visit):
    assert visit.page.locator("[data-chart] > svg").count() == CHARTS.get(visit.name, 7)
    assert visit.found("[data-chart]", EMPTY) == []


def test_the_page_complains_of_nothing_and_loads_nothing(visit):
    assert (visit.complaints, set(visit.requests)) == ([], {"file"})


def test_nothing_is_wider_than_the_screen_and_no_cells_overlap(visit):
    assert visit.page.evaluate("document.documentElement.scrollWidth") == SCREENS[visit.size]["width"]
    assert visit.found("tr, dl > div", OVERLAPPING) == []
    assert visit.page.locator(".bill tbody tr").count() >= 3


def test_words_of_a_chart_are_large_enough_and_stay_in_it(visit):
    assert visit.found("[data-chart]", UNREADABLE) == []
    assert visit.found("[data-chart]", PILED_UP) == []


def test_what_is_square_is_square(visit):
    sides = visit.found(
        ".square.chart",
        "all => all.map(({ drawn: { frame } }) => (frame.right - frame.left) / (frame.bottom - frame.top))",
    )
    assert sides == pytest.approx([1.0] * len(sides), abs=0.01)


def test_the_answer_and_the_break_even_costs_are_above_the_fold(chromium, report_of):
    with Visit(chromium, report_of("compared"), "phone") as visit:
        for part in ("h1", ".break-even"):
            box = visit.page.locator(part).bounding_box()
            assert box["y"] + box["height"] < SCREENS["phone"]["height"] / 2


def test_everything_is_printed_folds_too(chromium, report_of, tmp_path):
    with Visit(chromium, report_of("compared"), scheme="dark") as visit:
        visit.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        visit.page.emulate_media(media="print", color_scheme="dark")
        assert visit.page.locator("details:not([open])").count() == 0
        assert visit.page.locator("#configuration").is_visible()
        assert not visit.page.locator("#cost").is_visible()
        assert visit.colour("body", "backgroundColor") == PAPER["light"]
        visit.page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert visit.page.locator("details[open]").count() == 0


@pytest.mark.parametrize("size", SCREENS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_their_ground(chromium, report_of, size, scheme):
    with Visit(chromium, report_of("compared"), size, scheme) as visit:
        assert visit.page.evaluate(FAINT) == []


@pytest.mark.parametrize("size", SCREENS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_to_complain_of(chromium, report_of, size, scheme):
    from axe_playwright_python.sync_playwright import Axe  # may be missing where these tests are skipped

    with Visit(chromium, report_of("compared"), size, scheme) as visit:
        visit.scroll_through().found("details", "all => all.forEach((one) => { one.open = true; })")
        found = Axe().run(visit.page).response["violations"]
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []


def test_every_part_has_a_name_and_headings_follow_each_other(visit):
    levels = visit.found("h1, h2, h3", "all => all.map((one) => Number(one.tagName[1]))")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    nameless = "all => all.filter((one) => !one.getAttribute('aria-label')?.trim()).length"
    assert visit.found("svg[role=img], [role=region]", nameless) == 0
    unnamed = (
        "all => all.filter((one) => !(one.textContent + (one.labels?.[0]?.textContent ?? '')).trim()).length"
    )
    assert visit.found("button, input, summary", unnamed) == 0


def test_the_keyboard_stops_at_nothing_in_a_chart(visit):
    stops = visit.found(
        "[data-chart] :is(a, button, input, [tabindex])",
        "all => all.filter((one) => one.tabIndex >= 0).length",
    )
    assert stops == 0


# -- one of them, at work --------------------------------------------------------------------------------


def test_charts_take_the_readers_colours_and_follow_them(laptop):
    for scheme in ("dark", "light"):
        laptop.turn(scheme)
        assert laptop.colour("body", "backgroundColor") == PAPER[scheme]
        lines = laptop.found(
            "[data-chart=money] .stroke", "all => all.map((one) => getComputedStyle(one).stroke)"
        )
        assert OURS[scheme] in lines


def test_the_cost_is_moved_by_the_keyboard(laptop):
    page, line = laptop.page, "[data-chart=bill-at-other-costs] .mark line"
    assert laptop.text("output[data-cost=cost]") == "2"
    where = "all => all.map((one) => one.getAttribute('x1')).sort()"
    before = page.eval_on_selector_all(line, where)
    page.focus("#cost")
    page.keyboard.press("ArrowRight")
    after = page.get_attribute("#cost", "aria-valuetext")
    assert laptop.text("output[data-cost=cost]") == after != "2"
    status = page.get_by_role("status").filter(has_text=f"At {after} a label")
    assert status.get_attribute("aria-live") == "polite"
    assert re.search(r"the cheapest simple way, labelling .*\.$", status.inner_text())
    assert len(set(before) & set(page.eval_on_selector_all(line, where))) == len(before) - 1
    page.keyboard.press("ArrowLeft")
    assert laptop.text("output[data-cost=cost]") == "2"


def test_a_point_says_what_it_is(laptop):
    laptop.page.hover("[data-chart=money] > svg")
    laptop.expect(laptop.page.locator("[data-chart=money] .tip")).to_contain_text("breakeven, total: ")


def test_the_configuration_is_copied_and_runs(laptop, report_of):
    laptop.page.click("summary:has-text('Configuration to copy')")
    laptop.page.click("#copy")
    laptop.expect(laptop.page.locator("#copied")).to_have_text("Copied")
    program = {}
    exec(laptop.page.evaluate("navigator.clipboard.readText()"), program)
    assert program["decide"]({"kind": "t1"}).id == "301"
    assert open_bill(report_of("compared").parent)[1].rounds == 301


def test_a_chart_can_be_kept_as_a_picture(laptop, tmp_path):
    with laptop.page.expect_download() as download:
        laptop.page.click("button[aria-label^='Save the picture: Calibration']")
    assert download.value.suggested_filename == "calibration.svg"
    download.value.save_as(tmp_path / "calibration.svg")
    assert (tmp_path / "calibration.svg").read_text().startswith("<svg")


def test_without_scripts_the_bill_is_still_there(chromium, report_of):
    with Visit(chromium, report_of("compared"), java_script_enabled=False) as visit:
        assert "labelling" in visit.text("h1").lower()
        assert "need JavaScript" in visit.text("noscript")


def test_nothing_given_runs_and_all_is_shown_as_it_is(chromium, tmp_path):
    with Visit(chromium, write_bill(evil_bill(), tmp_path)) as visit:
        visit.scroll_through()
        words = visit.page.locator("[data-chart] text").all_text_contents()
        assert visit.complaints == []
    assert sum(text.startswith("</script><script>alert('1 &") for text in words) >= 2


def test_long_names_stay_on_a_phone(chromium, tmp_path):
    name = "the rule with a very long name, and a " + "Word_" * 12
    lines = [Line(label=f"{name} {number}", x=[1.0, 2.0], y=[1.0, 1e9 * number]) for number in range(3)]
    chart = Chart(name="c", title=name, x_label=name, y_label=name, lines=lines)
    none = Table(name="n", title="", columns=[], rows=[])
    section = Section(
        title=name, text=[name], figures=[Figure(name="f", title=name, charts=[chart], data=none)]
    )
    bill = compared().bill
    rows = [replace(row, name=name) if row.name == bill.chosen else row for row in bill.rows]
    bill = replace(bill, title=name, rows=rows, chosen=name, facts=[name, f"`{name}`"], sections=[section])
    with Visit(chromium, write_bill(bill, tmp_path), "phone") as visit:
        visit.scroll_through()
        assert visit.page.evaluate("document.documentElement.scrollWidth") == 390
        for one in visit.page.locator("[data-chart]").all():
            box, legend = one.bounding_box(), one.locator(".legend").bounding_box()
            assert legend["x"] + legend["width"] <= box["x"] + box["width"] + 1
            assert legend["y"] >= box["y"] - 1
