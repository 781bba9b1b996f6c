"""`debug_print`: printing the values of a compiled function at each of its runs."""

from collections.abc import Iterable
from typing import Any

from xpgrad.backend.current import current_device
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
    values = tuple(as_variable(x)._array if is_array(x) else x for x in (*args, *kwargs.values()))
    given, backend = (text, tuple(kwargs), values), trace_of(values)
    _printed(*given) if backend is None else backend.effect("debug_print", _printed, given)


def trace_of(values: Iterable[Any]) -> TraceBackend | None:
    """Return the backend of the compiled function that is being recorded, if it is the innermost transformation."""
    level = innermost()
    if level is None:
        return None
    found = (device_of(x) for x in values if is_array(x))
    backend = level.device(next((device for device in found if device is not None), current_device())).backend
    return backend if isinstance(backend, TraceBackend) else None


def _printed(text: str, names: tuple[str, ...], values: tuple[Any, ...]) -> None:
    count = len(values) - len(names)
    print(text.format(*values[:count], **dict(zip(names, values[count:], strict=True))))  # noqa: T201 - its purpose
