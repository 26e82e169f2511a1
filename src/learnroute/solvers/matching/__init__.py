"""Minimum-weight perfect matching, with its proof."""
