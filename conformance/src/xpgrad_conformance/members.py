"""Batched subjects: the suite on one member of batches of three, mixed with arrays that are the same for all members.

Arrays from the host become this member, next to two members with other values; arrays returned to the host are this
member. A check sees one array instead of three, and detects code that mixes members or uses the hidden axis. Which of
the three it is differs from check to check.
"""

import functools
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from xpgrad import Device
from xpgrad.backend.kernels import table
from xpgrad.backend.plugins import plugins
from xpgrad.plugin import Backend
from xpgrad.transforms.batch.backend import BatchBackend
from xpgrad.transforms.batch.level import BatchLevel
from xpgrad.transforms.enclosing.backend import backend_over
from xpgrad.types import Array, Kernel

MEMBERS = 3
SAME = 4
"""One in this many floating-point inputs is the same for all members."""
ONE_CALL = "the arrays of a transformation are of one call of a function"
MISSING_IN_CALLS = {
    "pickle": ONE_CALL,
    "pickle_keeps_device": ONE_CALL,
    "threads": ONE_CALL,
    "memory_used": "the memory is that of the library's arrays",
}
WRITES = "the arrays of a transformation are not written to"
IMMUTABLE = {"index_assignment": WRITES, "index_assignment_arrays": WRITES, "in_place_update": WRITES}
MISSING = {
    **MISSING_IN_CALLS,
    **IMMUTABLE,
    "dlpack_export": "no other library knows the hidden axis",
    "data_dependent_shapes": "members have one shape",
}
PROVIDES = frozenset(["index_arrays_with_slices"])
"""Facts that the base may lack."""
BELOW = "kernels are provided for the library's arrays, and computed by rows or bodies for batches"
VALUES = "a number would have another value for each member"
EXPECTED_IN_CALLS = {
    "K25[*": BELOW,
    "F02[*": BELOW,
    "F03[*": BELOW,
    "H06[*": BELOW,
    "R01[*": "an array of a transformation cannot be pickled: it is of one call of a function",
    "R02[*": "what is unpickled is not of the function that is called",
}
EXPECTED = {
    **EXPECTED_IN_CALLS,
    "L04[*": VALUES,
    "Y02[*": VALUES,
    "Y13[*": VALUES,
    **{f"{check}[bincount*": VALUES for check in ("K01", "G01", "G02", "H01", "H02", "H09", "A01", "A02")},
}


class MembersBackend(BatchBackend):
    """Batch backend that shows the host one member."""

    def overrides(self) -> Mapping[str, Kernel]:
        """Return the kernels that every backend must provide."""
        return required(self)

    def from_host(self, array: Array, device: Device) -> Array:
        """Return the host's array as one member of a batch, or as a value that all members share."""
        batching = self.current()
        level: Any = batching.level
        place = self.base.device_for(device.handle)
        if array.dtype.kind in "fc" and chosen(array, level.number, SAME):
            return batching.same(placed(self.base, array, place))
        others = iter(varied(array, number) for number in range(1, level.size))
        members = [array if i == level.member else next(others) for i in range(level.size)]
        return batching.made(placed(self.base, np.stack(members), place))

    def to_host(self, array: Array) -> Array:
        """Return a copy of the member on the host."""
        array.batching.check()
        base = self.base
        values = array.values
        if array.batched:
            values = base.restore(values[(array.batching.level.member, ...)])
        return base.copy(values) if base is plugins.host else base.to_host(values)


class MembersLevel(BatchLevel):
    """A batch that shows the host one member.

    Parameters
    ----------
    number : int
        Number of the check, which decides about the member.
    """

    def __init__(self, number: int) -> None:
        super().__init__("conform", MEMBERS, "same")  # as the reference draws
        self.member, self.number = number % MEMBERS, number

    def backend(self, base: Backend) -> MembersBackend:
        """Return the backend of this level over `base`."""
        return backend_over(MembersBackend, base, self.depth)


def required(backend: Backend) -> Mapping[str, Kernel]:
    """Return the kernels that have no default, which a backend on record must provide."""
    return {
        name: functools.partial(_computed, backend, name)
        for name, declaration in table.declared.items()
        if declaration.body is None and not declaration.optional
    }


def _computed(backend: Backend, name: str, /, *args: Any, **parameters: Any) -> Any:
    return backend.xp.kernel(name)(*args, **parameters)


def placed(base: Backend, array: Array, place: Device) -> Array:
    """Return a copy of the host's array on a device of `base`."""
    host = plugins.host
    return host.copy(array) if base is host else base.from_host(array, place)


def chosen(x: Any, number: int, one_in: int) -> bool:
    """Return whether an array is one of so many; equal arrays are in one check."""
    return (zlib.crc32(x.tobytes()) + number) % one_in == 0


def varied(x: Any, number: int) -> Any:
    """Return other values of the same shape and dtype: values between those in `x`, or multiples of matrices.

    Multiples keep positive definite matrices positive definite, for every order of the axes.
    """
    if x.dtype.kind not in "fc" or x.size == 0:
        return np.roll(x, number)
    sides = [n for n in x.shape if n > 1]
    with np.errstate(all="ignore"):
        scaled = x.size == 1 or len(set(sides)) < len(sides)
        mixed = x * (1 - number / 32) if scaled else 0.875 * x + 0.125 * np.roll(x, number)
    return np.where(np.isfinite(mixed), mixed, x).astype(x.dtype)
