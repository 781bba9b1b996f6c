"""The names of traced arrays' libraries: functions and kernels that record their calls."""

import functools
import types
from typing import TYPE_CHECKING, Any

from xpgrad.backend.backend import Backend
from xpgrad.backend.kernels import EXTENSIONS, Declaration, KernelNamespace
from xpgrad.types import Kernel, Namespace

if TYPE_CHECKING:
    from xpgrad.transforms.trace.backend import TraceBackend

STATIC = frozenset(
    ["result_type", "can_cast", "isdtype", "finfo", "iinfo", "__array_namespace_info__", "broadcast_shapes", "ndim"]
)
"""Functions whose results do not depend on values, and are no arrays."""
DRAWS = "random_uniform", "random_normal"


class TraceKernels(KernelNamespace):
    """The kernels of the base, each recorded as one call; the default body of one that the base lacks is traced."""

    backend: "TraceBackend"

    def find(self, name: str) -> Kernel | None:
        """Return the base's replacement of a kernel, recorded, or None."""
        found = self.backend.base.xp.find(name)
        return None if found is None else self.backend.recorded(name, self.backend.base.follow(found))

    def kernel_of(self, declaration: Declaration) -> Kernel:
        """Return a kernel: one recorded call where the base has its own, or where its body needs values."""
        name, backend = declaration.name, self.backend
        if name in DRAWS:
            return backend.draw(name)
        if name == "accumulate":  # which may write to its first argument: nothing that is recorded does
            return backend.recorded("add", backend.base.xp.add)
        if self.replacement(declaration) is not None or declaration.body is None:
            return backend.recorded(name, backend.base.xp.kernel_of(declaration))
        whole = backend.recorded(name, functools.partial(_kernel_of, backend.base, declaration))
        return backend.either(self._default(declaration), whole)


def _kernel_of(base: Backend, declaration: Declaration, *arrays: Any, **parameters: Any) -> Any:
    return base.xp.kernel_of(declaration)(*arrays, **parameters)


class TraceNamespace:
    """The names of a base's namespace, its functions recorded."""

    def __init__(self, backend: "TraceBackend", base: Namespace, prefix: str = "") -> None:
        self._backend, self._base, self._prefix = backend, base, prefix
        self.__name__ = f"xpgrad.trace.{getattr(base, '__name__', 'namespace')}"

    def __repr__(self) -> str:
        return f"<{self.__name__}>"

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._base, name)
        backend, full = self._backend, self._prefix + name
        if isinstance(found, (types.ModuleType, TraceNamespace)) or full in EXTENSIONS:
            made: Any = TraceNamespace(backend, found, f"{full}.")
        elif not callable(found) or isinstance(found, type):
            return found
        elif name in STATIC:
            made = backend.plain(found)
        else:
            made = backend.recorded(full, backend.base.follow(found))
        self.__dict__[name] = made
        return made

    def __dir__(self) -> list[str]:
        return dir(self._base)
