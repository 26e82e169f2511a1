"""How Sphinx builds the site: `make docs`. Nothing is loaded from elsewhere, neither to build it nor to read it."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert

import learnroute

project = "learnroute"
author = copyright = "The learnroute developers"
release = version = learnroute.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc"]
exclude_patterns = ["_build"]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
myst_url_schemes = ["http", "https"]

autodoc_typehints = "none"  # the signature has them in the source; sections say what they mean
autodoc_member_order = "bysource"
autosummary_generate = False
numpydoc_show_class_members = False
default_role = "code"

html_math_renderer = "mathml"
LETTER = 'mathvariant="normal" style="font-family: serif; font-style: italic"'
html_theme = "furo"
html_title = "learnroute"
html_show_sphinx = False
html_copy_source = False


def render_formula(translator: Any, node: nodes.Element) -> None:
    """Write a formula as MathML, which browsers typeset without scripts or fonts from elsewhere."""
    displayed = isinstance(node, nodes.math_block)
    markup = convert(node.astext(), display="block" if displayed else "inline")
    markup = markup.replace('columnalign="', 'style="text-align: ')  # browsers support the latter only
    # letters in an ordinary font, because subscripts in fallback fonts for mathematical letters are not lowered
    markup = re.sub("<mi>([^<;]|&[^<]*;)</mi>", rf"<mi {LETTER}>\1</mi>", markup)
    markup = markup.replace("<mo>&#x02016;</mo>", '<mo stretchy="false">&#x02016;</mo>')  # norms as high as letters
    translator.body.append(f"<p>{markup}</p>" if displayed else markup)
    raise nodes.SkipNode


def redirect_reports(_: Any, __: str, source: list[str]) -> None:
    """Let links to documents beside docs/ lead to their pages of the site."""
    source[0] = source[0].replace("](../REPRODUCTION.md", "](reproduction.md")


def setup(app: Any) -> None:
    """Register the renderer of formulas and the rewriting of links."""
    app.add_html_math_renderer("mathml", (render_formula, None), (render_formula, None))
    app.connect("source-read", redirect_reports)
