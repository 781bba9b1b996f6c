"""dpnp as the Array API standard has it."""

from typing import Any

import dpnp
from dpnp.tensor import Device as Handle

from xpgrad.types import Array
from xpgrad_dpnp import linalg as linalg


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Array:
    """Return a dpnp array of what another library has; host memory is copied to the default device.

    dpnp's own function gives a NumPy array for host memory, unless it is told a device.
    """
    made = dpnp.from_dlpack(x, device=device, copy=copy)
    return made if isinstance(made, dpnp.ndarray) else dpnp.from_dlpack(x, device=Handle.create_device(), copy=copy)


def __getattr__(name: str) -> Any:
    return getattr(dpnp, name)
