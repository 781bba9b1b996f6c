"""The operands of one call: checks for one library and one device, and promotion where the library differs."""

from collections.abc import Sequence
from types import EllipsisType, NoneType
from typing import Any

from xpgrad.backend.backend import Backend
from xpgrad.backend.naming import called
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spellings import dtype_of
from xpgrad.boundary import MAX_DEPTH, described
from xpgrad.errors import BackendMismatch, DeviceMismatch, DtypeError, UnknownArray
from xpgrad.graph.slot import slot
from xpgrad.graph.variable import Variable, as_array, as_variable, constant_variable
from xpgrad.types import WHOLE, Array, Dtype

_NESTED = (list, tuple, slice, NoneType, EllipsisType, *WHOLE)
"""Types of the items of tuples that are parameters: lengths, axes, and parts of an index."""
NUMBERS = frozenset((
    "axes", "axis", "columns", "correction", "groups", "i", "j", "k", "m", "n", "offset", "ord", "power", "repeats",
    "rows", "s", "shape", "shift",
))  # fmt: skip
"""Parameters that decide shapes or formulas: arrays in their place are read when a function is called."""

KINDS = (("bool", bool), ("integral", int), ("real floating", float), ("complex floating", complex))
"""Kinds of dtypes in the order of promotion, and Python's types of their scalars."""
FLOATING = 2
"""The position of real numbers among them."""


def is_operand(x: Any) -> bool:
    """Return whether functions take `x`: a Variable, an array of a backend, or a scalar."""
    if isinstance(x, Variable) or type(x) in plugins.by_type or plugins.is_scalar(x):
        return True
    try:
        plugins.backend_of(x)
    except UnknownArray:
        return False
    return True


def common_backend(name: str, operands: Sequence[Any]) -> tuple[Backend, Array]:
    """Return the backend of the arrays among `operands`, and the first array.

    Raises
    ------
    UnknownArray
        The operands contain no array, or an unknown object.
    BackendMismatch, DeviceMismatch
        They are of two libraries, or on two devices.
    ChangedArray
        The shape or dtype of a Variable's array was changed in place.
    """
    lead: Any = None
    found: Backend | None = None
    for x in operands:
        array = x._array if isinstance(x, Variable) else x
        if array is None and isinstance(x, Variable):
            raise UnknownArray(f"{called(name)}: the Variable is uninitialised; give it data first")
        if array is None or (type(array) not in plugins.by_type and plugins.is_scalar(array)):
            continue
        backend = _backend_of(name, array)
        backend.check(array)
        if isinstance(x, Variable):
            x._current(name)
        if found is None:
            found, lead = backend, array
        else:
            _check_together(name, found, lead, backend, array)
    if found is None:
        kinds = ", ".join(type(x).__name__ for x in operands) or "nothing"
        text = f"{called(name)}: expected at least one Variable or array, got {kinds}"
        raise UnknownArray(f"{text}; make one with xpgrad.array_api.asarray")
    return found, lead


def _backend_of(name: str, array: Any) -> Backend:
    backend = plugins.by_type.get(type(array))
    if backend is not None:
        return backend
    if isinstance(array, (list, tuple, str, dict)):
        text = f"{called(name)}: expected a Variable, an array or a scalar, got {type(array).__name__}"
        raise UnknownArray(f"{text}; {plugins.remedy(array)}")
    try:
        return plugins.backend_of(array)
    except UnknownArray as error:
        raise UnknownArray(f"{called(name)}: {error}") from None


def _check_together(name: str, found: Backend, lead: Array, backend: Backend, array: Array) -> None:
    if backend is not found:
        raise BackendMismatch(
            f"{called(name)}: arrays of two libraries, {found.name} on {found.device_of(lead)} and {backend.name} on "
            f"{backend.device_of(array)}; move one with to_device"
        )
    if backend.handle_of(array) != backend.handle_of(lead):
        raise DeviceMismatch(
            f"{called(name)}: arrays of two devices, {found.device_of(lead)} and {backend.device_of(array)}; "
            "move one with to_device"
        )


