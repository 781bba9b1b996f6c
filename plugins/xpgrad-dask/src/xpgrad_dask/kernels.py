"""Kernels that are better in dask than the default bodies."""

from typing import Any

import numpy as np

import xpgrad
from xpgrad.plugin import Spec
from xpgrad.types import Array, DeviceHandle, Dtype, Kernel, Shape
from xpgrad_dask import images
from xpgrad_dask.blocks import cores
from xpgrad_dask.creation import auto_chunks
from xpgrad_dask.libraries import da
from xpgrad_dask.shapes import broadcast_to, reshape


def sum_gradient(gy: Array, x_spec: Spec, axis: Any, keepdims: bool, /) -> Array:
    """Return the gradient of a sum in the chunks of its input."""
    return _stretched(gy, x_spec, axis, keepdims)


def mean_gradient(gy: Array, x_spec: Spec, axis: Any, keepdims: bool, /) -> Array:
    """Return the gradient of a mean in the chunks of its input."""
    count = 1
    for i in _axes(axis, x_spec.ndim):
        count *= x_spec.shape[i]
    share = (gy.astype(x_spec.wide) / (count or 1)).astype(x_spec.dtype) if x_spec.half else gy / (count or 1)
    return _stretched(share, x_spec, axis, keepdims)


def _axes(axis: Any, ndim: int) -> list[int]:
    given = range(ndim) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    return [i % ndim for i in given] if ndim else []


def _stretched(gy: Array, spec: Spec, axis: Any, keepdims: bool) -> Array:
    if not keepdims and axis is not None:
        axes = _axes(axis, spec.ndim)
        gy = reshape(gy, tuple(1 if i in axes else n for i, n in enumerate(spec.shape)))
    return broadcast_to(gy, spec.shape, getattr(spec, "chunks", None))


def random_uniform(*, shape: Shape, dtype: Dtype, device: DeviceHandle, generator: Any) -> Array:
    """Return numbers from [0, 1), drawn chunk by chunk when they are computed, always the same for one seed."""
    draw = da.random.default_rng(int(generator.integers(2**63)))
    narrow = np.dtype(dtype) if np.dtype(dtype) in (np.float32, np.float64) else np.dtype(np.float32)
    return draw.random(shape, dtype=narrow, chunks=auto_chunks(shape, narrow)).astype(dtype)


def random_normal(*, shape: Shape, dtype: Dtype, device: DeviceHandle, generator: Any) -> Array:
    """Return numbers of mean 0 and variance 1, drawn chunk by chunk when they are computed."""
    draw = da.random.default_rng(int(generator.integers(2**63)))
    return draw.standard_normal(shape, chunks=auto_chunks(shape, np.float64)).astype(dtype)


def _cofactors(x: Any, d: Any) -> Any:
    return xpgrad.get_device("@numpy").backend.root.xp.linalg.cofactors(x, d)


def cofactors(x: Array, d: Array, /) -> Array:
    """Return the cofactors of square matrices whose determinants are `d`: NumPy's kernel, matrix by matrix."""
    return cores(_cofactors, "(m,n),()->(m,n)", x, d, dtypes=x.dtype)


def _cofactor_changes(g: Any, x: Any, d: Any) -> Any:
    return xpgrad.get_device("@numpy").backend.root.xp.linalg.cofactor_changes(g, x, d)


def cofactor_changes(g: Array, x: Array, d: Array, /) -> Array:
    """Return the change of the cofactors of `x` along `g`."""
    return cores(_cofactor_changes, "(m,n),(m,n),()->(m,n)", g, x, d, dtypes=x.dtype)


def _cofactor_derivatives(gs: Any, x: Any) -> Any:
    return xpgrad.get_device("@numpy").backend.root.xp.linalg.cofactor_derivatives(gs, x)


def cofactor_derivatives(gs: Array, x: Array, /) -> Array:
    """Return the derivatives of the cofactors of `x` along all of `gs`."""
    return cores(_cofactor_derivatives, "(k,m,n),(m,n)->(m,n)", gs, x, dtypes=x.dtype)


KERNELS: dict[str, Kernel] = {
    **images.KERNELS,
    "sum.x": sum_gradient,
    "mean.x": mean_gradient,
    "random_uniform": random_uniform,
    "random_normal": random_normal,
    "linalg.cofactors": cofactors,
    "linalg.cofactor_changes": cofactor_changes,
    "linalg.cofactor_derivatives": cofactor_derivatives,
}
