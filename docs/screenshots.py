"""Photograph the demo's report and pages: `python docs/screenshots.py` writes docs/images/*.png of them.

It needs Debian's chromium, and playwright from the extra `dev`.
"""

import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
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
    keep(tab.screenshot(), f"report-{name}-{scheme}.png")


def keep(photograph: bytes, name: str) -> None:
    """Write a picture, in so few colours that it has a third of the bytes."""
    with Image.open(BytesIO(photograph)) as picture:
        picture.convert("RGB").quantize(COLOURS).save(IMAGES / name, optimize=True)


def shoot_service(browser: Browser) -> None:
    """The desk and the board of simulated parcels, after a minute of them."""
    command = [sys.executable, "-m", "breakeven", "serve", "--demo", "--json", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        address = json.loads(server.stdout.readline())["address"]
        time.sleep(60.0)
        tab = browser.new_page(viewport={"width": 1000, "height": 640})
        tab.goto(f"{address}/streams/parcels/board")
        tab.wait_for_selector(".chart > svg")
        keep(tab.screenshot(full_page=True), "board.png")
        tab.goto(f"{address}/streams/parcels/desk")
        tab.wait_for_selector("[data-request]", timeout=60_000)
        tab.keyboard.type("12")
        tab.keyboard.press("Enter")
        tab.wait_for_selector("[data-told]")
        tab.wait_for_selector("[data-request]", timeout=60_000)
        keep(tab.screenshot(), "desk.png")
        server.send_signal(signal.SIGINT)


def shoot_all() -> None:
    """Laptop and phone, light and dark."""
    chromium = shutil.which("chromium") or sys.exit("chromium is not installed: apt-get install chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        main(["demo", "--out", folder + "/demo"])
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name in SIZES:
            for scheme in ("light", "dark"):
                shoot(browser, Path(folder) / "demo" / "report.html", name, scheme)
        shoot_service(browser)


if __name__ == "__main__":
    shoot_all()
