"""Attention: sums of values, weighted by how well queries and keys agree."""

import math
from typing import Any

from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.backend.backend import Backend
from xpgrad.backend.checks import broadcast, require_together
from xpgrad.backend.kernels import kernel
from xpgrad.backend.spec import Spec
from xpgrad.config import NO_GRAD, switches
from xpgrad.functions.checks import invalid, known_spec, real_floating
from xpgrad.graph.function_node import FunctionNode
from xpgrad.graph.rules import recorded_namespace
from xpgrad.graph.variable import Variable, as_array, as_variable
from xpgrad.types import AnyArray, Array, Namespace, Operand, Shape

__all__ = ["scaled_dot_product_attention"]

Needed = tuple[bool, bool, bool]
MAX_KEPT_WEIGHTS = 2**20
"""Number of weights up to which they are kept for the gradients: then computing them again takes longer than memory."""


def _weights(xp: Namespace, q: Array, k: Array, mask: Array | None, scale: Any) -> Array:
    """Return the softmax of the scaled products of queries and keys, and 0 where `mask` is False."""
    z = xp.matmul(q * scale, xp.matrix_transpose(k))
    if mask is None:
        return xp.softmax(z, axis=-1)
    # Not -inf: for a query without any key, that would be NaN.
    lowest = float(xp.backend.finfo(z.dtype).min) / 2
    return xp.where(mask, xp.softmax(xp.where(mask, z, lowest), axis=-1), 0.0)


def _gradients(
    xp: Namespace, gy: Array, q: Array, k: Array, v: Array, y: Array, p: Array, scale: float, needed: Needed
) -> list[Array | None]:
    with_q, with_k, with_v = needed
    gq = gk = None
    if with_q or with_k:
        # The sum over the keys of weight times gradient equals the sum over the channels of output times gradient.
        gz = p * (xp.matmul(gy, xp.matrix_transpose(v)) - xp.sum(gy * y, axis=-1, keepdims=True))
        gq = xp.matmul(gz, k) * scale if with_q else None
        gk = xp.matmul(xp.matrix_transpose(gz), q * scale) if with_k else None
    return [gq, gk, xp.matmul(xp.matrix_transpose(p), gy) if with_v else None]


@kernel(arrays=4, parameters=("scale", "keep"))
def attention(
    xp: Namespace, q: Array, k: Array, v: Array, mask: Array | None, /, scale: float, keep: bool
) -> tuple[Array, Array | None]:
    """Return means of the rows of `v`, weighted by the softmax of ``scale * q @ k.mT``, and the weights if `keep`.

    `mask` is None, or False where a weight is 0. All arguments but the mask have the same axes as `q` before the last
    two.
    """
    p = _weights(xp, q, k, mask, scale)
    return xp.matmul(p, v), p if keep else None


@kernel(arrays=5, parameters=("mask", "weights", "scale", "needed"))
def attention_backward(
    xp: Namespace, gy: Array, q: Array, k: Array, v: Array, y: Array, /, mask: Array | None, weights: Array | None,
    scale: float, needed: Needed,
) -> list[Array | None]:  # fmt: skip
    """Return the gradients of `attention` for `q`, `k` and `v`, None for inputs that need no gradient."""
    p = _weights(xp, q, k, mask, scale) if weights is None else weights
    return _gradients(xp, gy, q, k, v, y, p, scale, needed)


