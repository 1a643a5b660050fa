"""`make demo` tells what it saved, and the README's table says the same."""

import re
import subprocess
import sys

import pytest

from tests.docs.test_documents import ROOT


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """What the demo prints, and where it writes."""
    folder = tmp_path_factory.mktemp("demo")
    command = [sys.executable, "-m", "breakeven", "demo", "--out", folder / "out"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout, folder / "out"


def numbers(text, row):
    line = next(line for line in text.splitlines() if row in line)
    return [float(number.replace(",", "")) for number in re.findall(r"[\d,]+\.?\d*", line.split(row)[1])]


def test_the_demo_saves_a_third_at_least(demo):
    everyone, ours = numbers(demo[0], "label everyone  "), numbers(demo[0], "breakeven  ")
    assert everyone[:4] == [442, 44_200, 0, 44_200]
    assert ours[4] == pytest.approx(ours[1] + 442 * ours[2], abs=5.0)
    assert ours[4] < 2 / 3 * everyone[3]


def test_the_demo_says_what_it_saves_against_the_cheapest_simple_way(demo):
    said, ours = " ".join(demo[0].split()), numbers(demo[0], "breakeven  ")[4]
    rows = {"label everyone  ": 3, "label no one *": 4, "at random, same money": 4}
    least = min(numbers(demo[0], row)[place] for row, place in rows.items())
    saved = re.search(r"You would have saved ([\d,.]+) \(", said).group(1)
    assert float(saved.replace(",", "")) == pytest.approx(least - ours, abs=1.0)
    assert "against the cheapest simple way, labelling at random for the same money." in said
    readme = " ".join((ROOT / "README.md").read_text().split())
    assert f"You would have saved {saved} (" in readme
    for cost in re.findall(r"Up to about (\d+) a label", said):
        assert f"up to about {cost}" in readme


def test_the_demo_ends_by_naming_the_report_it_wrote(demo):
    printed, out = demo
    assert printed.endswith(f"Open {out / 'report.html'}\n")
    assert (out / "report.html").exists()


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("(known only afterwards) |", "label no one *"),
        ("for the same money |", "at random, same money"),
        ("| breakeven |", "breakeven  "),
    ],
)
def test_the_readme_shows_what_the_demo_prints(demo, shown, printed):
    labels, spend, error, _, total, *_ = numbers(demo[0], printed)
    readme = (ROOT / "README.md").read_text()
    assert numbers(readme, shown) == pytest.approx([labels, spend, 442 * error, total], rel=0.02)
