"""Indexing: the expression ``x[index]``, assignment as a function, and gathers along one axis."""

import math
import operator
from types import EllipsisType
from typing import Any

from xpgrad.array_api.data_types import astype
from xpgrad.array_api.shared.scattering import Scatter
from xpgrad.backend import indexing
from xpgrad.backend.backend import Backend
from xpgrad.backend.naming import called
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spec import Spec
from xpgrad.boundary import bounded
from xpgrad.config import NO_GRAD, WATCHED, config, switches
from xpgrad.errors import BackendMismatch, DeviceMismatch, DtypeError, GraphError, UnknownArray
from xpgrad.graph.lifting import entered
from xpgrad.graph.parameterised import indexed
from xpgrad.graph.primitive import primitive
from xpgrad.graph.variable import Variable, as_array, as_variable, inside
from xpgrad.types import AnyArray, Array, Dtype, Index, Namespace, Operand, Shape

PLAIN = frozenset((int, type(None), EllipsisType))
"""Types of items of an index that need no conversion; slices may contain Variables."""


@primitive(linear=("x",), x=lambda xp, gy, x_spec, index: Scatter(index, gy, x_spec))
def getitem(xp: Namespace, x: AnyArray, /, index: Index) -> Array:
    """Elements of `x` at `index`; the gradients of repeated positions are added.

    The index is as `prepared` returns it; ``x[index]`` takes Variables and lists too.
    """
    return indexing.getitem(xp.backend, x, index)


def _checked_getitem(x: Variable, index: Index) -> Variable:
    return getitem(x, index=prepared(x, index, "getitem"))


index_operator = indexed(getitem.definition, bounded(_checked_getitem, "getitem"))  # type: ignore[attr-defined]  # primitives have it


def prepared(x: Variable, index: Index, operation: str) -> Index:
    """Return `index` with lists and Variables converted to arrays of the backend of `x`.

    Raises
    ------
    IndexError
        An item is neither an integer, a slice, None or an ellipsis, nor an array of integers or booleans.
    ValueError
        Debug mode is on, and the index has two ellipses.
    """
    if x._array is None:
        raise UnknownArray(f"{operation}: the Variable is uninitialised; give it data first")
    items = index if type(index) is tuple else (index,)
    if switches().mode & WATCHED and config.debug and sum(type(item) is EllipsisType for item in items) > 1:
        raise ValueError(f"{operation}: expected at most one ellipsis (...) in an index, got {index}")
    made = tuple([item if type(item) in PLAIN else _prepared(x, item, operation) for item in items])
    return made if type(index) is tuple else made[0]


def _prepared(x: Variable, item: Any, operation: str) -> Any:
    x = inside(x)
    backend = x.node.spec.backend
    if isinstance(item, slice):
        return slice(*(part if part is None else part.__index__() for part in (item.start, item.stop, item.step)))
    if isinstance(item, (list, tuple)):
        item = backend.asarray(_plain(item), device=x.node.spec.device)
        if not item.shape[-1]:  # libraries take an empty list for floats
            item = backend.xp.astype(item, backend.default_dtype("int"))
    array = as_array(entered(item))
    if type(array) not in plugins.by_type and plugins.is_scalar(array):
        return array if isinstance(array, bool) else _whole(array, operation)
    try:
        found = plugins.backend_of(array)
    except UnknownArray:
        if hasattr(type(array), "__index__"):
            return operator.index(array)
        raise IndexError(
            f"{called(operation)}: expected integers, slices, None, an ellipsis or arrays as an index, got {item!r}"
        ) from None
    if found is not backend:
        raise BackendMismatch(
            f"{called(operation)}: the array is {backend.name}'s but the index {found.name}'s; move one with to_device"
        )
    if not backend.is_kind(array.dtype, ("bool", "integral")):
        got = repr(backend.spec(array))
        raise IndexError(f"{called(operation)}: expected integers or booleans as an index, got {got}")
    if backend.handle_of(array) != x.node.spec.device:
        raise DeviceMismatch(
            f"{called(operation)}: the array is on {x.device} but the index on {backend.device_of(array)}; "
            "move one with to_device"
        )
    return array


def _plain(item: Any) -> Any:
    """Return nested lists with 0-d Variables converted to integers."""
    if isinstance(item, (list, tuple)):
        return [_plain(part) for part in item]
    return item.__index__() if isinstance(item, Variable) else item


def _whole(scalar: Any, operation: str) -> Any:
    if type(scalar).__name__.startswith("bool"):  # older versions of NumPy convert it to an integer
        return bool(scalar)
    try:
        return scalar.__index__()
    except (AttributeError, TypeError):
        raise IndexError(f"{operation}: expected an integer as an index, got {scalar!r}") from None


def _written_rule(xp: Namespace, gy: Array, x_spec: Spec, u_spec: Spec, index: Index) -> Array:
    taken = xp.getitem(gy, index=index)
    if not indexing.is_basic(index):
        remains = _remaining(x_spec, tuple(taken.shape), index)
        taken = xp.where(remains, taken, xp.zeros_like(taken))
    surplus = len(u_spec.shape) - len(taken.shape)  # libraries accept surplus leading axes of length 1
    if surplus <= 0:
        return xp.sum_to(taken, shape=u_spec.shape)
    return xp.reshape(xp.sum_to(taken, shape=u_spec.shape[surplus:]), shape=u_spec.shape)


