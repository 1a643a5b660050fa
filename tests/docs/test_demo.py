"""`make demo` tells what it saved, and the README's table says the same."""

import re
import subprocess
import sys

import pytest

from tests.docs.test_documents import ROOT


@pytest.fixture(scope="module")
def printed():
    command = [sys.executable, ROOT / "examples" / "diabetes.py"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def numbers(text, row):
    line = next(line for line in text.splitlines() if row in line)
    return [float(number.replace(",", "")) for number in re.findall(r"[\d,]+\.?\d*", line.split(row)[1])]


def test_the_demo_saves_a_third_at_least(printed):
    everyone, ours = numbers(printed, "examine everyone"), numbers(printed, "breakeven")
    assert everyone[:4] == [442, 44_200, 0, 44_200]
    assert ours[3] == pytest.approx(ours[1] + ours[2], abs=1.0)
    assert ours[3] < 2 / 3 * everyone[3]


def test_the_readme_shows_what_the_demo_prints(printed):
    readme = (ROOT / "README.md").read_text()
    assert numbers(readme, "| breakeven |") == pytest.approx(numbers(printed, "breakeven")[:4], rel=0.02)
