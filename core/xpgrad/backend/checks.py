"""Checks of arrays given by users: whether a backend accepts them, and whether they have been changed."""

from collections.abc import Iterable
from itertools import zip_longest
from typing import Any

from xpgrad.backend.holder import unwrap
from xpgrad.backend.levels import around, entered
from xpgrad.backend.naming import called, class_name
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spec import Spec
from xpgrad.backend.spellings import dtype_of
from xpgrad.errors import BackendMismatch, ChangedArray, DeviceMismatch, DtypeError, UnknownArray, XpgradError
from xpgrad.types import Array, Dtype, Shape


def spec_of(array: Array, operation: str) -> Spec:
    """Return the spec of `array`, or raise a TypeError that names `operation` and the type of the argument."""
    backend = plugins.by_type.get(type(array))
    if backend is None:
        if unwrap(array) is not array:
            raise UnknownArray(f"{operation}: expected an array, got a Variable; use its .array")
        try:
            backend = plugins.backend_of(array)
        except UnknownArray as error:
            kind = type(array)
            if any(base in plugins.by_type for base in kind.__mro__):
                raise UnknownArray(f"{operation}: {error}") from None  # the message names the conversion
            raise UnknownArray(
                f"{operation}: expected an array ({plugins.type_names()}), got {class_name(kind)}; "
                f"{plugins.remedy(array)}"
            ) from None
    backend.check(array)
    try:
        return backend.spec(array)
    except TypeError as error:  # a non-numeric dtype
        raise DtypeError(f"{operation}: {error}") from None


def check_cast(obj: Any, dtype: Any, operation: str) -> Dtype:
    """Return `dtype`, in any spelling, as a dtype of the library of `obj`; None stays None.

    Raises
    ------
    DtypeError
        The dtype does not exist, or it is real and `obj` complex: libraries drop the imaginary part, or only warn.
    """
    array = unwrap(obj)
    backend = plugins.by_type.get(type(array))
    if dtype is None or (backend is None and plugins.is_scalar(array)):
        return dtype
    if backend is None:
        try:
            backend = plugins.backend_of(array)
        except UnknownArray:
            return dtype  # the function raises under its own name
    try:
        own = backend.dtypes[type(dtype), dtype]
    except (KeyError, TypeError):  # as in `dtype_of`, whose frame is saved
        own = dtype_of(dtype, backend, operation)
    if backend.is_kind(array.dtype, "complex floating") and backend.is_kind(own, ("integral", "real floating")):
        raise DtypeError(
            f"{operation}: {backend.dtype_name(array.dtype)} cannot be cast to {backend.dtype_name(own)}, the "
            "imaginary part would be lost; take xp.real(x), or xp.abs(x), first"
        )
    return own


def beside(spec: Spec, obj: Any, operation: str) -> Array:
    """Return the array of `obj`, an input without a gradient: it must be on the device of the array of `spec`.

    Raises
    ------
    BackendMismatch, DeviceMismatch
        `obj` is an array of another library or on another device; arrays are not converted silently.
    """
    array = unwrap(obj)
    if type(array) not in plugins.by_type and plugins.is_scalar(array):
        return spec.backend.asarray(plugins.plain(array), device=spec.device)
    given = spec_of(array, operation)
    if given.backend is not spec.backend:  # it may come from an outer level
        array = entered(array) if array is obj else obj.array  # lifted as a Variable, whose array may be replaced
        given = spec_of(array, operation)
    if given.backend is spec.backend and given.device == spec.device:
        return array
    places = [one.backend.device_for(one.device) for one in (spec, given)]
    if given.backend is spec.backend:
        raise DeviceMismatch(f"{called(operation)}: arrays on {places[0]} and on {places[1]}; move one with to_device")
    raise BackendMismatch(
        f"{called(operation)}: arrays of two libraries, {spec.backend.name} on {places[0]} and {given.backend.name} on "
        f"{places[1]}; move one with to_device"
    )


def require_together(operation: str, *arrays: Any) -> None:
    """Raise as `beside` does if Variables and arrays are not all of one library and on one device; None is ignored.

    Within a transformation the functions that compute with the arrays raise instead: lifting an array has side effects.
    """
    if around() is not None:
        return
    lead, *others = [entered(unwrap(x)) for x in arrays if x is not None]
    spec = spec_of(lead, operation)
    for x in others:
        beside(spec, x, operation)


def naming(error: XpgradError, function: str) -> XpgradError:
    """Return the error with the name of the public function that the user called."""
    return type(error)(f"{function}: {str(error).partition(': ')[2]}")


def same_place(a: Spec | None, b: Spec | None) -> bool:
    """Return whether two specs are equal; equal ones are the same object only while their backend caches them."""
    if a is b or a is None or b is None:
        return a is b
    return a.backend is b.backend and (a.shape, a.dtype, a.device) == (b.shape, b.dtype, b.device)


def is_shape(shape: Shape, expected: Shape) -> bool:
    """Return whether two shapes are equal; unknown lengths in `expected`, None or NaN, match any length."""
    return shape == expected or (
        len(shape) == len(expected) and all(n == m or m is None or m != m for n, m in zip(shape, expected, strict=True))
    )


def check_still(array: Array, spec: Spec, operation: str) -> None:
    """Raise `ChangedArray` if `array` no longer has the shape and dtype that it had when a Variable got it."""
    if array.dtype != spec.dtype or not is_shape(array.shape, spec.shape):
        now = f"{spec.backend.dtype_name(array.dtype)} {tuple(array.shape)}"
        raise ChangedArray(
            f"{operation}: the array was {spec!r} when the Variable got it, but was changed in place to {now}; set "
            "x.array to it again, or use reshape and astype"
        )


def broadcast(shapes: Iterable[Shape]) -> Shape:
    """Return the shape to which `shapes`, which must be compatible, broadcast."""
    lengths = zip_longest(*(reversed(shape) for shape in shapes), fillvalue=1)
    return tuple(reversed([next((n for n in each if n != 1), 1) for each in lengths]))
