"""Where a fault is planted: a correct backend over NumPy's values, on three pretend devices, one for each fault."""

import itertools
import tempfile
import threading
import time
import weakref
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import Any

import numpy as np

from xpgrad import Device
from xpgrad.backend.kernels import table
from xpgrad.backend.plugins import plugins
from xpgrad.backend.standard import BINARY_OPERATORS, COMPARISONS
from xpgrad.transforms.trace.guards.trust import leave_out
from xpgrad.types import Kernel
from xpgrad_conformance.pretend import PretendLibrary
from xpgrad_conformance.virtual import PretendBackend, registered

DEVICES = "0", "1", "2"
LIBRARY = """
from tests.faults.testbed import Testbed
bed = Testbed(name="{name}")
bed.library.Array.__module__ = __name__
def __getattr__(name):
    return getattr(bed.library, name)
"""
PLUGIN = """
from {name}_library import bed
from xpgrad.plugin import hookimpl
@hookimpl
def xpgrad_backend():
    return bed.backend
"""
OPERATORS = {**BINARY_OPERATORS, **COMPARISONS}
_numbers: defaultdict[str, Iterator[int]] = defaultdict(itertools.count)


def numbered(name: str) -> str:
    """Return a new name of a backend, ``bed0``, which depends on earlier beds of the same `name` only.

    The names of checks contain it, and thus determine their random numbers.
    """
    name = name.replace("-", "_")
    return f"{name}{next(_numbers[name])}"


def native_work(seconds: float = 0.001) -> None:
    """Let other threads run, if there are any, as a library does that computes without the interpreter's lock."""
    if threading.active_count() > 1:
        time.sleep(seconds)


