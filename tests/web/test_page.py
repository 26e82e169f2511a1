"""The page in a real browser: Debian's chromium, driven by playwright."""

from __future__ import annotations

import contextlib
import csv
import json
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

import stuck_tasks
from learnroute import Learner, Problem, error_over_time, evaluate, plan, read_problem, write_problem
from learnroute.study.families import random_problem
from learnroute.web import pool
from pages import PATIENCE, Open, cancel, drag, opener, region, route, settle, total
from proxy import proxy
from service import EXAMPLES, Service, example, serving

DOCS = EXAMPLES.parent / "docs"


def test_it_opens_on_an_example_with_its_route_drawn(opened: Open) -> None:
    page = opened()
    found = plan(read_problem(EXAMPLES / "city-survey.json"))
    assert page.inner_text("#title") == "City survey vehicle · 12 regions"
    assert route(page) == list(found.route)
    assert total(page) == pytest.approx(found.loss.total, rel=1e-5)
    for part in ("travel", "dissimilarity", "noise"):
        shown = float(page.inner_text(f'[data-part="{part}"]'))
        assert shown == pytest.approx(getattr(found.loss, part), rel=1e-4)
    assert "optimal, proved" in page.inner_text('[data-fact="gap"]')
    assert page.locator(".region.last").get_attribute("aria-label").startswith(found.route[-1])  # type: ignore[union-attr]
    assert page.locator(".leg").count() == 11
    assert "Under regime" in page.inner_text("#regime")


def test_dragging_a_region_changes_the_numbers(opened: Open) -> None:
    page = opened()
    before = total(page)
    drag(page, "Airport", -120, -60)
    assert total(page) < before
    travel = page.inner_text('[data-part="travel"]')
    drag(page, "Airport", 100, 120)
    assert page.inner_text('[data-part="travel"]') != travel
    assert page.input_value("#region-name") == "Airport"


def test_dragging_there_and_back_changes_nothing(opened: Open) -> None:
    page = opened()
    before = total(page)
    region(page, "Market").focus()
    page.keyboard.press("Shift+ArrowUp")
    settle(page)
    assert total(page) != before
    page.keyboard.press("Shift+ArrowDown")
    settle(page)
    assert total(page) == pytest.approx(before, rel=1e-4)


def test_adding_and_removing_regions(opened: Open) -> None:
    page = opened()
    page.click("#add")
    settle(page)
    assert "13 regions" in page.inner_text("#title")
    assert "New 13" in route(page)
    assert "halfway between" in page.inner_text("#status")
    page.fill("#region-name", "Mill")
    page.keyboard.press("Enter")
    settle(page)
    assert "Mill" in route(page)
    page.click("#remove")
    settle(page)
    assert "Mill" not in route(page)
    box = page.locator("#map").bounding_box()
    assert box is not None
    page.mouse.dblclick(box["x"] + box["width"] * 0.8, box["y"] + box["height"] * 0.85)
    settle(page)
    assert len(route(page)) == 13
    region(page, "New 13").focus()
    page.keyboard.press("Delete")
    settle(page)
    assert len(route(page)) == 12
    assert total(page) == pytest.approx(plan(read_problem(EXAMPLES / "city-survey.json")).loss.total, rel=1e-5)


def test_two_regions_are_the_minimum(opened: Open, tmp_path: Path) -> None:
    page = opened()
    write_problem(random_problem("euclidean", 2, Learner(80, 100), 1), tmp_path / "two.json")
    page.set_input_files("#file", tmp_path / "two.json")
    settle(page)
    region(page, "R1").focus()
    page.keyboard.press("Delete")
    assert "at least two regions" in page.inner_text("#status")
    assert len(route(page)) == 2


