"""Small computations that check whether a device works, and whether its arrays are as xpgrad expects."""

import math
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import islice, product
from typing import Any

import xpgrad
from xpgrad.backend.backend import Backend
from xpgrad.backend.device import Device
from xpgrad.backend.geometry import Geometry
from xpgrad.backend.kernels import Declaration, difference, library_function, table
from xpgrad.backend.plugins import plugins
from xpgrad.backend.standard import DTYPES, FUNCTIONS
from xpgrad.backend.third_party import text_of
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
PARAMETERS: Mapping[str, tuple[Any, ...]] = {
    "alpha": (1.0,),
    "axes": ((0,), 1),
    "axis": (-1, (-1,), (0,), None),
    "beta": (1.0,),
    "copy": (None,),
    "correction": (0.0,),
    "descending": (False, True),
    "dtype": (None,),
    "eps": (0.001,),
    "exponent": (2.0,),
    "fill": (-1.0,),
    "full_matrices": (False,),
    "geometry": (Geometry((2, 2), (2, 2), (1, 1), (0, 0), (1, 1), (1, 1)),),
    "groups": (1,),
    "ignore_label": (-1,),
    "include_initial": (False, True),
    "invert": (False,),
    "k": (0, 1),
    "keepdims": (False, True),
    "label_num": (3,),
    "m": (1, 2),
    "n": (None, 1, 2),
    "norm": ("backward", "ortho"),
    "offset": (0, 1),
    "ord": (3.0,),
    "repeats": (2,),
    "rtol": (None, 0.1),
    "s": (None,),
    "scale": (1.0,),
    "shape": ((1, -1), (1, 3)),
    "shift": (1,),
    "side": ("left",),
    "slope": (0.2,),
    "sorter": (None,),
    "stable": (True,),
    "upper": (False, True),
    "z": (1.0,),
}
"""Values of the parameters of kernels by which kernels of other plugins are tried."""
NOT_UNIQUE = "linalg.eig", "linalg.eigh", "linalg.qr", "linalg.svd"
"""Kernels whose correct results may differ, in the signs of vectors."""
MAX_CALLS = 24  # calls of one kernel with different parameters
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


def foreign_faults(device: Device) -> dict[str, str]:
    """Return the errors of kernels that other plugins provide for a backend, found on samples, by their names.

    An exception is an error only if no call succeeds: a default body may accept parameters, such as an integer axis,
    that the function of its kernel never passes.
    """
    faults: dict[str, str] = {}
    for provider, name, given, default in device.backend.xp.foreign():
        declaration, failure, succeeded = table.declared[name], None, False
        for arrays, parameters in product(_arguments(device, declaration.arrays), _parameters(declaration)):
            expected = None
            with suppress(Exception):  # it needs other arrays or parameters
                expected = default(*arrays, **parameters)
            if name in NOT_UNIQUE or not all(hasattr(y, "shape") for y in _results(expected)):
                continue
            said = f" with {', '.join(f'{key}={value!r}' for key, value in parameters.items())}" if parameters else ""
            try:
                fault = _difference(device, given(*arrays, **parameters), expected)
            except Exception as error:  # third-party code
                failure = failure or text_of(error) + said
                continue
            succeeded = True
            if fault is not None:
                faults[f"{name} of {provider}"] = fault + said
                break
        if failure is not None and not succeeded:
            faults[f"{name} of {provider}"] = failure
    return faults


def _arguments(device: Device, count: int) -> list[list[Any]]:
    """Return arguments for calls of a kernel of `count` arrays: numbers, integers, or a mixture."""
    xp, x, host = device.backend.xp, _sample(device), plugins.host
    four, integers = xp.concat((x, x[2:])), transfer(host.asarray([0, 1, 0], host.namespace.int64), device)
    samples = x, xp.reshape(x[:1], (1, 1)), xp.reshape(four, (2, 2)), xp.reshape(four, (1, 1, 2, 2))
    numbers = [[sample + 0.25 * i for i in range(count)] for sample in samples]
    others: dict[int, list[Any]] = {2: [x, integers], 3: [*numbers[-1][:2], None]}  # indices, and no bias
    return [*numbers, [integers + i for i in range(count)], *([others[count]] if count in others else [])]


def _results(y: Any) -> tuple[Any, ...]:
    return tuple(y) if isinstance(y, (tuple, list)) else (y,)


def _parameters(declaration: Declaration) -> list[dict[str, Any]]:
    """Return parameters for calls of a kernel; an empty list if one of its parameters has no samples.

    Gradient rules with parameters are not called, because their arrays must be consistent.
    """
    names = declaration.parameters
    if names and (declaration.name.rpartition(".")[0] in table.declared or not PARAMETERS.keys() >= set(names)):
        return []
    values = islice(product(*(PARAMETERS[name] for name in names)), MAX_CALLS)
    return [dict(zip(names, each, strict=True)) for each in values]


def _difference(device: Device, result: Any, expected: Any) -> str | None:
    """Return how a kernel's results differ from the default body's results, or None."""
    if result is NotImplemented:
        return None
    found, wanted = _results(result), _results(expected)
    if len(found) != len(wanted):
        return f"{len(found)} results, expected {len(wanted)}"
    return next(filter(None, (_difference_of(device, *pair) for pair in zip(found, wanted, strict=True))), None)


def _difference_of(device: Device, result: Any, expected: Array) -> str | None:
    result, expected = map(device.backend.restore, (result, expected))
    found = difference(result, expected)
    if found is not None:
        return found
    host = plugins.host.default_device
    got, wanted = (transfer(array, host).reshape(-1).tolist() for array in (result, expected))
    equal = all(
        a == b or (a != a and b != b) or math.isclose(a, b, rel_tol=1e-4) for a, b in zip(got, wanted, strict=True)
    )
    return None if equal else f"{got}, expected {wanted}"


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