class Testbed:
    """A correct backend that is not registered yet, and ways to change it.

    Attributes
    ----------
    library : PretendLibrary
        Its namespace; `library.Array` is the type of its arrays, created only for this testbed.
    backend : PretendBackend
        Methods can be replaced on the instance.
    kernels : dict
        The backend's own kernels by name: functions of pretend arrays.
    path : callable or None
        The plugin's hook `xpgrad_transfer`: ``path(source, target)`` gives a direct path, or None.
    executor : callable or None
        Result of the plugin's hook `xpgrad_executor` for the backend.

    Parameters
    ----------
    lazy : bool
        Results reach the host only when it waits.
    name : str
        Name of the backend; by default unique in this process, as those of `numbered`.
    """

    __test__ = False  # not a class of tests, in spite of its name

    def __init__(self, *, lazy: bool = False, name: str = "") -> None:
        self.library = PretendLibrary(plugins.host, DEVICES, lazy=lazy)
        self.backend = PretendBackend(name or numbered("bed"), self.library, {})
        self.kernels["scatter_add"] = self.backend._scatter_add(_scatter_add)
        self.path: Callable[[Device, Device], Any] | None = None
        self.executor: Callable[[Any], Any] | None = None

    @property
    def kernels(self) -> MutableMapping[str, Kernel]:
        """The backend's own kernels."""
        return self.backend._overrides

    def original(self, name: str) -> Callable[..., Any]:
        """Return the function of NumPy's (array-api-compat's) namespace that does the work: ``linalg.det``."""
        found = self.library.inner.namespace
        for part in name.split("."):
            found = getattr(found, part)
        return found

    def replace(self, name: str, function: Callable[..., Any]) -> None:
        """Let ``function(original, *args, **kwargs)``, with NumPy arrays, replace a function of the namespace."""
        original = self.original(name)
        leave_out(function)

        def call(*args: Any, **kwargs: Any) -> Any:
            return self.library.call(lambda *a, **k: function(original, *a, **k), *args, **kwargs)

        self.library.names[name] = call

    def operator(self, name: str, function: Callable[..., Any]) -> None:
        """Let ``function(x, *others)``, with NumPy arrays, replace an operator: ``__add__``."""
        leave_out(function)

        def method(this: Any, *others: Any) -> Any:
            return self.library.call(function, this, *others)

        setattr(self.library.Array, name, method)

    def both(self, name: str, function: Callable[..., Any]) -> None:
        """Replace a binary function and its operator by ``function(x1, x2)`` of NumPy arrays."""
        operator = next(operator for operator, of in OPERATORS.items() if of == name)
        self.replace(name, lambda original, x1, x2: function(x1, x2))
        self.operator(f"__{operator}__", function)
        self.operator(f"__r{operator}__", lambda x2, x1: function(x1, x2))

    def kernel(self, name: str, function: Callable[..., Any]) -> None:
        """Let ``function(*arrays, **parameters)``, with NumPy arrays, be the backend's kernel `name`."""
        leave_out(function)
        self.kernels[name] = lambda *arrays, **parameters: self.library.call(function, *arrays, **parameters)

    def method(self, name: str, function: Callable[..., Any]) -> None:
        """Let ``function(right, *args)``, with pretend arrays, replace a method or a function of the namespace.

        ``backend.copy``, ``library.place`` and ``Array.__mul__`` are methods, ``sum`` and ``linalg.det`` functions.
        """
        owner, _, method = name.partition(".")
        owners = {"backend": self.backend, "library": self.library, "Array": self.library.Array}
        right = getattr(owners[owner], method) if owner in owners else self.library.find(name)
        leave_out(function)

        def call(*args: Any, **kwargs: Any) -> Any:
            return function(right, *args, **kwargs)

        if owner in owners:
            change(owners[owner], **{method: call})
        else:
            self.library.names[name] = call

    def install(self, source: str, *, array_modules: bool = True, others: Mapping[str, str] | None = None) -> None:
        """Write a distribution of the backend that new processes find: a library, and a plugin with additional lines.

        Parameters
        ----------
        source : str
            Lines of the plugin; `bed` is the testbed of the new process.
        array_modules : bool
            Whether an entry point names the module of the arrays.
        others : mapping from name to source, optional
            More modules.
        """
        name = self.backend.name
        place = tempfile.TemporaryDirectory(prefix="xpgrad-bed-")
        weakref.finalize(self.library, place.cleanup)
        groups = {"xpgrad.backends": name, "xpgrad.array_modules": f"{name}_library" if array_modules else None}
        points = [f"[{group}]\n{point} = {name}_plugin\n" for group, point in groups.items() if point]
        texts = {
            f"{name}_library.py": LIBRARY.format(name=name),
            f"{name}_plugin.py": f"{PLUGIN.format(name=name)}{source}\n",
            f"{name}-1.0.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
            f"{name}-1.0.dist-info/entry_points.txt": "".join(points),
            **{f"{module}.py": text for module, text in (others or {}).items()},
        }
        for path, text in texts.items():
            file = Path(place.name, path)
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")
        self.library.__name__ = f"{name}_library"
        self.backend.folder = place.name

    def devices(self) -> tuple[Device, ...]:
        """Return the devices of the backend, and register the backend if necessary."""
        if not plugins.knows(self.backend.name):
            registered(self.backend, self.path, self.executor)
        return tuple(self.backend.devices())


def change(target: Any, **methods: Any) -> None:
    """Replace methods of a testbed's backend or library, or of the type of its arrays."""
    for name, method in methods.items():
        setattr(target, name, method)
        leave_out(method)


def _scatter_add(spec: Any, parts: Any) -> Any:
    total = np.zeros(spec.shape, spec.dtype)
    for index, value in parts:
        if np.size(value):
            np.add.at(total, index, value)
    return total


def pause() -> None:
    """Let other threads run, as a library does that computes without the interpreter's lock."""
    if threading.current_thread() is not threading.main_thread():
        time.sleep(0.001)


def staged(kept: dict[Any, Any], x: Any) -> Any:
    """Return `x` in memory that is kept for its shape and dtype, and written to by each call."""
    memory = kept.setdefault((x.shape, x.dtype), np.empty_like(x))
    memory[...] = x
    return memory


def host_rule(name: str) -> Callable[..., Any]:
    """Return the gradient rule `name`, of the host's arrays."""
    declared = table.find(name)
    assert declared is not None
    assert declared.rule is not None
    rule = declared.rule
    return lambda *arrays: rule(plugins.host.xp, *arrays)


def host_kernel(name: str) -> Callable[..., Any]:
    """Return the host's kernel `name`: ``special.i0e``."""
    assert table.find(name) is not None
    return lambda *arrays: plugins.host.xp.kernel(name)(*arrays)
