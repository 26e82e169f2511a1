"""Solvers of visits: which regions, how often and in which order, within a travel budget."""
