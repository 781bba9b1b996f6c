"""Traced arrays: a library's array together with the value that it is in a program."""

from typing import Any

from xpgrad.errors import TraceError
from xpgrad.transforms.enclosing.array import TransformedArray
from xpgrad.transforms.trace.program import Value
from xpgrad.transforms.trace.recording import Recording
from xpgrad.types import Array, DeviceHandle, Dtype

REMEDY = (
    "a program cannot depend on values: use xp.where, make the argument static, or leave this part outside of the "
    "compiled function"
)


class TracedArray(TransformedArray):
    """Base of the types of arrays that are traced, one for each library and depth.

    `value` represents it in the program, and `values` is the library's array.
    """

    __slots__ = ("dtype", "level", "recording", "shape", "value", "values")

    noun = "a traced array"
    error = TraceError
    level: Any  # attributes and no properties, whose calls would be followed
    shape: Any
    dtype: Dtype
    values: Array

    def __init__(self, recording: Recording, value: Value, values: Array) -> None:
        self.recording, self.value, self.values = recording, value, values
        self.level, self.shape, self.dtype = recording.level, values.shape, values.dtype

    @property
    def device(self) -> DeviceHandle:
        """The library's device object."""
        return self.value.spec.device

    def values_for(self, use: str) -> Array:
        """Return the library's array, and note that the values are read, or that no program can depend on them."""
        self.recording.level.check()
        if not self.recording.level.guard_values(self.value):
            self.recording.needs(f"the value of a traced array of {self.value.spec!r} is needed: {use}", REMEDY)
        return self.values

    def __repr__(self) -> str:
        state = "" if self.recording.level.live else ", of a call that has ended"
        return f"<traced {self.value.spec!r}{state}>"
