"""Traced subjects: the suite on arrays that `xpgrad.compile` records, over those of another backend.

Their backend is named ``trace(numpy)``. Each check runs in a traced function of its own, which may take values out.
"""

import functools
import re
from collections.abc import Callable
from typing import Any

from xpgrad import Device, get_device
from xpgrad.backend.levels import around
from xpgrad.backend.plugins import plugins
from xpgrad.plugin import Backend, Capabilities
from xpgrad.transforms.trace.backend import TraceBackend, over
from xpgrad.transforms.trace.level import TraceLevel
from xpgrad_conformance.virtual import registered, virtual

NAME = re.compile(r"@?trace\((?P<base>[\w-]+)\)")
"""The name of a backend of traced arrays, or the beginning of the name of one of its devices."""
ONE_CALL = "a traced array is of one call of a function, and records what one thread does there"
MISSING = {
    "pickle": ONE_CALL,
    "pickle_keeps_device": ONE_CALL,
    "threads": ONE_CALL,
    "memory_used": "the memory is that of the library's arrays",
}
KEPT = "the record of a function keeps what enters it from the host, as constants of the program"
BELOW = "kernels are provided for the library's arrays, and are part of what is recorded"
EXPECTED = {
    "K25[*": BELOW,
    "M05[*": KEPT,
    "M06[*": KEPT,
    "T10[*": "arrays of every library are traced, the host's too",
    "T14[*": "arrays of every library are traced, the host's too",
    "H06[*": BELOW,
    "F02[*": BELOW,
    "F03[*": BELOW,
    "R02[*": "what is unpickled is not of the function that is traced",
}


@functools.cache
def traced(base: Backend) -> Backend:
    """Return the backend of traced arrays over those of `base`, registered by its name."""
    backend, given = over(base), base.capabilities
    missing, expected = {**given.missing, **MISSING}, {**given.expected, **EXPECTED}
    backend.declared = Capabilities(missing, given.missing_on, given.tolerances, expected)
    return registered(backend)


def known(name: str) -> str:
    """Return `name`, of a backend or device; a backend of traced arrays is registered first."""
    found = NAME.match(name)
    if found is not None and not plugins.knows(f"trace({found['base']})"):
        traced(plugins.backend(found["base"]))
    return name


def device_named(name: str) -> Device:
    """Return the device with a name, also one of traced arrays."""
    return get_device(known(name))


def is_traced(backend: Backend) -> bool:
    """Return whether the arrays of a backend are traced."""
    return isinstance(backend, TraceBackend)


def within(backend: Backend, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Return ``function(*args, **kwargs)``, called in a traced function if `backend` is one of traced arrays."""
    if not is_traced(backend) or around() is not None:
        return function(*args, **kwargs)
    return TraceLevel("conform", strict=False).run(function, *args, **kwargs)


def stranger_to(backend: Backend) -> Device:
    """Return a device of another library; within a traced function, the device there over it."""
    host, level = plugins.host, around()
    found = host.default_device if backend.root is not host else virtual(host)[0]
    return found if level is None else level.device(found)


def pair_of(backend: Backend) -> tuple[Device, Device]:
    """Return two virtual devices over the arrays of a backend; traced ones are over virtual ones of their base."""
    first, second = traced(_virtual(backend.base)).devices() if backend.base is not None else virtual(backend)
    return first, second


def _virtual(backend: Backend) -> Backend:
    return virtual(backend)[0].backend
