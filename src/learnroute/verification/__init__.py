"""Check what a plan claims, by code that shares nothing with the solvers: one checker a kind of certificate.

docs/bounds.md says why each bound holds, and what a verdict means.
"""

from learnroute.verification.checks import Check, Verification
from learnroute.verification.plans import verify

__all__ = ["Check", "Verification", "verify"]
