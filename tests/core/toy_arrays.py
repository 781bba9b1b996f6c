"""A small third-party array library and its plugin: NumPy's values in arrays on one of two devices.

``here`` is host memory that DLPack can export. ``away`` simulates another device: its arrays have neither DLPack nor a
buffer, so they must be moved ``here`` first.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any

import array_api_compat.numpy
import numpy as np

import xpgrad
from xpgrad.backend.plugins import plugins
from xpgrad.plugin import ArrayAPIBackend, hookimpl, scatter_add_by_sorting

HOST_MEMORY = (1, 0)


class ToyArray:
    """An array."""

    def __init__(self, values: Any, device: str = "here") -> None:
        self.values, self.device = np.array(values), device

    shape = property(lambda self: self.values.shape)
    dtype = property(lambda self: self.values.dtype)
    ndim = property(lambda self: self.values.ndim)
    size = property(lambda self: self.values.size)

    def to_device(self, device: str, /) -> "ToyArray":
        return ToyArray(self.values, device)

    def __array_namespace__(self, *, api_version: str | None = None) -> ModuleType:
        return sys.modules[__name__]

    def __dlpack__(self, **options: Any) -> Any:
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        if self.device != "here":
            raise BufferError("toy arrays on `away` cannot be exported")
        return HOST_MEMORY

    def __setitem__(self, key: Any, value: Any) -> None:
        self.values[key] = value.values if isinstance(value, ToyArray) else value


def from_dlpack(x: Any, /, **options: Any) -> ToyArray:
    toy_array = ToyArray(0)
    toy_array.values = np.from_dlpack(x)
    return toy_array


def _packed(function: Any) -> Any:
    def call(*args: Any, device: str | None = None, **kwargs: Any) -> Any:
        places = set()

        def opened(item: Any) -> Any:
            if isinstance(item, ToyArray):
                places.add(item.device)
                return item.values
            return type(item)(map(opened, item)) if type(item) in (list, tuple) else item

        def closed(item: Any) -> Any:
            if isinstance(item, (np.ndarray, np.generic)):
                return ToyArray(item, device or min(places, default="here"))
            return type(item)(map(closed, item)) if type(item) in (list, tuple) else item

        args, kwargs = opened(args), {name: opened(item) for name, item in kwargs.items()}
        if len(places) > 1:
            raise ValueError("the arrays are on two devices")
        return closed(function(*args, **kwargs))

    return call


def __getattr__(name: str) -> Any:
    found = getattr(array_api_compat.numpy, name)
    if isinstance(found, ModuleType):
        return SimpleNamespace(**{n: _packed(f) for n, f in vars(found).items() if callable(f)})
    return _packed(found) if callable(found) and not isinstance(found, type) else found


OPERATORS = "add sub mul truediv floordiv mod pow lt le gt ge eq ne getitem radd rsub rmul rtruediv rpow neg pos abs"
for _name in (*OPERATORS.split(), "or", "and", "matmul"):
    setattr(ToyArray, f"__{_name}__", _packed(getattr(np.ndarray, f"__{_name}__")))
for _name in ("bool", "int", "float"):
    setattr(ToyArray, f"__{_name}__", lambda self, name=_name: getattr(self.values, f"__{name}__")())


class Plugin:
    """The contents of a third-party plugin module."""

    def __init__(self, name: str = "toy", kind: type = ToyArray, **options: Any) -> None:
        self.name, self.kind, self.options = name, kind, options

    @hookimpl
    def xpgrad_backend(self) -> ArrayAPIBackend:
        return ArrayAPIBackend(
            self.name,
            sys.modules[__name__],
            (self.kind,),
            devices={"cpu": "here", "away": "away"},
            scatter_add=scatter_add_by_sorting,
            **self.options,
        )


@contextmanager
def registered(plugin: Any, name: str = "toy") -> Iterator[Any]:
    """Register a plugin in this process, and remove it afterwards."""
    backend = xpgrad.plugin.register(plugin, name)
    (module,) = {record.module for record in plugins.records.values() if record.backend is backend}
    try:
        yield backend
    finally:
        plugins._manager.unregister(plugin)
        del plugins.records[module]
        plugins._providers.remove(name)
        plugins._providers.remove(module)
        plugins.by_type = {kind: each for kind, each in plugins.by_type.items() if each is not backend}
        installed = plugins.installed
        left = {each: entries for each, entries in installed.backends.items() if each != name}
        plugins._installed = installed._replace(backends=left)
        plugins.generation += 1
