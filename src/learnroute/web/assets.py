"""The files that come with the package: the page and the examples, read once into memory."""

from __future__ import annotations

import functools
import hashlib
import json
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

MEDIA = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True)
class Asset:
    """A file of the page."""

    content: bytes
    media: str

    @functools.cached_property
    def etag(self) -> str:
        """The entity tag of this content."""
        return f'"{hashlib.sha256(self.content).hexdigest()[:20]}"'


@functools.cache
def page_files() -> dict[str, Asset]:
    """Return the files of the page by request path."""
    folder = resources.files("learnroute.web") / "page"
    files = {}
    for file in sorted(folder.iterdir(), key=lambda f: f.name):
        suffix = "." + file.name.rpartition(".")[2]
        if suffix in MEDIA:
            files[f"/{file.name}"] = Asset(file.read_bytes(), MEDIA[suffix])
    files["/"] = files["/index.html"]
    files["/docs"] = files["/docs.html"]
    return files


@functools.cache
def examples() -> dict[str, tuple[str, bytes]]:
    """Return the example problems by name: title and JSON text."""
    found = {}
    for file in sorted(_examples_folder().iterdir(), key=lambda f: f.name):
        if file.name.endswith(".json"):
            content = file.read_bytes()
            found[file.name.removesuffix(".json")] = (json.loads(content)["title"], content)
    return found


def _examples_folder() -> Traversable:
    """Return the folder of examples: in the package if installed from a wheel, otherwise in the checkout."""
    package = resources.files("learnroute.web")
    installed = package / "examples"
    return installed if installed.is_dir() else Path(str(package)).parents[2] / "examples"
