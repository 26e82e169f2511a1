"""Reproduction of the paper's claims: measurements, verdicts and the report."""
