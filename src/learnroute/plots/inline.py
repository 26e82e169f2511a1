"""A figure that notebooks display, whether pyplot was imported or not."""

from __future__ import annotations

import io

from matplotlib.figure import Figure

DOTS = 100  # per inch


class InlineFigure(Figure):
    """A matplotlib figure that notebooks display as a picture; elsewhere, an ordinary figure."""

    def _repr_png_(self) -> bytes:
        return png_of(self)


def png_of(figure: Figure) -> bytes:
    """Return a figure as a PNG image on a white background."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=DOTS, facecolor="white")
    return file.getvalue()
