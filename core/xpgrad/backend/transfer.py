"""Moving arrays between devices: all moves use `transfer`."""

from collections.abc import Callable
from typing import Any

from xpgrad.backend import standard
from xpgrad.backend.current import call_on
from xpgrad.backend.device import Device
from xpgrad.backend.holder import unwrap
from xpgrad.backend.modules import device_of
from xpgrad.backend.naming import class_name
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spellings import dtype_of
from xpgrad.errors import DtypeError, PluginError, ShapeError, StructureError, UnknownArray, XpgradError
from xpgrad.types import Array

KINDS = "bool", "integral", "real floating", "complex floating"
DTYPES = frozenset((*standard.DTYPES, "float16", "bfloat16"))
"""Names of dtypes that mean the same in every library."""


def transfer(array: Array, target: Device) -> Array:
    """Return `array` on the device `target`: `array` if it is already there, else a copy.

    The following paths are tried in order: a transformation's own path; a plugin's direct path; DLPack, if both
    libraries can access the same memory, which takes one copy; the move implemented by the backend; a copy through the
    host. Memory is shared only if neither library can write to it.

    Raises
    ------
    UnknownArray
        No backend serves the array.
    DtypeError
        The move would change the dtype.
    PluginError
        The result of a backend or plugin is not the array on `target`.
    """
    backend = plugins.backend_of(array)
    source = backend.device_of(array)
    if source == target:
        return array
    try:
        for title, route in ROUTES:
            moved = route(array, source, target)
            if moved is not NotImplemented:
                return _arrived(array, moved, title, source, target)
    except Exception as error:
        found = error if isinstance(error, XpgradError) else _lacking(source.backend.dtype_name(array.dtype), target)
        (found or error).add_note(f"while {array.dtype} {tuple(array.shape)} was moved from {source} to {target}")
        if found is None or found is error:
            raise
        raise found from error
    raise PluginError(f"arrays cannot be moved from {source} to {target}")


def _lacking(name: str, target: Device) -> DtypeError | None:
    """Return the error for a dtype that the library of `target` lacks; None if it has it."""
    try:
        dtype_of(name, target.backend, f"to {target}")
    except DtypeError as error:
        return DtypeError(f"{error}; cast the array with astype before it is moved")
    return None


def _direct(array: Array, source: Device, target: Device) -> Array:
    path = plugins.transfer(source, target)
    return NotImplemented if path is None else path(array)


def _shared(array: Array, source: Device, target: Device) -> Array:
    """Copy the array on its device, and import the copy into the other library by DLPack.

    A copy is contiguous and writable; libraries reject other arrays, and one terminates the process for negative
    strides. Arrays of immutable libraries are copied by the importing library instead. The host does not use this path:
    it copies arrays once and owns the memory.
    """
    old, new = source.backend, target.backend
    if old is new or new is plugins.host or not old.exports(array, new.dlpack_device(target)):
        return NotImplemented
    try:
        if not old.immutable:
            return new.from_dlpack(old.copy(array), target)
        moved = new.from_dlpack(array, target)
        return moved if new.immutable or moved is NotImplemented else new.copy(moved)
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError):  # dtypes that DLPack does not support
        return NotImplemented


def _within(array: Array, source: Device, target: Device) -> Array:
    return source.backend.move(array, target) if source.backend is target.backend else NotImplemented


def _through_host(array: Array, source: Device, target: Device) -> Array:
    host = plugins.host
    on_host = array if source.backend is host else source.backend.to_host(array)
    return on_host if target.backend is host else target.backend.from_host(on_host, target)


ROUTES: tuple[tuple[str, Callable[[Array, Device, Device], Array]], ...] = (
    ("the transformation's own path", lambda array, source, target: source.backend.sent(array, target)),
    ("a plugin's direct path", _direct),
    ("DLPack", _shared),
    ("the backend's own move", _within),
    ("the copy through the host", _through_host),
)
"""Routes from one device to another in order of preference; each may decline by returning `NotImplemented`."""


def _arrived(array: Array, moved: Array, title: str, source: Device, target: Device) -> Array:
    if (device := device_of(moved)) != target:
        raise PluginError(
            f"{title} from {source} to {target} gave {class_name(type(moved))} on {device}; "
            f"expected an array on {target}"
        )
    if tuple(moved.shape) != tuple(array.shape):
        raise PluginError(
            f"{title} from {source} to {target} gave shape {tuple(moved.shape)}; expected {tuple(array.shape)}"
        )
    sent, got = source.backend.dtype_name(array.dtype), target.backend.dtype_name(moved.dtype)
    if sent != got and sent in DTYPES and got in DTYPES:
        raise DtypeError(
            f"{title} from {source} to {target} converts {sent} to {got}; cast the array before it moves, or let the "
            f"library have {sent}"
        )
    return moved


