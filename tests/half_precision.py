"""Functions over more elements than float16 has whole numbers, and how far they are from float64 on any device."""

from collections.abc import Callable
from typing import Any

import numpy as np

import xpgrad
import xpgrad.array_api as A
import xpgrad.functions as F
import xpgrad.ops as O
from xpgrad.testing.arrays import on_host, placed

N = 70_000  # more than float16 holds, and no power of 2
EPS = {"float16": 2.0**-7, "bfloat16": 2.0**-5}  # of outputs that are kept, too; what overflows or stalls is far off
SUBNORMAL = {"float16": 2.0**-24, "bfloat16": 0.0}
Spread, Ones, Positive = "normal", "ones", "positive"
Row = tuple[Callable[..., Any], float, tuple[Any, ...]]

# Name: function of the Variables and of integers `i` in their order, scale of the cotangent, shapes and kinds.
# Cotangents of means are large, so that their shares are normal numbers.
FAMILY: dict[str, Row] = {
    "sum of columns": (lambda x, i: A.sum(x, axis=0), 1.0, ((N, 2), Ones, 0.5)),
    "mean": (lambda x, i: A.mean(x), 1000.0, ((N,), Spread)),
    "mean of a picture": (lambda x, i: A.mean(x), 1000.0, ((300, 300), Spread)),
    "mean of columns": (lambda x, i: A.mean(x, axis=0, keepdims=True), 1000.0, ((N, 2), Spread)),
    "var": (lambda x, i: A.var(x), 1000.0, ((N,), Spread)),
    "var of 100 and noise": (lambda x, i: A.var(x + 100.0), 1000.0, ((N,), Spread, 8.0)),
    "var with a correction": (lambda x, i: A.var(x, correction=1), 1000.0, ((N,), Spread)),
    "std": (lambda x, i: A.std(x), 1000.0, ((N,), Spread)),
    "max of equals": (lambda x, i: A.max(x), 1000.0, ((N,), Ones)),
    "min of equal columns": (lambda x, i: A.min(x, axis=0), 1000.0, ((N, 2), Ones)),
    "average": (lambda x, i: A.average(x), 1000.0, ((N,), Spread)),
    "weighted average": (lambda x, w, i: A.average(x, weights=w), 1000.0, ((N,), Spread), ((N,), Positive)),
    "cumulative_sum": (lambda x, i: A.cumulative_sum(x), 0.01, ((N,), Ones, 0.25)),
    "vector_norm": (lambda x, i: A.linalg.vector_norm(x), 1.0, ((N,), Ones)),
    "vector_norm of rows": (lambda x, i: A.linalg.vector_norm(x, axis=0), 1.0, ((N, 2), Ones)),
    "largest modulus of equals": (
        lambda x, i: A.linalg.vector_norm(x, ord=float("inf")),
        1000.0,
        ((N,), Ones),
    ),
    "broadcast_to": (lambda x, i: A.broadcast_to(x, shape=(N, 2)), 0.001, ((1, 2), Spread)),
    "repeat": (lambda x, i: A.repeat(x, N), 0.001, ((2,), Spread)),
    "linspace": (lambda x, y, i: A.linspace(x, y, N), 0.001, ((), Ones), ((), Positive)),
    "take of one place": (lambda x, i: A.take(x, A.asarray(i % 2)), 0.001, ((2,), Spread)),
    "nanmean": (lambda x, i: O.nanmean(x), 1000.0, ((N,), Spread)),
    "nanvar": (lambda x, i: O.nanvar(x), 1000.0, ((N,), Spread)),
    "nanmax of equals": (lambda x, i: O.nanmax(x), 1000.0, ((N,), Ones)),
    "nanmedian": (lambda x, i: O.nanmedian(x), 1000.0, ((N,), Spread)),
    "nanquantile": (lambda x, i: O.nanquantile(x, 0.7777), 1.0, ((N,), Spread)),
    "quantile": (lambda x, i: O.quantile(x, 0.7777), 1.0, ((N,), Spread)),
    "cov": (lambda x, i: O.cov(x), 1000.0, ((3, N), Spread)),
    "corrcoef": (lambda x, i: O.corrcoef(x), 100.0, ((3, N), Spread)),
    "segment_mean": (lambda x, i: O.segment_mean(x, i % 2, 2), 1000.0, ((N,), Spread)),
    "segment_max of equals": (lambda x, i: O.segment_max(x, i % 2, 2), 1000.0, ((N,), Ones)),
    "logsumexp of equals": (lambda x, i: O.logsumexp(x, axis=0), 1000.0, ((N, 1), Ones)),
    "trapezoid": (lambda x, i: O.trapezoid(x, dx=2.0**-16), 1000.0, ((N,), Ones)),
    "softmax of equals": (lambda x, i: F.softmax(x, axis=0), 1000.0, ((N, 1), Ones)),
    "log_softmax of equals": (lambda x, i: F.log_softmax(x, axis=0)[:9], 0.01, ((N, 1), Ones)),
    "mean_squared_error": (lambda x, y, i: F.mean_squared_error(x, y), 1000.0, ((N,), Spread), ((N,), Spread)),
    "mean_absolute_error": (lambda x, y, i: F.mean_absolute_error(x, y), 1000.0, ((N,), Spread), ((N,), Spread)),
    "softmax_cross_entropy": (lambda x, i: F.softmax_cross_entropy(x, i % 5), 1000.0, ((N, 5), Spread)),
    "softmax_cross_entropy by N": (
        lambda x, i: F.softmax_cross_entropy(x, i % 5, normalize=False),
        1000.0,
        ((N, 5), Spread),
    ),
    "softmax_cross_entropy of some": (
        lambda x, i: F.softmax_cross_entropy(x, i % 5, ignore_label=4),
        1000.0,
        ((N, 5), Spread),
    ),
    "sigmoid_cross_entropy": (lambda x, i: F.sigmoid_cross_entropy(x, i % 2), 1000.0, ((N,), Spread)),
    "hinge": (lambda x, i: F.hinge(x, i % 5), 1000.0, ((N, 5), Spread, 0.25)),
    "contrastive": (lambda x, y, i: F.contrastive(x, y, i % 2, 9.0), 1000.0, ((N, 2), Ones), ((N, 2), Positive)),
    "decov": (lambda x, i: F.decov(x, "no"), 1000.0, ((N, 3), Spread)),
    "cross_covariance": (lambda x, y, i: F.cross_covariance(x, y, "no"), 1.0, ((N, 3), Spread), ((N, 2), Spread)),
    "bernoulli_nll": (lambda x, y, i: F.bernoulli_nll(x, y, "mean"), 1000.0, ((N,), Positive), ((N,), Spread)),
    "gaussian_kl_divergence": (
        lambda x, y, i: F.gaussian_kl_divergence(x, y, "mean"),
        1000.0,
        ((N,), Spread),
        ((N,), Spread),
    ),
    "accuracy": (lambda x, i: F.accuracy(x, i % 5), 1.0, ((N, 5), Spread)),
    "accuracy of some": (lambda x, i: F.accuracy(x, i % 5, ignore_label=2), 1.0, ((N, 5), Spread)),
    "embed_id": (lambda x, i: F.embed_id(i % 3, x), 0.001, ((3, 2), Spread)),
    "linear": (lambda x, W, b, i: F.linear(x, W, b), 0.001, ((N, 3), Spread), ((2, 3), Spread), ((2,), Spread)),
    "normalize": (lambda x, i: F.normalize(x), 1000.0, ((2, N), Spread)),
    "layer_normalization": (
        lambda x, g, b, i: F.layer_normalization(x, g, b),
        1.0,
        ((2, N), Spread),
        ((N,), Positive),
        ((N,), Spread),
    ),
    "average_pooling_2d": (lambda x, i: F.average_pooling_2d(x, 300), 1000.0, ((1, 1, 300, 300), Spread)),
    "average_pooling_nd without padding": (
        lambda x, i: F.average_pooling_nd(x, (280, 280), stride=280, pad=1, pad_value=None),
        1000.0,
        ((1, 1, 280, 280), Ones),
    ),
    "max_pooling_2d of equals": (lambda x, i: F.max_pooling_2d(x, 280), 1000.0, ((1, 1, 280, 280), Ones)),
}


