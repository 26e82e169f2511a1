"""Figures from many problems: rows of sweeps, and the paper's figures. Needs matplotlib."""

from learnroute.figures.ratios import draw_ratios, save_ratios

__all__ = ["draw_ratios", "save_ratios"]
