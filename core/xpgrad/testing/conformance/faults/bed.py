"""Where a fault is planted: a correct backend over NumPy's values, on three pretend devices, one for each fault."""

import itertools
from collections.abc import Callable, MutableMapping
from typing import Any

import numpy as np

from xpgrad.backend.device import Device
from xpgrad.backend.plugins import plugins
from xpgrad.testing.conformance.pretend import PretendLibrary
from xpgrad.testing.conformance.virtual import PretendBackend, registered
from xpgrad.types import Kernel

DEVICES = "0", "1", "2"
_numbers = itertools.count()


class Bed:
    """A correct backend that is not registered yet, and ways to change it.

    Attributes
    ----------
    library : PretendLibrary
        Its namespace; `library.Array` is the type of its arrays, made for this bed alone.
    backend : PretendBackend
        Methods can be replaced on the instance.
    kernels : dict
        The backend's own kernels by name: functions of pretend arrays.
    path : callable or None
        The plugin's hook `xpgrad_transfer`: ``path(source, target)`` gives a direct path, or None.

    Parameters
    ----------
    lazy : bool
        Results reach the host only when it waits.
    """

    def __init__(self, *, lazy: bool = False) -> None:
        self.library = PretendLibrary(plugins.role("cpu"), DEVICES, lazy=lazy)
        name = f"bed{next(_numbers)}"
        self.backend = PretendBackend(name, self.library, {})
        self.kernels["scatter_add"] = self.backend._scatter_add(_scatter_add)
        self.path: Callable[[Device, Device], Any] | None = None

    @property
    def kernels(self) -> MutableMapping[str, Kernel]:
        """The backend's own kernels."""
        return self.backend._overrides

    def original(self, name: str) -> Callable[..., Any]:
        """Return the function of NumPy's (array-api-compat's) namespace that does the work: ``linalg.det``."""
        found = self.library.inner.namespace
        for part in name.split("."):
            found = getattr(found, part)
        return found  # type: ignore[no-any-return]

    def replace(self, name: str, function: Callable[..., Any]) -> None:
        """Let ``function(original, *args, **kwargs)``, of NumPy arrays, stand in for a function of the namespace."""
        original = self.original(name)

        def call(*args: Any, **kwargs: Any) -> Any:
            return self.library.call(lambda *a, **k: function(original, *a, **k), *args, **kwargs)

        self.library.names[name] = call

    def operator(self, name: str, function: Callable[..., Any]) -> None:
        """Let ``function(x, *others)``, of NumPy arrays, stand in for an operator: ``__add__``."""

        def method(this: Any, *others: Any) -> Any:
            return self.library.call(function, this, *others)

        setattr(self.library.Array, name, method)

    def both(self, name: str, operator: str, function: Callable[..., Any]) -> None:
        """Replace a binary function and its operator by ``function(x1, x2)`` of NumPy arrays."""
        self.replace(name, lambda original, x1, x2: function(x1, x2))
        self.operator(f"__{operator}__", function)
        self.operator(f"__r{operator}__", lambda x2, x1: function(x1, x2))

    def kernel(self, name: str, function: Callable[..., Any]) -> None:
        """Let ``function(*arrays, **parameters)``, of NumPy arrays, be the backend's kernel `name`."""
        self.kernels[name] = lambda *arrays, **parameters: self.library.call(function, *arrays, **parameters)

    def devices(self) -> tuple[Device, ...]:
        """Return the devices of the backend, which is registered if it is not."""
        if not plugins.knows(self.backend.name):
            registered(self.backend, self.path)
        return tuple(self.backend.devices())


def change(target: Any, **methods: Any) -> None:
    """Replace methods of a bed's backend or library, or of the type of its arrays."""
    for name, method in methods.items():
        setattr(target, name, method)


def _scatter_add(spec: Any, parts: Any) -> Any:
    total = np.zeros(spec.shape, spec.dtype)
    for index, value in parts:
        np.add.at(total, index, value)
    return total