def test_switching_regime_across_the_undefined_middle(opened: Open) -> None:
    page = opened()
    before = total(page)
    page.fill("#features", "300")
    settle(page)
    assert "Over regime" in page.inner_text("#regime")
    assert "r = 1 − n/m = 0.3333" in page.inner_text("#regime")
    assert total(page) != before
    assert float(page.inner_text('[data-part="initial"]')) > 0
    page.fill("#initial", "70")
    settle(page)
    problem = read_problem(EXAMPLES / "city-survey.json", learner={"features": 300})
    problem = problem.replace(initial=np.full(12, 70.0))
    assert total(page) == pytest.approx(plan(problem).loss.total, rel=1e-5)
    region(page, "Market").click()
    page.fill("#region-initial", "10")
    page.keyboard.press("Enter")
    settle(page)
    changed = np.where(np.array(problem.regions) == "Market", 10.0, 70.0)
    assert total(page) == pytest.approx(plan(problem.replace(initial=changed)).loss.total, rel=1e-5)
    assert (page.input_value("#initial"), page.get_attribute("#initial", "placeholder")) == ("", "10 … 70")
    page.fill("#features", "201")
    settle(page)
    assert "does not exist" in page.inner_text("#regime")
    assert page.get_attribute("#features", "aria-invalid") == "true"
    assert "wrong" in (page.get_attribute("#status", "class") or "")
    page.fill("#features", "60")
    settle(page)
    assert page.get_attribute("#features", "aria-invalid") == "false"
    assert total(page) == before
    page.fill("#noise", "")
    settle(page)
    assert "Check the fields: σ" in page.inner_text("#status")
    page.fill("#noise", "0")
    settle(page)
    assert page.inner_text('[data-part="noise"]') == "0"


def test_method_rate_and_what_is_proved(opened: Open) -> None:
    page = opened()
    page.select_option("#method", "algorithm1")
    settle(page)
    assert "at most 1.5 times the least loss: Proposition 3" in page.inner_text('[data-fact="guarantee"]')
    assert "at most" in page.inner_text('[data-fact="gap"]')
    assert float(page.inner_text('[data-fact="lower bound"]')) < total(page)
    assert page.locator("#bar .bound").count() == 1
    page.select_option("#method", "auto")
    settle(page)
    before = total(page)
    page.fill("#rate", "2")
    settle(page)
    assert total(page) > before


def test_return_trip_is_optional(opened: Open) -> None:
    page = opened()
    assert page.locator(".layer-rivals .rival").count() == 0
    page.check("#show-baseline")
    page.check("#show-travel")
    assert page.locator(".layer-rivals .rival").count() == 2
    rows = page.locator("#rivals tbody tr").all_inner_texts()
    assert [row.split("\t")[0] for row in rows] == ["this route", "baseline route", "shortest route"]
    this, baseline, travel = ([float(x) for x in row.split("\t")[1:]] for row in rows)
    labels = [page.inner_text(f"label:has(#show-{name})").strip() for name in ("baseline", "travel")]
    assert labels == ["show baseline route", "show shortest route"]
    assert this[0] <= min(baseline[0], travel[0])
    assert travel[1] <= this[1]
    assert baseline[2] <= this[2]


def test_stepping_through_the_error_history(opened: Open) -> None:
    page = opened()
    assert "After visit 12" in page.inner_text("#error-history-text")
    page.click("#back")
    assert "After visit 11" in page.inner_text("#error-history-text")
    page.locator("#time").focus()
    for _ in range(11):
        page.keyboard.press("ArrowLeft")
    assert "Before the first visit" in page.inner_text("#error-history-text")
    page.keyboard.press("ArrowRight")
    assert f"After visit 1, {route(page)[0]}" in page.inner_text("#error-history-text")
    assert "Nothing forgotten" in page.inner_text("#error-history-text")
    page.click("#forward")
    assert "Forgotten since their visit" in page.inner_text("#error-history-text")
    problem = read_problem(EXAMPLES / "city-survey.json")
    errors = error_over_time(problem, plan(problem).order)
    scale = [float(text) for text in page.locator("#halo-scale text").all_text_contents()]
    assert scale == pytest.approx([errors[1:].max(), errors[1:].max() / 4], rel=0.01)
    radii = page.eval_on_selector_all("#map .halo", "nodes => nodes.map(n => Number(n.getAttribute('r')))")
    small, *_, large = sorted(zip(errors[2], radii, strict=True))
    assert (
        small[1]
        < large[1]
        <= max(page.eval_on_selector_all("#halo-scale circle", "n => n.map(c => +c.getAttribute('r'))"))
    )
    page.locator('#heat .cell[data-time="6"]').first.click()
    assert page.inner_text("#time-label") == "6 of 12"
    assert page.locator(".leg.ahead").count() == 6
    assert page.get_attribute(".agent", "visibility") == "visible"


