"""`Cuts`: how the arrays of a fused group are cut in blocks."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

from xpgrad.backend.spec import Spec
from xpgrad.transforms.trace.calls import Call, Value
from xpgrad.transforms.trace.fusion.group import Fused
from xpgrad.types import Array, Shape


class Cuts:
    """The units in which the arrays of a group are cut: elements, or rows with the elements of each.

    Arrays of the whole space, and those with one element a row, are cut along their first axis. Before that, those of
    elements are made flat, and the leading axes of the others are made one, followed by axes of length 1 that keep the
    number of axes: ``(8, 16, 1024)`` is cut as ``(128, 1, 1024)``.

    Parameters
    ----------
    fused : Fused
    calls : sequence of Call
        The same as those of `fused`, perhaps in smaller steps.
    constants : iterable of Value
        Arrays that they take beside the inputs.
    first : bool, optional
        Whether arrays are cut along their first axis as they are. They need not be contiguous then.

    Attributes
    ----------
    length, width : int
        Number of units, and of elements in each.
    flat : bool
    fits : bool
        Whether all arrays of the group can be cut so.
    """

    def __init__(self, fused: Fused, calls: Sequence[Call], constants: Iterable[Value], first: bool = False) -> None:
        self.flat = fused.rows == 1 and not first
        self._rows, self._columns = fused.rows, fused.columns
        values = [*fused.inputs, *constants, *(value for call in calls for value in call.results)]
        cut = [value for value in values if self._size(value, fused) in ("point", "row")]
        self._cut = set(cut)
        self.leading = 1
        self.length, self.width = (self._columns, 1) if self.flat else (self._rows, self._columns)
        if first:
            self.fits = self._along_first_axis(cut)
            return
        self.fits = bool(cut) and all(self._size(value, fused) for value in values)
        if not self.flat:
            leading = {self._leading(value.spec.shape) for value in cut}
            self.fits = self.fits and len(leading) == 1 and None not in leading
            self.leading = next(iter(leading), None) or 1

    def _size(self, value: Value, fused: Fused) -> str | None:
        """Return at which level the array itself is: a number that is the same at all points may fill an array."""
        level, size = fused.levels.get(value, ""), value.spec.size
        if size == 1:
            return "one"
        sizes = {"point": self._rows * self._columns, "row": self._rows, "column": self._columns}
        return level if sizes.get(level) == size else next((each for each, n in sizes.items() if n == size), None)

    def _along_first_axis(self, cut: list[Value]) -> bool:
        lengths = {value.spec.shape[0] if value.spec.shape else 1 for value in cut}
        if len(lengths) != 1:
            return False
        self.length = lengths.pop()
        if self._rows == 1 and len({value.spec.shape for value in cut}) != 1:
            return False
        self.width = self._rows * self._columns // max(1, self.length)
        return self.length > 1 and (self._rows == 1 or self._rows % self.length == 0)

    def _leading(self, shape: Shape) -> int | None:
        """Return how many axes the rows are in."""
        number = next((i for i in range(1, len(shape) + 1) if math.prod(shape[:i]) == self._rows), None)
        return number if number and math.prod(shape[number:]) in (1, self._columns) else None

    def is_cut(self, value: Value) -> bool:
        """Return whether an array is cut; else each block needs all of it."""
        return value in self._cut

    def part(self, spec: Spec, length: int) -> Spec:
        """Return the spec of a part, with some units, of an array that is cut."""
        shape = (length,) if self.flat else (length, *(1,) * (self.leading - 1), *spec.shape[self.leading :])
        return with_shape(spec, shape)

    def spec(self, value: Value, length: int) -> Spec:
        """Return the spec of a part of an array if it is cut, else that of what each block gets."""
        if self.is_cut(value):
            return self.part(value.spec, length)
        return with_shape(value.spec, () if self.flat else value.spec.shape)

    def view(self, array: Array, value: Value) -> Array:
        """Return an array as it is cut, or passed to each block as a whole.

        Raises
        ------
        ValueError
            That would be a copy.
        """
        spec = self.spec(value, self.length)
        if spec.shape == value.spec.shape:
            return array
        made: Any = spec.backend.namespace.reshape(array, spec.shape, copy=False)
        return made

    def restored(self, array: Array, value: Value) -> Array:
        """Return the result of a reduction in its own shape."""
        spec = value.spec
        array = spec.backend.restore(array)
        if not self.flat or array.shape == spec.shape:
            return array
        made: Any = spec.backend.namespace.reshape(array, spec.shape)
        return made


def with_shape(spec: Spec, shape: Shape) -> Spec:
    """Return a spec with another shape."""
    return spec if shape == spec.shape else spec.backend.spec_for(shape, spec.dtype, spec.device)
