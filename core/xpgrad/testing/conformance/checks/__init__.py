"""The checks, by family."""

from xpgrad.testing.conformance.check import Check
from xpgrad.testing.conformance.checks.pending import CHECKS as PENDING
from xpgrad.testing.conformance.checks.releasing import CHECKS as RELEASING
from xpgrad.testing.conformance.checks.sharing import CHECKS as SHARING
from xpgrad.testing.conformance.checks.table import CHECKS as TABLE
from xpgrad.testing.conformance.checks.threads import CHECKS as THREADS
from xpgrad.testing.conformance.checks.untouched import CHECKS as UNTOUCHED

ALL = (
    *TABLE,
    *UNTOUCHED,
    *SHARING,
    *RELEASING,
    *PENDING,
    *THREADS,
)
CHECKS: tuple[Check, ...] = tuple(sorted(ALL, key=lambda check: check.id))