def differences(name: str, device: xpgrad.Device, dtype: str) -> list[str]:
    """Return where value and gradients of a function in half precision are not those in double precision, rounded."""
    function, scale, *inputs = FAMILY[name]  # type: ignore[misc]  # a row is as long as there are inputs
    rng = np.random.default_rng(0)
    arrays = [_rounded(_array(rng, *each), device, dtype) for each in inputs]
    exact, expected, cotangent = _computed(function, arrays, scale, xpgrad.get_device("@numpy"), "float64", None)
    y, gxs, _ = _computed(function, arrays, scale, device, dtype, cotangent)
    found = [*_compared(f"{name}: value", y, exact, dtype)]
    for k, (gx, other) in enumerate(zip(gxs, expected, strict=True)):
        found += _compared(f"{name}: gradient {k}", gx, other, dtype)
    return found


def _array(rng: np.random.Generator, shape: tuple[int, ...], kind: str, scale: float = 1.0) -> Any:
    if kind == Ones:
        return np.full(shape, scale)
    numbers = np.clip(rng.normal(size=shape), -2.5, 2.5) * scale
    return np.abs(numbers) / 4 + 0.25 if kind == Positive else numbers


def cast(values: Any, device: xpgrad.Device, dtype: str) -> Any:
    """Return host numbers as an array of a dtype that NumPy need not know."""
    backend = device.backend
    wide = placed(np.asarray(values, "float64" if dtype == "float64" else "float32"), device)
    return backend.xp.astype(wide, getattr(backend.namespace, dtype))