def _remaining(spec: Spec, shape: Shape, index: Index) -> Array:
    """Return a mask of the written elements that were not overwritten: positions may repeat."""
    backend, device = spec.backend, spec.device
    numbers = backend.xp.reshape(backend.namespace.arange(math.prod(shape), device=device), shape=shape)
    unwritten = backend.namespace.full(spec.shape, -1, dtype=numbers.dtype, device=device)
    written = backend.xp.setitem(unwritten, numbers, index=index)
    return backend.xp.equal(backend.xp.getitem(written, index=index), numbers)


@primitive(x=lambda xp, gy, index: xp.setitem(gy, 0, index=index), u=_written_rule)
def setitem(xp: Namespace, x: AnyArray, u: Operand, /, index: Index) -> Array:
    """A copy of `x` with `u` at `index`, which ``x[index] = u`` rebinds a Variable to.

    Parameters
    ----------
    x : Variable or array
    u : Variable, array or scalar
        Array with the dtype of `x`, and of a shape that broadcasts to the shape of ``x[index]``.
    index : index as `prepared` returns it
    """
    return indexing.setitem(xp.backend, x, u, index)


def assign(x: Variable, index: Index, u: Any, /) -> None:
    """Rebind `x` to a copy with `u` at `index`; this is recorded if `x` or `u` is in a graph.

    No memory is written to, so views and earlier results computed from `x` keep their values.

    Raises
    ------
    GraphError
        `x` is a leaf that requires a gradient, and a graph is recorded: its gradient would be ambiguous.
    """
    x = inside(x)
    index = prepared(x, index, "setitem")
    node = x.node
    leaf = node.creator_node is None
    if leaf and node.requires_grad and not switches().mode & NO_GRAD:
        raise GraphError(
            f"setitem: the Variable of {node.spec!r} is a leaf that requires a gradient, so assigning to its elements "
            "cannot be recorded; assign to a copy, v = xpgrad.functions.copy(v), or inside no_backprop_mode()"
        )
    y = setitem(x, _castable(u, node.spec), index=index)
    if leaf and not y.node.requires_grad:  # no operation to record: the same leaf with another value
        x.array = y._array
        return
    x._array, x._node, x._grad = y._array, y._node, None
    x._node.refer_to(x)
    if node.name is not None:
        x._node.name = node.name


KINDS = "bool", "integral", "real floating", "complex floating"


def _castable(u: Any, spec: Spec) -> Any:
    """Return `u` in the dtype of `spec`; raise if that would lose the fraction or the imaginary part."""
    own = _kind(spec.backend, spec.dtype)
    if not isinstance(u, Variable) and type(u) not in plugins.by_type and plugins.is_scalar(u):
        dtype = type(u).__name__
        given = (bool, int, float, complex).index(type(u.item() if hasattr(u, "item") else u))
    else:
        u = as_variable(u)
        given, dtype = _kind(u.node.spec.backend, u.dtype), u.dtype
        if given <= own and u.node.spec.backend is spec.backend and u.dtype != spec.dtype:
            u = astype(u, spec.dtype)
    if given > own:
        raise DtypeError(f"setitem: expected values that {spec.dtype} can hold, got {dtype}; cast them with astype")
    return u


def _kind(backend: Backend, dtype: Dtype) -> int:
    return next(i for i, kind in enumerate(KINDS) if backend.is_kind(dtype, kind))


@primitive(linear=("x",), x=lambda xp, gy, x_spec, indices, axis: Scatter(_along(indices, axis, x_spec), gy, x_spec))
def take(xp: Namespace, x: AnyArray, indices: AnyArray, /, *, axis: int | None = None) -> Array:
    """Elements of `x` at `indices` along one axis.

    Parameters
    ----------
    x : Variable or array
    indices : Variable or array of int, one-dimensional
    axis : int or None
        None is allowed if `x` has one axis.
    """
    return xp.take(x, indices, axis=axis)


def _along(indices: Any, axis: int | None, spec: Spec) -> Index:
    return indexing.at_axis(0 if axis is None else axis % spec.ndim, as_array(indices))


@primitive(linear=("x",), x=lambda xp, gy, x_spec, indices, axis: Scatter(grid(indices, axis, x_spec), gy, x_spec))
def take_along_axis(xp: Namespace, x: AnyArray, indices: AnyArray, /, *, axis: int = -1) -> Array:
    """Elements of `x` at `indices` along one axis, with separate indices for each position along the other axes.

    Parameters
    ----------
    x : Variable or array
    indices : Variable or array of int
        With the same number of axes as `x`; their lengths broadcast, except along `axis`.
    axis : int
    """
    return xp.take_along_axis(x, indices, axis=operator.index(axis))


def grid(indices: Any, axis: int, spec: Spec) -> Index:
    """Return the index that is `indices` along `axis` and counts along each other axis."""
    if not spec.ndim:  # in PyTorch, which also gathers from 0-d arrays
        return ()
    xp, own = spec.backend.namespace, axis % spec.ndim
    counted = []
    for i, length in enumerate(spec.shape):
        shape = tuple(length if i == j else 1 for j in range(spec.ndim))
        counted.append(xp.reshape(xp.arange(length, device=spec.device), shape))
    counted[own] = as_array(indices)
    return tuple(counted)
