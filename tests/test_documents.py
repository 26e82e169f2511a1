"""Documents: links and anchors lead somewhere, tutorials run and print what they say, the API is described in full."""

from __future__ import annotations

import ast
import inspect
import json
import re
import subprocess
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import unquote

import numpy as np
import pytest
import yaml

import learnroute
import learnroute.learning
import learnroute.plots
import tutorials
from learnroute.cli import commands
from learnroute.formats import ONE_FILE, PLAN_WRITERS

ROOT = Path(__file__).parents[1]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
MODULES = (learnroute, learnroute.learning, learnroute.plots)
PUBLIC = [(module, name) for module in MODULES for name in module.__all__]
CHECKED_CLASSES = ("Problem", "Learner", "Constraints", "Journey")  # made by callers, so they refuse
LINK = re.compile(r"\]\(([^()\s]+)\)")


def prose(page: Path) -> str:
    """Return a page without its code."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^ *```.*?^ *```", "", page.read_text(), flags=re.M | re.S))


def code_of(page: Path) -> str:
    """Return the code blocks of a page, with continued lines joined."""
    return "\n".join(re.findall(r"^```\w*\n(.*?)^```", page.read_text(), re.M | re.S)).replace("\\\n", " ")


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, by the rule of GitHub, and those that it sets itself."""
    text = re.sub(r"^ *```.*?^ *```", "", page.read_text(), flags=re.M | re.S)
    found: list[str] = []
    for heading in re.findall(r"^#{1,6} (.+)$", text, re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")
        times = sum(one == slug or re.fullmatch(re.escape(slug) + r"-\d+", one) is not None for one in found)
        found.append(f"{slug}-{times}" if times else slug)
    return {*found, *re.findall(r'<a (?:id|name)="([^"]+)"', text)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_and_anchors_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(prose(page)):
        if link.startswith(("http://", "https://", "mailto:")):
            continue
        target, _, anchor = link.partition("#")
        file = (page.parent / target).resolve() if target else page
        assert file.exists(), f"{page.name}: {link}"
        assert file.is_relative_to(ROOT), f"{page.name}: {link} leads out of the repository"
        if anchor and file.suffix == ".md":
            assert anchor in anchors(file), f"{page.name}: {link}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_blocks_can_be_parsed(page: Path) -> None:
    for kind, code in re.findall(r"^```(python|json|toml)\n(.*?)^```", page.read_text(), re.M | re.S):
        if kind == "python":
            ast.parse(code)
        elif kind == "json" and "…" not in code:
            json.loads(code)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_in_documents_have_the_options_that_are_shown(page: Path) -> None:
    for line in re.findall(r"^learnroute ([a-z]+ .*)$", code_of(page), re.M):
        name, *words = line.split("#")[0].split()
        command = commands.load()[name]
        known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        used = {word.split("=")[0] for word in words if re.match(r"--?[a-z]", word)}
        assert used <= known | {"--help"}, f"{page.name}: learnroute {line}"


def test_the_site_has_every_page_once() -> None:
    index = (ROOT / "docs" / "index.md").read_text()
    named = [line for tree in re.findall(r"```{toctree}\n(.*?)```", index, re.S) for line in tree.splitlines()]
    named = [line for line in named if line and not line.startswith(":")]
    docs = ROOT / "docs"
    pages = [page.relative_to(docs) for page in (*docs.glob("*.md"), *docs.glob("appendix/*.md"))]
    assert sorted(named) == sorted({page.with_suffix("").as_posix() for page in pages} - {"index"})


@pytest.mark.parametrize("page", tutorials.PAGES, ids=lambda page: page.stem)
def test_a_tutorial_prints_what_it_says_and_draws_what_it_shows(page: Path, tmp_path: Path) -> None:
    for printed, shown in tutorials.run(page, tmp_path):
        assert printed == shown
    pictures = tutorials.PICTURE.findall(page.read_text())
    assert pictures
    for name in pictures:
        assert (tmp_path / name).stat().st_size > 10_000


def test_there_are_three_tutorials() -> None:
    assert [page.stem for page in tutorials.PAGES] == ["tutorial-engineer", "tutorial-researcher", "tutorial-student"]


@pytest.mark.parametrize("page", tutorials.PAGES, ids=lambda page: page.stem)
def test_tutorials_name_columns_and_lines_as_they_are_printed(page: Path) -> None:
    blocks = code_of(page)
    for name in re.findall(r"`([a-z][a-z ]*)`", re.sub(r"^ *```.*?^ *```", "", page.read_text(), flags=re.M | re.S)):
        assert re.search(rf"\b{name}\b", blocks), f"{page.name}: {name}"


def test_the_page_about_rehearsal_shows_what_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands of the page in turn; its tables may leave out lines, marked by …, and times differ."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "rehearsal.md").read_text()
    commands_shown = re.findall(r"^learnroute (?:.*\\\n)*.*$", page, re.M)
    printed = "\n".join(tutorials.run_commands(f"$ {command}") for command in commands_shown)
    assert len(commands_shown) == 4
    for line in "\n".join(re.findall(r"^```text\n(.*?)^```$", page, re.M | re.S)).splitlines():
        assert line.rstrip("…") in printed
    measured = re.findall(r"`(predicted .*?)`", page)
    assert measured
    assert all(line in printed for line in measured)


CITED = re.compile(r"([A-Z][\w’-]+)(?: et al\.)?,? \(?((?:19|20)\d\d)\b(?![-–]\d)")
VENUES = {"ICASSP", "ICML", "Press"}  # with a year, but no authors


def references() -> dict[str, tuple[str, str]]:
    """Return authors and year, and for each the title and the venue, of the bibliography."""
    rows = re.findall(r"^\| (.*) \| (.*) \| (.*) \| .* \|$", (ROOT / "docs" / "bibliography.md").read_text(), re.M)
    return {source: (title, venue) for source, title, venue in rows if re.search(r" \d{4}$", source)}


def test_every_source_that_is_cited_is_in_the_bibliography() -> None:
    known, cited = references(), set()
    files = [*ROOT.glob("src/**/*.*"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.py")]
    for file in files:
        if file.suffix in (".py", ".pyi", ".h", ".cpp", ".md") and file.name != "bibliography.md":
            text = re.sub(r"\s*\n\s*(?:///? ?|# )?", " ", file.read_text())
            cited |= {(name, year, file.name) for name, year in CITED.findall(text) if name not in VENUES}
    assert len(cited) > 50
    for name, year, place in sorted(cited):
        assert any(name in source and source.endswith(year) for source in known), f"{place}: {name} {year}"


def test_the_citation_file_names_sources_as_the_bibliography_does() -> None:
    given = yaml.safe_load((ROOT / "CITATION.cff").read_text())["references"]
    titles = {title: source for source, (title, _) in references().items()}
    for one in given:
        source = titles[one["title"]]
        assert source.endswith(f" {one['year']}")
        assert all(author["family-names"] in source for author in one["authors"])
    related = (ROOT / "docs" / "theory.md").read_text().split("## Related work")[1]
    found = CITED.findall(" ".join(related.split()))
    assert found
    for name, year in found:
        assert any(one["year"] == int(year) and name in titles[one["title"]] for one in given), (name, year)


def test_the_page_about_the_service_lists_the_formats_of_exports() -> None:
    row = next(line for line in (ROOT / "docs" / "service.md").read_text().splitlines() if "/api/export" in line)
    plans, problems = row.split("(a plan: ")[1].split("; a problem: ")
    assert re.findall(r"`(\.\w+)`", plans) == list(PLAN_WRITERS)
    assert re.findall(r"`(\.\w+)`", problems.split(")")[0]) == list(ONE_FILE)


def sections(thing: Any) -> set[str]:
    """Return the numpydoc sections of a docstring."""
    return set(re.findall(r"^(\w+)\n-+$", inspect.getdoc(thing) or "", re.M))


@pytest.mark.parametrize(("module", "name"), PUBLIC, ids=[f"{module.__name__}.{name}" for module, name in PUBLIC])
def test_every_public_name_is_in_the_reference_and_documented(module: ModuleType, name: str) -> None:
    page = (ROOT / "docs" / "api.md").read_text()
    assert len(re.findall(rf":: {re.escape(module.__name__)}\.{name}$", page, re.M)) == 1
    thing = getattr(module, name)
    if inspect.isfunction(thing):
        needed = {"Parameters", "Raises"} if inspect.signature(thing).parameters else {"Raises"}
        silent = inspect.signature(thing).return_annotation in ("None", None)
        assert sections(thing) >= needed | (set() if silent else {"Returns"})
    elif inspect.isclass(thing):
        assert inspect.getdoc(thing)
        assert name not in CHECKED_CLASSES or "Raises" in sections(thing)
        for member, value in vars(thing).items():
            if not member.startswith("_") and (inspect.isfunction(value) or isinstance(value, property | classmethod)):
                assert inspect.getdoc(getattr(thing, member)), f"{name}.{member}"


@pytest.mark.parametrize(("module", "name"), PUBLIC, ids=[f"{module.__name__}.{name}" for module, name in PUBLIC])
def test_parameters_that_are_described_exist(module: ModuleType, name: str) -> None:
    thing = getattr(module, name)
    if not inspect.isfunction(thing) or "Parameters" not in sections(thing):
        return
    part = re.split(r"\n\n\w+\n-+\n", (inspect.getdoc(thing) or "").split("Parameters\n----------\n")[1])[0]
    described = {word for line in re.findall(r"^(\S.*)$", part, re.M) for word in line.split(", ")}
    assert described == set(inspect.signature(thing).parameters)


def test_the_site_is_built_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    site = tmp_path / "site"
    code = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", str(ROOT / "docs"), str(site)]
    done = subprocess.run(code, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    for page in site.rglob("*.html"):
        loaded = re.findall(r'<(?:script|link|img|iframe)[^>]+(?:src|href)="((?:https?:)?//[^"]+)"', page.read_text())
        assert not loaded, (page.name, loaded)
        for link in re.findall(r'(?:href|src)="([^"]+)"', page.read_text()):
            target, _, anchor = unquote(link).partition("#")
            if not target.startswith(("http", "data:")):
                file = page.parent / target.split("?")[0] if target else page
                assert file.is_file(), (page.name, link)
                assert not anchor or file.suffix != ".html" or f'id="{anchor}"' in file.read_text(), (page.name, link)
    for sheet in site.rglob("*.css"):
        assert not re.findall(r"(?:url\(|@import)\s*['\"]?(?:https?:)?//", sheet.read_text()), sheet.name


def test_tutorial_on_user_defined_tasks_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a few images of digits, with permuted pixels per region; the block for PyTorch is omitted."""
    from sklearn.datasets import load_digits

    monkeypatch.chdir(tmp_path)
    images, labels = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    data = {}
    for k, name in enumerate("ABCDE"):
        chosen = rng.choice(len(images), 120, replace=False)
        x, y = images[chosen][:, rng.permutation(64)] / 16 if k else images[chosen] / 16, labels[chosen]
        data[name] = x[:80], y[:80], x[80:], y[80:]
    known: dict[str, Any] = {"data": data, "names": list(data), "costs": np.ones((5, 5)) - np.eye(5)}
    text = (ROOT / "docs" / "own-learners.md").read_text()
    blocks = [block for block in re.findall(r"```python\n(.*?)```", text, re.S) if "torch" not in block]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # networks that are trained for a moment have not converged
        for block in blocks:
            exec(block, known)
    assert sorted(known["found"].route) == list("ABCDE")
    assert (tmp_path / "trainings.json").exists()


def test_the_notebook_runs_and_shows_its_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a kernel: its cells are run in turn, and the last line of each is rendered as Jupyter does."""
    cells = json.loads((ROOT / "examples" / "rehearse-buoys.ipynb").read_text())["cells"]
    assert all(not cell["outputs"] for cell in cells if cell["cell_type"] == "code")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    known: dict[str, Any] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            *lines, last = ast.parse("".join(cell["source"])).body
            assert isinstance(last, ast.Expr)
            exec(compile(ast.Module(lines, []), cell["id"], "exec"), known)
            shown = eval(compile(ast.Expression(last.value), cell["id"], "eval"), known)
            assert "<table" in shown._repr_html_()
    assert known["followed"].final.predicted == pytest.approx(known["rehearsed"].error)
    table = shown.loc[["one model", "two models"]]
    assert (abs(table["measured"] - table["predicted"]) < 3 * table["standard error"]).all()
    assert table["measured"]["two models"] < table["measured"]["one model"]
