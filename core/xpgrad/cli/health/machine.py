"""The machine: cores that may be used, thread settings, the libraries that multiply matrices and their kernels."""

import math
import os
import platform
import sys
from pathlib import Path
from typing import Any

VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "OPENBLAS_CORETYPE",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "OMP_PROC_BIND",
    "XPGRAD_DEVICE",
    "XPGRAD_BACKENDS",
    "XPGRAD_DISABLE_BACKENDS",
)
AVX512 = frozenset(["avx512f", "avx512dq", "avx512bw", "avx512vl"])
"""What OpenBLAS's kernels for SkylakeX need."""
AVX2_KERNELS = ("Haswell", "Zen")


def machine() -> dict[str, Any]:
    """Return cores and settings; nothing is imported for that."""
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
    """Return the number of cores that a container may use, None if there is no bound."""
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
    """Return the libraries with threads in this process: from threadpoolctl, else what NumPy was built with."""
    try:
        from threadpoolctl import threadpool_info  # an extra

        info = threadpool_info()
    except Exception:  # not there, or puzzled by a library
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
    """Return the BLAS that NumPy was built with, if NumPy is here; its kernels and threads are not known."""
    numpy = sys.modules.get("numpy")
    try:
        blas = numpy.show_config(mode="dicts")["Build Dependencies"]["blas"]  # type: ignore[union-attr]  # None raises too
    except Exception:  # another form in another version
        return []
    pool = {"kind": "blas", "name": blas.get("name"), "version": blas.get("version")}
    return [pool | {"kernels": None, "threads": None, "file": None}]
