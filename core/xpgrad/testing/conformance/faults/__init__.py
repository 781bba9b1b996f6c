"""The seeded faults, by what is wrong, and the freedoms that are not."""

from xpgrad.testing.conformance.faults.elementwise import FAULTS as ELEMENTWISE
from xpgrad.testing.conformance.faults.fault import Fault, Freedom
from xpgrad.testing.conformance.faults.freedoms import FREEDOMS
from xpgrad.testing.conformance.faults.fused import FAULTS as FUSED
from xpgrad.testing.conformance.faults.moving import FAULTS as MOVING
from xpgrad.testing.conformance.faults.products import FAULTS as PRODUCTS
from xpgrad.testing.conformance.faults.reductions import FAULTS as REDUCTIONS
from xpgrad.testing.conformance.faults.state import FAULTS as STATE

FAULTS: tuple[Fault, ...] = (*REDUCTIONS, *ELEMENTWISE, *MOVING, *PRODUCTS, *FUSED, *STATE)

__all__ = ["FAULTS", "FREEDOMS", "Fault", "Freedom"]
