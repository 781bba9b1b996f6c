"""Creation functions: new Variables on a device of a namespace's backend, constant unless computed from Variables."""

import functools
from collections.abc import Callable
from typing import Any

from xpgrad.array_api.data_types import astype
from xpgrad.array_api.manipulation import broadcast_arrays, broadcast_to, reshape, stack
from xpgrad.array_api.shared.axes import matrices
from xpgrad.array_api.shared.copying import copy as copied
from xpgrad.array_api.shared.copying import device_at, place_of
from xpgrad.backend.backend import Backend
from xpgrad.backend.checks import require_together
from xpgrad.backend.levels import entered
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spellings import dtype_of, missing_on, name_of
from xpgrad.errors import BackendMismatch, DtypeError
from xpgrad.graph.operands import as_variables, promoted_dtype
from xpgrad.graph.primitive import primitive
from xpgrad.graph.variable import Variable, as_array, constant_variable, inside
from xpgrad.types import AnyArray, Array, DeviceHandle, Dtype, Namespace, Operand, Shape, integers

Lengths = int | Shape


def creators(backend: Backend) -> dict[str, Callable[..., Variable]]:
    """Return the creation functions of the namespace of `backend`, by name."""
    made = *_of_a_shape(backend), *_of_values(backend)
    for function in made:
        function.__qualname__ = function.__name__
    return {function.__name__: function for function in made}


def _of_a_shape(backend: Backend) -> tuple[Callable[..., Variable], ...]:
    """Return the functions that create arrays of a given shape."""
    constant = functools.partial(_constant, backend)

    def empty(shape: Lengths, *, dtype: Dtype | None = None, device: Any = None) -> Variable:
        """Return a new Variable of arbitrary values."""
        return constant("empty", shape, dtype=dtype, device=device)

    def eye(
        n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Dtype | None = None, device: Any = None
    ) -> Variable:
        """Return a matrix with 1 on the diagonal `k` and 0 in all other elements."""
        return constant("eye", n_rows, n_cols, k=k, dtype=dtype, device=device)

    def full(shape: Lengths, fill_value: Any, *, dtype: Dtype | None = None, device: Any = None) -> Variable:
        """Return a new Variable filled with one value, which gets a gradient if it is a 0-d Variable."""
        if _is_array(fill_value):
            value = _as_variable(backend, fill_value, dtype, device, None)
            return broadcast_to(value, shape=integers(shape))
        return constant("full", shape, fill_value, dtype=dtype, device=device)

    def ones(shape: Lengths, *, dtype: Dtype | None = None, device: Any = None) -> Variable:
        """Return a new Variable filled with ones."""
        return constant("ones", shape, dtype=dtype, device=device)

    def zeros(shape: Lengths, *, dtype: Dtype | None = None, device: Any = None) -> Variable:
        """Return a new Variable of zeros."""
        return constant("zeros", shape, dtype=dtype, device=device)

    return empty, eye, full, ones, zeros


def _of_values(backend: Backend) -> tuple[Callable[..., Variable], ...]:
    """Return the functions that create arrays of given values, or of values between two ends."""

    def arange(
        start: float, /, stop: float | None = None, step: float = 1, *, dtype: Dtype | None = None, device: Any = None
    ) -> Variable:
        """Return evenly spaced numbers in ``[start, stop)``, or in ``[0, start)`` without `stop`.

        `start` and `step` get gradients if they are 0-d Variables; the number of elements has none.
        """
        return _counted(backend, start, stop, step, dtype, device)

    def asarray(obj: Any, /, *, dtype: Dtype | None = None, device: Any = None, copy: bool | None = None) -> Variable:
        """Return `obj`, a Variable, an array, a scalar or nested sequences of all these, as a Variable.

        Parameters
        ----------
        obj : object
            A Variable stays in its graph, also inside a sequence. Arrays of any library stay on their device, unless
            another `device` is given.
        dtype : dtype or None
        device : as `get_device` takes it, or None
        copy : bool or None
            True always copies, False raises where a copy would be necessary; None copies only then.
        """
        return _as_variable(backend, obj, dtype, device, copy)

    def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Variable:
        """Return an array of any library that supports DLPack as a Variable, without a copy where possible."""
        options = {"copy": copy} if copy is not None else {}
        own, handle = place_of(backend, device)
        if device is not None:
            options["device"] = handle
        return constant_variable(own.restore(own.namespace.from_dlpack(x, **options)))

    def linspace(
        start: Any, stop: Any, /, num: int, *, dtype: Dtype | None = None, device: Any = None, endpoint: bool = True
    ) -> Variable:
        """Return `num` evenly spaced numbers from `start` to `stop`, which get gradients if they are 0-d Variables."""
        return _spaced(backend, start, stop, num, dtype, device, endpoint)

    return arange, asarray, from_dlpack, linspace


