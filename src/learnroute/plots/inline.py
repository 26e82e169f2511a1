"""A figure that a notebook shows by itself, whether pyplot was imported or not."""

from __future__ import annotations

import io

from matplotlib.figure import Figure

DOTS = 100  # an inch


class InlineFigure(Figure):
    """A matplotlib figure with a picture for notebooks; outside of them, an ordinary one."""

    def _repr_png_(self) -> bytes:
        return png_of(self)


def png_of(figure: Figure, dots: int = DOTS) -> bytes:
    """Return a figure as a PNG file, on white."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=dots, facecolor="white")
    return file.getvalue()