def _rounded(values: Any, device: xpgrad.Device, dtype: str) -> Any:
    array = cast(values, device, dtype)
    return np.asarray(on_host(device.backend.xp.astype(array, device.backend.namespace.float32)), "float64")


def _computed(
    function: Callable[..., Any], arrays: list[Any], scale: float, device: xpgrad.Device, dtype: str, cotangent: Any
) -> tuple[Any, list[Any], Any]:
    xs = [xpgrad.Variable(cast(a, device, dtype)) for a in arrays]
    with xpgrad.using_device(device):
        y = function(*xs, placed(np.arange(N), device))
        assert device.backend.dtype_name(y.dtype) == dtype
        if cotangent is None:
            made = np.random.default_rng(1).uniform(0.5, 1.0, y.shape) * scale
            cotangent = np.asarray(np.asarray(made, np.float32).view(np.uint32) & 0xFFFF0000, np.uint32)
            cotangent = cotangent.view(np.float32).reshape(y.shape)  # numbers that every dtype has
        if y.requires_grad:
            y.grad = cast(cotangent, device, dtype)
            y.backward()
    single = device.backend.namespace.float64 if dtype == "float64" else device.backend.namespace.float32
    results = [x.grad for x in xs]
    assert all(g is None or g.dtype == x.dtype for x, g in zip(xs, results, strict=True))
    values = [None if g is None else on_host(device.backend.xp.astype(g, single)) for g in (y.array, *results)]
    return values[0], values[1:], cotangent


def _compared(what: str, actual: Any, expected: Any, dtype: str) -> list[str]:
    if actual is None or expected is None:
        return [] if actual is expected else [f"{what}: one has a gradient, the other has none"]
    largest = np.max(np.abs(expected), initial=0.0)
    allowed = EPS[dtype] * (np.abs(expected) + largest) + SUBNORMAL[dtype]
    wrong = ~(np.abs(actual - expected) <= allowed)  # which NaN is not
    if not wrong.any():
        return []
    first = tuple(np.argwhere(wrong)[0])
    return [f"{what}: {wrong.sum()} of {wrong.size}, first {actual[first]} for {expected[first]}"]
