"""The files that come with the package: the page and the examples, read once into memory."""

from __future__ import annotations

import functools
import hashlib
import json
from dataclasses import dataclass
from importlib import resources

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

    @property
    def etag(self) -> str:
        """A name for this content."""
        return f'"{hashlib.sha256(self.content).hexdigest()[:20]}"'


@functools.cache
def page_files() -> dict[str, Asset]:
    """Return the files of the page by the path they are asked for."""
    folder = resources.files("learnroute.web") / "page"
    files = {}
    for file in sorted(folder.iterdir(), key=lambda f: f.name):
        suffix = "." + file.name.rpartition(".")[2]
        if suffix in MEDIA:
            files[f"/{file.name}"] = Asset(file.read_bytes(), MEDIA[suffix])
    files["/"] = files["/index.html"]
    return files


@functools.cache
def examples() -> dict[str, tuple[str, bytes]]:
    """Return the example problems by name: title and JSON text."""
    folder = resources.files("learnroute.web") / "examples"
    found = {}
    for file in sorted(folder.iterdir(), key=lambda f: f.name):
        if file.name.endswith(".json"):
            content = file.read_bytes()
            found[file.name.removesuffix(".json")] = (json.loads(content)["title"], content)
    return found
