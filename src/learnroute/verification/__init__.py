"""Check what a plan claims, by code that shares nothing with the solvers: one checker a kind of certificate.

docs/bounds.md says why each bound holds.
"""

from learnroute.verification.checks import Check
from learnroute.verification.plans import verify

__all__ = ["Check", "verify"]
