"""Assertions about derivatives of higher order, compared with finite differences of the order below.

In float32, where differences of the function under test are too inaccurate, they are compared with differences of
differences of the reference, in float64.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xpgrad import Variable, grad
from xpgrad.testing.arrays import inner, on_host
from xpgrad.testing.differences import STEP, derivative, random_values
from xpgrad_conformance.subject import NARROWER
from xpgrad_conformance.table.assertions import GRADIENT_RTOL
from xpgrad_conformance.table.scenario import WIDE, Scenario
from xpgrad_conformance.table.slopes import slope

STEPS = {1: 1e-4, 2: 2e-3}
"""Steps of differences of the reference that are taken once or twice more: rounding gives 1e-8 in either case."""
NARROW_FACTOR = 10
"""Factor of the tolerance in float32: each order rounds again, and divides by rounded numbers."""
Differentiable = Callable[[Sequence[Variable], bool], list[Variable]]


def assert_second_order(s: Scenario) -> None:
    """Compare second derivatives, for inputs and cotangents, with finite differences of first derivatives."""
    _assert_order(s, 2)


def assert_third_order(s: Scenario) -> None:
    """Compare third derivatives, for inputs and both cotangents, with finite differences of second derivatives."""
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
    present: list[list[int]] = []
    for _ in range(order - 1):
        cotangents = _cotangents(lower(_variables(s, hosts), False), rng)
        present.append([])
        lower, hosts = _differentiated(lower, len(hosts), present[-1]), hosts + cotangents
    outputs = lower(vs := _variables(s, hosts), True)
    cotangents = _cotangents(outputs, rng)
    seeds = [Variable(s.placed(c)) for c in cotangents]
    connected = [(y, c) for y, c in zip(outputs, seeds, strict=True) if y.requires_grad]
    gvs = grad([y for y, _ in connected], vs, [c for _, c in connected])
    for i, (g, v) in enumerate(zip(gvs, vs, strict=True)):
        assert g is None or s.describe(g) == s.describe(v), (
            f"gradient {i} is {s.describe(g)}, its input {s.describe(v)}"
        )
    directions = [random_values(h.shape, np.iscomplexobj(h), rng) for h in hosts]
    narrow = s.dtype in NARROWER.values()
    product = _of_reference(s, present) if narrow else None

    def loss(t: float) -> float:
        moved = [_wide(h) + t * d for h, d in zip(hosts, directions, strict=True)]
        if product is not None:
            return product([*moved, *map(_wide, cotangents)])
        values = lower(_variables(s, moved), False)
        return float(sum(inner(c, on_host(y)) for c, y in zip(cotangents, values, strict=True)))

    pairs = [(on_host(g), d) for g, d in zip(gvs, directions, strict=True) if g is not None]
    analytic = float(sum(inner(g, d) for g, d in pairs))
    scale = float(sum(np.sum(np.abs(g) * np.abs(d)) for g, d in pairs))
    factor, least = (NARROW_FACTOR, 1e-5) if narrow else (1, 1e-8)
    if not np.isfinite(here := loss(0.0)):
        return
    rtol, atol = factor * s.tolerance(GRADIENT_RTOL), least * (1 + abs(here))
    step = STEPS[order - 1] if narrow else STEP
    numeric, bound = slope(loss, analytic, lambda n: rtol * (scale + abs(n)) + atol, step)
    if product is not None and abs(analytic - numeric) > bound:
        product = _of_reference(s, present, 0.5)
        if abs(slope(loss, analytic, lambda n: bound, step)[0] - numeric) > bound:
            return  # beside a kink the differences of the reference do not converge
    assert abs(analytic - numeric) <= bound, (
        f"the derivative of order {order} along a random direction is {analytic:.10g} by the gradients, "
        f"but {numeric:.10g} by differences of the order below (allowed distance {bound:.2g})"
    )


def _of_reference(s: Scenario, present: Sequence[Sequence[int]], part: float = 1.0) -> Callable[[Sequence[Any]], float]:
    """Return the inner product of the derivatives of the reference with their cotangents, as a function of all.

    The inner product of a function f, ``<gy, f(x)>``, has the gradients of f; so the inner product of these with their
    cotangents is its derivative along the cotangents, and so on for each order.

    Parameters
    ----------
    present : sequence of sequence of int
        For each order of derivative, the positions of the arguments with a derivative.
    part : float
        Steps of the differences, relative to `STEPS`.
    """
    outputs = s.differentiable(s.call(s.variables(s.arrays())))

    def product(order: int, values: Sequence[Any]) -> float:
        if order == 0:
            xs, gys = list(s.inputs), values[len(s.floating) :]
            for i, x in zip(s.floating, values, strict=False):
                xs[i] = x
            ys = s.reference(xs)
            return float(sum(inner(gy, ys[i]) for i, gy in zip(outputs, gys, strict=True)))
        count = len(values) - len(present[order - 1])
        moves = dict(zip(present[order - 1], values[count:], strict=True))

        def moved(t: float) -> float:
            return product(order - 1, [v + t * moves[i] if i in moves else v for i, v in enumerate(values[:count])])

        return derivative(moved, part * STEPS[len(present)])

    return lambda values: product(len(present), values)


def _differentiated(f: Differentiable, count: int, present: list[int]) -> Differentiable:
    """Return the function from inputs and cotangents of `f` to its existing gradients.

    It writes the positions of those into `present`.
    """

    def gradients(vs: Sequence[Variable], recorded: bool) -> list[Variable]:
        inputs, cotangents = vs[:count], vs[count:]
        pairs = [(y, c) for y, c in zip(f(inputs, True), cotangents, strict=True) if y.requires_grad]
        gxs = grad([y for y, _ in pairs], inputs, [c for _, c in pairs], enable_double_backprop=recorded)
        present[:] = [i for i, gx in enumerate(gxs) if gx is not None]
        return [gx for gx in gxs if gx is not None]

    return gradients


def _wide(host: Any) -> Any:
    return host.astype(WIDE[host.dtype.name])


def _variables(s: Scenario, hosts: Sequence[Any]) -> list[Variable]:
    return [Variable(s.placed(h)) for h in hosts]


def _cotangents(ys: Sequence[Variable], rng: np.random.Generator) -> list[Any]:
    hosts = [on_host(y) for y in ys]
    return [random_values(h.shape, np.iscomplexobj(h), rng).astype(h.dtype) for h in hosts]