def as_variables(operation: str, *operands: Any) -> list[Variable]:
    """Return operands as Variables of one library; scalars become 0-d arrays of the dtype they have in operators."""
    scalar = [is_scalar(x) for x in operands]
    xs: list[Any] = [x if weak else as_variable(x) for x, weak in zip(operands, scalar, strict=True)]
    if True not in scalar or False not in scalar:
        return [as_variable(x) for x in xs]
    arrays = [x._array for x, weak in zip(xs, scalar, strict=True) if not weak]
    backend = plugins.backend_of(arrays[0])
    return [
        constant_variable(scalar_array(operation, x, arrays, backend)) if weak else x
        for x, weak in zip(xs, scalar, strict=True)
    ]


def with_arrays_only(operation: str, operands: Sequence[Any], backend: Backend) -> list[Any]:
    """Return operands, scalars as 0-d arrays, all of the dtypes that they have in operators."""
    operands = promoted(operands, backend)
    arrays = [array for array in _arrays(operands) if array is not None]
    return [scalar_array(operation, x, arrays, backend) if is_scalar(x) else x for x in operands]


def is_scalar(x: Any) -> bool:
    """Return whether an operand is a scalar of Python or of a library."""
    return x is not None and not isinstance(x, Variable) and type(x) not in plugins.by_type and plugins.is_scalar(x)


def scalar_array(operation: str, scalar: Any, arrays: Sequence[Array], backend: Backend) -> Array:
    """Convert a scalar to a 0-d array next to `arrays`, with the dtype that it has in operators with them."""
    dtype = promoted_dtype(operation, arrays, [scalar], backend)
    return backend.asarray(plugins.plain(scalar), dtype=dtype, device=backend.handle_of(arrays[0]))


def promoted_dtype(operation: str, arrays: Sequence[Array], scalars: Sequence[Any], backend: Backend) -> Dtype:
    """Return the dtype to which arrays and weak scalars promote."""
    dtype = _shared(backend, arrays)
    own = next(i for i, (kind, _) in enumerate(KINDS) if backend.is_kind(dtype, kind))
    widest = max((_kind_of(operation, x) for x in scalars), default=0)
    if widest <= own:
        return dtype
    if own == FLOATING:  # and complex: the complex dtype of the same width
        return backend.namespace.result_type(dtype, backend.namespace.complex64)
    return backend.namespace.asarray(KINDS[widest][1]()).dtype


def _kind_of(operation: str, scalar: Any) -> int:
    value = scalar.item() if plugins.is_scalar(scalar) and hasattr(scalar, "item") else scalar
    for i, (_, kind) in enumerate(KINDS):
        if isinstance(value, kind):
            return i
    raise UnknownArray(f"{operation}: expected arrays and scalars in the sequence, got {type(scalar).__name__}")


def promoted(operands: Sequence[Any], backend: Backend) -> Sequence[Any]:
    """Return operands with integer arrays cast next to floats, and real arrays cast next to complex operands.

    Operands of different floating-point dtypes are cast as well if the library's own result depends on which operand is
    0-d.
    """
    if not backend.zero_dimensional_widen:
        operands = _widened(operands, backend)
    scalars = [x for x in operands if not isinstance(x, Variable) and type(x) not in plugins.by_type and x is not None]
    if not scalars:
        return operands
    values = [x.item() if hasattr(x, "item") else x for x in scalars]
    kind = next((k for k in (complex, float) if any(isinstance(v, k) for v in values)), None)
    if kind is None:
        return operands
    return [
        _cast(x, _weak_target(array, kind, backend), backend)
        for x, array in zip(operands, _arrays(operands), strict=True)
    ]


def cast_to_variable(operands: Sequence[Any], backend: Backend) -> Sequence[Any]:
    """Return operands whose arrays have the dtype of the first Variable among them that is floating-point."""
    target = next((x._array.dtype for x in operands if isinstance(x, Variable) and x._node.spec.differentiable), None)
    if target is None:
        return operands
    return [
        x if isinstance(x, Variable) or array is None or array.dtype == target else _cast(x, target, backend)
        for x, array in zip(operands, _arrays(operands), strict=True)
    ]


def _arrays(operands: Sequence[Any]) -> list[Any]:
    """Return the arrays among `operands`, including the arrays of Variables; None for every other operand."""
    arrays = [x._array if isinstance(x, Variable) else x for x in operands]
    return [a if type(a) in plugins.by_type else None for a in arrays]


