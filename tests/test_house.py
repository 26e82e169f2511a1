"""Properties of the package as a whole."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from operator import attrgetter
from pathlib import Path

import pytest

import learnroute.learning
import learnroute.plots
from learnroute import METHODS
from learnroute.cli import run
from learnroute.errors import EXTRAS
from learnroute.formats import FOLDER, PLAN_WRITERS, READERS, WRITERS
from learnroute.solvers.params import DEFAULTS, SolverParams
from learnroute.study.families import FAMILIES
from waiting import GUARD

ROOT = Path(__file__).parents[1]


def test_importing_the_package_is_light() -> None:
    heavy = {"matplotlib", "scipy", "sklearn", "pandas", "click", "fastapi", "starlette", "uvicorn"}
    code = f"import sys, learnroute; print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=GUARD, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.slow
def test_every_module_can_be_imported_on_windows() -> None:
    """Import all modules, to load other packages; then import ours again, as if on Windows."""
    code = (
        "import sys, pkgutil, types, importlib, learnroute\n"
        "names = [found.name for found in pkgutil.walk_packages(learnroute.__path__, 'learnroute.')]\n"
        "ours = [name for name in names if not name.endswith(('__main__', '_core'))]\n"
        "assert len(ours) > 150\n"
        "for name in ours: importlib.import_module(name)\n"
        "for name in ours: del sys.modules[name]\n"
        "sys.platform, sys.modules['msvcrt'] = 'win32', types.ModuleType('msvcrt')\n"
        "for name in ('fcntl', 'pwd', 'grp', 'resource', 'termios'): sys.modules[name] = None\n"
        "for name in ours: importlib.import_module(name)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_the_readme_example_says_what_it_prints() -> None:
    text = (ROOT / "README.md").read_text()
    code = text.split("```python\n")[1].split("```")[0]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=GUARD, check=True)
    route, _, quality = done.stdout.splitlines()
    assert f"print(found.route)  # {route}" in code
    assert f"print(found.quality)  # {quality}" in code


def test_the_readme_shows_what_plan_prints(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", str(ROOT / "examples" / "warehouse-robot.json")]) == 0
    shown = (ROOT / "README.md").read_text().split("learnroute plan")[1].split("```")[2]
    pages = [re.sub(r", [\d.]+ s$", "", text, flags=re.M).split() for text in (shown, capsys.readouterr().out)]
    assert pages[0] == pages[1]  # all but the seconds


@pytest.mark.parametrize("name", [*METHODS, *FAMILIES])
def test_every_method_and_family_is_documented(name: str) -> None:
    assert f"| `{name}` |" in (ROOT / "docs" / "commands.md").read_text()


@pytest.mark.parametrize("suffix", sorted({*READERS, *WRITERS, *PLAN_WRITERS} - {FOLDER}))
def test_every_format_is_documented(suffix: str) -> None:
    tables = (ROOT / "docs" / "formats.md").read_text().split("\n## ")[0]
    assert f"`{suffix}`" in tables
    if suffix in PLAN_WRITERS:
        assert f"`{suffix}`" in (ROOT / "docs" / "commands.md").read_text().split("`-o` writes")[1].split(";")[0]


def test_links_between_documents_lead_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
            assert target.startswith("http") or (page.parent / target).exists(), (page.name, target)


def test_no_module_has_the_name_of_a_public_function() -> None:
    public = {*learnroute.__all__, *learnroute.learning.__all__, *learnroute.plots.__all__}
    modules = {path.stem for path in (ROOT / "src" / "learnroute").rglob("*.py")}
    assert not public & modules


def test_every_module_is_listed() -> None:
    text = (ROOT / "docs" / "appendix" / "modules.md").read_text()
    for path in (ROOT / "src" / "learnroute").rglob("*.py"):
        if not path.name.startswith("__") and path.parent.name not in ("formats", "cli", "study"):
            assert path.name in text, path.name


def test_prose_is_at_most_120_characters_wide() -> None:
    for page in [ROOT / "README.md", ROOT / "CHANGELOG.md", *ROOT.glob("docs/*.md")]:
        code = False
        for number, line in enumerate(page.read_text().splitlines(), 1):
            code ^= line.lstrip().startswith("```")
            prose = not code and not line.startswith(("|", "    ", "!["))
            assert not prose or len(line) <= 120, f"{page.name}:{number}"


def plain(text: str) -> str:
    """Return a text in lower case, with single spaces between words."""
    return re.sub(r"\s+|-|–|_", " ", text).lower()


def terms(page: str) -> list[tuple[str, str]]:
    """The terms of a table in docs/, each with its last column: a module, or the meaning."""
    rows = re.findall(r"^\| ([^|]+) \|(?: [^|]+ \|)? `?([^|`]+)`? \|$", (ROOT / "docs" / page).read_text(), re.M)
    named = [(re.sub(r" ?[(\[].*?[)\]]", "", names), last) for names, last in rows if names not in ("term", "---")]
    return [(plain(term).strip(), last) for names, last in named for term in names.split(", ")]


def test_every_term_of_the_literature_is_found_where_it_points() -> None:
    found = terms("appendix/terms.md")
    assert len(found) > 60
    for term, place in found:
        path = ROOT / "src" / "learnroute" / place
        files = [path] if path.is_file() else list(path.glob("*.py"))
        assert term in plain("\n".join(file.read_text() for file in files)), (term, place)


def test_every_word_of_the_glossary_is_used() -> None:
    found = terms("glossary.md")
    assert len(found) > 40
    words = plain("\n".join(path.read_text() for path in (ROOT / "src" / "learnroute").rglob("*.py")))
    for term, _ in found:
        assert term in words, term


@pytest.mark.parametrize("word", [
    "Lagrangian", "labelling", "dominance", "incumbent", "strong branching", "LP relaxation", "2-opt", "3-opt",
    "Or-opt", "double bridge", "iterated local search", "ng-set", "Pareto", "ng-route", "q-route", "completion bound",
    "reduced-cost fixing", "propagation", "subtour elimination", "candidate list", "don't-look", "perturbation",
])  # fmt: skip
def test_the_words_of_the_field_lead_into_solvers_and_core(word: str) -> None:
    pattern = re.compile(re.escape(word).replace(r"\ ", r"\s+"), re.IGNORECASE)
    package = ROOT / "src" / "learnroute"
    files = [*(package / "solvers").rglob("*.py"), *(package / "cpp").rglob("*.h")]
    assert any(pattern.search(path.read_text()) for path in files)


def test_install_hints_match_the_extras() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for extra, packages in EXTRAS.items():
        assert [re.match(r"[\w-]+", need)[0] for need in extras[extra]] == packages.split()  # type: ignore[index]


def test_parameters_for_users_are_few_and_exist() -> None:
    named = re.findall(r"`([a-z_0-9]+\.[a-z_.0-9]+)`", SolverParams.__doc__ or "")
    assert 10 <= len(named) <= 20
    assert len(set(named)) == len(named)
    for name in named:
        assert isinstance(attrgetter(name)(DEFAULTS), int), name


def test_all_versions_are_the_same() -> None:
    named = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert named == learnroute.__version__
    assert f"version: {named}\n" in (ROOT / "CITATION.cff").read_text()


def test_types_of_the_core_are_those_of_its_bindings(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "nanobind.stubgen",
        "-q",
        "-m",
        "learnroute._core",
        "-o",
        str(tmp_path / "_core.pyi"),
    ]
    subprocess.run(command, check=True, timeout=60)
    assert (tmp_path / "_core.pyi").read_text() == (ROOT / "src" / "learnroute" / "_core.pyi").read_text()