def test_playing_the_error_history(opened: Open) -> None:
    page = opened()
    page.click("#play")
    page.wait_for_selector('#play:has-text("Pause")')
    page.wait_for_selector('#time-label:has-text("3 of 12")')
    page.click("#play")
    assert "Play" in page.inner_text("#play")
    stopped = page.inner_text("#time-label")
    page.wait_for_timeout(1200)
    assert page.inner_text("#time-label") == stopped


def test_opening_files_of_each_format(opened: Open, tmp_path: Path) -> None:
    page = opened()
    page.set_input_files("#file", EXAMPLES / "warehouse-robot.json")
    settle(page)
    assert page.inner_text("#title") == "Warehouse robot · 8 regions"
    problem = random_problem("closure", 7, Learner(120, 100, 0.2), 4)
    write_problem(problem, tmp_path / "tables")
    page.set_input_files("#file", sorted((tmp_path / "tables").iterdir()))
    settle(page)
    assert "7 regions" in page.inner_text("#title")
    assert total(page) == pytest.approx(plan(problem).loss.total, rel=1e-5)
    assert "places from travel costs" in page.inner_text("#map-legend")


def test_a_bad_file_is_rejected_and_nothing_changes(opened: Open, tmp_path: Path) -> None:
    page = opened()
    before = total(page)
    wrong = {**example(), "travel": [[0, -2], [1, 0]]}
    for name, text, message in (
        ("broken.json", "{", "broken.json: line 1, column 2: not JSON"),
        ("negative.json", json.dumps(wrong), "travel[0, 1] = -2.0: travel costs must be >= 0"),
        ("travel.csv", "a,b\n", "travel.csv"),
        (
            "map.png",
            (DOCS / "images" / "route.png").read_bytes(),
            "map.png is not a problem file. Open a file of these kinds: .json, ",
        ),
    ):
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        page.set_input_files("#file", tmp_path / name)
        page.wait_for_selector(f'#status.wrong:has-text("{message}")')
    assert total(page) == before
    assert page.inner_text("#title").startswith("City survey")


def test_downloads_are_what_is_shown(opened: Open, tmp_path: Path) -> None:
    page = opened()
    drag(page, "Airport", -80, 0)

    def saved(choice: str) -> Path:
        page.select_option("#save-what", choice)
        with page.expect_download() as waiting:
            page.click("#save")
        path = tmp_path / waiting.value.suggested_filename
        waiting.value.save_as(path)
        return path

    found = json.loads(saved("plan .json").read_text())
    assert found["route"] == route(page)
    assert found["loss"]["total"] == pytest.approx(total(page), rel=1e-5)
    with saved("plan .csv").open() as file:
        assert [row["region"] for row in csv.DictReader(file)] == route(page)
    problem = read_problem(saved("problem .json"))
    assert evaluate(problem, found["route"]).loss.total == pytest.approx(found["loss"]["total"], rel=1e-12)
    page.set_input_files("#file", tmp_path / "problem.json")
    settle(page)
    assert route(page) == found["route"]


def test_everything_can_be_reached_by_keyboard(opened: Open) -> None:
    page = opened()
    reached = set()
    for _ in range(70):
        page.keyboard.press("Tab")
        reached.add(
            page.evaluate(
                "() => document.activeElement.id || document.activeElement.getAttribute('class')?.split(' ')[0]"
            )
        )
    wanted = {
        "example",
        "file",
        "save-what",
        "save",
        "theme",
        "add",
        "fit",
        "projection",
        "show-baseline",
        "show-travel",
    }
    wanted |= {"region", "features", "samples", "noise", "rate", "method", "back", "play", "forward", "time"}
    wanted |= {"rule", "lambda", "best-lambda", "best-schedule", "term"}
    wanted |= {"show-travel", "visit-all", "curve", "compare-learners"}
    assert wanted <= reached
    region(page, "Harbour").focus()
    before = total(page)
    page.keyboard.press("ArrowRight")
    settle(page)
    assert total(page) != before
    assert page.evaluate("() => document.activeElement.getAttribute('aria-label')").startswith("Harbour")


