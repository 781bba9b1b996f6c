"""Dual subjects: the suite on arrays with tangents, mixed with arrays without.

Arrays from the host get random tangents; arrays returned to the host are primals. The tangents of a case's outputs
are compared with differences of its reference.
"""

import zlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from xpgrad import Device
from xpgrad.backend.plugins import plugins
from xpgrad.plugin import Backend
from xpgrad.testing.differences import random_values
from xpgrad.transforms.dual.backend import DualBackend
from xpgrad.transforms.dual.level import DualLevel
from xpgrad.transforms.enclosing.backend import backend_over
from xpgrad.types import Array, Kernel
from xpgrad_conformance.members import EXPECTED_IN_CALLS, IMMUTABLE, MISSING_IN_CALLS, chosen, placed, required

WITHOUT = 4
"""One in this many inputs has no tangent."""
MISSING = {**MISSING_IN_CALLS, **IMMUTABLE}
PROVIDES: frozenset[str] = frozenset()
"""Facts that the base may lack."""
TAKEN = "what is taken out of a Variable is the primal, another array each time"
EXPECTED = {
    **EXPECTED_IN_CALLS,
    "R04[*": TAKEN,
    "T12[*": TAKEN,
    "V24[*": "forward mode asks a user's function for its gradient at once",
}


class TangentsBackend(DualBackend):
    """Backend of dual arrays that gives arrays from the host random tangents."""

    def overrides(self) -> Mapping[str, Kernel]:
        """Return the kernels that every backend must provide."""
        return required(self)

    def from_host(self, array: Array, device: Device) -> Array:
        """Return the host's array on a device, with a random tangent."""
        level: Any = self.level()
        place = self.base.device_for(device.handle)
        primal = placed(self.base, array, place)
        if level.at_rest or array.dtype.kind not in "fc" or chosen(array, level.number, WITHOUT):
            return self.constant(primal)
        rng = np.random.default_rng(zlib.crc32(array.tobytes()))
        tangent = random_values(array.shape, array.dtype.kind == "c", rng).astype(array.dtype)
        return self.kind(level, primal, placed(self.base, tangent, place))

    def to_host(self, array: Array) -> Array:
        """Return a copy of the primal on the host."""
        array.level.check()
        base = self.base
        return base.copy(array.primal) if base is plugins.host else base.to_host(array.primal)

    def resting(self, function: Callable[..., Any], /, *args: Any) -> Any:
        """Return ``function(*args)``; arrays from the host get no tangents in this call."""
        level: Any = self.level()
        level.at_rest = True
        try:
            return function(*args)
        finally:
            level.at_rest = False

    def tangent_on_host(self, array: Array) -> Array | None:
        """Return a copy of the tangent on the host, or None."""
        if array.tangent is None:
            return None
        return self.to_host(self.kind(array.level, array.tangent, None))


class TangentsLevel(DualLevel):
    """A call in forward mode, whose arrays from the host have random tangents.

    Parameters
    ----------
    number : int
        Number of the check.
    """

    def __init__(self, number: int) -> None:
        super().__init__("conform")
        self.number, self.at_rest = number, False

    def backend(self, base: Backend) -> TangentsBackend:
        """Return the backend of this level over `base`."""
        return backend_over(TangentsBackend, base, self.depth)
