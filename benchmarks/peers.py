"""The compared libraries: their imports, numbers of threads, and availability."""

import importlib
import os
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

EXECUTORS = "python", "c"
COMPILED = "xpgrad compiled"
"""A contestant of that name stands for one with each executor: "xpgrad compiled c"."""

DISTRIBUTIONS = {
    "h": "numpy", "t": "torch", "autograd": "autograd", "advect": "advect", "jax": "jax", "xpgrad": "xpgrad",
}  # fmt: skip
"""The distribution behind each contestant; `h` is NumPy by hand, `t` is torch eager, `plain` is xpgrad, too."""


def threads(cores: int) -> dict[str, str]:
    """Return the environment of a worker on so many cores, to be set before the first import."""
    names = "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "XPGRAD_NUM_THREADS"
    flags = f"--xla_cpu_multi_thread_eigen={'true' if cores > 1 else 'false'} --xla_force_host_platform_device_count=1"
    return {
        **dict.fromkeys(names, str(cores)),
        "NPROC": str(cores),  # jaxlib sizes its thread pools by it
        "XLA_FLAGS": flags,
        "JAX_PLATFORMS": "cpu",
    }


def cores() -> int:
    """Return the number of cores of this worker."""
    return int(os.environ.get("XPGRAD_NUM_THREADS", "1"))


def pin(count: int) -> None:
    """Restrict this process and its child processes to `count` cores, if the system supports this."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:count])


def load(contestant: str) -> Any:
    """Return the library behind a contestant, with the submodules that the workloads use.

    Raises
    ------
    ImportError
        The library is missing, or has no such executor.
    """
    library = _LOADERS[contestant.split()[0]]()
    return (
        _Compiling(library, contestant.removeprefix(COMPILED).strip()) if contestant.startswith(COMPILED) else library
    )


def settle() -> None:
    """Wait for xpgrad's background compilation, so that the next call runs the compiled code."""
    try:
        executors = importlib.import_module("xpgrad.transforms.trace.executors")
    except ImportError:  # of a version without programs
        return
    getattr(executors, "wait", lambda: None)()


class _Compiling:
    """xpgrad, with a `compile` that uses one executor."""

    def __init__(self, library: ModuleType, executor: str) -> None:
        self._library = library
        self.compile = partial(library.compile, executor=executor)
        try:
            self.compile(abs)
        except TypeError as error:  # of a version that has the executor `python` only
            if executor not in ("", "python"):
                raise ImportError(f"xpgrad.compile has no executor {executor!r}") from error
            self.compile = library.compile
        except ValueError as error:
            raise ImportError(f"xpgrad.compile has no executor {executor!r}: {error}") from error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._library, name)


def _numpy() -> ModuleType:
    return importlib.import_module("numpy")


def _torch() -> ModuleType:
    torch = importlib.import_module("torch")
    torch.set_num_threads(cores())
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
    "torch.compile": _torch,
    "autograd": _autograd,
    "advect": lambda: importlib.import_module("advect"),
    "jax": _jax,
    "plain": _xpgrad,
    "xpgrad": _xpgrad,
}
