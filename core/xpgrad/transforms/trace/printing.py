"""`debug_print`: printing the values of a compiled function at each of its runs."""

from collections.abc import Iterable
from typing import Any

from xpgrad.backend.current import current_device
from xpgrad.backend.device import Device
from xpgrad.backend.levels import innermost
from xpgrad.backend.modules import device_of
from xpgrad.graph.variable import as_variable
from xpgrad.transforms.leaves import is_array
from xpgrad.transforms.trace.backend import TraceBackend


def debug_print(text: str, /, *args: Any, **kwargs: Any) -> None:
    """Print ``text.format(*args, **kwargs)``; in a compiled function at each run of its program.

    Parameters
    ----------
    text : str
        A format string: ``"loss {}"``.
    *args, **kwargs : object
        Variables and arrays are printed as arrays.
    """
    plain = {name: _entered(x) for name, x in enumerate(args)} | {name: _entered(x) for name, x in kwargs.items()}
    values = tuple(plain.values())
    backend = trace_of(values)
    if backend is not None:
        backend.effect("debug_print", _printed, (text, len(args), tuple(plain), values))
    else:
        _printed(text, len(args), tuple(plain), values)


def trace_of(values: Iterable[Any]) -> TraceBackend | None:
    """Return the backend of the compiled function that is being recorded, if it is the innermost transformation."""
    level = innermost()
    backend = None if level is None else level.device(_device(values)).backend
    return backend if isinstance(backend, TraceBackend) else None


def _device(values: Iterable[Any]) -> Device:
    found = (device_of(x) for x in values if is_array(x))
    return next((device for device in found if device is not None), current_device())


def _entered(x: Any) -> Any:
    return as_variable(x)._array if is_array(x) else x


def _printed(text: str, count: int, names: tuple[Any, ...], values: tuple[Any, ...]) -> None:
    named = dict(zip(names[count:], values[count:], strict=True))
    print(text.format(*values[:count], **named))  # noqa: T201 - the purpose of this function
