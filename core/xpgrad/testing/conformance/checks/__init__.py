"""The checks, by family."""

from xpgrad.testing.conformance.check import Check
from xpgrad.testing.conformance.checks.creation import CHECKS as CREATION
from xpgrad.testing.conformance.checks.dtype import CHECKS as DTYPE
from xpgrad.testing.conformance.checks.errors import CHECKS as ERRORS
from xpgrad.testing.conformance.checks.load import CHECKS as LOAD
from xpgrad.testing.conformance.checks.promotion import CHECKS as PROMOTION
from xpgrad.testing.conformance.checks.table import CHECKS as TABLE

CHECKS: tuple[Check, ...] = tuple(
    sorted((*LOAD, *CREATION, *DTYPE, *PROMOTION, *ERRORS, *TABLE), key=lambda check: check.id)
)
