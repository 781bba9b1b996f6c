"""The checks, by family."""

from xpgrad.testing.conformance.check import Check
from xpgrad.testing.conformance.checks.contributions import CHECKS as CONTRIBUTIONS
from xpgrad.testing.conformance.checks.growth import CHECKS as GROWTH
from xpgrad.testing.conformance.checks.pending import CHECKS as PENDING
from xpgrad.testing.conformance.checks.releasing import CHECKS as RELEASING
from xpgrad.testing.conformance.checks.sharing import CHECKS as SHARING
from xpgrad.testing.conformance.checks.table import CHECKS as TABLE
from xpgrad.testing.conformance.checks.thread_state import CHECKS as THREAD_STATE
from xpgrad.testing.conformance.checks.threads import CHECKS as THREADS
from xpgrad.testing.conformance.checks.untouched import CHECKS as UNTOUCHED
from xpgrad.testing.conformance.checks.whole_arrays import CHECKS as WHOLE_ARRAYS

ALL = (
    *TABLE,
    *UNTOUCHED,
    *WHOLE_ARRAYS,
    *CONTRIBUTIONS,
    *SHARING,
    *RELEASING,
    *GROWTH,
    *PENDING,
    *THREADS,
    *THREAD_STATE,
)
CHECKS: tuple[Check, ...] = tuple(sorted(ALL, key=lambda check: check.id))
