"""The names of batched arrays' libraries: functions and kernels, computed for all members at once."""

import types
from typing import TYPE_CHECKING, Any

from xpgrad.backend.kernels import EXTENSIONS, Declaration, KernelNamespace, table
from xpgrad.transforms.batch.rows.elementwise import elementwise
from xpgrad.transforms.batch.rows.table import BY_BODY, gradient_rows, rows
from xpgrad.types import Kernel, Namespace

if TYPE_CHECKING:
    from xpgrad.transforms.batch.backend import BatchBackend

STATIC = frozenset(["result_type", "can_cast", "isdtype", "finfo", "iinfo", "__array_namespace_info__"])
"""Functions whose results do not depend on values, and are no arrays."""


DRAWN = frozenset(["random_normal", "random_uniform"])
"""Kernels of random numbers."""


class BatchKernels(KernelNamespace):
    """Kernels by their rows, elementwise ones by the base's kernel; the others by their default body on batches."""

    backend: "BatchBackend"

    def find(self, name: str) -> Kernel | None:
        """Return the base's gradient kernel by its row, or None; other kernels of the base are found by `kernel_of`."""
        row = gradient_rows.get(name)
        found = None if row is None else self.backend.base.xp.find(name)
        return None if found is None else self.backend.by_row(name, row, self.backend.base.follow(found))

    def body(self, name: str) -> Kernel:
        """Return the default body of the kernel `name`, which runs on batches."""
        body = self._default(table.declared[name])
        assert body is not None
        return body

    def kernel_of(self, declaration: Declaration) -> Kernel:
        """Return a kernel by its row, by the base's kernel if it is elementwise, else its default body."""
        name, backend = declaration.name, self.backend
        if name in DRAWN:
            return backend.drawn(name)
        row = None if name in BY_BODY else rows.get(name)
        definition: Any = table.definition(name)
        if row is None and definition is not None and definition.elementwise:
            row = elementwise
        if row is None:
            body = self._default(declaration)
            if name in BY_BODY and body is not None:
                return body
            row = None if body is None else lambda b, function, *args, **options: body(*args, **options)
        return backend.by_row(name, row, backend.base.xp.kernel_of(declaration))


class BatchNamespace:
    """The names of a base's namespace, its functions by their rows."""

    def __init__(self, backend: "BatchBackend", base: Namespace, prefix: str = "") -> None:
        self._backend, self._base, self._prefix = backend, base, prefix
        self.__name__ = f"xpgrad.batch.{getattr(base, '__name__', 'namespace')}"

    def __repr__(self) -> str:
        return f"<{self.__name__}>"

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._base, name)
        backend, full = self._backend, self._prefix + name
        if full in EXTENSIONS or isinstance(found, types.ModuleType) or hasattr(found, "_prefix"):
            made: Any = BatchNamespace(backend, found, f"{full}.")
        elif not callable(found) or isinstance(found, type):
            return found
        elif name in STATIC:
            made = backend.plain(found)
        else:
            made = backend.by_row(full, rows.get(full), backend.base.follow(found))
        self.__dict__[name] = made
        return made

    def __dir__(self) -> list[str]:
        return dir(self._base)
