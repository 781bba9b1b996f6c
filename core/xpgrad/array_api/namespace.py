"""The differentiable namespaces: a module for each backend, which shares its functions with `xpgrad.array_api`."""

import functools
import types
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from xpgrad.array_api import fft, linalg
from xpgrad.array_api.creation import creators
from xpgrad.array_api.data_types import DTYPES, dtype_functions
from xpgrad.array_api.inspection import NamespaceInfo
from xpgrad.backend.backend import Backend
from xpgrad.boundary import as_bounded
from xpgrad.graph.methods.convertible import API_VERSIONS
from xpgrad.listing import listed, missing_name


class Additions(Protocol):
    """Names of namespaces beyond the standard, from a layer above, which imports them on first use."""

    def names(self) -> Iterable[str]:
        """Return all names; standard names are ignored."""
        ...

    def find(self, name: str) -> Any:
        """Return the object called `name`, or raise AttributeError."""
        ...


class SharedNames:
    """Holder of the names shared by all namespaces."""

    functions: Mapping[str, Any] = {}  # set by `xpgrad.array_api` after its imports
    additions: Additions | None = None  # set by `xpgrad.interop`


slot = SharedNames()


@functools.cache
def namespace(backend: Backend) -> types.ModuleType:
    """Return the differentiable namespace of `backend`, the same object each time.

    It has the standard's names and the additions. Its dtypes belong to this backend; its creation functions use the
    current device if it belongs to this backend, else the backend's default device.
    """
    made = types.ModuleType(
        f"xpgrad.array_api.{backend.name}", f"The differentiable namespace of {backend.name} arrays."
    )
    names: dict[str, Any] = dict(slot.functions)
    for name in DTYPES:
        if hasattr(backend.namespace, name):
            names[name] = getattr(backend.namespace, name)
    made_here = creators(backend) | dtype_functions(backend)
    names |= {name: as_bounded(made.__name__, name, function) for name, function in made_here.items()}
    names["__array_api_version__"] = API_VERSIONS[-1]
    names["__array_namespace_info__"] = functools.partial(NamespaceInfo, backend)
    names["linalg"] = _extension(made, linalg, {})
    names["fft"] = _extension(made, fft, fft.creators(backend))
    standard = frozenset(names)
    names["__getattr__"] = functools.partial(_added, made)
    names["__dir__"] = lambda: sorted(standard.union(slot.additions.names() if slot.additions else ()))
    vars(made).update(names)
    return made


def _extension(parent: types.ModuleType, shared: types.ModuleType, own: dict[str, Any]) -> types.ModuleType:
    """Return the namespace of an extension: the shared functions and the functions of the backend."""
    made = types.ModuleType(f"{parent.__name__}.{shared.__name__.rpartition('.')[2]}", shared.__doc__)
    names = {name: getattr(shared, name) for name in shared.__all__}
    names |= {name: as_bounded(made.__name__, name, function) for name, function in own.items()}
    vars(made).update(names)
    vars(made)["__getattr__"], vars(made)["__dir__"] = listed(made.__name__, list(names))
    return made


def _added(made: types.ModuleType, name: str) -> Any:
    """Return one of the additional functions, and store it; they are the same in all namespaces."""
    try:
        if slot.additions is not None:
            return vars(made).setdefault(name, slot.additions.find(name))
    except AttributeError:
        pass
    raise missing_name(made.__name__, name, functools.partial(dir, made))
