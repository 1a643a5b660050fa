"""Photograph the demo's report: `python docs/screenshots.py` writes docs/images/report-*.png.

It needs Debian's chromium, and playwright from the extra `dev`.
"""

import shutil
import sys
import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from breakeven.cli import main

IMAGES = Path(__file__).parent / "images"
COLOURS = 160
SIZES = {"laptop": (1280, 1500), "phone": (390, 1200)}


def shoot(browser: Browser, page: Path, name: str, scheme: str) -> None:
    """One picture, from the top of the page."""
    width, height = SIZES[name]
    size = {"width": width, "height": height}
    tab = browser.new_page(viewport=size, color_scheme=scheme)  # type: ignore[arg-type]
    tab.goto(page.as_uri())
    tab.wait_for_selector(".chart > svg")
    with Image.open(BytesIO(tab.screenshot())) as picture:
        colours = picture.convert("RGB").quantize(COLOURS)  # a third of the bytes
    colours.save(IMAGES / f"report-{name}-{scheme}.png", optimize=True)


def shoot_all() -> None:
    """Laptop and phone, light and dark."""
    chromium = shutil.which("chromium") or sys.exit("chromium is not installed: apt-get install chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        main(["demo", "--out", folder + "/demo"])
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name in SIZES:
            for scheme in ("light", "dark"):
                shoot(browser, Path(folder) / "demo" / "report.html", name, scheme)


if __name__ == "__main__":
    shoot_all()
