"""The libraries that are compared: how each is imported, on one thread, and which are missing here."""

import importlib
from collections.abc import Callable
from types import ModuleType

ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NPROC": "1",  # jaxlib sizes its thread pools by it
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false --xla_force_host_platform_device_count=1",
    "JAX_PLATFORMS": "cpu",
}
"""Environment of every worker: it must be there before the first import."""

DISTRIBUTIONS = {"h": "numpy", "t": "torch", "autograd": "autograd", "jax": "jax", "xpgrad": "xpgrad"}
"""The distribution behind each contestant; `h` is NumPy by hand, `t` is torch eager."""


def load(contestant: str) -> ModuleType:
    """The library behind a contestant, with the submodules that the workloads use; ImportError if it is missing."""
    return _LOADERS[contestant.split()[0]]()


def _numpy() -> ModuleType:
    return importlib.import_module("numpy")


def _torch() -> ModuleType:
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)
    return torch


def _autograd() -> ModuleType:
    importlib.import_module("autograd.numpy")
    return importlib.import_module("autograd")


def _jax() -> ModuleType:
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)  # else float64 workloads would silently run in float32
    # In the calling thread: Linux charges other threads' CPU time late, and so to another sample.
    jax.config.update("jax_cpu_enable_async_dispatch", False)
    return jax


def _xpgrad() -> ModuleType:
    importlib.import_module("xpgrad.array_api")
    importlib.import_module("xpgrad.functions")
    importlib.import_module("xpgrad.transforms")
    return importlib.import_module("xpgrad")


_LOADERS: dict[str, Callable[[], ModuleType]] = {
    "h": _numpy,
    "t": _torch,
    "autograd": _autograd,
    "jax": _jax,
    "xpgrad": _xpgrad,
}