def _constant(
    backend: Backend, name: str, /, *args: Any, device: Any, dtype: Dtype | None = None, **kwargs: Any
) -> Variable:
    """Return the result of the library's creation function `name`, as a Variable that requires no gradient."""
    backend, handle = place_of(backend, device)
    if dtype is not None:
        dtype = dtype_of(dtype, backend, name)
    values = [a if plugins.backend_of_scalar(a) is backend else plugins.plain(as_array(a)) for a in args]
    return created(backend, name, getattr(backend.namespace, name), *values, dtype=dtype, device=handle, **kwargs)


def created(
    backend: Backend, name: str, make: Callable[..., Array], /, *args: Any, device: DeviceHandle, **kwargs: Any
) -> Variable:
    """Return the result of a creation function of the library as a Variable that requires no gradient.

    Raises
    ------
    DtypeError
        The device does not have the dtype.
    """
    try:
        return constant_variable(backend.restore(make(*args, device=device, **kwargs)))
    except (TypeError, ValueError, RuntimeError) as error:
        dtype = kwargs.get("dtype")
        missing = None if dtype is None else missing_on(name, dtype, backend, device)
        if missing is None and isinstance(error, NotImplementedError) and dtype is not None:
            missing = DtypeError(f"{name}: {error}; got {backend.dtype_name(dtype)} on {backend.device_for(device)}")
        if missing is None:
            raise
        raise missing from error


def _counted(backend: Backend, start: Any, stop: Any, step: Any, dtype: Dtype | None, device: Any) -> Variable:
    """Return `arange`."""
    made = _constant(backend, "arange", start, stop, step, dtype=dtype, device=device)
    first, backend = 0 if stop is None else start, made._node.spec.backend
    if not made._node.spec.differentiable or not any(
        isinstance(x, Variable) and (x._node.requires_grad or backend.carries_tangents) for x in (first, step)
    ):
        return made
    y: Variable = _constant(backend, "arange", made.size, dtype=made.dtype, device=made.device) * step + first
    return astype(y, made.dtype, copy=False)


def _spaced(
    backend: Backend, start: Any, stop: Any, num: int, dtype: Dtype | None, device: Any, endpoint: bool
) -> Variable:
    """Return `linspace`."""
    start, stop = (_as_variable(backend, x, None, device, None) if _is_array(x) else x for x in (start, stop))
    ends = [x for x in (start, stop) if isinstance(x, Variable)]
    backend = ends[0]._node.spec.backend if ends else place_of(backend, device)[0]
    dtype = dtype if dtype is None else dtype_of(dtype, backend, "linspace")
    if not ends:
        wide = None if dtype is None else backend.wide(dtype)  # libraries count in the dtype of the result
        y = _constant(backend, "linspace", start, stop, num, dtype=wide, device=device, endpoint=endpoint)
        return y if dtype is None else astype(y, dtype, copy=False)
    require_together("linspace", *ends)
    shared = backend.namespace.result_type(*(x.dtype for x in ends))
    if not backend.is_kind(shared, ("real floating", "complex floating")):
        shared = backend.default_dtype("float")
    wide = backend.wide(shared)
    start, stop = (astype(x, wide, copy=False) if isinstance(x, Variable) else x for x in (start, stop))
    steps = _constant(backend, "linspace", 0.0, 1.0, num, dtype=wide, device=ends[0].device, endpoint=endpoint)
    return astype(steps * (stop - start) + start, shared if dtype is None else dtype, copy=False)


