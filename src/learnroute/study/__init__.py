"""Experiments on many problems."""
