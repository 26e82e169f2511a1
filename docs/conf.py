"""How Sphinx builds the site: `make docs`. Nothing is loaded from elsewhere, neither to build it nor to read it."""

from __future__ import annotations

from typing import Any

import learnroute

project = "learnroute"
author = copyright = "The learnroute developers"
release = version = learnroute.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc"]
exclude_patterns = ["_build"]

myst_heading_anchors = 4
myst_url_schemes = ["http", "https"]

autodoc_typehints = "none"  # the signature has them in the source; sections say what they mean
autodoc_member_order = "bysource"
autosummary_generate = False
numpydoc_show_class_members = False
default_role = "code"

html_theme = "furo"
html_title = "learnroute"
html_show_sphinx = False
html_copy_source = False


def setup(app: Any) -> None:
    """Let links to documents beside docs/ lead to their pages of the site."""

    def within(_: Any, __: str, source: list[str]) -> None:
        source[0] = source[0].replace("](../REPRODUCTION.md", "](reproduction.md")

    app.connect("source-read", within)
