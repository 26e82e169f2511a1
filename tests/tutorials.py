"""Run the code and the commands of a tutorial, and compare what they print with what the page says.

`python tests/tutorials.py` rewrites the outputs and pictures in docs/.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").glob("tutorial-*.md"))
BLOCK = re.compile(r"^```(python|console|text)\n(.*?)^```$", re.M | re.S)
WIDTH = 100  # characters of a terminal's line
SECONDS = re.compile(r"\d+\.\d+ s(?=;)")  # what differs from run to run
SILENT = "not compared"
PICTURE = re.compile(r"!\[[^\]]*\]\(images/([^)]+)\)")


def run(page: Path, folder: Path) -> list[tuple[str, str]]:
    """Run the blocks of code and commands of a page in a folder, in turn; return what each says and should say.

    A block of text behind them is what they print; a block without one is not compared if it has commands, and prints
    nothing if it has code. Commands follow `$ ` and may continue in the next line after a backslash.
    """
    (folder / "examples").symlink_to(ROOT / "examples")
    names: dict[str, Any] = {"__name__": page.stem}
    told: list[tuple[str, str]] = []
    before = Path.cwd()
    os.chdir(folder)
    try:
        for kind, content in BLOCK.findall(page.read_text()):
            if kind == "text":
                told[-1] = (told[-1][0], content)
                continue
            if kind == "console":
                told.append((run_commands(content), SILENT))
                continue
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(content, str(page), "exec"), names)
            told.append((printed.getvalue(), ""))
    finally:
        os.chdir(before)
    return [(given, given if wanted is SILENT else wanted) for given, wanted in told]


def run_commands(content: str) -> str:
    """Run commands of learnroute, and return what the last one prints: lines without spaces at their ends."""
    lines = re.sub(r" \\\n\s+", " ", content).splitlines()
    assert all(line.startswith("$ learnroute ") for line in lines), lines
    printed = ""
    for line in lines:
        command = [sys.executable, "-m", "learnroute", *shlex.split(line)[2:]]
        given = {**os.environ, "COLUMNS": str(WIDTH)}
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=given)
        assert done.returncode == 0, f"{line}\n{done.stderr}"
        printed = "".join(f"{each.rstrip()}\n" for each in done.stdout.strip("\n").splitlines())
    return SECONDS.sub("… s", printed)


def rewrite(page: Path) -> None:
    """Write what the code of a page prints into the page, and its pictures beside it."""
    with tempfile.TemporaryDirectory() as folder:
        printed = [given for given, wanted in run(page, Path(folder)) if given and given is not wanted]
        text = re.sub(r"^```text\n.*?^```$", lambda _: f"```text\n{printed.pop(0)}```", page.read_text(),
                      flags=re.M | re.S)  # fmt: skip
        assert not printed, f"{page.name}: output without a block of text for it"
        page.write_text(text)
        for name in PICTURE.findall(text):
            shutil.copy(Path(folder) / name, ROOT / "docs" / "images" / name)


if __name__ == "__main__":
    for tutorial in PAGES:
        rewrite(tutorial)
