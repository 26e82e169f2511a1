"""Iterated local search for the full objective."""
