"""Make the pictures of the page anew: `python docs/page_pictures.py` (playwright, and chromium in the path)."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

IMAGES = Path(__file__).parent / "images"
SETTLED = 'body[data-busy="false"][data-plans]'


def settle(page: Page) -> None:
    """Wait until nothing is being calculated."""
    page.wait_for_timeout(300)
    page.wait_for_selector(SETTLED, state="attached")


def show_visits(page: Page) -> None:
    """The best λ, and the visits that pay."""
    page.check("#visit-paying")
    settle(page)
    page.click("#best-lambda")
    settle(page)


def show_tradeoff(page: Page) -> None:
    """Longitudes and latitudes, and the trade-off curve."""
    page.select_option("#example", "north-sea")
    page.wait_for_selector('#title:has-text("North Sea")')
    settle(page)
    page.click("#curve")
    page.wait_for_selector("#tradeoff .point")
    settle(page)


def main() -> None:
    """Start a service, open its page, and save both pictures."""
    serve = [sys.executable, "-m", "learnroute", "serve", "--port", "0"]
    with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True) as service, sync_playwright() as playwright:
        try:
            assert service.stdout is not None
            found = next(filter(None, (re.search(r"http://\S+", line) for line in service.stdout)))
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            for name, scheme, show in (("page", "light", show_visits), ("page-dark", "dark", show_tradeoff)):
                page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme=scheme)
                page.set_default_timeout(300_000)
                page.goto(found.group())
                settle(page)
                show(page)
                page.mouse.move(0, 0)
                page.evaluate("document.activeElement.blur()")
                page.screenshot(path=IMAGES / f"{name}.png", full_page=True)
            browser.close()
        finally:
            service.terminate()


if __name__ == "__main__":
    main()
