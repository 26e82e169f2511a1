"""The quick reproduction, as in its help, against values known from theory or other experiments."""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import oracle
from conftest import Shared
from learnroute import Learner, Problem, plan, read_problem
from learnroute.cli import commands
from learnroute.reproduction.claims import HOLDS, _below, _reading_verdict
from learnroute.reproduction.lemmas import check_lemma
from learnroute.reproduction.readings import improvements
from learnroute.reproduction.report import CAPTIONS
from learnroute.reproduction.scales import FAMILIES
from learnroute.reproduction.worst_cases import Search, bounds_of, find_worst, ratio_of

TOO_FEW = "holds for the mean over problems; too few to tell for single problems"


@pytest.fixture(scope="module")
def quick(shared_folder: Shared) -> tuple[Path, dict[str, Any]]:
    folder = shared_folder("quick", reproduce_quickly)
    return folder / "reproduction", json.loads((folder / "printed.json").read_text())


def reproduce_quickly(folder: Path) -> None:
    shown = commands.load()["reproduce"].epilog
    assert shown is not None
    example = shlex.split(shown.split("Example:")[1])[1:]
    done = subprocess.run(
        [sys.executable, "-m", "learnroute", *example, "--json"],
        capture_output=True,
        text=True,
        timeout=3000,
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    (folder / "printed.json").write_text(done.stdout)


def table(quick: tuple[Path, dict[str, Any]], name: str) -> list[dict[str, str]]:
    with (quick[0] / "tables" / f"{name}.csv").open() as file:
        return list(csv.DictReader(file))


def test_all_controls_are_present(quick: tuple[Path, dict[str, Any]]) -> None:
    folder, _ = quick
    for name in CAPTIONS:
        assert (folder / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert (folder / "figures" / f"{name}.svg").stat().st_size > 10_000
    text = (folder / "REPRODUCTION.md").read_text()
    links = re.findall(r"\]\(([^)#]+)\)", text)
    assert len(links) > 20
    assert all((folder / link).exists() for link in links)


def test_verdicts_are_the_known_ones(quick: tuple[Path, dict[str, Any]]) -> None:
    verdicts = {claim["name"]: claim["verdict"] for claim in quick[1]["claims"]}
    assert len(verdicts) == 13
    for name in (
        "Lemma 1", "Lemma 2", "Proposition 3", "Proposition 4", "Proposition 4, m ≫ n", "Corollary 1",
    ):  # fmt: skip
        assert verdicts[name] == HOLDS, name
    for name in ("Figure 1", "Figure 2, Algorithm 1"):  # in the full run, 4 of 10,400 problems of Figure 2 exceed 3/2
        assert verdicts[name] == TOO_FEW
        found = next(claim["findings"] for claim in quick[1]["claims"] if claim["name"] == name)
        assert any("too few problems to exclude that up to" in finding for finding in found)
        assert "omit --quick" in (quick[0] / "REPRODUCTION.md").read_text()
    for regime in ("under", "over"):
        assert verdicts[f"Figure 2, improvement ({regime})"] == "holds only under reading: share of the excess"
    assert verdicts["Triangle inequality"].startswith("does not hold")


@pytest.mark.parametrize(
    ("regions", "method", "low", "high"),
    [
        ("6", "algorithm1", 1.05, 1.13),  # about 1.09
        ("6", "baseline", 1.22, 1.38),  # about 1.3
        ("12", "algorithm1", 1.09, 1.15),  # about 1.12
        ("12", "baseline", 1.40, 1.53),  # about 1.46
        ("12", "exact", 1.0, 1.0),
        ("2", "algorithm1", 1.0, 1.0),  # Corollary 1
    ],
)
def test_ratios_of_figure_2(
    quick: tuple[Path, dict[str, Any]], regions: str, method: str, low: float, high: float
) -> None:
    rows = [
        row for row in table(quick, "figure2")
        if (row["family"], row["regions"], row["noise"], row["method"]) == ("uniform", regions, "0.0", method)
    ]  # fmt: skip
    assert {row["features"] for row in rows} == {"80", "120"}
    assert all(low <= float(row["mean"]) <= high for row in rows), rows


def test_metric_families_keep_the_guarantee_and_noise_only_hides_ratios(quick: tuple[Path, dict[str, Any]]) -> None:
    for row in table(quick, "figure1") + table(quick, "figure2"):
        if row["method"] == "algorithm1" and row["family"] != "uniform" and int(row["features"]) < 100:
            assert float(row["maximum"]) <= 1.5 + 1e-9
    key = ("family", "regions", "features", "method")
    means = {(*(row[k] for k in key), row["noise"]): float(row["mean"]) for row in table(quick, "figure2")}
    for (*place, noise), mean in means.items():
        if noise == "1.0":
            assert mean <= means[*place, "0.0"] + 1e-12


def test_lemmas_triangles_and_growth(quick: tuple[Path, dict[str, Any]]) -> None:
    assert {row["lemma"] for row in table(quick, "lemmas")} == {"1", "2"}
    assert all(abs(float(row["deviation"])) < 4 for row in table(quick, "lemmas"))
    shares = {
        (row["family"], row["regions"]): float(row["share_of_triples_violated"]) for row in table(quick, "triangle")
    }
    assert 0.10 < shares["uniform", "10"] < 0.14  # about 12 %
    assert all(share == 0 for (family, _), share in shares.items() if family != "uniform")
    assert all(float(row["seconds"]) > 0 for row in table(quick, "growth"))


def test_worst_cases_are_what_they_say(quick: tuple[Path, dict[str, Any]]) -> None:
    rows = {(row["space"], int(row["features"])): row for row in table(quick, "worst")}
    for (space, m), row in rows.items():
        problem = read_problem(quick[0] / row["problem"])
        ratio = plan(problem, "algorithm1").loss.total / oracle.least_loss(problem)
        assert ratio == pytest.approx(float(row["worst_climbed"]), rel=1e-9)
        assert ratio >= float(row["worst_of_random"]) - 1e-12
        if space != "raw-in-range":
            assert plan(problem, "algorithm1").guarantee.value is not None
            assert ratio <= min(float(row[f"{name}_bound"]) for name in ("paper", "sharper", "flat")) + 1e-9
        else:
            assert problem.travel[problem.travel > 0].min() >= 1
            assert problem.travel.max() <= 10
        assert (problem.learner.features, problem.learner.noise) == (m, 0.0)
    assert float(rows["metric", 80]["worst_climbed"]) > 1.45  # 3/2 is tight
    assert float(rows["metric", 120]["worst_climbed"]) > 3  # and no bound in the over regime
    assert float(rows["raw-in-range", 80]["worst_climbed"]) > 2  # nor without a metric


def test_check_detects_a_wrong_lemma(monkeypatch: pytest.MonkeyPatch) -> None:
    learner, seed = Learner(30, 10, 1.0), np.random.SeedSequence(3)
    right = check_lemma(learner, 4, 3000, seed)
    assert abs(right.deviation) < 4
    rng = np.random.default_rng(np.random.SeedSequence(3))
    truth = rng.normal(0, 1 / np.sqrt(30), (4, 30))
    said = oracle.loss_parts(
        range(4), np.zeros((4, 4)), oracle.squared_distances(truth), (truth**2).sum(1), 30, 10, 1.0
    )
    assert right.closed_form == pytest.approx(said["total"], rel=1e-12)
    doubled = Learner(30, 10, 1.1)
    assert abs(check_lemma(doubled, 4, 3000, seed).simulated - right.closed_form) > 4 * right.standard_error


def test_searches_are_repeatable_and_their_ratio_is_the_planners() -> None:
    search = Search("metric", 4, Learner(120, 100), 1, 40, 3)
    one, two = find_worst(search), find_worst(search)
    assert np.array_equal(one.problem.travel, two.problem.travel)
    assert one.climbed == two.climbed >= one.random >= 1
    problem = one.problem
    assert problem.dissimilarity is not None
    weights = np.array([(1 / 1.2) * (1 / 6) ** k for k in (3, 2, 1, 0)])
    assert ratio_of(problem.travel, problem.dissimilarity, weights) == pytest.approx(one.climbed, rel=1e-12)


def test_the_flat_bound_is_never_above_the_papers() -> None:
    for m in (102, 120, 1000, 10**6):
        problem = Problem(np.ones((6, 6)) - np.eye(6), Learner(m, 100), np.ones((6, 6)) - np.eye(6))
        paper, _, flat = bounds_of(problem)
        assert 1.5 <= flat < paper
    assert bounds_of(problem)[2] == 1.5


def test_readings_differ_as_they_should() -> None:
    groups = {
        ("uniform", 6, 80, 0.0, "algorithm1"): [1.1] * 5,
        ("uniform", 6, 80, 0.0, "baseline"): [1.6] * 5,
    }
    found = {i.reading: i for i in improvements(groups)}
    assert found["loss reduction"].value == pytest.approx(0.5 / 1.6)
    assert found["ratio points"].value == pytest.approx(0.5)
    assert found["share of the excess"].value == pytest.approx(0.5 / 0.6)
    assert [i.holds for i in found.values()] == [False, found["ratio points"].value > 0.5, True]
    assert _reading_verdict({"a": [("x", 0.0)], "b": []}, 1) == "holds only under reading: a"
    assert _reading_verdict({"a": [], "b": []}, 1) == "does not hold"
    assert _reading_verdict({"a": [("x", 0.0)], "b": []}, 2) == "holds only under reading: a (in 1 of 2 settings)"


@pytest.mark.parametrize(("count", "worst", "verdict"), [
    (10, 1.2, TOO_FEW), (2_999, 1.2, TOO_FEW), (3_000, 1.2, HOLDS),
    (10, 1.6, "holds only under reading: mean over problems (single problems exceed 3/2)"),
])  # fmt: skip
def test_few_problems_show_nothing_about_all_single_ones(count: int, worst: float, verdict: str) -> None:
    groups = {(family, 6, 80, 0.0, "algorithm1"): [1.1] * (count - 1) + [worst] for family in FAMILIES}
    assert _below(groups) == verdict


def test_stored_report_is_from_the_full_run() -> None:
    text = (Path(__file__).parents[2] / "REPRODUCTION.md").read_text()
    assert "Made with full settings" in text
    assert "learnroute reproduce -o reproduction" in text
    assert os.sep + "tmp" not in text
