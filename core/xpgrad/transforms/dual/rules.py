"""Tangents of primitives with a separate rule, which is faster than the transposition of their gradients.

Each row computes on arrays of the base: ``row(base, kernel, y, primals, tangents, parameters)`` returns the tangent of
`y`, None for zeros, or `NotImplemented` for the default; `kernel` is the base's. An input without a tangent has None.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.array_api.elementwise.trigonometric import turned
from xpgrad.array_api.linalg.checks import adjoint
from xpgrad.array_api.shared.axes import reduced_axes
from xpgrad.array_api.shared.precision import narrowed, widened
from xpgrad.array_api.statistical import cumulative_prod_change, product_change
from xpgrad.backend.backend import Backend
from xpgrad.backend.kernels import table
from xpgrad.graph.definition import Rule
from xpgrad.graph.pullback import rule_of
from xpgrad.special.exponentials import from_dominant
from xpgrad.types import Array, Kernel

Row = Callable[[Backend, Kernel, Array, Sequence[Any], Sequence[Any], dict[str, Any]], Any]
Arrays = Sequence[Any]
Options = dict[str, Any]
ROWS: dict[str, Row] = {}
GRADIENTS = frozenset(("cross_entropy.x",))
"""Rows of gradient kernels, which a library may have."""


def row(*names: str) -> Callable[[Row], Row]:
    """Add the decorated function to the table, for the kernels `names`."""

    def add(function: Row) -> Row:
        ROWS.update(dict.fromkeys(names, function))
        return function

    return add


@row("affine", "convolution", "transposed_convolution")
def connection(base: Backend, kernel: Kernel, y: Array, primals: Arrays, tangents: Arrays, parameters: Options) -> Any:
    """Return the sum of the products with each tangent; the tangent of the bias is broadcast."""
    (x, W, _), (tx, tW, tb) = primals, tangents
    if tx is None and tW is None:
        axes = (1, tb.shape[0], *(1,) * (len(y.shape) - 2))
        return base.restore(base.xp.broadcast_to(base.xp.reshape(tb, shape=axes), shape=y.shape))
    first = None if tW is None else kernel(x, tW, tb, **parameters)
    second = None if tx is None else kernel(tx, W, tb if tW is None else None, **parameters)
    if first is None or second is None:
        return second if first is None else first
    return base.restore(base.xp.accumulate(first, second))


@row("windows")
def windows(base: Backend, kernel: Kernel, y: Array, primals: Arrays, tangents: Arrays, parameters: Options) -> Any:
    """Return the windows on the tangent, which is 0 around it."""
    return kernel(tangents[0], **{**parameters, "fill": 0.0})


@row("setitem")
def setitem(base: Backend, kernel: Kernel, y: Array, primals: Arrays, tangents: Arrays, parameters: Options) -> Any:
    """Return the tangent of the array with the tangent, or zeros, of the written values."""
    tx, tu = (t if t is not None else 0 for t in tangents)
    if tangents[0] is None:
        tx = base.xp.zeros_like(primals[0])
    return kernel(tx, tu, **parameters)


@row("log_softmax")
def log_softmax(base: Backend, kernel: Kernel, y: Array, primals: Arrays, tangents: Arrays, parameters: Options) -> Any:
    """Return ``t - sum(exp(y) * t)``."""
    xp, p, axis = base.xp, base.xp.exp(y), parameters["axis"]
    t = from_dominant(xp, tangents[0], p, axis)
    return base.restore(t - xp.sum(p * t, axis=axis, keepdims=True))


@row("softmax_backward")
def softmax_backward(
    base: Backend, kernel: Kernel, y: Array, primals: Arrays, tangents: Arrays, parameters: Options
) -> Any:
    """Return the gradient for the tangent of `g`, plus ``t * (g - sum(g * p)) - p * sum(g * t)``."""
    (g, p), (tg, t), axis, xp, spec = primals, tangents, parameters["axis"], base.xp, base.spec(primals[1])
    found = None if tg is None else kernel(tg, p, axis=axis)
    if t is not None:
        g, p, t = (widened(xp, each, spec) for each in (g, p, t))
        g = from_dominant(xp, g, p, axis)
        mean, change = (xp.sum(g * each, axis=axis, keepdims=True) for each in (p, t))
        part = narrowed(xp, t * (g - mean) - p * change, spec)
        found = part if found is None else xp.add(found, part)
    return base.restore(found)


@row("log_softmax_backward")
def log_softmax_backward(
    base: Backend, kernel: Kernel, y: Array, primals: Arrays, tangents: Arrays, parameters: Options
) -> Any:
    """Return the gradient for the tangent of `g`, less ``t * exp(score) * sum(g)``."""
    (g, score), (tg, t), axis, xp, spec = primals, tangents, parameters["axis"], base.xp, base.spec(primals[1])
    found = None if tg is None else kernel(tg, score, axis=axis)
    if t is not None:
        g, score, t = (widened(xp, each, spec) for each in (g, score, t))
        part = narrowed(xp, t * (-xp.exp(score) * xp.sum(g, axis=axis, keepdims=True)), spec)
        found = part if found is None else xp.add(found, part)
    return base.restore(found)


@row("cross_entropy")
def cross_entropy(
    base: Backend, kernel: Kernel, y: Array, primals: Arrays, tangents: Arrays, parameters: Options
) -> Any:
    """Return the sums of the gradient times `t`; the score belongs to the same input."""
    (x, labels, score, weight), tx = primals, tangents[0]
    if tx is None:
        return None
    xp, spec, reduce = base.xp, base.spec(x), parameters["reduce"]
    options = parameters["normalize"], parameters["ignore_label"], reduce
    slopes = _cross_entropy_rule(base)(xp, xp.ones_like(y), x, labels, score, weight, spec, *options)
    changes = xp.multiply(slopes, from_dominant(xp, tx, xp.softmax_from_log(x, score), 1))
    changes = xp.where(xp.equal(slopes, 0), 0.0, changes)  # ignored examples may have any tangent
    total = xp.sum(changes, axis=1 if reduce == "no" else None, keepdims=False, dtype=spec.wide)
    return xp.astype(base.restore(total), spec.dtype, copy=False)


@functools.cache
def _cross_entropy_rule(base: Backend) -> Rule:
    definition: Any = table.definition("cross_entropy")
    return rule_of(definition, base, "x")


@row("cross_entropy.x")
def cross_entropy_x(
    base: Backend, kernel: Kernel, y: Array, primals: Arrays, tangents: Arrays, parameters: Options
) -> Any:
    """Return the gradient for the tangent of `gy`, plus the weighted tangent of the probabilities."""
    gy, x, labels, score, weight, spec, normalize, ignored, reduce = primals
    tgy, tx, xp = tangents[0], tangents[1], base.xp
    found = None if tgy is None else kernel(tgy, *primals[1:])
    if tx is not None:
        weights, share = xp.labels_weight(labels, weight, spec=spec, ignore_label=ignored), gy
        if reduce == "no":
            share = xp.reshape(gy, shape=weights.shape)
        else:
            count = xp.labels_count(labels, spec=spec, ignore_label=ignored) if normalize else spec.shape[0] or 1
            share = xp.divide(gy, count)
        change = xp.softmax_backward(tx, xp.softmax_from_log(x, score), axis=1)
        part = xp.masked_product(change, weights, share)
        found = part if found is None else xp.add(found, part)
    return None if found is None else base.restore(found)


@row("atan2")
def atan2(base: Backend, kernel: Kernel, y: Array, primals: Arrays, tangents: Arrays, parameters: Options) -> Any:
    """Return the sum of both inputs' parts by one division: half the time of two rules."""
    return base.restore(turned(base.xp, *primals, *tangents))


