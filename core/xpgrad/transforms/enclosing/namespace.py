"""The names of a library for the arrays of a transformation: its functions, and the kernels."""

import types
from typing import Any, Protocol

from xpgrad.backend.kernels import EXTENSIONS, Declaration, KernelNamespace, Library, table
from xpgrad.types import Kernel, Namespace

STATIC = frozenset(
    ["result_type", "can_cast", "isdtype", "finfo", "iinfo", "__array_namespace_info__", "broadcast_shapes"]
)
"""Functions whose results do not depend on values, and are no arrays."""
ATTRIBUTES = "ndim", "shape"
"""Functions of libraries that return attributes of their argument."""
DRAWS = frozenset(["random_normal", "random_uniform"])
"""Kernels of random numbers."""


class Transformed(Library, Protocol):
    """The part of a transformation's backend that its namespaces use."""

    def library_function(self, name: str, function: Kernel) -> Kernel:
        """Return a function of the base, ``linalg.det``, as one of this backend's arrays."""
        ...

    def static(self, function: Kernel) -> Kernel:
        """Return one of `STATIC` of the base as a function of this backend's arrays."""
        ...

    def drawn(self, name: str) -> Kernel:
        """Return one of the kernels `DRAWS`."""
        ...

    def replacement(self, name: str) -> Kernel | None:
        """Return the base's replacement of a kernel as a function of this backend's arrays, or None."""
        ...

    def declared_kernel(self, declaration: Declaration, body: Kernel | None) -> Kernel:
        """Return another kernel; `body` is its default body, which computes with this backend's arrays."""
        ...


class TransformedKernels(KernelNamespace):
    """The kernels of a transformation's arrays, which its backend finds."""

    backend: Transformed

    def find(self, name: str) -> Kernel | None:
        """Return a replacement of the kernel `name`, or None."""
        return self.backend.replacement(name)

    def kernel_of(self, declaration: Declaration) -> Kernel:
        """Return a kernel by its declaration."""
        if declaration.name in DRAWS:
            return self.backend.drawn(declaration.name)
        return self.backend.declared_kernel(declaration, self._default(declaration))

    def body(self, name: str) -> Kernel:
        """Return the default body of the kernel `name`."""
        body = self._default(table.declared[name])
        assert body is not None
        return body


class TransformedNamespace:
    """The names of a base's namespace, its functions for the arrays of a transformation.

    Parameters
    ----------
    backend : TransformedBackend
    base : namespace
        Namespace of the library, or of one of its extensions.
    prefix : str
        ``linalg.`` for that extension.
    """

    def __init__(self, backend: Transformed, base: Namespace, prefix: str = "") -> None:
        self._backend, self._base, self._prefix = backend, base, prefix
        self.__name__ = f"xpgrad.{backend.name.partition('(')[0]}.{getattr(base, '__name__', 'namespace')}"

    def __repr__(self) -> str:
        return f"<{self.__name__}>"

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._base, name)
        full = self._prefix + name
        made: Any
        if isinstance(found, (types.ModuleType, TransformedNamespace)) or full in EXTENSIONS:
            made = TransformedNamespace(self._backend, found, f"{full}.")
        elif not callable(found) or isinstance(found, type):
            return found
        elif name in STATIC:
            made = self._backend.static(found)
        elif name in ATTRIBUTES:
            made = lambda x: getattr(x, name) if hasattr(x, name) else found(x)  # noqa: E731
        else:
            made = self._backend.library_function(full, found)
        self.__dict__[name] = made
        return made

    def __dir__(self) -> list[str]:
        return dir(self._base)
