"""The machine: usable cores, thread settings, BLAS libraries and their kernels."""

import math
import os
import platform
import sys
from pathlib import Path
from typing import Any

VARIABLES = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OPENBLAS_CORETYPE", "MKL_NUM_THREADS", "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS", "NUMEXPR_NUM_THREADS", "OMP_PROC_BIND", "XPGRAD_DEVICE", "XPGRAD_BACKENDS",
    "XPGRAD_DISABLE_BACKENDS", "XPGRAD_NUM_THREADS", "XPGRAD_CODEGEN",
)  # fmt: skip
AVX512 = frozenset(["avx512f", "avx512dq", "avx512bw", "avx512vl"])
"""The processor features that OpenBLAS's kernels for SkylakeX need."""


def machine() -> dict[str, Any]:
    """Return cores and settings, without importing a library."""
    cores, affinity = os.cpu_count() or 1, _affinity()
    quota = _quota()
    usable = max(1, min(math.ceil(n) for n in (cores, affinity, quota) if n is not None))
    return {
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "cores": cores,
        "affinity": affinity,
        "quota": quota,
        "usable": usable,
        "avx512": _cpu_flags() >= AVX512,
        "variables": {name: os.environ[name] for name in VARIABLES if name in os.environ},
    }


def _affinity() -> int | None:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None


def _quota() -> float | None:
    """Return the number of cores that a container may use, None without a limit."""
    try:
        limit, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return None if limit == "max" else int(limit) / int(period)
    except (OSError, ValueError):
        return None


def _cpu_flags() -> frozenset[str]:
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return frozenset()
    line = next((line for line in text.splitlines() if line.startswith("flags")), "")
    return frozenset(line.partition(":")[2].split())


def thread_pools() -> list[dict[str, Any]]:
    """Return the libraries with threads in this process: from threadpoolctl, else from NumPy's build configuration."""
    try:
        from threadpoolctl import threadpool_info  # an extra

        info = threadpool_info()
    except Exception:  # not installed, or it fails on a library
        return _built_with()
    return [
        {
            "kind": pool.get("user_api"),
            "name": pool.get("internal_api"),
            "version": pool.get("version"),
            "kernels": pool.get("architecture"),
            "threads": pool.get("num_threads"),
            "file": os.path.basename(pool.get("filepath", "")),
        }
        for pool in info
    ]


def _built_with() -> list[dict[str, Any]]:
    """Return the BLAS that NumPy was built with, if NumPy is imported; its kernels and threads are unknown."""
    numpy = sys.modules.get("numpy")
    try:
        blas = numpy.show_config(mode="dicts")["Build Dependencies"]["blas"]  # type: ignore[union-attr]  # None raises too
    except Exception:  # the format depends on the version
        return []
    pool = {"kind": "blas", "name": blas.get("name"), "version": blas.get("version")}
    return [pool | {"kernels": None, "threads": None, "file": None}]
