"""Virtual devices: a backend over another one's arrays that has two devices or more."""

import functools
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from xpgrad import Device
from xpgrad.backend.plugins import plugins
from xpgrad.plugin import ArrayAPIBackend, Backend, Capabilities, hookimpl, register
from xpgrad.types import Array, Kernel
from xpgrad_conformance.pretend import PretendLibrary


class PretendBackend(ArrayAPIBackend):
    """The backend of a pretend library; it calls the inner backend for functions that it does not define.

    Parameters
    ----------
    name : str
    library : PretendLibrary
    kernels : dict, optional
        By default the capabilities of the inner backend, on pretend arrays.
    """

    library: PretendLibrary
    folder: str | None = None
    """Where a distribution of the backend lies, which new processes are to find."""

    def __init__(self, name: str, library: PretendLibrary, kernels: Mapping[str, Kernel] | None = None) -> None:
        self.library, inner = library, library.inner
        self._own_kernels = kernels is not None
        own = {n: self.lifted(k) for n, k in inner.overrides().items()} if kernels is None else dict(kernels)
        super().__init__(
            name=name,
            namespace=library,
            array_types=(library.Array,),
            devices={device: device for device in library.devices},
            kernels=own,
            immutable=inner.immutable,
            synchronize=lambda handle: library.wait(),
            version=inner.version,
            capabilities=_of_several(inner.capabilities),
            thresholds=inner.thresholds,
        )

    def lazy_override(self, name: str) -> Kernel | None:
        """Return the inner backend's kernel `name` for pretend arrays; special functions keep their default."""
        found = None if self._own_kernels or name.startswith("special.") else self.library.inner.lazy_override(name)
        return found and self.lifted(found)

    def lifted(self, kernel: Kernel) -> Kernel:
        """Return a kernel of the inner backend as one of pretend arrays."""

        @functools.wraps(kernel)
        def call(*arrays: Any, **parameters: Any) -> Any:
            inner = kernel
            if parameters.get("device") is not None:
                inner = functools.partial(kernel, device=self.library.inner.default_device.handle)
            return self.library.call(inner, *arrays, **parameters)

        if kernel is self.library.inner.overrides().get("scatter_add"):
            return self._scatter_add(kernel)
        return call

    def _scatter_add(self, kernel: Kernel) -> Kernel:
        def scatter_add(spec: Any, parts: Any, /) -> Any:
            inner = self.library.inner
            opened = self.library.opened(list(parts), [])
            inner_spec = inner.spec_for(spec.shape, spec.dtype, inner.default_device.handle)
            return self.library.closed(kernel(inner_spec, opened), spec.device)

        return scatter_add

    def is_kind(self, dtype: Any, kind: str | tuple[str, ...]) -> bool:
        """Return whether `dtype` is of a kind of the standard's `isdtype`."""
        return self.library.inner.is_kind(dtype, kind)

    def default_dtype(self, kind: str) -> Any:
        """Return the default dtype for "float" or "complex"."""
        return self.library.inner.default_dtype(kind)

    def dtype_name(self, dtype: Any) -> str:
        """Return the short name of `dtype`."""
        return self.library.inner.dtype_name(dtype)

    def is_view(self, array: Array) -> bool:
        """Return whether `array` may share memory with another array."""
        return self.library.inner.is_view(array.inner)

    def copy(self, array: Array) -> Array:
        """Return a copy that shares no memory with `array`."""
        return self.library.array(self.library.inner.copy(array.inner), array.device)

    def to_host(self, array: Array) -> Array:
        """Return a copy as an array of the host backend; it waits for the values."""
        self.library.wait()
        return self.seen(array)

    def seen(self, array: Array) -> Array:
        """Return a copy, as a host array, of the value that the host reads now."""
        inner, host = self.library.inner, plugins.host
        return host.copy(array.shown) if inner is host else inner.to_host(array.shown)

    def from_host(self, array: Array, device: Device) -> Array:
        """Return a copy of the host's array on `device`."""
        inner = self.library.inner
        own = inner.copy(array) if inner is plugins.host else inner.from_host(array, inner.default_device)
        return self.library.array(own, device.handle)

    def dlpack_device(self, device: Device) -> Any:
        """Return None: DLPack cannot represent simulated devices."""
        return None


def _of_several(capabilities: Capabilities) -> Capabilities:
    missing = {fact: reason for fact, reason in capabilities.missing.items() if fact != "several_devices"}
    return Capabilities(missing, tolerances=capabilities.tolerances)


def registered(
    backend: Backend, path: Callable[[Device, Device], Any] | None = None, executor: Callable[[Any], Any] | None = None
) -> Backend:
    """Register a backend that this program has created, and return it.

    Parameters
    ----------
    backend : Backend
    path : callable, optional
        ``path(source, target)`` returns a direct path between two devices, or None: the hook `xpgrad_transfer`.
    executor : callable, optional
        Result of the hook `xpgrad_executor` for this backend.
    """

    def xpgrad_backend() -> Backend:
        return backend

    def xpgrad_transfer(source: Device, target: Device) -> Any:
        return None if path is None else path(source, target)

    def xpgrad_executor(backend: Backend) -> Any:
        return executor if backend is given else None

    given = backend
    hooks = {"xpgrad_backend": hookimpl(_named(xpgrad_backend))}
    if path is not None:
        hooks["xpgrad_transfer"] = hookimpl(_named(xpgrad_transfer))
    if executor is not None:
        hooks["xpgrad_executor"] = hookimpl(_named(xpgrad_executor))
    return register(SimpleNamespace(**hooks), backend.name)


def _named(function: Callable[..., Any]) -> Callable[..., Any]:
    function.__qualname__ = function.__name__  # pluggy identifies a hook by the name of the function
    return function


@functools.cache
def virtual(backend: Backend) -> Sequence[Device]:
    """Return two virtual devices over the arrays of a backend."""
    library = PretendLibrary(backend, ("0", "1"))
    return registered(PretendBackend(f"{backend.name}_virtual", library)).devices()