def test_the_tradeoff_curve_and_taking_a_rate(opened: Open) -> None:
    page = opened()
    page.select_option("#example", "north-sea")
    settle(page)
    page.click("#curve")
    page.wait_for_selector("#tradeoff .point")
    points = page.locator("#tradeoff .point")
    assert points.count() >= 3
    assert page.locator("#tradeoff .point.current").count() == 1
    points.first.focus()
    page.keyboard.press("Enter")
    settle(page)
    assert float(page.input_value("#rate")) > 1


def test_fixed_ends_and_the_return_trip(opened: Open, tmp_path: Path) -> None:
    page = opened()
    before, names = total(page), route(page)
    page.select_option("#start-at", names[2])
    settle(page)
    assert route(page)[0] == names[2]
    assert total(page) >= before
    page.select_option("#end-at", names[0])
    settle(page)
    assert (route(page)[0], route(page)[-1]) == (names[2], names[0])
    legs = page.locator(".leg").count()
    page.check("#way-back")
    settle(page)
    assert page.locator(".leg").count() == legs + 1
    problem = read_problem(
        EXAMPLES / "city-survey.json", constraints={"start": names[2], "end": names[0], "return": True}
    )
    assert total(page) == pytest.approx(plan(problem).loss.total, rel=1e-3)
    # a fixed end that is renamed stays fixed, one that is removed is free again
    region(page, names[2]).click()
    page.fill("#region-name", "Depot")
    page.keyboard.press("Enter")
    settle(page)
    assert (page.input_value("#start-at"), route(page)[0]) == ("Depot", "Depot")
    page.click("#remove")
    settle(page)
    assert page.input_value("#start-at") == ""
    page.select_option("#start-at", names[0])
    settle(page)
    assert page.inner_text("#status").endswith("Choose another end, or tick “return to start”.")
    assert page.get_attribute("#end-at", "aria-invalid") == "true"
    assert page.inner_text("label:has(#way-back)").strip() == "return to start"


def test_longitude_and_latitude_have_a_graticule(opened: Open) -> None:
    page = opened()
    page.select_option("#example", "north-sea")
    settle(page)
    assert page.input_value("#projection") == "geographic"
    labels = page.locator(".gridlabel").all_text_contents()
    assert {"60°N", "55°N", "5°E"} <= set(labels)
    page.select_option("#projection", "plain")
    assert "60" in page.locator(".gridlabel").all_text_contents()


def test_a_long_plan_shows_progress_and_can_be_cancelled(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "work", stuck_tasks.work)
    large = random_problem("uniform", 20, Learner(300, 100, 0.1), 1)
    write_problem(large.replace(title="endless"), tmp_path / "endless.json")
    with serving(workers=1) as service, contextlib.contextmanager(opener)(browser, service) as opened:
        page = opened()
        page.set_input_files("#file", tmp_path / "endless.json")
        cancel(page)
        page.wait_for_selector('#status:has-text("Cancelled")')
        settle(page)
        page.select_option("#method", "nearest")
        settle(page)
        assert len(route(page)) == 20


def test_page_does_not_overflow_on_a_phone(opened: Open) -> None:
    page = opened(viewport={"width": 360, "height": 740}, is_mobile=True, has_touch=True)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 360
    assert page.locator("#map").bounding_box()["height"] >= 300  # type: ignore[index]
    sizes = page.eval_on_selector_all(
        "button:not(.term), select", "nodes => nodes.map(n => n.getBoundingClientRect().height)"
    )
    assert min(size for size in sizes if size) >= 40
    # numbers only; the region that is tapped has its name; controls are below the map
    names = page.locator(".layer-names .name")
    assert not {name for name in names.all_text_contents() if not name.isdigit()}
    region(page, "Airport").tap()
    assert [name for name in names.all_text_contents() if not name.isdigit()] == ["Airport"]
    assert page.locator("#add").bounding_box()["y"] > page.locator("#map-legend").bounding_box()["y"]  # type: ignore[index]
    # the table of learners needs no scrolling
    page.click("#compare-learners")
    page.wait_for_selector("#worth-rows tr")
    assert (
        page.evaluate(
            "() => { const box = document.querySelector('#worth-table'); return box.scrollWidth - box.clientWidth }"
        )
        == 0
    )
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 360


