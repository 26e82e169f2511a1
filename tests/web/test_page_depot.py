"""A depot on the page: created, moved, removed, drawn and saved."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page

from learnroute import Problem, plan, read_problem, with_depot, write_problem
from pages import Open, region, route, settle, total
from service import EXAMPLES

CITY = EXAMPLES / "city-survey.json"


def make_depot(page: Page, name: str) -> None:
    region(page, name).focus()
    page.click("#depot")
    settle(page)


def stops(page: Page) -> list[str]:
    found: list[str] = page.eval_on_selector_all("#stops li", "nodes => nodes.map(n => n.firstChild.textContent)")
    return found


def test_a_region_becomes_the_depot_and_routes_start_and_end_there(opened: Open) -> None:
    page = opened()
    assert page.is_disabled("#depot")  # nothing is selected
    assert page.locator(".depot").is_hidden()
    before = total(page)
    make_depot(page, "Harbour")
    problem = with_depot(read_problem(CITY), "Harbour")
    found = plan(problem)
    assert total(page) == pytest.approx(found.loss.total, rel=1e-5)
    assert route(page) == list(found.route)
    assert stops(page) == ["from Harbour", *found.route, "back to Harbour"]
    assert page.eval_on_selector_all("#stops li", "nodes => nodes.map(n => n.value)") == list(range(13))
    assert page.locator(".leg").count() == 12
    assert page.locator(".depot").is_visible()
    assert page.is_disabled("#start-at")
    assert page.is_checked("#way-back")
    assert "□ depot" in page.inner_text("#map-legend")
    page.uncheck("#way-back")
    settle(page)
    assert total(page) == pytest.approx(
        plan(with_depot(read_problem(CITY), "Harbour", returns=False)).loss.total, rel=1e-5
    )
    assert page.locator(".leg").count() == 11
    for _ in range(2):
        page.click("#undo")
        settle(page)
    assert total(page) == before
    assert page.locator(".depot").is_hidden()


def test_new_regions_do_not_take_the_name_of_the_depot(opened: Open) -> None:
    page = opened()
    page.click("#add")
    settle(page)
    make_depot(page, "New 13")
    page.click("#add")
    settle(page)
    assert page.inner_text("#status.wrong, #status").startswith("Region added")
    assert "New 14" in route(page)


def test_the_depot_moves_with_its_ways_and_goes(opened: Open) -> None:
    page = opened()
    make_depot(page, "Harbour")
    first = total(page)
    page.locator(".depot").focus()
    for _ in range(4):
        page.keyboard.press("Shift+ArrowLeft")
    settle(page)
    assert total(page) > first  # farther away
    region(page, "Old Town").focus()
    page.keyboard.press("Delete")
    settle(page)
    page.click("#add")
    settle(page)
    assert len(route(page)) == 11
    page.click("#depot")
    settle(page)
    assert page.locator(".depot").is_hidden()
    assert stops(page)[0] == route(page)[0]
    assert not page.is_disabled("#start-at")


@pytest.mark.parametrize("suffix", [".json", ".geojson", ".tsp"])
def test_files_with_a_depot_are_opened_and_saved(opened: Open, tmp_path: Path, suffix: str) -> None:
    name = {".geojson": "lakes.geojson"}.get(suffix, "city-survey.json")
    whole = read_problem(EXAMPLES / name)
    problem = with_depot(whole, whole.regions[2])
    files = write_problem(problem, tmp_path / f"p{suffix}")
    page = opened()
    page.set_input_files("#file", list(files))
    page.wait_for_selector('#status:has-text("Opened")')
    settle(page)
    assert total(page) == pytest.approx(plan(problem).loss.total, rel=1e-5)
    assert page.locator(f'.layer-names [data-stop="{problem.size}"]').text_content() == whole.regions[2]
    with page.expect_download() as waiting:
        page.select_option("#save-what", "problem .json")
        page.click("#save")
    data = json.loads(Path(waiting.value.path()).read_text())
    assert plan(Problem.from_dict(data)).loss.total == pytest.approx(plan(problem).loss.total, rel=1e-9)
    if suffix == ".geojson":
        with page.expect_download() as waiting:
            page.select_option("#save-what", "plan .gpx")
            page.click("#save")
        assert Path(waiting.value.path()).read_text().count(f"<name>{whole.regions[2]}</name>") == 2


def test_streets_lead_from_the_depot(opened: Open) -> None:
    whole = read_problem(EXAMPLES / "old-town" / "old-town.graphml")
    depot = whole.regions[1]
    page = opened()
    page.set_input_files("#file", [EXAMPLES / "old-town" / "old-town.graphml"])
    page.wait_for_selector('#status:has-text("Opened")')
    settle(page)
    make_depot(page, depot)
    assert total(page) == pytest.approx(plan(with_depot(whole, depot)).loss.total, rel=1e-5)
    bends = page.eval_on_selector_all(".leg", "nodes => nodes.map(n => n.getAttribute('points').split(' ').length)")
    assert len(bends) == whole.size
    assert max(bends[0], bends[-1]) > 2  # along streets


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_the_depot_fits_every_screen(opened: Open, width: int, scheme: str) -> None:
    page = opened(viewport={"width": width, "height": 900}, color_scheme=scheme)
    make_depot(page, "Harbour")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    inside = page.locator("#map").bounding_box()
    box = page.locator(".depot rect").bounding_box()
    assert inside is not None
    assert box is not None
    assert inside["x"] <= box["x"]
    assert box["x"] + box["width"] <= inside["x"] + inside["width"]
