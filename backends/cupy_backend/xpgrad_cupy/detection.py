"""Detection of missing requirements of CuPy, with cheap checks first."""

import ctypes
import os
from importlib.util import find_spec
from typing import Any

INSTALL = "pip install 'xpgrad[cuda13]' on a machine with a GPU"
DRIVERS = ("nvcuda.dll",) if os.name == "nt" else ("libcuda.so.1",)


def why_unavailable() -> str | None:
    """Return the first reason why CuPy cannot be used, as one sentence; None if none is found.

    CuPy is not imported, because that takes a fifth of a second. Whether a device can compute is tested at its first
    use (`why_broken`).
    """
    if find_spec("cupy") is None:
        return f"cupy: CuPy is not installed; {INSTALL}"
    driver = _driver()
    if driver is None:
        return f"cupy: no CUDA driver found ({DRIVERS[0]}); {INSTALL}"
    status = driver.cuInit(0)
    count = ctypes.c_int(0)
    if not status:
        status = driver.cuDeviceGetCount(ctypes.byref(count))
    if status:
        return f"cupy: the CUDA driver gives error {status}; see that nvidia-smi lists a GPU"
    if not count.value:
        return "cupy: the CUDA driver lists no GPU; see nvidia-smi and CUDA_VISIBLE_DEVICES"
    return None


def _driver() -> Any:
    for name in DRIVERS:
        try:
            return ctypes.CDLL(name)
        except OSError:
            pass
    return None


def why_broken(cupy: Any, number: int) -> str | None:
    """Return why the GPU `number` cannot compute, None if it can: a small kernel is compiled and run there.

    Some devices are listed but too old, or too new, for the compiler that CuPy finds.
    """
    try:
        with cupy.cuda.Device(number):
            total = int((cupy.arange(3) + 1).sum())
    except Exception as error:  # any error of the driver, the compiler or the linker
        return f"cupy: GPU {number} is listed but runs no kernel: {type(error).__name__}: {error}"
    return None if total == 6 else f"cupy: GPU {number} computes wrong sums: 1 + 2 + 3 gave {total}"
