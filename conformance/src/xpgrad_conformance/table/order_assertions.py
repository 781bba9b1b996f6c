"""Assertions about derivatives of higher order, compared with finite differences of the order below."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xpgrad import Variable, grad
from xpgrad.testing.arrays import inner, on_host
from xpgrad.testing.differences import derivative, random_values
from xpgrad_conformance.table.assertions import GRADIENT_RTOL
from xpgrad_conformance.table.scenario import Scenario

Differentiable = Callable[[Sequence[Variable], bool], list[Variable]]


def assert_second_order(s: Scenario) -> None:
    """Second derivatives, by inputs and cotangents, against finite differences of the first."""
    _assert_order(s, 2)


def assert_third_order(s: Scenario) -> None:
    """Third derivatives, by inputs and both cotangents, against finite differences of the second."""
    _assert_order(s, 3)


def _assert_order(s: Scenario, order: int) -> None:
    rng = s.generator()
    arrays = s.arrays()
    xs = s.variables(arrays)
    hosts = [on_host(xs[i]) for i in s.floating]

    def function(vs: Sequence[Variable], recorded: bool) -> list[Variable]:
        whole = list(xs)
        for i, v in zip(s.floating, vs, strict=True):
            whole[i] = v
        ys = s.call([whole[0]] * len(whole) if s.variant.same else whole)
        return [ys[i] for i in s.differentiable(ys)]

    lower: Differentiable = function
    for _ in range(order - 1):
        cotangents = _cotangents(lower(_variables(s, hosts), False), rng)
        lower, hosts = _differentiated(lower, len(hosts)), hosts + cotangents
    outputs = lower(vs := _variables(s, hosts), True)
    cotangents = _cotangents(outputs, rng)
    seeds = [Variable(s.placed(c)) for c in cotangents]
    connected = [(y, c) for y, c in zip(outputs, seeds, strict=True) if y.requires_grad]
    gvs = grad([y for y, _ in connected], vs, [c for _, c in connected])
    for i, (g, v) in enumerate(zip(gvs, vs, strict=True)):
        assert g is None or s.describe(g) == s.describe(v), (
            f"gradient {i} is {s.describe(g)}, its input {s.describe(v)}"
        )
    if s.dtype in ("float32", "complex64"):
        return  # finite differences of the function under test need float64
    directions = [random_values(h.shape, np.iscomplexobj(h), rng) for h in hosts]

    def loss(t: float) -> float:
        moved = _variables(s, [h + t * d for h, d in zip(hosts, directions, strict=True)])
        return float(sum(inner(c, on_host(y)) for c, y in zip(cotangents, lower(moved, False), strict=True)))

    numeric = derivative(loss)
    pairs = [(on_host(g), d) for g, d in zip(gvs, directions, strict=True) if g is not None]
    analytic = float(sum(inner(g, d) for g, d in pairs))
    scale = float(sum(np.sum(np.abs(g) * np.abs(d)) for g, d in pairs)) + abs(numeric)
    bound = s.tolerance(GRADIENT_RTOL) * scale + 1e-8 * (1 + abs(loss(0.0)))
    assert abs(analytic - numeric) <= bound, (
        f"the derivative of order {order} along a random direction is {analytic:.10g} by the gradients, "
        f"but {numeric:.10g} by differences of the order below (allowed distance {bound:.2g})"
    )


def _differentiated(f: Differentiable, count: int) -> Differentiable:
    """Return the function from inputs and cotangents of `f` to its gradients, those that exist."""

    def gradients(vs: Sequence[Variable], recorded: bool) -> list[Variable]:
        inputs, cotangents = vs[:count], vs[count:]
        pairs = [(y, c) for y, c in zip(f(inputs, True), cotangents, strict=True) if y.requires_grad]
        gxs = grad([y for y, _ in pairs], inputs, [c for _, c in pairs], enable_double_backprop=recorded)
        return [gx for gx in gxs if gx is not None]

    return gradients


def _variables(s: Scenario, hosts: Sequence[Any]) -> list[Variable]:
    return [Variable(s.placed(h)) for h in hosts]


def _cotangents(ys: Sequence[Variable], rng: np.random.Generator) -> list[Any]:
    hosts = [on_host(y) for y in ys]
    return [random_values(h.shape, np.iscomplexobj(h), rng).astype(h.dtype) for h in hosts]
