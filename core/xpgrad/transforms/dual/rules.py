"""Tangents of the primitives that have a rule of their own: faster than the transposition of their gradients.

Each row computes on arrays of the base: ``row(base, kernel, y, primals, tangents, parameters)`` returns the tangent of
`y`, where `kernel` is that of the base. An input without a tangent has None.
"""

from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.backend.backend import Backend
from xpgrad.backend.kernels import table
from xpgrad.graph.pullback import rule_of
from xpgrad.types import Array, Kernel

Row = Callable[[Backend, Kernel, Array, Sequence[Any], Sequence[Any], dict[str, Any]], Any]
Arrays = Sequence[Any]
ROWS: dict[str, Row] = {}


def row(*names: str) -> Callable[[Row], Row]:
    """Add the decorated function to the table, for the kernels `names`."""

    def add(function: Row) -> Row:
        ROWS.update(dict.fromkeys(names, function))
        return function

    return add


@row("affine", "convolution", "transposed_convolution")
def connection(
    base: Backend, kernel: Kernel, y: Array, primals: Arrays, tangents: Arrays, parameters: dict[str, Any]
) -> Any:
    """Return the sum of the products with each tangent; that of the bias is broadcast."""
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
def windows(
    base: Backend, kernel: Kernel, y: Array, primals: Arrays, tangents: Arrays, parameters: dict[str, Any]
) -> Any:
    """Return the windows on the tangent, which is 0 around it."""
    return kernel(tangents[0], **{**parameters, "fill": 0.0})


@row("setitem")
def setitem(
    base: Backend, kernel: Kernel, y: Array, primals: Arrays, tangents: Arrays, parameters: dict[str, Any]
) -> Any:
    """Return the tangent of the array with that of the values written to it, or zeros."""
    tx, tu = (t if t is not None else 0 for t in tangents)
    if tangents[0] is None:
        tx = base.xp.zeros_like(primals[0])
    return kernel(tx, tu, **parameters)


@row("softmax")
def softmax(
    base: Backend, kernel: Kernel, y: Array, primals: Arrays, tangents: Arrays, parameters: dict[str, Any]
) -> Any:
    """Return ``y * (t - sum(y * t))``."""
    weighted = y * tangents[0]
    return weighted - y * base.xp.sum(weighted, axis=parameters["axis"], keepdims=True)


@row("log_softmax")
def log_softmax(
    base: Backend, kernel: Kernel, y: Array, primals: Arrays, tangents: Arrays, parameters: dict[str, Any]
) -> Any:
    """Return ``t - sum(exp(y) * t)``."""
    xp, (t,) = base.xp, tangents
    return t - xp.sum(xp.exp(y) * t, axis=parameters["axis"], keepdims=True)


@row("softmax_from_log")
def softmax_from_log(
    base: Backend, kernel: Kernel, y: Array, primals: Arrays, tangents: Arrays, parameters: dict[str, Any]
) -> Any:
    """Return what `softmax` does, along axis 1."""
    return softmax(base, kernel, y, primals, tangents, {"axis": 1})


@row("cross_entropy")
def cross_entropy(
    base: Backend, kernel: Kernel, y: Array, primals: Arrays, tangents: Arrays, parameters: dict[str, Any]
) -> Any:
    """Return the sum of the gradient times the tangent of the logits, over the classes of each loss."""
    definition: Any = table.definition("cross_entropy")
    if tangents[0] is None:
        return None
    spec = base.spec(primals[0])
    asked = {**dict(zip(definition.inputs, primals, strict=True)), **parameters, "x_spec": spec}
    rule, names = rule_of(definition, base, "x"), definition.asks["x"]
    gx = rule(base.xp, base.ones(base.spec(y)), *[asked[name] for name in names])
    axis = 1 if parameters["reduce"] == "no" else None
    total = base.xp.sum(gx * tangents[0], axis=axis, dtype=spec.wide)
    return base.restore(base.xp.astype(total, y.dtype) if spec.half else total)
