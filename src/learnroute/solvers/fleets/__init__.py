"""Solvers for several vehicles and several models."""