# asarray


def _as_variable(backend: Backend, obj: Any, dtype: Dtype | None, device: Any, copy: bool | None) -> Variable:
    """Return `asarray`."""
    if isinstance(obj, (list, tuple)) and _holds_arrays(obj):
        if copy is False:
            raise ValueError("asarray: a sequence of arrays is an array only by a copy, and copy=False forbids it")
        joined = _joined(obj, dtype if device is None else None)
        return _moved(joined, dtype, device)
    if _is_array(obj) or (hasattr(obj, "__dlpack__") and not plugins.is_scalar(obj)):
        return _converted(obj, dtype, device, copy)
    backend, handle = place_of(backend, device)
    dtype = dtype if dtype is None else dtype_of(dtype, backend, "asarray")
    return created(backend, "asarray", backend.namespace.asarray, obj, dtype=dtype, device=handle, copy=copy)


def _converted(obj: Any, dtype: Dtype | None, device: Any, copy: bool | None) -> Variable:
    """Return a Variable or an array as a Variable with this dtype, on this device."""
    plugins.backend_of(as_array(obj))  # raises for other objects
    x = inside(obj) if isinstance(obj, Variable) else constant_variable(obj)
    y = _moved(x, dtype, device)
    if copy is False and y is not x:
        raise ValueError(
            f"asarray: {x.node.spec!r} on {x.device} becomes that only by a copy, and copy=False forbids it"
        )
    return copied(y) if copy and y is x else y


def _moved(x: Variable, dtype: Dtype | None, device: Any) -> Variable:
    """Return `x` with this dtype, on this device; `x` itself if it is so already."""
    if device is not None:
        own = x._node.spec.backend
        target = device_at(own, device)
        if x.device != target:
            if dtype is not None and hasattr(own.root.namespace, name_of(dtype)):
                x = astype(x, dtype, copy=False)  # before the move: not each device has float64
            x = copied(x, target)
    return x if dtype is None else astype(x, dtype, copy=False)


def _is_array(obj: Any) -> bool:
    return isinstance(obj, Variable) or type(obj) in plugins.by_type


def _holds_arrays(obj: Any) -> bool:
    kinds = set(map(type, obj))  # a million numbers have few types
    if any(kind in plugins.by_type or issubclass(kind, Variable) for kind in kinds):
        return True
    nested = any(issubclass(kind, (list, tuple)) for kind in kinds)
    return nested and any(_holds_arrays(x) for x in obj if isinstance(x, (list, tuple)))


def _joined(obj: Any, dtype: Dtype | None) -> Variable:
    """Return nested sequences that contain Variables as one Variable; the scalars in them are weak."""
    leaves = list(_leaves(obj))
    arrays = [inside(x)._array if isinstance(x, Variable) else entered(x) for x in leaves if _is_array(x)]
    backend = plugins.backend_of(arrays[0])
    others = {plugins.backend_of(a).name for a in arrays} - {backend.name}
    if others:
        raise BackendMismatch(f"asarray: expected Variables of {backend.name}, got {', '.join(others)}; use to_device")
    scalars = [x for x in leaves if not _is_array(x)]
    dtype = (
        promoted_dtype("asarray", arrays, scalars, backend) if dtype is None else dtype_of(dtype, backend, "asarray")
    )
    place = backend.handle_of(arrays[0])

    def built(part: Any) -> Variable:
        if isinstance(part, (list, tuple)):
            return stack([built(each) for each in part])
        if _is_array(part):
            return _converted(part, dtype, None, None)
        return constant_variable(backend.asarray(part, dtype=dtype, device=place))

    return built(obj)


