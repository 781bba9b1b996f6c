"""Random numbers: drawn on the host, as by default, but never while jax traces a function."""

from typing import Any

import jax.numpy as jnp
from jax.core import Tracer

from xpgrad.errors import GraphError
from xpgrad.types import DeviceHandle, Dtype, Kernel, Shape


def random_uniform(*, shape: Shape, dtype: Dtype, device: DeviceHandle, generator: Any) -> Any:
    """Decline, or refuse within a function that jax traces."""
    return _untraced("random_uniform")


def random_normal(*, shape: Shape, dtype: Dtype, device: DeviceHandle, generator: Any) -> Any:
    """Decline, or refuse within a function that jax traces."""
    return _untraced("random_normal")


def _untraced(name: str) -> Any:
    if isinstance(jnp.zeros(()), Tracer):
        raise GraphError(
            f"{name}: numbers that are drawn while jax traces a function would be the same ones in all of its runs; "
            "draw them outside and hand them in"
        )
    return NotImplemented


KERNELS: dict[str, Kernel] = {"random_uniform": random_uniform, "random_normal": random_normal}
