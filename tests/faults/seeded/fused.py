"""Faults in fused kernels, and in how a backend comes to its kernels."""

from typing import Any

import numpy as np
from tests.faults.fault import accumulate, fault, giving_kernel, planted_by
from tests.faults.testbed import Testbed, change


@giving_kernel("matmul.x1", families="FG", cases=("matmul-broadcast", "einsum-batch"))
def matmul_x_sums_twice(gy: Any, x2: Any, x1_spec: Any) -> Any:
    """einsum fused backward sums a broadcast label twice"""
    if x2.ndim < 2 or len(x1_spec.shape) < 2:
        columns = x2[:, None] if x2.ndim == 1 else x2
        full = np.matmul(gy[..., None] if x2.ndim == 1 else gy[..., None, :], np.swapaxes(columns, -1, -2))
        full = full if len(x1_spec.shape) > 1 else full[..., 0, :]
    else:
        full = np.matmul(gy, np.swapaxes(x2, -1, -2))
    extra = full.ndim - len(x1_spec.shape)
    axes = tuple(range(extra)) + tuple(i + extra for i, n in enumerate(x1_spec.shape) if n == 1 < full.shape[i + extra])
    factor = np.prod([full.shape[a] for a in axes], dtype=int) if axes else 1
    return (np.sum(full, axis=axes, keepdims=True) * factor).reshape(x1_spec.shape).astype(x1_spec.dtype)


@giving_kernel("tanh.x", "fused tanh backward computes in float32, so raw and recorded sweeps differ", "FGH", ("tanh",))
def tanh_x_in_float32(gy: Any, x: Any, y: Any) -> Any:
    small = y.astype(np.float32 if y.dtype.kind == "f" else np.complex64)
    return (gy * (1 - small * small)).astype(gy.dtype)


@giving_kernel("exp.x", "fused exp backward multiplies the cotangent in place", "FG", ("exp",))
def exp_x_in_place(gy: Any, y: Any) -> Any:
    gy *= y
    return gy


@giving_kernel("softmax", "fused softmax ignores its axis", "FGK", ("F.softmax", "F.softmax-axis"))
def softmax_ignores_axis(x: Any, *, axis: int) -> Any:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@giving_kernel("sum_to", families="FG", cases=("F.sum_to", "multiply"))
def sum_to_forgets_middle(x: Any, *, shape: Any) -> Any:
    """fused sum_to forgets axes of length 1 that were broadcast in the middle"""
    out = np.sum(x, axis=tuple(range(x.ndim - len(shape))))
    for axis, n in enumerate(shape):
        if n == 1 < out.shape[axis]:
            last = axis == len(shape) - 1
            out = np.sum(out, axis=axis, keepdims=True) if axis == 0 or last else np.take(out, [0], axis=axis)
    return np.asarray(out)


@planted_by(accumulate(1), "accumulate-in-place writes to a copy", "AW", ("multiply",))
def accumulate_loses_sum(total: Any, g: Any) -> Any:
    copied = total.copy()
    copied += g
    return total


@giving_kernel("affine", "fused affine adds the bias to the first row only", "FK", ("F.linear",))
def affine_forgets_bias(x: Any, w: Any, b: Any) -> Any:
    out = x @ w.T
    if b is not None and len(out):
        out[0] += b
    return out


@fault("a provided kernel accepts nothing: its test of the arguments is never true", "F")
def kernel_always_declines(bed: Testbed) -> None:
    bed.devices()
    bed.backend.xp.set_providers([("fused", {"tanh": lambda x: NotImplemented})])


@fault("a provided kernel declines after it has written to its input", "FGK", ("exp",))
def kernel_declines_late(bed: Testbed) -> None:
    def wrong(x: Any) -> Any:
        if x.inner.size:
            x.inner *= 2
        return NotImplemented

    bed.devices()
    bed.backend.xp.set_providers([("fused", {"exp": wrong})])


kernels_are_not_asked = fault("kernels that plugins provide are never asked", "FHK")(
    lambda bed: change(bed.backend.xp, set_providers=lambda providers: None)
)
relu_x_ignores_cotangent = giving_kernel("relu.x", "fused relu backward ignores the cotangent", "FG", ("F.relu",))(
    lambda gy, y: (y > 0).astype(y.dtype)
)
relu_x_at_zero = giving_kernel("relu.x", "fused relu backward lets the cotangent through at 0", "N")(
    lambda gy, y: np.where(y >= 0, gy, 0).astype(gy.dtype)
)
tanh_x_of_input = giving_kernel("tanh.x", "fused tanh backward takes its output for its input", "FGH", ("tanh",))(
    lambda gy, x, y: gy * (1 - np.tanh(y) ** 2)
)
tanh_x_widens = giving_kernel("tanh.x", "fused tanh backward gives float64 for float32", "F", ("tanh",))(
    lambda gy, x, y: (gy * (1 - y * y)).astype(np.float64 if gy.dtype.kind == "f" else np.complex128)
)
add_kernel_forgets_scalars = giving_kernel(
    "add", "the kernel add takes a Python number for 0", "FK", ("operator-add-scalar",)
)(lambda x1, x2: np.add(x1, x2 if hasattr(x2, "dtype") else 0) if hasattr(x1, "dtype") else np.add(0, x2))
