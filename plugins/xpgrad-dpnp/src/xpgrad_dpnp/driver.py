"""SYCL's environment variables: the OpenCL driver for CPUs in dpnp's wheels, and its number of threads."""

import os
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

VARIABLE = "OCL_ICD_FILENAMES"
DISTRIBUTION = "intel-opencl-rt"
LIBRARIES = "libintelocl.so", "intelocl64.dll"
REGISTERED = "/etc/OpenCL/vendors"
POOL = "SYCL_QUEUE_THREAD_POOL_SIZE"
THREADS = 32
"""Of SYCL's threads that wait for the interpreter's lock, there must be more than of threads that index arrays."""


def name_driver() -> None:
    """Register the driver in the wheels with OpenCL, unless the user or the system names one.

    SYCL reads the variable when it first lists devices, so this has no effect if the program has already used dpctl.
    """
    if VARIABLE in os.environ or registered():
        return
    library = carried()
    if library is not None:
        os.environ[VARIABLE] = str(library)


def widen_pool() -> None:
    """Let SYCL have more threads than its default of a few, unless the user sets a number."""
    os.environ.setdefault(POOL, str(THREADS))


def carried() -> Path | None:
    """Return the driver that was installed with dpnp, or None."""
    try:
        files = distribution(DISTRIBUTION).files or ()
    except PackageNotFoundError:
        return None
    paths = (Path(str(file.locate())).resolve() for file in files if file.name in LIBRARIES)
    return next((path for path in paths if path.is_file()), None)


def registered(folder: str | None = None) -> bool:
    """Return whether Intel's driver is registered with the system: registering it again would list each CPU twice."""
    place = Path(folder or os.environ.get("OCL_ICD_VENDORS", REGISTERED))
    try:
        return any("intelocl" in path.read_text(errors="replace") for path in place.glob("*.icd"))
    except OSError:
        return False
