"""PyTorch's functions of neural networks, `torch.nn.functional`, with its names of arguments, for Variables."""

import math
from typing import Any

import torch

from xpgrad import array_api as xp
from xpgrad import functions as F
from xpgrad import ops, using_config
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.errors import ShapeError
from xpgrad_torch.functions.elementwise import clamp
from xpgrad_torch.functions.reductions import cast
from xpgrad_torch.functions.table import (
    TABLE,
    Function,
    NoRule,
    axes,
    axis,
    expect_same,
    floating,
    from_start,
    integers,
    is_whole,
    torch_function,
    torch_functions,
    variable,
    with_ndim,
)


def _activation(name: str, function: Any) -> None:
    @torch_function(name)
    def activation(input: Any) -> Any:
        return function(floating(input))


torch_function("relu")(lambda input: F.relu(variable(input)))
_activation("logsigmoid", lambda x: -F.softplus(-x))
_activation("silu", lambda x: x * F.sigmoid(x))
_activation("mish", lambda x: x * xp.tanh(F.softplus(x)))
_activation("softsign", lambda x: x / (1 + xp.abs(x)))
_activation("tanhshrink", lambda x: x - xp.tanh(x))
TABLE["log_sigmoid"] = TABLE["logsigmoid"]


@torch_function("relu6")
def relu6(input: Any) -> Any:
    """Return the elements between 0 and 6; half the gradient at these."""
    return hardtanh(input, 0.0, 6.0)


@torch_function("gelu")
def gelu(input: Any, approximate: Any = "none") -> Any:
    """Return ``x * Phi(x)`` for the normal distribution function ``Phi``, or its usual approximation."""
    return F.gelu(variable(input), approximate)


@torch_function("hardtanh")
def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """Return the elements within bounds; half the gradient at these."""
    if min_val > max_val:
        raise ValueError(f"torch.nn.functional.hardtanh: expected min_val up to max_val, got {min_val}, {max_val}")
    x = variable(input)
    return clamp(x, int(min_val), int(max_val)) if is_whole(x) else clamp(x, min_val, max_val)


