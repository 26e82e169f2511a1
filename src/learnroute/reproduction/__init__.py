"""The paper's claims, measured: what is run, what came out, which verdicts follow, and the report."""
