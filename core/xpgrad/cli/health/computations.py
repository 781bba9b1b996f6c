"""Small computations that check whether a device works, and whether its arrays are as xpgrad expects."""

import math
import time
from collections.abc import Callable, Mapping
from typing import Any

import xpgrad
from xpgrad.backend.backend import Backend
from xpgrad.backend.device import Device
from xpgrad.backend.kernels import library_function, table
from xpgrad.backend.naming import text_of
from xpgrad.backend.plugins import plugins
from xpgrad.backend.standard import DTYPES, FUNCTIONS
from xpgrad.backend.transfer import transfer
from xpgrad.errors import MissingFunction
from xpgrad.types import Array

VALUES = 0.5, 1.0, 2.0
CREATION: Mapping[str, tuple[Any, ...]] = {
    "arange": (3,),
    "asarray": ([1.0, 2.0],),
    "empty": ((2,),),
    "eye": (2,),
    "full": ((2,), 1.0),
    "linspace": (0.0, 1.0, 3),
    "ones": ((2,),),
    "zeros": ((2,),),
}
"""Functions that take `device=`, and the other arguments that they are called with."""
ATTRIBUTES = "shape", "dtype", "ndim", "size"
OPERATORS = """
    abs neg pos add sub mul truediv floordiv mod pow matmul radd rsub rmul rtruediv rpow
    lt le gt ge eq ne getitem
"""


def compute_on(device: Device) -> dict[str, Any]:
    """Return "ok" or the error of a kernel, a gradient, and a move to the host and back on `device`."""
    started = time.perf_counter()
    row: dict[str, Any] = {"device": str(device)}
    steps: dict[str, Callable[[Device], None]] = {"kernel": _kernel, "gradient": _gradient, "move": _move}
    for title, step in steps.items():
        try:
            step(device)
            row[title] = "ok"
        except Exception as error:  # a library can raise anything
            row[title] = text_of(error)
    return row | {"seconds": round(time.perf_counter() - started, 4)}


def _kernel(device: Device) -> None:
    _expect("the kernel tanh", device.backend.xp.tanh(_sample(device)), [math.tanh(v) for v in VALUES], device)


def _gradient(device: Device) -> None:
    x = xpgrad.Variable(_sample(device))
    y = xpgrad.array_api.sum(x * x)
    y.backward()
    _expect("the gradient of the sum of x * x", x.grad, [2 * v for v in VALUES], device)
    part = xpgrad.Variable(_sample(device))
    xpgrad.array_api.sum(part[1:]).backward()
    _expect("the gradient of the sum of x[1:], by scatter_add,", part.grad, [0.0, 1.0, 1.0], device)


def _move(device: Device) -> None:
    host = plugins.host.default_device
    back = transfer(_sample(device), host)
    _expect("a move to the host", back, VALUES, host)
    _expect("a move to the host and back", transfer(back, device), VALUES, device)


def _sample(device: Device) -> Array:
    host = plugins.host
    return transfer(host.asarray(list(VALUES), host.namespace.float32), device)


def _expect(title: str, array: Array, expected: Any, device: Device) -> None:
    host = plugins.host
    found = Device.from_array(array)
    if found != device:
        kind = type(array)
        raise AssertionError(f"{title} gave {kind.__module__}.{kind.__qualname__} on {found}; expected it on {device}")
    device.synchronize()
    on_host = transfer(array, host.default_device)
    got = [float(value) for value in on_host]
    if len(got) != len(expected) or not all(
        math.isclose(a, b, rel_tol=1e-4) for a, b in zip(got, expected, strict=True)
    ):
        raise AssertionError(f"{title} gave {got}; expected {list(expected)}")


RESULTS: dict[str, Callable[[Array], Any]] = {
    "x + x": lambda x: x + x,
    "x > x": lambda x: x > x,
    "x[0]": lambda x: x[0],
    "x[1:]": lambda x: x[1:],
}
"""What must give arrays of the backend, or its scalars: xpgrad computes with raw arrays in a few places."""


def array_faults(device: Device) -> dict[str, Any]:
    """Return the attributes and operators that arrays on `device` lack, and whether their truth value is right."""
    array = _sample(device)
    kind = type(array)
    lacking = [name for name in ATTRIBUTES if not hasattr(array, name)]
    lacking += [f"__{name}__" for name in OPERATORS.split() if not hasattr(kind, f"__{name}__")]
    truth = "ok"
    if not hasattr(kind, "__bool__"):
        truth = "missing"
    elif "__getitem__" not in lacking and "__gt__" not in lacking and bool(array[0] > array[1]):
        truth = "wrong"
    known = (*device.backend.array_types, *device.backend.scalar_types)
    strays = {text: _type_of(compute, array) for text, compute in RESULTS.items()}
    return {
        "type": _name_of(kind),
        "lacking": lacking,
        "bool": truth,
        "strays": {text: _name_of(found) for text, found in strays.items() if found and not issubclass(found, known)},
    }


def _type_of(compute: Callable[[Array], Any], array: Array) -> type | None:
    """Return the type of the result of raw arrays, or None after a failure, which another check reports."""
    try:
        return type(compute(array))
    except Exception:  # a library can raise anything
        return None


def _name_of(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def creation_faults(device: Device) -> dict[str, str]:
    """Return the error of each creation function that does not take `device=`, or ignores it."""
    backend, faults = device.backend, {}
    dtype = _sample(device).dtype
    for name, args in CREATION.items():
        function = getattr(backend.namespace, name, None)
        if function is None:
            continue  # reported by `missing_names`
        try:
            made = backend.follow(function)(*args, dtype=dtype, device=device.handle)
            if (found := backend.device_of(made)) != device:
                faults[name] = f"gave an array on {found}"
        except Exception as error:  # a library can raise anything
            faults[name] = text_of(error)
    return faults


def missing_names(backend: Backend) -> list[str]:
    """Return the standard's functions and dtypes that the library lacks, without kernel or declaration as missing."""
    return [name for name in (*FUNCTIONS, *DTYPES) if not _has(backend, name)]


def _has(backend: Backend, name: str) -> bool:
    if backend.capabilities.lacking([name]) or (table.find(name) and backend.xp.find(name)):
        return True
    try:
        library_function(backend, name)
    except MissingFunction:
        return False
    return True
