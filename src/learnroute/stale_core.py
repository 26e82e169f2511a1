"""Check whether the compiled core is older than its sources, which only a checkout has."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path


def newer_sources() -> list[str]:
    """Return the C++ sources that changed after the core was built; empty if the package is not a checkout."""
    sources = Path(__file__).parent / "cpp"
    core = find_spec("learnroute._core") if sources.is_dir() else None
    if core is None or core.origin is None:
        return []
    built = Path(core.origin).stat().st_mtime
    files = (source for source in sources.rglob("*") if source.is_file())
    return sorted(source.name for source in files if source.stat().st_mtime > built)
