"""Run the code of a tutorial, and compare what it prints with what the page says.

`python tests/tutorials.py` writes the outputs and pictures anew into docs/.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").glob("tutorial-*.md"))
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.M | re.S)
PICTURE = re.compile(r"!\[[^\]]*\]\(images/([^)]+)\)")


def run(page: Path, folder: Path) -> list[tuple[str, str]]:
    """Run the code blocks of a page in a folder, one after the other; return what each says and should say.

    A block of text behind a block of code is what that code prints; code without one prints nothing.
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
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(content, str(page), "exec"), names)
            told.append((printed.getvalue(), ""))
    finally:
        os.chdir(before)
    return told


def rewrite(page: Path) -> None:
    """Write what the code of a page prints into the page, and its pictures beside it."""
    with tempfile.TemporaryDirectory() as folder:
        printed = [given for given, _ in run(page, Path(folder)) if given]
        text = re.sub(r"^```text\n.*?^```$", lambda _: f"```text\n{printed.pop(0)}```", page.read_text(),
                      flags=re.M | re.S)  # fmt: skip
        assert not printed, f"{page.name}: output without a block of text for it"
        page.write_text(text)
        for name in PICTURE.findall(text):
            shutil.copy(Path(folder) / name, ROOT / "docs" / "images" / name)


if __name__ == "__main__":
    for tutorial in PAGES:
        rewrite(tutorial)
