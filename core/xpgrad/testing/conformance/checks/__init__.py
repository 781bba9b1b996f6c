"""The checks, by family."""

from xpgrad.testing.conformance.check import Check
from xpgrad.testing.conformance.checks.device import CHECKS as DEVICE
from xpgrad.testing.conformance.checks.exchange import CHECKS as EXCHANGE
from xpgrad.testing.conformance.checks.pickling import CHECKS as PICKLING
from xpgrad.testing.conformance.checks.random_state import CHECKS as RANDOM_STATE
from xpgrad.testing.conformance.checks.scopes import CHECKS as SCOPES
from xpgrad.testing.conformance.checks.table import CHECKS as TABLE
from xpgrad.testing.conformance.checks.transfer import CHECKS as TRANSFER

CHECKS: tuple[Check, ...] = tuple(
    sorted(
        (*TABLE, *DEVICE, *SCOPES, *TRANSFER, *EXCHANGE, *PICKLING, *RANDOM_STATE),
        key=lambda check: check.id,
    )
)
