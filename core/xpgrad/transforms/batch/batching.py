"""`Batching`: the batch of an array, and operations on batch elements for the rules of functions."""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from xpgrad.backend.plugins import plugins
from xpgrad.errors import BatchError, EscapedArray
from xpgrad.graph.methods.ending import caller, place_at
from xpgrad.graph.variable import Variable
from xpgrad.transforms.enclosing.backend import TransformedBackend
from xpgrad.transforms.enclosing.level import EnclosingLevel
from xpgrad.types import Array, Namespace, Shape


class Later(NamedTuple):
    """Deferred values, because possibly only their sum over the batch elements is needed.

    Attributes
    ----------
    shape : tuple of int
        Shape with the hidden axis.
    like : array
        The library's array of the same dtype and device.
    values : callable
        Returns the library's array.
    total : callable
        Returns its sum over the batch elements, for less than the values take.
    """

    shape: Shape
    like: Array
    values: Callable[[], Array]
    total: Callable[[], Array]


REMEDY = "values differ between batch elements: use xp.where, or in_axes=None for a shared argument"


class Batching:
    """One batch over one library.

    Attributes
    ----------
    level : BatchRun
    backend : BatchBackend
    base : Backend
        Backend of the arrays within.
    xp : namespace
        The base's kernels and functions, for raw arrays.
    """

    __slots__ = ("backend", "base", "kind", "level", "xp")

    def __init__(self, level: "BatchRun", backend: TransformedBackend) -> None:
        self.level, self.backend = level, backend
        self.base, self.kind = backend.base, backend.kind
        self.xp: Namespace = backend.base.xp

    @property
    def size(self) -> int:
        """Number of batch elements."""
        return self.level.size

    @property
    def title(self) -> str:
        """Name of the transformation in messages."""
        return self.level.title

    def check(self) -> None:
        """Raise `EscapedArray` if the level has ended."""
        if not self.level.live:
            self.level.check()

    def check_same(self, other: "Batching") -> None:
        """Raise if arrays of two batches meet."""
        if other is not self:
            raise EscapedArray(
                f"{self.title}: arrays of two batches, of {self.size} and {other.size} elements, were used together; "
                "one of these arrays belongs to another call; return it from that call"
            )

    def refused(self, what: str, remedy: str = REMEDY) -> BatchError:
        """Return the error for an array whose value was needed, with the user's line."""
        frame = caller()
        at = "" if frame is None else f", at {place_at(frame)}"
        return BatchError(f"{self.title}: the value of a batched array is needed: {what}{at}; {remedy}")

    # Arrays

    def made(self, values: Array) -> Array:
        """Return an array whose batch elements are the items of `values` along its first axis."""
        return self.kind(self, values, True)

    def same(self, values: Array) -> Array:
        """Return an array that is shared by all batch elements."""
        return self.kind(self, values, False)

    def later(self, later: Later) -> Array:
        """Return an array whose values are computed when they are needed."""
        x = self.kind.__new__(self.kind)
        x.batching, x.batched, x.later = self, True, later
        return x

    def restored(self, result: Any) -> Any:
        """Return a result of the base, arrays or a tuple or list of them, with batch elements along the first axis."""
        if isinstance(result, (tuple, list)):
            return getattr(result, "_make", type(result))([self.restored(item) for item in result])
        return self.made(self.base.restore(result))

    def aligned(self, x: Any, ndim: int) -> Any:
        """Return an operand of an elementwise function of the base, for a result with `ndim` axes per batch element."""
        if type(x) is not self.kind:
            return x
        values = x.values
        if x.batched:
            missing = ndim + 1 - len(values.shape)
            if missing > 0:
                shape = values.shape
                return self.base.restore(self.xp.reshape(values, shape=(shape[0], *(1,) * missing, *shape[1:])))
        return values

    def front(self, x: Any) -> Array:
        """Return the library's array with the batch elements along the first axis; a shared array is broadcast."""
        if type(x) is not self.kind:
            x = self.same(x)
        if x.batched:
            return x.values
        return self.base.restore(self.xp.broadcast_to(x.values, shape=(self.size, *x.values.shape)))

    def led(self, x: Array) -> Array:
        """Return the library's array with the batch elements along the first axis, of length 1 for a shared array."""
        if x.batched:
            return x.values
        return self.base.restore(self.xp.reshape(x.values, shape=(1, *x.values.shape)))

    def opened(self, x: Any) -> Any:
        """Return the library's array if it is shared by all batch elements, and other objects unchanged."""
        return x.values if type(x) is self.kind and not x.batched else x

    def shaped(self, values: Array, shape: Shape) -> Array:
        """Return an array of the library in another shape, which includes the hidden axis."""
        if tuple(values.shape) == shape:
            return values
        return self.base.restore(self.xp.reshape(values, shape=shape))

    def folded(self, x: Array, keep: int) -> tuple[Array, Shape]:
        """Return a batched array with all axes but the last `keep` in one, the hidden one first; and their shape."""
        shape = tuple(x.values.shape)
        lead = shape[: len(shape) - keep]
        rest = shape[len(shape) - keep :]
        return self.base.restore(self.xp.reshape(x.values, shape=(math.prod(lead), *rest))), lead

    def reshaped(self, x: Array, shape: Shape) -> Array:
        """Return the library's array with batch elements of another shape, which has no -1."""
        return self.base.restore(self.xp.reshape(x.values, shape=(x.values.shape[0], *shape)))

    def flat(self, x: Array) -> Array:
        """Return the library's array with batch elements of one axis."""
        return x.values if x.ndim == 1 else self.reshaped(x, (x.size,))

    def permuted(self, values: Array, axes: Sequence[int]) -> Array:
        """Return an array of the library with its axes permuted."""
        if list(axes) == list(range(len(values.shape))):
            return values
        return self.base.restore(self.xp.permute_dims(values, axes=tuple(axes)))

    def counted(self, stop: int, x: Array) -> Array:
        """Return the integers from 0 on, on the device of `x`."""
        return self.base.namespace.arange(stop, device=self.base.handle_of(x.values))

    def axes(self, axis: Any, ndim: int) -> tuple[int, ...]:
        """Return the axes of the library's array for axes of batch elements with `ndim` axes; None means all."""
        if axis is None:
            return tuple(range(1, ndim + 1))
        given: Sequence[int] = axis if isinstance(axis, (tuple, list)) else (axis,)
        return tuple(self.axis(a, ndim) for a in given)

    def matrix(self, x: Array) -> Array:
        """Return the library's array, or raise if batch elements have fewer than two axes."""
        if x.ndim < 2:
            raise IndexError(f"expected matrices with two axes at least, got an array of shape {x.shape}")
        return x.values

    def only_axis(self, axis: int | None, x: Array) -> int:
        """Return the axis of the library's array; None is allowed for batch elements with one axis."""
        if axis is None and x.ndim != 1:
            raise ValueError(f"axis=None is allowed for arrays with one axis, got shape {x.shape}; give an axis")
        return self.axis(axis or 0, x.ndim)

    def axis(self, axis: int, ndim: int) -> int:
        """Return the axis of the library's array for an axis of batch elements with `ndim` axes."""
        if not -ndim <= axis < ndim:
            raise IndexError(f"axis {axis} is out of bounds for an array with {ndim} axes")
        return axis + 1 if axis >= 0 else axis + ndim + 1


