"""The seeded faults, by what is wrong, and the freedoms that are not."""

from xpgrad.testing.conformance.faults.fault import Fault, Freedom
from xpgrad.testing.conformance.faults.freedoms import FREEDOMS
from xpgrad.testing.conformance.faults.reductions import FAULTS as REDUCTIONS

FAULTS: tuple[Fault, ...] = (*REDUCTIONS,)

__all__ = ["FAULTS", "FREEDOMS", "Fault", "Freedom"]
