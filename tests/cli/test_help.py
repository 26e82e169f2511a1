"""Help texts, titles and widths of printed output."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from learnroute import read_problem, write_problem
from learnroute.cli import commands
from learnroute.solvers.methods import METHODS
from learnroute.study.families import FAMILIES

ROOT = Path(__file__).parents[2]
WAREHOUSE = str(ROOT / "examples" / "warehouse-robot.json")


def output(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(commands, list(arguments))
    assert result.exit_code == code
    return result.output


@pytest.mark.parametrize(("command", "names"), [("plan", METHODS), ("simulate", METHODS), ("generate", FAMILIES)])
def test_choices_have_a_line_each(command: str, names: dict[str, object]) -> None:
    lines = output(command, "--help").splitlines()
    assert set(names) <= {line.split()[0] for line in lines if line.startswith("    ") and line.split()}
    assert all(";" not in line for line in lines if line.split()[:1] and line.split()[0] in names)


@pytest.mark.parametrize("command", ["compare", "learners", "robustness"])
def test_options_for_fleets_are_not_offered_if_fleets_are_rejected(command: str) -> None:
    assert "--optional" in output(command, "--help")
    assert "--vehicles" not in output(command, "--help")
    assert "No such option" in output(command, WAREHOUSE, "--vehicles", "2", code=2)


@pytest.mark.parametrize("command", ["learners", "visits", "fleet"])
def test_tables_fit_into_100_columns(command: str) -> None:
    text = output(command, WAREHOUSE, *(["--vehicles", "1-2"] if command == "fleet" else []))
    table = text.split("\nnote ")[0].splitlines()
    assert max(map(len, table)) <= 100


def test_a_problem_without_a_title_is_named_after_its_file(tmp_path: Path) -> None:
    write_problem(read_problem(WAREHOUSE).replace(title=""), tmp_path / "shelves.json")
    assert output("plan", str(tmp_path / "shelves.json")).startswith("shelves: 8 regions")
    assert output("plan", str(tmp_path / "shelves.json"), "--title", "Hall").startswith("Hall: ")


def test_notes_on_a_given_route_do_not_mention_required_visits() -> None:
    text = output("evaluate", str(ROOT / "examples" / "city-survey.json"), "--optional", "--route", "Airport,Harbour")
    assert "more visits only add travel" in text
    assert "required" not in text


def test_estimates_without_training_samples_name_the_option(tmp_path: Path) -> None:
    data, problem = str(ROOT / "examples" / "buoys" / "samples"), str(tmp_path / "problem.json")
    result = CliRunner().invoke(commands, ["estimate", data, "--target", "height", "--no-split", "--problem", problem])
    assert result.exit_code != 0
    assert "--samples: missing; no samples are left for training" in str(result.exception or result.output)