@row("prod")
def prod(base: Backend, kernel: Kernel, y: Array, primals: Arrays, tangents: Arrays, parameters: Options) -> Any:
    """Return the change of the product by one tree of products: a fifth of the time of the other elements' products."""
    (x,), (t,), spec, xp = primals, tangents, base.spec(primals[0]), base.xp
    if x.dtype != y.dtype or not spec.size:
        return NotImplemented
    axes = reduced_axes(parameters["axis"], spec.ndim)
    change = product_change(xp, widened(xp, t, spec), widened(xp, x, spec), axes)
    return base.restore(xp.reshape(narrowed(xp, change, spec), shape=y.shape))


@row("cumulative_prod")
def cumulative_prod(
    base: Backend, kernel: Kernel, y: Array, primals: Arrays, tangents: Arrays, parameters: Options
) -> Any:
    """Return the change of the products by one scan: a third of the time of the transposition of another one."""
    (x,), (t,), axis, spec, xp = primals, tangents, parameters["axis"], base.spec(primals[0]), base.xp
    initial = bool(parameters.get("include_initial"))
    if x.dtype != y.dtype or not spec.size or not spec.shape:
        return NotImplemented
    return base.restore(cumulative_prod_change(xp, t, x, y, spec, axis, initial))


@row("sort")
def sort(base: Backend, kernel: Kernel, y: Array, primals: Arrays, tangents: Arrays, parameters: Options) -> Any:
    """Return the tangent in the order of a stable sort: a sixth of the time of two transposed gathers."""
    axis = int(parameters["axis"])
    order = base.xp.argsort(primals[0], axis=axis, descending=parameters["descending"], stable=True)
    return base.restore(base.xp.take_along_axis(tangents[0], order, axis=axis))


@row("linalg.inv", "linalg.inv_or_nan")
def inv(base: Backend, kernel: Kernel, y: Array, primals: Arrays, tangents: Arrays, parameters: Options) -> Any:
    """Return ``-y t y``."""
    xp = base.xp
    return base.restore(xp.negative(xp.matmul(xp.matmul(y, tangents[0]), y)))


@row("linalg.cholesky")
def cholesky(base: Backend, kernel: Kernel, y: Array, primals: Arrays, tangents: Arrays, parameters: Options) -> Any:
    """Return ``L lower_half(L^-1 t L^-H)`` for the Hermitian part of the tangent (Murray 2016)."""
    if 0 in y.shape:
        return None
    xp, is_complex, upper = base.xp, base.is_kind(y.dtype, "complex floating"), parameters["upper"]
    t = 0.5 * (tangents[0] + adjoint(xp, tangents[0], is_complex))
    lower = adjoint(xp, y, is_complex) if upper else y
    inverse = xp.linalg.inv(lower)
    inner = xp.matmul(xp.matmul(inverse, t), adjoint(xp, inverse, is_complex))
    found = xp.matmul(lower, xp.linalg.lower_half(inner))
    return base.restore(adjoint(xp, found, is_complex) if upper else found)
