"""The checks, by family."""

from xpgrad.testing.conformance.check import Check
from xpgrad.testing.conformance.checks.fused import CHECKS as FUSED
from xpgrad.testing.conformance.checks.gradients import CHECKS as GRADIENTS
from xpgrad.testing.conformance.checks.kernels import CHECKS as KERNELS
from xpgrad.testing.conformance.checks.kernels_calls import CHECKS as KERNELS_CALLS
from xpgrad.testing.conformance.checks.kernels_linear import CHECKS as KERNELS_LINEAR
from xpgrad.testing.conformance.checks.kernels_moving import CHECKS as KERNELS_MOVING
from xpgrad.testing.conformance.checks.kinks import CHECKS as KINKS
from xpgrad.testing.conformance.checks.programs import CHECKS as PROGRAMS
from xpgrad.testing.conformance.checks.second_order import CHECKS as SECOND_ORDER
from xpgrad.testing.conformance.checks.table import CHECKS as TABLE

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
)
CHECKS: tuple[Check, ...] = tuple(sorted(ALL, key=lambda check: check.id))
