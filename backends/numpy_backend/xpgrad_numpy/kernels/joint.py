"""Steps of optimizers in C: one call for all parameters replaces parameters and states."""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from xpgrad.plugin import RowFunction, RowKernel, run_all, threads
from xpgrad.types import Array, Dtype
from xpgrad_numpy.kernels.rows import FIRST, LINE, LONG, ORDERED, POINTER, SHARED, RowLibrary, address

LEAST = 2**12
"""Number of all elements from which the kernel is compiled or loaded."""

_libraries: dict[tuple[RowKernel, Dtype], RowLibrary] = {}


def build() -> bool:
    """Compile the steps of all optimizers for float32, with default options; return whether that was possible."""
    import xpgrad
    from xpgrad import optimizers

    for name in optimizers.__all__:
        method = getattr(optimizers, name)
        if isinstance(method, type) and issubclass(method, xpgrad.GradientMethod):
            model: Any = xpgrad.Link(w=LEAST)
            optimizer = method().setup(model)
            for _ in range(2):  # the first step makes the states
                model.w.grad = np.zeros(LEAST, np.float32)
                optimizer.update()
    for each in _libraries.values():
        each.wait()
    return all(bool(each.functions) for each in _libraries.values())


def joint(kernel: RowKernel, groups: Sequence[Sequence[Array]]) -> "Joint | None":
    """Return a function that replaces the arrays of all groups, see `Programs.joint`."""
    dtype = groups[0][0].dtype
    if dtype.char not in "fd" or sum(each[0].size for each in groups) < LEAST:
        return None
    found = _libraries.get((kernel, dtype)) or _libraries.setdefault(
        (kernel, dtype), RowLibrary(dtype, lambda: [kernel])
    )
    if not found.functions:
        found.start()
    function = found.functions.get(kernel.name)
    if function is None:
        return None
    if not all(a.shape == each[0].shape and a.dtype == dtype and a.flags.carray for each in groups for a in each):
        return None
    return Joint(function, groups, len(kernel.levels) - len(groups[0]) - 1)


class Joint:
    """A function that replaces the arrays of all groups, whose addresses it keeps; one thread calls it at a time.

    Parameters
    ----------
    function : RowFunction
    groups : sequence of sequences of arrays of one dtype
    count : int
        How many numbers the kernel takes.
    """

    def __init__(self, function: RowFunction, groups: Sequence[Sequence[Array]], count: int) -> None:
        self.function, self.groups, first = function, groups, groups[0]
        self.each: Any = function.each
        self.numbers = np.empty(count, first[0].dtype)
        start, size = address(self.numbers), self.numbers.itemsize
        addresses: list[Any] = []
        for arrays in groups:
            places = [*map(address, arrays)]
            addresses += [*places, None, *(start + size * i for i in range(count)), *places[: len(function.levels)]]
        self.addresses = (POINTER * len(addresses))(*addresses)
        self.width, self.place = len(addresses) // len(groups), len(first)
        self.shapes = [arrays[0].shape for arrays in groups]
        sizes = [arrays[0].size for arrays in groups]
        self.sizes = (LONG * len(groups))(*(n if n < SHARED else 0 for n in sizes))
        self.large = [(i, n) for i, n in enumerate(sizes) if n >= SHARED]

    def __call__(self, arrays: Sequence[Array], numbers: Sequence[Any]) -> bool:
        """Replace the arrays, unless one of the given arrays, one for each group, is not in C order."""
        dtype, addresses, place, width = self.numbers.dtype, self.addresses, self.place, self.width
        for x, shape in zip(arrays, self.shapes, strict=True):
            if x.shape != shape or (x.dtype is not dtype and x.dtype != dtype) or x.flags.num & ORDERED != ORDERED:
                return False
            addresses[place] = POINTER.from_address(id(x) + FIRST).value  # as `address`, without a call for each
            place += width
        for i, number in enumerate(numbers):
            self.numbers[i] = number
        if not self.each(addresses, self.sizes, len(self.groups), self.width):
            raise MemoryError("a step of an optimizer: no memory")
        for i, size in self.large:
            part = (POINTER * self.width)(*addresses[i * self.width : (i + 1) * self.width])
            run_all(functools.partial(self._columns, part, size), size, -(-size // threads() // LINE) * LINE)
        return True

    def _columns(self, part: Any, size: int, first: int, last: int) -> None:
        if not self.function.call(part, 1, size, first, last):
            raise MemoryError("a step of an optimizer: no memory")
