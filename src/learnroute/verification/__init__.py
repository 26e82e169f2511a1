"""Checks of the claims of a plan, with one checker per kind of certificate; no code is shared with the solvers.

docs/bounds.md explains why each bound holds and what a verdict means.
"""

from learnroute.verification.checks import Check, Verification
from learnroute.verification.plans import verify

__all__ = ["Check", "Verification", "verify"]