class Attention(FunctionNode):
    """Attention that does not keep many weights, the largest arrays by far, but computes them again for the gradients.

    A class, because its three gradients are computed together.
    """

    of_library = True

    def __init__(self, backend: Backend, scale: float) -> None:
        self.backend, self.scale = backend, scale
        self.weights: Array | None = None

    @property
    def label(self) -> str:
        """Name of the public function."""
        return "scaled_dot_product_attention"

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        """Return the outputs."""
        self.retain_inputs(range(len(inputs)))
        self.retain_outputs((0,))
        q, k, v, *masks = inputs
        mask = masks[0] if masks else None
        keep = math.prod(q.shape[:-1]) * k.shape[-2] <= MAX_KEPT_WEIGHTS
        y, self.weights = self.backend.xp.attention(q, k, v, mask, scale=self.scale, keep=keep)
        return (y,)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the gradients: by the kernel, or by the formula on Variables if higher derivatives may be needed."""
        needed = (0 in target_input_indexes, 1 in target_input_indexes, 2 in target_input_indexes)
        q, k, v, *masks = self.get_retained_inputs()
        (gy,), (y,), mask = grad_outputs, self.get_retained_outputs(), masks[0] if masks else None
        values = gy, q, k, v, y
        if not switches().mode & NO_GRAD and any(x.requires_grad for x in values):
            xp = recorded_namespace(self.backend)
            gxs = _gradients(xp, *values, _weights(xp, q, k, mask, self.scale), self.scale, needed)
        else:
            made = self.backend.xp.attention_backward(
                *[x._array for x in values], mask=None if mask is None else mask.array, weights=self.weights,
                scale=self.scale, needed=needed,
            )  # fmt: skip
            gxs = [None if gx is None else as_variable(gx) for gx in made]
        return tuple(gxs[i] for i in target_input_indexes)

    def release(self) -> None:
        """Release the retained arrays."""
        super().release()
        self.weights = None


@in_single_precision
def scaled_dot_product_attention(
    q: AnyArray, k: AnyArray, v: AnyArray, mask: AnyArray | None = None, scale: Operand | None = None
) -> Variable:
    """Return ``softmax(scale * q @ k.mT) @ v``: for each query, the mean of the values of the keys that it is like.

    Parameters
    ----------
    q : Variable or array, shape (*B, N, C), real floating-point
        N queries.
    k : Variable or array, shape (*B, M, C), real floating-point
        M keys, M > 0. The axes B of all arrays broadcast.
    v : Variable or array, shape (*B, M, D), real floating-point
        One value for each key.
    mask : Variable or array, broadcasts to (*B, N, M), optional
        If it is boolean, weights are 0 where it is False; the result of a query without any key is 0. If it is real
        floating-point, it is added to the scaled products, and has a gradient.
    scale : float, Variable or array, optional
        By default ``1 / sqrt(C)``.

    Returns
    -------
    Variable, shape (*B, N, D)

    Notes
    -----
    If the mask is not floating-point and the axes B are equal, the graph does not keep many weights, but recomputes the
    weights for the gradients, and backends may process a few heads at a time: memory grows with the inputs, not with
    the product of N and M.

    References
    ----------
    Vaswani and others: Attention is all you need, 2017.
    """
    name = "scaled_dot_product_attention"
    specs = [real_floating(x, name, which) for x, which in ((q, "q"), (k, "k"), (v, "v"))]
    allowed = None if mask is None else known_spec(mask, name)
    _check(name, specs, allowed)
    if mask is not None:
        require_together(name, q, mask)
    one, *others = specs
    if scale is None:
        scale = 1.0 / math.sqrt(one.shape[-1] or 1)
    boolean = allowed is None or one.backend.is_kind(allowed.dtype, "bool")
    alike = all(s.shape[:-2] == one.shape[:-2] and s.dtype == one.dtype and s.backend is one.backend for s in others)
    if boolean and alike and not one.half and isinstance(scale, (int, float)):
        return Attention(one.backend, float(scale)).apply((q, k, v) if mask is None else (q, k, v, mask))[0]
    q, k, v = as_variable(q), as_variable(k), as_variable(v)
    xp = recorded_namespace(one.backend)
    if boolean:
        p = _weights(xp, q, k, None if mask is None else as_array(mask), scale)
    else:
        p = xp.softmax(xp.matmul(q * scale, xp.matrix_transpose(k)) + mask, axis=-1)
    y: Variable = xp.matmul(p, v)
    return y


def _check(name: str, specs: list[Spec], mask: Spec | None) -> None:
    q, k, v = specs
    found = ", ".join(f"{which} is {spec!r}" for which, spec in zip("qkv", specs, strict=True))
    if min(spec.ndim for spec in specs) < 2 or q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise invalid(name, "q of shape (*B, N, C), k of (*B, M, C), v of (*B, M, D)", found)
    if not k.shape[-2]:
        raise invalid(name, "at least one key", found)
    lead = _broadcast(*[spec.shape[:-2] for spec in specs])
    if lead is None:
        raise invalid(name, "axes before the last two that broadcast", found)
    if mask is None:
        return
    if not mask.backend.is_kind(mask.dtype, ("bool", "real floating")):
        raise invalid(name, "a mask that is boolean or real floating-point", f"mask is {mask!r}")
    weights = (*lead, q.shape[-2], k.shape[-2])
    if _broadcast(mask.shape, weights) != weights:
        raise invalid(name, f"a mask that broadcasts to {weights}", f"mask is {mask!r}, {found}")


def _broadcast(*shapes: Shape) -> Shape | None:
    """Return the shape to which `shapes` broadcast, or None."""
    shape = broadcast(shapes)
    fit = all(n in (1, m) for each in shapes for n, m in zip(reversed(each), reversed(shape), strict=False))
    return shape if fit else None
