"""The checks, by family."""

from xpgrad.testing.conformance.check import Check
from xpgrad.testing.conformance.checks.table import CHECKS as TABLE

CHECKS: tuple[Check, ...] = tuple(sorted(TABLE, key=lambda check: check.id))
