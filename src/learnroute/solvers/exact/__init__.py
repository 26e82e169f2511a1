"""Proved optima and lower bounds."""
