"""Convolutions by `jax.lax`, and their transposes."""

import functools
from typing import Any

import jax
import jax.numpy as jnp

from xpgrad.plugin import Geometry
from xpgrad.types import Array, Dtype, Kernel

DTYPES = "float32", "float64"
STRUCT: Any = jax.ShapeDtypeStruct


def _products(x: Array, W: Array, geometry: Geometry, groups: int) -> Array:
    """Return the products of windows and filters."""
    g = geometry
    padding = [
        (p, s * (o - 1) + d * (k - 1) + 1 - n - p)
        for n, k, s, p, d, o in zip(g.size, g.ksize, g.stride, g.pad, g.dilate, g.out, strict=True)
    ]
    return jax.lax.conv_general_dilated(
        x, W, g.stride, padding, rhs_dilation=g.dilate, feature_group_count=groups, precision="highest"
    )


@functools.partial(jax.jit, static_argnames=("geometry", "groups"))
def convolution(x: Array, W: Array, b: Array | None, /, geometry: Geometry, groups: int) -> Array:
    """Return the products of windows and filters."""
    y = _products(x, W, geometry, groups)
    return y if b is None else y + _bias(b, geometry)


@functools.partial(jax.jit, static_argnames=("geometry", "groups"))
def transposed_convolution(x: Array, W: Array, b: Array | None, /, geometry: Geometry, groups: int) -> Array:
    """Return images on which filters are added in their windows."""
    image = STRUCT((x.shape[0], W.shape[1] * groups, *geometry.size), x.dtype)
    (y,) = jax.linear_transpose(lambda image: _products(image, W, geometry, groups), image)(x)
    return y if b is None else y + _bias(b, geometry)


@functools.partial(jax.jit, static_argnames=("geometry", "groups"))
def convolution_filter_backward(x: Array, g: Array, /, geometry: Geometry, groups: int) -> Array:
    """Return the sums over batch and windows of windows times `g`."""
    W = STRUCT((g.shape[1], x.shape[1] // groups, *geometry.ksize), x.dtype)
    (y,) = jax.linear_transpose(lambda W: _products(x, W, geometry, groups), W)(g)
    return y


def _bias(b: Array, geometry: Geometry) -> Array:
    return b.reshape((b.shape[0],) + (1,) * geometry.ndim)


CONVOLUTION: dict[str, Kernel] = {
    "convolution": convolution,
    "transposed_convolution": transposed_convolution,
    "convolution_filter_backward": convolution_filter_backward,
}


def suited(kernel: Kernel, body: Kernel) -> Kernel:
    """Return a kernel, for other arrays than not empty ones of one dtype in `DTYPES` the default body."""

    @functools.wraps(body)
    def call(*args: Any, **parameters: Any) -> Any:
        dtypes: set[Dtype] = {x.dtype for x in args if x is not None}
        plain = len(dtypes) == 1 and dtypes <= set(map(jnp.dtype, DTYPES)) and all(x is None or x.size for x in args)
        return (kernel if plain and parameters["geometry"].out else body)(*args, **parameters)

    return call