def _soft(name: str, function: Any) -> None:
    @torch_function(name)
    def soft(input: Any, dim: Any = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
        if dim is None:
            raise TypeError(f"torch.nn.functional.{name}: expected dim, the axis that adds up to 1, got None")
        return function(cast(variable(input), dtype), axis=dim)


_soft("softmax", F.softmax)
_soft("log_softmax", F.log_softmax)
TABLE["special_softmax"], TABLE["special_log_softmax"] = TABLE["softmax"], TABLE["log_softmax"]
_soft("softmin", lambda x, axis: F.softmax(-x, axis=axis))


@torch_function("linear")
def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """Return ``input @ weight.T + bias``."""
    y = xp.matmul(variable(input), variable(weight).T)
    return _biased("linear", y, bias)


def _biased(name: str, y: Any, bias: Any) -> Any:
    """Return ``y + bias``; ShapeError unless the bias has shape () or the length of the last axis."""
    if bias is None:
        return y
    b = variable(bias)
    if b.shape not in ((), y.shape[-1:]):
        raise ShapeError(f"torch.nn.functional.{name}: expected bias of shape {y.shape[-1:]}, got {b.shape}")
    return y + b


@torch_function("bilinear")
def bilinear(input1: Any, input2: Any, weight: Any, bias: Any = None) -> Any:
    """Return the bilinear form of two inputs."""
    x1, x2, w = variable(input1), variable(input2), variable(weight)
    if w.ndim != 3 or (*x1.shape[:-1], *w.shape[1:]) != (*x2.shape[:-1], *x1.shape[-1:], *x2.shape[-1:]):
        raise ShapeError(
            f"torch.nn.functional.bilinear: expected shapes (*, I), (*, J), (O, I, J), got {x1.shape}, {x2.shape}, "
            f"{w.shape}"
        )
    return _biased("bilinear", ops.einsum("...i,oij,...j->...o", x1, w, x2), bias)


@torch_function("embedding")
def embedding(
    input: Any, weight: Any, padding_idx: Any = None, max_norm: Any = None, norm_type: float = 2.0,
    scale_grad_by_freq: bool = False, sparse: bool = False,
) -> Any:  # fmt: skip
    """Return the rows of `weight` at the indices `input`."""
    if max_norm is not None or sparse:
        raise TypeError("torch.nn.functional.embedding: max_norm= writes to weight, and sparse= gradients are dense")
    if padding_idx is not None or scale_grad_by_freq:
        raise NoRule
    (rows,) = with_ndim("nn.functional.embedding", weight=(weight, 2))
    return rows.take(from_start(integers(input, "nn.functional.embedding"), rows.shape[0]), 0)


@torch_function("one_hot")
def one_hot(tensor: Any, num_classes: int = -1) -> Any:
    """Return one-hot vectors of integers."""
    x = integers(tensor, "nn.functional.one_hot")
    count = int(xp.max(x)) + 1 if num_classes == -1 else num_classes
    checked = variable(torch.arange(count, device=x.device.handle)).take(xp.where(x < 0, count, x))
    return ops.one_hot(checked, count, dtype=torch.int64)


@torch_function("dropout")
def dropout(input: Any, p: float = 0.5, training: bool = True) -> Any:
    """Return the elements with a random share set to 0, drawn from `xpgrad.random`."""
    if not 0 <= p <= 1:
        raise ValueError(f"torch.nn.functional.dropout: expected p from 0 to 1, got {p}")
    if not training or not p:
        return variable(input)
    if p == 1:
        return variable(input) * 0
    with using_config("train", True):
        return F.dropout(variable(input), p)


def _last_axes(name: str, input: Any, shape: Any, *parameters: Any) -> tuple[Any, tuple[int, ...]]:
    """Return a Variable and its last axes, checking that these and the parameters have shape `shape`."""
    x, shape = variable(input), tuple(shape)
    arrays = [variable(each) for each in parameters if each is not None]
    expect_same(f"nn.functional.{name}", "dtype", input=x, **{f"parameter {i}": y for i, y in enumerate(arrays)})
    given = [each.shape for each in arrays]
    if not shape or x.shape[-len(shape) :] != shape or any(each != shape for each in given):
        raise ShapeError(
            f"torch.nn.functional.{name}: expected weight and bias of normalized_shape {shape}, which ends that of "
            f"input, got {', '.join(map(str, (x.shape, *given)))}"
        )
    return x, tuple(range(-len(shape), 0))


@torch_function("layer_norm")
def layer_norm(input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """Return the elements with mean 0 and variance 1 over the last axes, scaled and shifted."""
    x, over = _last_axes("layer_norm", input, normalized_shape, weight, bias)
    centred = x - xp.mean(x, axis=over, keepdims=True)
    y = centred / xp.sqrt(xp.mean(centred * centred, axis=over, keepdims=True) + eps)
    y = y if weight is None else y * variable(weight)
    return y if bias is None else y + variable(bias)


@torch_function("rms_norm")
def rms_norm(input: Any, normalized_shape: Any, weight: Any = None, eps: float | None = None) -> Any:
    """Return the elements with mean square 1 over the last axes, scaled."""
    x, over = _last_axes("rms_norm", input, normalized_shape, weight)
    eps = torch.finfo(x.dtype).eps if eps is None else eps
    y = _by_mean_square(x, over, eps)
    return y if weight is None else y * variable(weight)


@in_single_precision
def _by_mean_square(x: Any, over: tuple[int, ...], eps: float) -> Any:
    return x / xp.sqrt(xp.mean(x * x, axis=over, keepdims=True) + eps)


@torch_function("normalize")
def normalize(input: Any, p: float = 2.0, dim: Any = 1, eps: float = 1e-12) -> Any:
    """Return vectors of norm 1."""
    x = variable(input)
    return x / xp.maximum(xp.linalg.vector_norm(x, axis=axes(dim), keepdims=True, ord=p), eps)


@torch_function("cosine_similarity")
def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    """Return the cosines of the angles between vectors."""
    if eps < 0:
        raise ValueError(f"torch.nn.functional.cosine_similarity: expected eps from 0 on, got {eps}")
    x, y = xp.broadcast_arrays(variable(x1), variable(x2))
    dim = axis(dim, x.ndim, "nn.functional.cosine_similarity")
    return xp.sum(normalize(x, dim=dim, eps=eps) * normalize(y, dim=dim, eps=eps), axis=dim)


@torch_function("scaled_dot_product_attention")
def attention(
    query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False, *,
    scale: float | None = None, enable_gqa: bool = False,
) -> Any:  # fmt: skip
    """Return the mean of the values, weighted by the softmax of the products of keys and queries."""
    if enable_gqa:
        raise NoRule
    q, k = variable(query), variable(key)
    scores = xp.matmul(q, k.mT) * (1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    if is_causal:
        attn_mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device.handle).tril()
    if attn_mask is not None:
        mask = variable(attn_mask)
        scores = xp.where(mask, scores, -math.inf) if mask.dtype == torch.bool else scores + mask
    return xp.matmul(dropout(F.softmax(scores, axis=-1), dropout_p), variable(value))


@torch_function("celu")
def celu(input: Any, alpha: float = 1.0) -> Any:
    """Return the elements, negative ones as ``alpha * expm1(x / alpha)``."""
    if alpha <= 0:
        raise ValueError(f"torch.nn.functional.celu: expected a positive alpha, got {alpha}")
    return alpha * F.elu(variable(input) / alpha)


@torch_function("softplus")
def softplus(input: Any, beta: float = 1.0, threshold: float = 20.0) -> Any:
    """Return ``log(1 + exp(beta * x)) / beta``, or `x` where ``beta * x`` is above a threshold."""
    if not beta:
        raise ValueError("torch.nn.functional.softplus: expected a beta other than 0")
    x = variable(input)
    return xp.where(x * beta > threshold, x, F.softplus(x, beta))


ROWS: dict[str, Function] = {
    "leaky_relu": lambda input, negative_slope=0.01: F.leaky_relu(variable(input), negative_slope),
    "elu": lambda input, alpha=1.0: F.elu(variable(input), alpha),
    "selu": lambda input: F.selu(variable(input)),
    "pairwise_distance": lambda x1, x2, p=2.0, eps=1e-6, keepdim=False: xp.linalg.vector_norm(
        variable(x1) - variable(x2) + eps, axis=-1, keepdims=keepdim, ord=p
    ),
}
torch_functions(ROWS)