def clustered_places() -> Problem:
    """Return places that are close to each other on the map."""
    rng = np.random.default_rng(3)
    places = np.concatenate([centre + rng.normal(0, 2, (6, 2)) for centre in rng.uniform(0, 100, (4, 2))])
    names = [f"Plot {k}" for k in range(24)]
    return Problem(None, Learner(80, 100, 0.1), vectors=rng.normal(size=(24, 3)), coordinates=places, regions=names)


BOXES = "nodes => nodes.map(n => { const b = n.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom] })"


def test_names_hide_neither_the_route_nor_regions_nor_each_other(opened: Open, tmp_path: Path) -> None:
    page = opened()
    layers = page.eval_on_selector_all("#map > g", "nodes => nodes.map(n => n.getAttribute('class'))")
    assert layers.index("layer-names") < layers.index("layer-route")  # the route is drawn over them
    for problem in (None, clustered_places()):
        if problem is not None:
            write_problem(problem, tmp_path / "clustered.json")
            page.set_input_files("#file", tmp_path / "clustered.json")
            page.wait_for_selector('#title:has-text("24 regions")')
            settle(page)
        names = np.array(page.eval_on_selector_all(".layer-names .name", BOXES))
        dots = np.array(page.eval_on_selector_all(".region circle.dot", BOXES))
        assert len(names) >= 0.8 * len(dots)  # the others are written when they are selected, or after zooming in
        middles, radii = (dots[:, :2] + dots[:, 2:]) / 2, (dots[:, 2] - dots[:, 0]) / 2
        apart = np.hypot(*(middles[:, None] - middles).T) + np.where(np.eye(len(dots)), np.inf, 0)
        near = apart < radii[:, None] + radii - 1.5
        assert not (near & (np.maximum(radii[:, None], radii) > 5)).any()  # only the smallest marks may touch
        inner = names + np.array([2, 2, -2, -2])  # a line of text is higher than its letters
        for boxes in (inner, dots):
            hits = (inner[:, None, :2] < boxes[:, 2:]).all(axis=2) & (boxes[:, :2] < inner[:, None, 2:]).all(axis=2)
            assert hits.sum() == (len(names) if boxes is inner else 0)  # each with itself


@pytest.mark.parametrize("share", [0.001, 0.999])
def test_the_lower_bound_is_named_inside_the_bar(opened: Open, share: float) -> None:
    page = opened()
    page.evaluate(
        "async (share) => { const problem = await (await fetch('api/examples/city-survey')).json();"
        " const headers = { 'Content-Type': 'application/json' };"
        " const asked = { method: 'POST', headers, body: JSON.stringify({ problem }) };"
        " const plan = await (await fetch('api/plan', asked)).json();"
        " const { withVisits } = await import('./fleet.js'); const { showPlan } = await import('./panels.js');"
        " showPlan({ ...withVisits(plan, problem), optimal: false, lower_bound: share * plan.loss.total }) }",
        share,
    )
    left, _, right, _ = page.eval_on_selector_all("#bar", BOXES)[0]
    [name] = page.eval_on_selector_all("#bar text", BOXES)
    assert left <= name[0] < name[2] <= right


def test_axes_have_different_numbers_inside_the_chart(opened: Open) -> None:
    page = opened()
    texts = page.evaluate(
        "async () => { const { ticks } = await import('./dom.js'); return [[4.5249, 4.5256], [-1e-7, 3e-7],"
        " [1e7, 1.0001e7], [0, 40], [8.539, 8.5391]].map(([low, high]) => ticks(low, high, 4).map((one) => one.text)) }"
    )
    assert texts[0] == ["4.5250", "4.5252", "4.5254", "4.5256"]
    assert texts[3] == ["0", "10", "20", "30", "40"]
    assert all(len(set(some)) == len(some) >= 3 for some in texts)
    page.click("#curve")
    page.wait_for_selector("#tradeoff .point")
    left, top, right, bottom = page.eval_on_selector_all("#tradeoff", BOXES)[0]
    for box in page.eval_on_selector_all("#tradeoff text", BOXES):
        assert left <= box[0] and box[2] <= right and top <= box[1] and box[3] <= bottom  # noqa: PT018


