"""The first call of each of dpnp's extensions, in a single thread.

An extension creates a few objects of dpctl and dpnp when it first receives an array, a queue or an event. The
interpreter may switch to another thread meanwhile. If that thread calls the same extension, it waits for these objects
and holds the interpreter's lock, which the first thread needs to continue: the process hangs.
"""

import sys
from collections.abc import Callable
from contextlib import suppress
from types import ModuleType
from typing import Any

import dpctl.utils
import dpnp

from xpgrad.types import DeviceHandle

ARRAY, QUEUE, EVENTS = "usm_ndarray", "SyclQueue", "depends"


def make_first_calls(device: DeviceHandle) -> None:
    """Call a function of each extension with an array, a queue and events, so that later calls find their objects."""
    x = dpnp.zeros((1,), dtype="float32", device=device)
    known = dpctl.utils.SequentialOrderManager[x.sycl_queue].submitted_events
    values = {ARRAY: x.get_array(), QUEUE: x.sycl_queue, EVENTS: [*known, None]}
    for module in extensions():
        function = with_arrays(module)
        if function is not None:
            look_at(function, values)
    with suppress(Exception):  # not every device has transforms
        dpnp.fft.fft(x)  # the functions of this extension take plans before arrays


def extensions() -> list[ModuleType]:
    """Return the compiled modules of dpnp whose functions take arrays."""
    names = sorted(name for name in sys.modules if name.startswith("dpnp.") and name.endswith("_impl"))
    return [sys.modules[name] for name in names]


def with_arrays(module: ModuleType) -> Callable[..., Any] | None:
    """Return a function of an extension that takes arrays and events, or None."""
    functions = [value for value in vars(module).values() if callable(value) and not isinstance(value, type)]
    signatures = {function: signature(function) for function in functions}
    return next((f for f, found in signatures.items() if ARRAY in found and EVENTS in found), None)


def signature(function: Callable[..., Any]) -> str:
    """Return the parameters of a function as the first line of its docstring has them."""
    first, *_ = (function.__doc__ or "").split("\n")
    return first.partition("(")[2].rpartition(" -> ")[0]


def look_at(function: Callable[..., Any], values: dict[str, Any]) -> None:
    """Call a function with arguments of the right types, except that None is among the events: it is refused."""
    parameters = [parameter for parameter in signature(function).split(", ") if ": " in parameter]
    arguments = [next((values[word] for word in values if word in each), 0) for each in parameters]
    with suppress(Exception):  # the call only has to fail; any exception will do
        function(*arguments)
