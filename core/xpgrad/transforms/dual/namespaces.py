"""The names of dual arrays' libraries: kernels and functions that compute tangents, too."""

import functools
import types
from typing import TYPE_CHECKING, Any

from xpgrad.backend import random
from xpgrad.backend.backend import Backend
from xpgrad.backend.kernels import EXTENSIONS, OWNER, Declaration, KernelNamespace, table
from xpgrad.types import DeviceHandle, Dtype, Kernel, Namespace, Shape

if TYPE_CHECKING:
    from xpgrad.transforms.dual.backend import DualBackend

STATIC = frozenset(
    ["result_type", "can_cast", "isdtype", "finfo", "iinfo", "__array_namespace_info__", "broadcast_shapes", "ndim"]
)
"""Functions that return no arrays."""
DRAWS = "random_uniform", "random_normal"


class DualKernels(KernelNamespace):
    """The kernels of the base with their tangents; rules, which have no kernels here, run on dual arrays."""

    backend: "DualBackend"

    def find(self, name: str) -> Kernel | None:
        """Return None: gradient rules run on dual arrays."""
        return None

    def kernel_of(self, declaration: Declaration) -> Kernel:
        """Return a kernel: that of a primitive with its tangent, any other one by its body."""
        name, backend = declaration.name, self.backend
        if name in DRAWS:
            return functools.partial(_drawn, backend, name)
        if name == "accumulate":  # which may write to its first argument
            return backend.function("add")
        if name == "scatter_add":
            return functools.partial(_scattered, backend)
        definition: Any = table.definition(name)
        if definition is not None and definition.kernel is declaration:
            return backend.function(name) if OWNER not in name else backend.primitive(definition)
        return self._by_body(declaration)

    def _by_body(self, declaration: Declaration) -> Kernel:
        """Return a kernel that no primitive has: the base's without tangents, else its default body."""
        backend, body, base = self.backend, self._default(declaration), self.backend.base

        def called(*args: Any, **parameters: Any) -> Any:
            if body is not None and backend.has_tangent((args, parameters)):
                return body(*args, **parameters)
            kernel, levels = base.xp.kernel_of(declaration), list[Any]()
            out = kernel(*backend.opened(args, levels), **backend.opened(parameters, levels))
            return backend.closed(backend.level(), out)

        return called


def _drawn(
    backend: "DualBackend", name: str, *, shape: Shape, dtype: Dtype, device: DeviceHandle, generator: Any
) -> Any:
    """Return random numbers from the stream of the base's device, without a tangent."""
    return backend.constant(random.draw(name, shape, dtype, backend.base.device_for(device)))


def _scattered(backend: "DualBackend", spec: Any, parts: list[Any], /) -> Any:
    """Return zeros with values added at their indices; the tangents are added there, too."""
    base: Backend = backend.base
    levels: list[Any] = []
    plain, opened = backend.opened(spec, levels), backend.opened(parts, levels)
    values = [value.tangent if type(value) is backend.kind else None for _, value in parts]
    moved = [(index, t) for (index, _), t in zip(opened, values, strict=True) if t is not None]
    primal = base.xp.scatter_add(plain, opened)
    return backend.kind(backend.level(), primal, base.xp.scatter_add(plain, moved) if moved else None)


class DualNamespace:
    """The names of a base's namespace, its functions for dual arrays."""

    def __init__(self, backend: "DualBackend", base: Namespace, prefix: str = "") -> None:
        self._backend, self._base, self._prefix = backend, base, prefix
        self.__name__ = f"xpgrad.dual.{getattr(base, '__name__', 'namespace')}"

    def __repr__(self) -> str:
        return f"<{self.__name__}>"

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._base, name)
        backend, full = self._backend, self._prefix + name
        made: Any
        if isinstance(found, (types.ModuleType, type(self._base))) or full in EXTENSIONS:
            made = DualNamespace(backend, found, f"{full}.")
        elif not callable(found) or isinstance(found, type):
            return found
        elif name in STATIC:
            made = lambda *args, **kwargs: found(*backend.opened(args, []), **backend.opened(kwargs, []))  # noqa: E731
        else:
            made = self._function(full, found)
        self.__dict__[name] = made
        return made

    def _function(self, name: str, found: Any) -> Any:
        backend = self._backend
        if name == "asarray":
            return functools.partial(_asarray, backend)
        if name == "astype":
            return functools.partial(_astype, backend)
        definition: Any = table.definition(name)
        if definition is None:
            return backend.by_library(name, backend.base.follow(found))

        def called(*args: Any, **kwargs: Any) -> Any:
            operands, parameters = definition.bind(args, kwargs)
            return backend.function(name)(*operands, **parameters)

        return called

    def __dir__(self) -> list[str]:
        return dir(self._base)


def _asarray(
    backend: "DualBackend", obj: Any, /, *, dtype: Dtype | None = None, device: Any = None, copy: bool | None = None
) -> Any:
    if type(obj) is not backend.kind:
        levels: list[Any] = []
        plain = backend.opened(obj, levels)
        return backend.constant(backend.base.namespace.asarray(plain, dtype=dtype, device=device, copy=copy))
    make = backend.base.namespace.asarray
    return backend.mapped(obj, lambda x: make(x, dtype=dtype, device=device, copy=copy))


def _astype(backend: "DualBackend", x: Any, dtype: Dtype, /, *, copy: bool = True, device: Any = None) -> Any:
    cast = backend.base.xp.astype
    return backend.mapped(x, lambda each: cast(each, dtype, copy=copy))