def moved_if_unsuitable(array: Array, device: Device) -> Array:
    """Return an array that was made on `device`, moved to the host if that does not suit it."""
    backend = device.backend
    if backend.suits(tuple(array.shape), backend.dtype_name(array.dtype)):
        return array
    return transfer(array, plugins.host.default_device)


def send(arrays: Any, target: Device) -> Any:
    """Return nested lists and tuples of arrays on `target`; an object that occurs twice is moved once, None is kept."""
    return _each(arrays, lambda array: transfer(_as_array(array), target))


def to_chx(arrays: Any) -> Any:
    """Return nested lists and tuples of arrays as chx arrays that share their memory."""
    native: Any = plugins.backend_of_prefix("native")
    return _each(arrays, native.wrap)


def from_chx(arrays: Any) -> Any:
    """Return nested lists and tuples of arrays with chx arrays replaced by plain arrays that share their memory."""
    return _each(arrays, lambda array: getattr(plugins.backend_of(array), "unwrap", lambda a: a)(array))


def copyto(dst: Array, src: Array) -> None:
    """Copy the values of `src`, an array on any device, to the memory of `dst`; they broadcast to its shape.

    Raises
    ------
    TypeError
        One of the two is not an array, `dst` is read-only, or its dtype is of a kind that cannot represent the values.
    ShapeError
        `src` does not broadcast to the shape of `dst`.
    """
    backend = plugins.backend_of(dst)
    if backend.immutable:
        raise UnknownArray(f"copyto: arrays of {backend.name} cannot be written to; use get_device(...).send(src)")
    call_on(dst, dst.__setitem__, ..., converted_like("copyto", dst, _as_array(src)))


def converted_like(operation: str, dst: Array, src: Array) -> Array:
    """Return `src` with the device, dtype and shape of `dst`; it may be `src` itself."""
    backend = plugins.backend_of(dst)
    moved = transfer(src, backend.device_of(dst))
    if moved.dtype != dst.dtype:
        own, given = (next(i for i, kind in enumerate(KINDS) if backend.is_kind(a.dtype, kind)) for a in (dst, moved))
        if given > own:
            got, wanted = backend.spec(moved), backend.spec(dst)
            raise DtypeError(f"{operation}: {got!r} cannot be copied to {wanted!r}; cast it with astype first")
        moved = backend.follow(backend.namespace.astype)(moved, dst.dtype)
    if tuple(moved.shape) == tuple(dst.shape):
        return moved
    try:
        return backend.follow(backend.namespace.broadcast_to)(moved, dst.shape)
    except Exception as error:
        raise ShapeError(
            f"{operation}: expected an array that broadcasts to shape {tuple(dst.shape)}, got {tuple(moved.shape)}"
        ) from error


def _as_array(item: Any) -> Array:
    """Return a library's scalar as a 0-d array, and any other object unchanged; raise for a Variable."""
    if type(item) in plugins.by_type:
        return item
    if unwrap(item) is not item:
        raise UnknownArray(
            "send: expected an array, got a Variable; move it with to_device, or copy it within the graph by "
            "xpgrad.functions.copy"
        )
    backend = plugins.backend_of_scalar(item)
    return item if backend is None else backend.asarray(item)


def _each(arrays: Any, function: Callable[[Array], Array]) -> Any:
    done: dict[int, Any] = {}

    def visit(item: Any, place: tuple[int, ...], around: tuple[int, ...]) -> Any:
        if item is None:
            return None
        if isinstance(item, (list, tuple)):
            if id(item) in around:
                raise StructureError("send: expected nested lists and tuples, got a list that contains itself")
            items = [visit(each, (*place, i), (*around, id(item))) for i, each in enumerate(item)]
            if make := getattr(item, "_make", None):  # a named tuple
                return make(items)
            return items if isinstance(item, list) else tuple(items)
        if id(item) not in done:
            try:
                done[id(item)] = function(item)
            except Exception as error:
                if place:
                    error.add_note(f"at arrays{''.join(f'[{i}]' for i in place)}")
                raise
        return done[id(item)]

    return visit(arrays, (), ())