class BatchRun(EnclosingLevel):
    """One run of a function for all elements of a batch, as its arrays know it.

    Parameters
    ----------
    title : str
    size : int
        Number of batch elements.
    randomness : {"different", "same"}
        Whether random numbers differ between batch elements.
    axis_name : str or None
        Name for `psum` and related functions.

    Attributes
    ----------
    lead : Variable or None
        The first argument with a batch axis, at the level below.

    Notes
    -----
    Gradients within are gradients of the sum over the elements: a shared cotangent counts once for each element.
    """

    transformation = "batch"

    def __init__(self, title: str, size: int, randomness: str = "different", axis_name: str | None = None) -> None:
        super().__init__(title)
        self.size, self.randomness, self.axis_name = size, randomness, axis_name
        self.lead: Variable | None = None
        self._batchings: dict[TransformedBackend, Batching] = {}

    def batching(self, backend: TransformedBackend) -> Batching:
        """Return this batch for arrays of one library."""
        found = self._batchings.get(backend)
        if found is None:
            found = self._batchings[backend] = Batching(self, backend)
        return found

    def over(self, array: Array) -> Batching:
        """Return this batch for the library of an array of the level below."""
        return self.batching(self.backend(plugins.by_type[type(array)]))

    def forget(self) -> None:
        """Drop what refers to this level in a circle, which only the garbage collector would free."""
        self._batchings, self.captured = {}, {}

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, {self.size} batch elements>"
