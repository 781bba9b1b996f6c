"""The checks, by family."""

from xpgrad.testing.conformance.check import Check
from xpgrad.testing.conformance.checks.device import CHECKS as DEVICE
from xpgrad.testing.conformance.checks.exchange import CHECKS as EXCHANGE
from xpgrad.testing.conformance.checks.fused import CHECKS as FUSED
from xpgrad.testing.conformance.checks.gradients import CHECKS as GRADIENTS
from xpgrad.testing.conformance.checks.kernels import CHECKS as KERNELS
from xpgrad.testing.conformance.checks.kernels_calls import CHECKS as KERNELS_CALLS
from xpgrad.testing.conformance.checks.kernels_linear import CHECKS as KERNELS_LINEAR
from xpgrad.testing.conformance.checks.kernels_moving import CHECKS as KERNELS_MOVING
from xpgrad.testing.conformance.checks.kinks import CHECKS as KINKS
from xpgrad.testing.conformance.checks.pickling import CHECKS as PICKLING
from xpgrad.testing.conformance.checks.programs import CHECKS as PROGRAMS
from xpgrad.testing.conformance.checks.random_state import CHECKS as RANDOM_STATE
from xpgrad.testing.conformance.checks.scopes import CHECKS as SCOPES
from xpgrad.testing.conformance.checks.second_order import CHECKS as SECOND_ORDER
from xpgrad.testing.conformance.checks.table import CHECKS as TABLE
from xpgrad.testing.conformance.checks.transfer import CHECKS as TRANSFER

ALL = (
    *TABLE,
    *KERNELS,
    *KERNELS_MOVING,
    *KERNELS_LINEAR,
    *KERNELS_CALLS,
    *GRADIENTS,
    *SECOND_ORDER,
    *KINKS,
    *FUSED,
    *PROGRAMS,
    *DEVICE,
    *SCOPES,
    *TRANSFER,
    *EXCHANGE,
    *PICKLING,
    *RANDOM_STATE,
)
CHECKS: tuple[Check, ...] = tuple(sorted(ALL, key=lambda check: check.id))
