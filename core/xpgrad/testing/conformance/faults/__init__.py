"""The seeded faults, by what is wrong, and the freedoms that are not."""

from xpgrad.testing.conformance.faults.current import FAULTS as CURRENT
from xpgrad.testing.conformance.faults.current import FREEDOMS as WITH_CURRENT_DEVICE
from xpgrad.testing.conformance.faults.devices import FAULTS as OF_DEVICES
from xpgrad.testing.conformance.faults.dlpack import FAULTS as DLPACK
from xpgrad.testing.conformance.faults.dlpack import FREEDOMS as WITH_DLPACK
from xpgrad.testing.conformance.faults.elementwise import FAULTS as ELEMENTWISE
from xpgrad.testing.conformance.faults.fault import Fault, Freedom
from xpgrad.testing.conformance.faults.freedoms import FREEDOMS as PLAIN
from xpgrad.testing.conformance.faults.fused import FAULTS as FUSED
from xpgrad.testing.conformance.faults.moves import FAULTS as MOVES
from xpgrad.testing.conformance.faults.moving import FAULTS as MOVING
from xpgrad.testing.conformance.faults.products import FAULTS as PRODUCTS
from xpgrad.testing.conformance.faults.reductions import FAULTS as REDUCTIONS
from xpgrad.testing.conformance.faults.state import FAULTS as STATE
from xpgrad.testing.conformance.faults.states import FAULTS as STATES

FAULTS: tuple[Fault, ...] = (
    *REDUCTIONS,
    *ELEMENTWISE,
    *MOVING,
    *PRODUCTS,
    *FUSED,
    *STATE,
    *OF_DEVICES,
    *CURRENT,
    *MOVES,
    *DLPACK,
    *STATES,
)
FREEDOMS: tuple[Freedom, ...] = (*PLAIN, *WITH_CURRENT_DEVICE, *WITH_DLPACK)

__all__ = ["FAULTS", "FREEDOMS", "Fault", "Freedom"]