def test_light_and_dark(opened: Open) -> None:
    def background(page: Page) -> int:
        colour = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
        return sum(int(x) for x in colour[4:-1].split(","))

    light, dark = opened(color_scheme="light"), opened(color_scheme="dark")
    assert background(light) > 600 > 200 > background(dark)
    light.click("#theme")
    light.click("#theme")
    assert background(light) < 200
    light.reload()
    settle(light)
    assert background(light) < 200  # remembered
    light.emulate_media(media="print")  # on white paper
    ink = light.evaluate("() => getComputedStyle(document.querySelector('#total')).color")
    assert sum(int(x) for x in ink[4:-1].split(",")) < 200
    assert light.locator("button:not(.term):visible").count() == 0


def test_a_curve_of_another_problem_is_not_shown(opened: Open) -> None:
    page = opened()
    page.click("#curve")
    page.wait_for_selector("#tradeoff .point")
    page.fill("#rate", "1.5")
    settle(page)
    assert page.is_visible("#tradeoff")
    drag(page, "Airport", -60, 0)
    assert not page.is_visible("#tradeoff")
    assert "draw the curve again" in page.inner_text("#tradeoff-text")


def test_the_page_takes_its_token_from_the_address(browser: Browser) -> None:
    with serving(workers=1, token="let-me-in") as guarded:
        page = browser.new_context().new_page()
        page.goto(f"{guarded.url}/#token=let-me-in")
        settle(page)
        assert "token" not in page.url
        page.reload()  # the tab remembers it
        settle(page)
        stranger = browser.new_context().new_page()
        stranger.goto(guarded.url)
        stranger.wait_for_selector('#status.wrong:has-text("token")')


def test_many_regions(opened: Open, tmp_path: Path) -> None:
    page = opened()
    page.select_option("#method", "nearest")
    settle(page)
    write_problem(random_problem("euclidean", 301, Learner(80, 100), 1), tmp_path / "many.json")
    page.set_input_files("#file", tmp_path / "many.json")
    page.wait_for_selector('#title:has-text("301 regions")')
    settle(page)
    page.wait_for_selector(".leg >> nth=299", state="attached")
    page.wait_for_selector('#error-history-text:has-text("up to 300 regions")')


def test_names_are_text_and_never_markup(opened: Open, tmp_path: Path) -> None:
    page = opened()
    data = {**example(), "title": "<img src=x onerror=alert(1)>"}
    data["regions"] = ["<b>bold</b>", *data["regions"][1:]]
    (tmp_path / "names.json").write_text(json.dumps(data))
    page.set_input_files("#file", tmp_path / "names.json")
    settle(page)
    assert page.inner_text("#title").startswith("<img src=x")
    assert page.locator("#title img, .region b").count() == 0
    assert "<b>bold</b>" in route(page)


def test_the_api_is_described_on_a_page_of_its_own(opened: Open, service: Service) -> None:
    page = opened()
    page.goto(f"{service.url}/docs")
    page.wait_for_selector("#schemas details", state="attached")
    document = service.client.get("/openapi.json").json()
    assert page.inner_text("#status") == ""
    assert page.locator("#calls section").count() == sum(len(calls) for calls in document["paths"].values())
    assert page.locator("#schemas > details").count() == len(document["components"]["schemas"])
    page.click('#plan dd a[href="#schema-PlanRequest"]')
    page.wait_for_selector("#schema-PlanRequest[open]")  # the browser reports the new address later
    shown = page.inner_text("#schema-PlanRequest")
    assert all(member in shown for member in ("problem", "method", "seed", "time_limit", '"auto"'))


def test_the_page_works_under_a_path_of_a_proxy(browser: Browser, tmp_path: Path) -> None:
    problem = random_problem("euclidean", 16, Learner(80, 100, 0.1), 0)
    write_problem(problem, tmp_path / "sixteen.json")
    with serving(workers=1, token="secret", root_path="/learnroute") as shown, proxy(shown) as front:
        page = browser.new_context().new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(f"{front.url}/#token=secret")
        settle(page)
        assert page.inner_text("#title") == "City survey vehicle · 12 regions"
        page.set_input_files("#file", tmp_path / "sixteen.json")  # planned as a job
        page.locator(".region").nth(15).wait_for(state="attached")
        settle(page)
        assert total(page) == pytest.approx(plan(problem).loss.total, rel=1e-4)
        page.goto(f"{front.url}/docs")
        page.wait_for_selector("section#plan")
        page.context.close()
