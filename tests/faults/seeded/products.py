"""Faults in products, linear algebra and Fourier transforms."""

from typing import Any

import numpy as np
from tests.faults.fault import misreading, misreading_both, replacing, replacing_both, spoiling


@replacing_both("matmul", "float32 matmul returns float64", "DK", ("matmul",))
def float32_matmul_is_float64(x1: Any, x2: Any) -> Any:
    out = np.matmul(x1, x2)
    return out.astype(np.float64) if out.dtype == np.float32 else out


@replacing_both("matmul", "batched matmul repeats batch 0", "KG", ("matmul-batch",))
def matmul_repeats_batch(x1: Any, x2: Any) -> Any:
    out = np.matmul(x1, x2)
    if x1.ndim > 2 and x2.ndim > 2 and len(out) > 1:
        out = np.broadcast_to(out[:1], out.shape).copy()
    return out


@replacing_both("matmul", "matmul over an empty axis leaves memory as it was", "K", ("matmul",))
def matmul_of_nothing_is_garbage(x1: Any, x2: Any) -> Any:
    out = np.matmul(x1, x2)
    return np.full_like(out, 1.5) if x1.shape[-1] == 0 else out


@misreading_both("matmul", "float32 matmul rounds its inputs to ten bits, as tensor cores do", "KW", ("matmul",))
def matmul_in_half(x1: Any, x2: Any) -> Any:
    if x1.dtype in (np.float32, np.float64):
        return x1.astype(np.float16).astype(x1.dtype), x2.astype(np.float16).astype(x2.dtype)
    return x1, x2


@misreading_both("matmul", families="K", cases=())
def matmul_of_transposes(x1: Any, x2: Any) -> Any:
    """matmul of two transposes is that of the plain matrices, when those are square or fit"""
    if x1.ndim == x2.ndim == 2 and x2.flags.f_contiguous and not x2.flags.c_contiguous and len(x2) == len(x2.T):
        x2 = x2.T
    return x1, x2


@replacing("tensordot", "tensordot sorts its axes, so pairs are torn apart", "KG", ("tensordot-axes",))
def tensordot_swaps_axes(right: Any, x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    if isinstance(axes, int):
        return right(x1, x2, axes=axes)
    one, other = axes
    change = np.argsort(np.asarray(other))
    shapes = [x1.shape[one[i]] == x2.shape[other[j]] for i, j in enumerate(change)]
    return right(x1, x2, axes=(one, [other[j] for j in change])) if all(shapes) else right(x2, x1, axes=(other, one))


@replacing("linalg.svd", "svd gives v where vh is asked for", "K", ("linalg.svd",))
def svd_gives_v(right: Any, x: Any, /, *, full_matrices: bool = True) -> Any:
    u, s, vh = right(x, full_matrices=full_matrices)
    square = vh.shape[-1] == vh.shape[-2]
    return type(right(x))(u, s, np.swapaxes(vh, -1, -2).copy() if square else vh)


@replacing("fft.irfft", "irfft of an odd length gives the even one, padded", "KW", ("irfft-odd",))
def irfft_forgets_odd(right: Any, x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    if n is None or n % 2 == 0 or n < 3:
        return right(x, n=n, axis=axis, norm=norm)
    even = right(x, n=n - 1, axis=axis, norm=norm)
    return np.concatenate([even, np.take(even, [0], axis=axis) * 0], axis=axis)


fft_ignores_norm = replacing(
    "fft.fft fft.ifft fft.rfft fft.irfft", "fft ignores norm", "K", ("fft", "ifft"), operations=("fft.fft",)
)(lambda right, x, n=None, axis=-1, norm="backward": right(x, n=n, axis=axis))
eigh_descends = spoiling("linalg.eigh", "eigh gives its eigenvalues in descending order", "K", ("linalg.eigh",))(
    lambda out, *_: type(out)(out[0][..., ::-1].copy(), out[1][..., ::-1].copy())
)
det_of_batch = spoiling("linalg.det", "det of a batch gives the first matrix's for all", "KG", ("linalg.det-batch",))(
    lambda out, *_: np.broadcast_to(out[:1], out.shape).copy() if out.ndim and len(out) else out
)
cholesky_ignores_upper = replacing("linalg.cholesky", "cholesky ignores upper", "K", ("linalg.cholesky-upper",))(
    lambda right, x, upper=False: right(x)
)
qr_is_complete = replacing("linalg.qr", "qr ignores its mode", "K", ("linalg.qr",))(
    lambda right, x, mode="reduced": right(x)
)
tensordot_of_no_axes = replacing(
    "tensordot", "tensordot over no axes takes the last and the first one, where they fit", "K"
)(lambda right, a, b, axes=2: right(a, b, axes=1 if axes == 0 and a.shape[-1:] == b.shape[:1] else axes))
solve_first_right_side = spoiling(
    "linalg.solve", "solve gives the first right-hand side's solution for all", "KG", ("linalg.solve",)
)(lambda out, x1, x2: np.broadcast_to(out[..., :1], out.shape).copy() if x2.ndim > 1 and out.shape[-1] > 1 else out)
cholesky_leaves_half = spoiling(
    "linalg.cholesky", "cholesky leaves the other half of the matrix as it was", "KGW", ("linalg.cholesky",)
)(lambda out, x, upper=False: out + (np.tril(x, -1) if upper else np.triu(x, 1)))
vecdot_does_not_conjugate = misreading(
    "vecdot", "vecdot of complex vectors does not conjugate the first one", "K", ("vecdot",)
)(lambda x1, *_, **__: np.conj(x1))
