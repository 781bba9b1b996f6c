"""The assertion about ties: equal elements share a gradient, in reverse and forward mode."""

from typing import Any

import numpy as np

from xpgrad import Variable, grad
from xpgrad.testing.arrays import inner, on_host
from xpgrad.testing.differences import random_values
from xpgrad.transforms.forward import jvp
from xpgrad_conformance.table.comparisons import assert_same_bits
from xpgrad_conformance.table.scenario import Scenario
from xpgrad_conformance.table.slopes import slope

TIES = frozenset(
    {
        *("sort", "max", "min", "maximum", "minimum", "abs", "hypot", "linalg.vector_norm", "segment_max"),
        *("segment_min", "nanmax", "nanmin", "quantile", "nanquantile", "percentile", "nanpercentile", "median"),
        *("nanmedian", "partition", "F.max", "F.min", "F.maximum", "F.maxout", "F.max_pooling_1d"),
        *("F.max_pooling_2d", "F.max_pooling_3d", "F.max_pooling_nd"),
    }
)
"""Functions that choose among elements, or divide by their size."""
RTOL = {"float64": 1e-6, "float32": 1e-3}


def assert_ties(s: Scenario) -> None:
    """Where all elements are equal, the shares of a gradient sum to the derivative along equal moves of all.

    Raw and recorded sweeps agree to the bit, and forward mode with them along any direction.
    """
    tied = [_equal(s, i) for i in range(len(s.inputs))]
    xs = [Variable(s.placed(each)) for each in tied]
    wanted = [xs[i] for i in s.floating]
    ys = s.call(xs)
    outputs = s.differentiable(ys)
    gys = s.cotangents([ys[i] for i in outputs])
    raw, recorded = (_gradients(s, xs, wanted, gys, both) for both in (False, True))

    def loss(t: float) -> float:
        moved = [x + t if i in s.floating else x for i, x in enumerate(tied)]
        return float(sum(inner(gy, s.reference(moved)[i]) for i, gy in zip(outputs, gys, strict=True)))

    shares = float(sum(np.sum(g) for g in raw))
    scale = 1e-3 + float(sum(np.sum(np.abs(gy)) for gy in gys))
    numeric, bound = slope(loss, shares, lambda _: s.tolerance(RTOL) * scale)
    assert abs(shares - numeric) <= bound, (
        f"at equal elements the gradients sum to {shares:.10g}, but the derivative along equal moves of all is "
        f"{numeric:.10g} by differences of the reference"
    )
    for i, one, two in zip(s.floating, raw, recorded, strict=True):
        assert_same_bits(one, two, f"gradient {i} of the raw and of the recorded sweep at equal elements")
    _assert_forward(s, tied, outputs, gys, raw)


def _equal(s: Scenario, i: int) -> Any:
    """Return an input with equal elements, with the same value for all inputs if their ranges overlap."""
    host = s.inputs[i]
    if i not in s.floating:
        return host
    low = max(s.case.inputs[k].low for k in s.floating)
    high = min(s.case.inputs[k].high for k in s.floating)
    own = s.case.inputs[i]
    low, high = (low, high) if low < high else (own.low, own.high)
    return np.full_like(host, low + 0.625 * (high - low))


def _gradients(s: Scenario, xs: list[Variable], wanted: list[Variable], gys: list[Any], recorded: bool) -> list[Any]:
    ys = s.call(xs)
    seeds = [Variable(s.placed(gy)) for gy in gys]
    gxs = grad([ys[i] for i in s.differentiable(ys)], wanted, seeds, enable_double_backprop=recorded)
    return [np.zeros(x.shape) if g is None else on_host(g) for x, g in zip(wanted, gxs, strict=True)]


def _assert_forward(s: Scenario, tied: list[Any], outputs: list[int], gys: list[Any], gradients: list[Any]) -> None:
    rng = s.generator()
    directions = [random_values(tied[i].shape, False, rng).astype(tied[i].dtype) for i in s.floating]

    def call(*moving: Any) -> Any:
        every: list[Any] = [s.placed(each) for each in tied]
        for i, x in zip(s.floating, moving, strict=True):
            every[i] = x
        ys = s.call(every)
        return tuple(ys[i] for i in outputs)

    _, tangents = jvp(call, [s.placed(tied[i]) for i in s.floating], [s.placed(d) for d in directions])
    forward = float(sum(inner(gy, on_host(t)) for gy, t in zip(gys, tangents, strict=True)))
    reverse = float(sum(inner(g, d) for g, d in zip(gradients, directions, strict=True)))
    scale = 1e-3 + float(sum(np.sum(np.abs(g) * np.abs(d)) for g, d in zip(gradients, directions, strict=True)))
    assert abs(forward - reverse) <= s.tolerance(RTOL) * scale, (
        f"at equal elements the derivative along a random direction is {forward:.10g} in forward mode, "
        f"but {reverse:.10g} by the gradients"
    )
