"""The reference engine: xpgrad's own rules and default bodies over NumPy's functions, without any library's kernels."""

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from xpgrad import Device, Variable
from xpgrad.array_api.namespace import namespace
from xpgrad.backend.plugins import plugins
from xpgrad.testing.arrays import on_host, placed
from xpgrad.types import Namespace
from xpgrad_conformance.pretend import PretendLibrary
from xpgrad_conformance.virtual import PretendBackend, registered

NAME = "conformance_reference"
WIDE = {"f": "float64", "c": "complex128"}
SATURATING = "exp", "expm1", "tanh"
"""Functions whose derivatives may be differences of their results and numbers near 1: for tanh, 1 - y**2."""
LAST = 1.0, -1.0, 2.0, 1.0, -2.0
"""By how many times the dtype's eps their results are changed, in turn."""
_inexact: ContextVar[bool] = ContextVar("inexact", default=False)


class ReferenceBackend(PretendBackend):
    """NumPy's functions with only one kernel, the kernel without a default: scatters of one part at a time.

    It certifies no rule: checks of the families G and H compare xpgrad's rules with finite differences. It applies
    these rules to arrays of any size, element by element.
    """

    def __init__(self) -> None:
        library = PretendLibrary(plugins.host, ("0",))
        for name in SATURATING:
            library.names[name] = functools.partial(library.call, _nearly(getattr(plugins.host.namespace, name)))
        super().__init__(NAME, library, {})
        self._overrides["scatter_add"] = self._scatter_add(_scattered)


def _nearly(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function whose results have another last digit within `inexact`."""

    def nearly(x: Any, /) -> Any:
        y = function(x)
        if not _inexact.get() or y.dtype.kind not in WIDE:
            return y
        return y * (1 + np.finfo(y.dtype).eps * np.resize(LAST, y.shape)).astype(y.dtype)

    return nearly


@contextlib.contextmanager
def inexact() -> Iterator[None]:
    """Let the reference engine vary the rounding of `SATURATING` functions, as other libraries do."""
    token = _inexact.set(True)
    try:
        yield
    finally:
        _inexact.reset(token)


def _scattered(spec: Any, parts: Any) -> Any:
    total = np.zeros(spec.shape, spec.dtype)
    for index, value in parts:
        np.add.at(total, index, value)
    return total


@functools.cache
def device() -> Device:
    """Return the device of the reference engine."""
    return registered(ReferenceBackend()).default_device


def xp() -> Namespace:
    """Return the differentiable namespace of the reference engine."""
    return namespace(device().backend)


def variable(host: Any) -> Variable:
    """Return a host array as a Variable of the reference engine, in the host array's dtype."""
    return Variable(placed(host, device()))


def variables(hosts: Sequence[Any], *, wide: bool = True) -> list[Variable]:
    """Return host arrays as Variables of the reference engine; floating-point ones in float64 or complex128.

    Parameters
    ----------
    wide : bool
        Otherwise in float32 or complex64.
    """
    return [variable(host if host.dtype.kind not in WIDE else host.astype(_dtype(host, wide))) for host in hosts]


def arguments(hosts: Sequence[Any], *, wide: bool = True) -> list[Any]:
    """Return host arrays as arguments of the reference engine: Variables, or arrays of integers and booleans."""
    made = variables(hosts, wide=wide)
    return [x if host.dtype.kind in WIDE else x.array for x, host in zip(made, hosts, strict=True)]


def _dtype(host: Any, wide: bool) -> str:
    if wide:
        return WIDE[host.dtype.kind]
    return "complex64" if host.dtype.kind == "c" else "float32"


def referred(call: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``call(xp, *arrays, **parameters)`` as a function of host arrays, computed by the reference engine."""

    def reference(*hosts: Any, **parameters: Any) -> Any:
        found = call(xp(), *arguments(hosts), **parameters)
        return [on_host(y) for y in found] if isinstance(found, (tuple, list)) else on_host(found)

    return reference