def _leaves(obj: Any) -> Any:
    for part in obj:
        if isinstance(part, (list, tuple)):
            yield from _leaves(part)
        else:
            yield part


# Like another


def _like(name: str, x: Any, *args: Any, dtype: Dtype | None, device: Any) -> Variable:
    array = plugins.array_of(as_array(x))
    backend = plugins.backend_of(array)
    owner, handle = (backend, backend.handle_of(array)) if device is None else place_of(backend, device)
    if dtype is not None or owner is not backend:
        dtype = dtype_of(array.dtype if dtype is None else dtype, owner, name)
    if owner is backend:
        return created(owner, name, getattr(owner.namespace, name), array, *args, dtype=dtype, device=handle)
    make = getattr(owner.namespace, name.removesuffix("_like"))
    return created(owner, name, make, tuple(array.shape), *args, dtype=dtype, device=handle)


def empty_like(x: AnyArray, /, *, dtype: Dtype | None = None, device: Any = None) -> Variable:
    """Return a new Variable of arbitrary values, with the shape of `x` and by default its dtype and device."""
    return _like("empty_like", x, dtype=dtype, device=device)


def full_like(x: AnyArray, /, fill_value: Operand, *, dtype: Dtype | None = None, device: Any = None) -> Variable:
    """Return a new Variable filled with one value, with the shape of `x` and by default its dtype and device.

    The value gets a gradient if it is a 0-d Variable.
    """
    if _is_array(fill_value):
        array = as_array(x)
        backend = plugins.backend_of(array)
        place = backend.device_of(array) if device is None else device
        value = _converted(fill_value, array.dtype if dtype is None else dtype, place, None)
        return broadcast_to(value, shape=tuple(array.shape))
    return _like("full_like", x, plugins.plain(fill_value), dtype=dtype, device=device)


def ones_like(x: AnyArray, /, *, dtype: Dtype | None = None, device: Any = None) -> Variable:
    """Return a new Variable of ones, with the shape of `x` and by default its dtype and device."""
    return _like("ones_like", x, dtype=dtype, device=device)


def zeros_like(x: AnyArray, /, *, dtype: Dtype | None = None, device: Any = None) -> Variable:
    """Return a new Variable of zeros, with the shape of `x` and by default its dtype and device."""
    return _like("zeros_like", x, dtype=dtype, device=device)


@primitive(linear=("x",), x=lambda xp, gy, k: xp.tril(gy, k=k))
def tril(xp: Namespace, x: AnyArray, /, *, k: int = 0) -> Array:
    """The lower triangles of matrices, up to the diagonal `k`; the remaining elements are zero."""
    matrices(x, "tril")
    return xp.tril(x, k=k)


@primitive(linear=("x",), x=lambda xp, gy, k: xp.triu(gy, k=k))
def triu(xp: Namespace, x: AnyArray, /, *, k: int = 0) -> Array:
    """The upper triangles of matrices, starting from the diagonal `k`; the remaining elements are zero."""
    matrices(x, "triu")
    return xp.triu(x, k=k)


def meshgrid(*arrays: AnyArray, indexing: str = "xy") -> tuple[Variable, ...]:
    """Return the coordinates of a grid, one array for each of its axes.

    Parameters
    ----------
    *arrays : Variable or array, one-dimensional, of one dtype
        Positions along each axis.
    indexing : {"xy", "ij"}
        "ij": array i varies along axis i. "xy": the first two axes are exchanged, as in images.
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: expected indexing='xy' or 'ij', got {indexing!r}")
    xs = as_variables("meshgrid", *arrays)
    order = list(range(len(xs)))
    if indexing == "xy" and len(xs) > 1:
        order[:2] = 1, 0
    shapes = [tuple(-1 if i == axis else 1 for i in range(len(xs))) for axis in order]
    return broadcast_arrays(*(reshape(x, shape=shape) for x, shape in zip(xs, shapes, strict=True)))
