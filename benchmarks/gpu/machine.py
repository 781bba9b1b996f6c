"""The machine: its card, the versions of its libraries, and the device of each library."""

import importlib
import importlib.metadata
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from typing import Any

HOST = {"cupy": "@numpy", "torch": "@torch:cpu", "jax": "@jax:cpu:0"}
"""The devices that take the place of GPUs when one is pretended; NumPy takes the place of CuPy."""
CHOSEN = "XPGRAD_GPU_LIBRARIES"
"""Environment variable with the libraries to look for, separated by spaces; by default all."""
DISTRIBUTIONS = ("xpgrad", "numpy", "torch", "jax", "jaxlib", "array-api-compat", "array-api-strict", "pytest")


def devices(pretend: bool) -> dict[str, str]:
    """Return the specifier of the first GPU of each library that has one.

    Parameters
    ----------
    pretend : bool
        Return devices of the host, for the libraries that are installed.
    """
    chosen = os.environ.get(CHOSEN, " ".join(HOST)).split()
    asked: dict[str, tuple[str, Callable[[Any], bool]]] = {
        "cupy": ("@cupy:0", lambda cupy: cupy.cuda.runtime.getDeviceCount() > 0),
        "torch": ("@torch:cuda:0", lambda torch: torch.cuda.is_available()),
        "jax": ("@jax:gpu:0", lambda jax: jax.devices()[0].platform == "gpu"),
    }
    found = {}
    for library, (specifier, has_gpu) in asked.items():
        if library not in chosen:
            continue
        try:
            module = importlib.import_module("numpy" if pretend and library == "cupy" else library)
            if pretend or has_gpu(module):
                found[library] = HOST[library] if pretend else specifier
        except Exception as error:  # a library that is not installed, or finds no driver
            print(f"{library}: {type(error).__name__}: {error}", file=sys.stderr)
    return found


def facts() -> dict[str, str]:
    """Return what the report says of the machine: card and driver, versions, and the commit."""
    found = {"python": platform.python_version(), "system": platform.platform()}
    found["card"] = _printed("nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader")
    found["clocks"] = _printed("nvidia-smi", "--query-gpu=clocks.sm,clocks.mem,clocks.max.sm", "--format=csv,noheader")
    found["commit"] = _printed("git", "rev-parse", "HEAD")
    for each in importlib.metadata.distributions():
        name = str(each.metadata["Name"]).lower().replace("_", "-")
        if name in DISTRIBUTIONS or name.startswith("cupy"):
            found[name] = each.version
    return found


def _printed(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"unknown: {type(error).__name__}"
    return done.stdout.strip() if done.returncode == 0 else "unknown"


if __name__ == "__main__":
    print(*devices("--pretend" in sys.argv).values())
