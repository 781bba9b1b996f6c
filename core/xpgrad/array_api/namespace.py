"""The differentiable namespaces: one real module for each backend, sharing every function with `xpgrad.array_api`."""

import functools
import importlib
import types
from collections.abc import Callable
from typing import Any

from xpgrad.array_api import fft
from xpgrad.array_api.creation import creators
from xpgrad.array_api.data_types import DTYPES, dtype_functions
from xpgrad.array_api.inspection import NamespaceInfo
from xpgrad.backend.backend import Backend
from xpgrad.backend.kernels import table
from xpgrad.graph.methods.convertible import API_VERSIONS
from xpgrad.listing import listed, missing_name

SUBMODULES = ("special",)  # that no import of xpgrad needs
table.late |= {name: f"xpgrad.{name}" for name in SUBMODULES}
FINDERS: list[Callable[[str], Any]] = []
"""The layers above enter here what finds the names that the standard lacks; AttributeError is for what is not there."""
CONSTANTS = ["e", "inf", "nan", "newaxis", "pi"]


@functools.cache
def namespace(backend: Backend) -> types.ModuleType:
    """Return the differentiable namespace of `backend`, the same object each time.

    It has the names of `xpgrad.array_api`, this backend's dtypes, and creation functions whose default device is the
    current device if that is this backend's.
    """
    import xpgrad.array_api as shared  # the package collects its chapters before anybody asks for a namespace

    made = types.ModuleType(
        f"xpgrad.array_api.{backend.name}", f"The differentiable namespace of {backend.name} arrays."
    )
    names: dict[str, Any] = {name: getattr(shared, name) for name in shared.__all__}
    for name in (*DTYPES, *CONSTANTS):
        if hasattr(backend.namespace, name):
            names[name] = getattr(backend.namespace, name)
    names |= creators(backend)
    names |= dtype_functions(backend)
    names["__array_api_version__"] = API_VERSIONS[-1]
    names["__array_namespace_info__"] = functools.partial(NamespaceInfo, backend)
    names["linalg"] = shared.linalg
    names["fft"] = _extension(made, fft, fft.creators(backend))
    public = {*names, *SUBMODULES}
    names["__dir__"] = lambda: sorted(public)
    names["__getattr__"] = functools.partial(_late, made)
    vars(made).update(names)
    return made


def _extension(parent: types.ModuleType, shared: types.ModuleType, own: dict[str, Any]) -> types.ModuleType:
    """Return the namespace of an extension: the functions that all backends share, and the backend's own."""
    made = types.ModuleType(f"{parent.__name__}.{shared.__name__.rpartition('.')[2]}", shared.__doc__)
    names = {name: getattr(shared, name) for name in shared.__all__} | own
    vars(made).update(names)
    vars(made)["__getattr__"], vars(made)["__dir__"] = listed(made.__name__, list(names))
    return made


def _late(made: types.ModuleType, name: str) -> Any:
    """Return a submodule, or a function beyond the standard, when it is first asked for; all backends have the same."""
    if name in SUBMODULES:
        vars(made)[name] = importlib.import_module(f"xpgrad.{name}")
        return vars(made)[name]
    for find in FINDERS:
        try:
            return vars(made).setdefault(name, find(name))
        except AttributeError:
            pass
    raise missing_name(made.__name__, name, functools.partial(dir, made))
