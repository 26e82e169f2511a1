"""Shared helpers of browser tests of the page."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from learnroute import Problem, read_problem
from service import Service
from waiting import GUARD

Open = Callable[..., Page]
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PATIENCE = 30_000  # ms after which a step that waits for something on the page fails; calculations have longer
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


def launch_browser() -> Iterator[Browser]:
    """Start a browser: Debian's chromium, driven by playwright."""
    if CHROMIUM is None:
        if os.environ.get("CI") == "true":
            pytest.fail("chromium is not installed: apt-get install chromium")
        pytest.skip("chromium is not installed: apt-get install chromium")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield running
        running.close()


def opener(browser: Browser, service: Service) -> Iterator[Open]:
    """Open the page; console messages and requests to other hosts fail the test."""
    complaints: list[str] = []
    contexts = []

    def open_page(**options: Any) -> Page:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 1000}, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: check_origin(request.url))
        page.goto(service.url)
        settle(page)
        return page

    def check_origin(url: str) -> None:
        if not url.startswith((service.url, "blob:", "data:")):
            complaints.append(f"loaded from elsewhere: {url}")

    yield open_page
    for context in contexts:
        context.close()
    assert [c for c in complaints if "status of 422" not in c] == []  # the browser logs refused requests itself


def settle(page: Page) -> None:
    """Wait until no calculation is running."""
    page.wait_for_timeout(60)
    page.wait_for_selector('body[data-busy="false"][data-plans]', state="attached", timeout=1000 * GUARD)


def show(page: Page, tmp_path: Path, data: dict[str, Any]) -> Problem:
    """Open a problem of the given members."""
    (tmp_path / "shown.json").write_text(json.dumps(data))
    page.set_input_files("#file", tmp_path / "shown.json")
    page.wait_for_selector('#status:has-text("Opened")')
    settle(page)
    return read_problem(tmp_path / "shown.json")


def wait_until(page: Page, reached: Callable[[], bool]) -> None:
    """Wait for events outside the page, such as delayed requests."""
    end = time.monotonic() + PATIENCE / 1000
    while not reached():
        assert time.monotonic() < end, "waited in vain"
        page.wait_for_timeout(20)


def total(page: Page) -> float:
    return float(page.inner_text("#total"))


def route(page: Page) -> list[str]:
    """Return the names of regions in order of visit on the map, without skipped regions."""
    shown = page.eval_on_selector_all(".region", "nodes => nodes.map(n => [n.dataset.visits, n.dataset.name])")
    visits = [(int(visit), name) for numbers, name in shown for visit in numbers.split(",") if visit.isdigit()]
    return [name for _, name in sorted(visits)]


def region(page: Page, name: str) -> Any:
    return page.locator(f'.region[aria-label^="{name},"]')


def drag(page: Page, name: str, dx: float, dy: float) -> None:
    box = region(page, name).locator(".ring").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for k in range(1, 5):
        page.mouse.move(x + dx * k / 4, y + dy * k / 4)
    page.mouse.up()
    settle(page)


def cancel(page: Page) -> None:
    """Click "cancel" by a script as soon as it shows; on a busy machine, the work may end before an external click."""
    page.wait_for_function(
        "() => !document.querySelector('#working').hidden && (document.querySelector('#cancel').click(), true)",
        polling="raf",
    )
