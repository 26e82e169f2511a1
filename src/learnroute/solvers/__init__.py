"""Solvers: methods that find routes and prove bounds on their values."""