def _cast(x: Any, target: Any, backend: Backend) -> Any:
    if target is None:
        return x
    return slot.functions.astype(x, target) if isinstance(x, Variable) else backend.xp.astype(x, target)


def _widened(operands: Sequence[Any], backend: Backend) -> Sequence[Any]:
    """Return operands whose floating-point arrays, or else integer arrays, are cast to their promoted dtype."""
    arrays = _arrays(operands)
    counts = [a is not None and backend.spec(a).differentiable for a in arrays]
    if not any(counts):
        counts = [a is not None and backend.is_kind(a.dtype, "integral") for a in arrays]
    dtypes = [a.dtype for a, counted in zip(arrays, counts, strict=True) if counted]
    if len(set(dtypes)) < 2:
        return operands
    target = _shared(backend, dtypes)
    return [
        _cast(x, target if counted and array.dtype != target else None, backend)
        for x, array, counted in zip(operands, arrays, counts, strict=True)
    ]


def _shared(backend: Backend, of: Sequence[Any]) -> Dtype:
    """Return the dtype to which arrays or dtypes promote."""
    try:
        return backend.namespace.result_type(*of)
    except (RuntimeError, TypeError) as error:
        names = " and ".join(dict.fromkeys(backend.dtype_name(getattr(x, "dtype", x)) for x in of))
        raise DtypeError(f"{backend.name} has no common dtype for {names}; cast one with astype") from error


def _weak_target(array: Array | None, kind: type, backend: Backend) -> Any:
    """Return the dtype of `array` in operations with a Python scalar of type `kind`; None: the dtype is kept."""
    if array is None or backend.is_kind(array.dtype, ("bool", "complex floating")):
        return None
    if backend.is_kind(array.dtype, "real floating"):
        return None if kind is float else backend.namespace.result_type(array.dtype, backend.namespace.complex64)
    return backend.default_dtype(kind.__name__)


def plain_parameters(operation: str, parameters: dict[str, Any], backend: Backend) -> dict[str, Any]:
    """Return parameters in the form that the library accepts; valid parameters remain the same objects."""
    plain = {}
    for name, value in parameters.items():
        try:
            read = value if name not in NUMBERS or type(value) is int else as_numbers(operation, name, value)
            plain[name] = _plain(name, read)
        except _TooDeep:
            raise ValueError(
                f"{called(operation)}: expected {name} to be nested at most {MAX_DEPTH} deep, got {described(value)}"
            ) from None
    if plain.get("dtype") is not None:
        plain["dtype"] = dtype_of(plain["dtype"], backend, operation)
    return plain


def as_numbers(operation: str, name: str, value: Any, depth: int = 0) -> Any:
    """Return a parameter with Python numbers in place of Variables and arrays, also in lists and tuples."""
    if isinstance(value, (list, tuple)) and depth < MAX_DEPTH:
        items = [as_numbers(operation, name, item, depth + 1) for item in value]
        return value if all(a is b for a, b in zip(items, value, strict=True)) else tuple(items)
    if type(array := as_array(value)) not in plugins.by_type:
        return value
    if hasattr(array, "values_for"):
        array = array.values_for(f"it was the parameter {name} of {called(operation)}")
    numbers = plugins.backend_of(array).to_host(array).tolist()
    return tuple(numbers) if isinstance(numbers, list) else numbers


class _TooDeep(Exception):
    """A parameter contains itself, or is nested so deeply that it might."""


def _plain(name: str, value: Any, depth: int = 0) -> Any:
    """Convert a parameter for libraries: lists to tuples, a length to a shape, library scalars to Python scalars."""
    if depth > MAX_DEPTH:
        raise _TooDeep
    if name == "shape" and isinstance(value, WHOLE):
        return (int(value),)
    if isinstance(value, slice):  # in an index
        parts = [value.start, value.stop, value.step]
        plain = [part if part is None or type(part) is int else part.__index__() for part in parts]
        return value if all(a is b for a, b in zip(plain, parts, strict=True)) else slice(*plain)
    if isinstance(value, (list, tuple)) and all(isinstance(item, _NESTED) for item in value):
        items = tuple([_plain("", item, depth + 1) for item in value])
        same = type(value) is tuple and all(a is b for a, b in zip(items, value, strict=True))
        return value if same else items
    return plugins.plain(value)
