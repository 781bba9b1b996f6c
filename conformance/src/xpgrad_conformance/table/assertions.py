"""Assertions for every case of the table: its value, and gradients of first order.

Each function takes a `Scenario`. The reference is never the function under test: values come from the case's NumPy
reference in float64, gradients from finite differences of that reference.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from xpgrad import Variable, array_api, backward, grad, using_device
from xpgrad.testing.arrays import inner, is_floating, on_host
from xpgrad.testing.differences import random_values
from xpgrad_conformance.subject import RTOL
from xpgrad_conformance.table.comparisons import assert_near, assert_place, assert_same_bits
from xpgrad_conformance.table.scenario import WIDE, Scenario
from xpgrad_conformance.table.slopes import slope
from xpgrad_conformance.table.variants import PLAIN
from xpgrad_conformance.tangents import TangentsBackend

GRADIENT_RTOL = {"float64": 1e-6, "complex128": 1e-6, "float32": 1e-4, "complex64": 1e-4}
GRADIENT_ATOL = {
    "float64": 1e-9,
    "complex128": 1e-9,
    "float32": 1e-6,
    "complex64": 1e-6,
}  # for rounding errors if all values are 0


def assert_value(s: Scenario) -> None:
    """Compare the value with the reference; check type, dtype and device of results, raw arrays, and unchanged inputs.

    Portable code, which uses only `xpgrad.array_api` and its dtypes, has the same result for any current device.
    """
    arrays = s.arrays()
    ys = s.call(s.variables(arrays))
    expected = s.reference(s.inputs)
    assert len(ys) == len(expected), f"{len(ys)} outputs, but the reference has {len(expected)}"
    rtol = s.tolerance(RTOL)
    for i, (y, reference) in enumerate(zip(ys, expected, strict=True)):
        assert isinstance(y, Variable), f"output {i} is no Variable but {type(y).__name__}"
        assert_place(s.device, y.array, f"output {i}")
        dtypes = s.expected_dtype(i)
        dtype = s.device.backend.dtype_name(y.array.dtype)
        assert dtype in dtypes, f"output {i} has dtype {dtype}, expected {' or '.join(dtypes)}"
        assert_near(on_host(y), reference, rtol, f"output {i}", partial(s.usual_size, i))
        same = (y.node.shape, y.node.dtype, y.node.device) == (tuple(y.array.shape), y.array.dtype, s.device)
        assert same, f"output {i} is {s.describe(y)}, but its node has {y.node.spec!r} on {y.node.device}"
    _assert_tangents(s, arrays)
    _assert_unchanged(s, arrays)
    if s.variant is PLAIN and s.case.area == "xp":
        for i, (y, again) in enumerate(zip(ys, s.call(s.variables(s.arrays()), array_api), strict=True)):
            assert_place(s.device, again.array, f"output {i} by xpgrad.array_api")
            assert s.describe(again) == s.describe(y), f"output {i} is {s.describe(again)} by xpgrad.array_api"
            assert_same_bits(on_host(y), on_host(again), f"output {i} by its own namespace and by xpgrad.array_api")
    with using_device(s.device):  # some libraries' own operators, which some cases use, compute on the current device
        from_raw = s.call(s.arrays())
    for i, (y, again) in enumerate(zip(ys, from_raw, strict=True)):
        assert_same_bits(on_host(y), on_host(again), f"output {i} from Variables and from raw arrays")


def _assert_tangents(s: Scenario, arrays: Sequence[Any]) -> None:
    """Compare tangents of outputs with differences of the reference, if arrays have tangents."""
    backend = s.device.backend
    if not isinstance(backend, TangentsBackend) or s.case.order == 0:
        return
    given = [backend.tangent_on_host(x) for x in arrays]
    if all(t is None for t in given) or s.variant.same:
        return
    directions = [None if t is None else t.astype(WIDE[t.dtype.name]) for t in given]
    for i, y in enumerate(backend.resting(s.call, s.variables(arrays))):
        if not is_floating(y.array):
            continue
        tangent = backend.tangent_on_host(y._array)
        gy = s.cotangents([y])[0]

        def loss(t: float, i: int = i, gy: Any = gy) -> float:
            moved = [x if d is None else x.astype(d.dtype) + t * d for x, d in zip(s.inputs, directions, strict=True)]
            return float(inner(gy, s.reference(moved)[i]))

        if not np.isfinite(here := loss(0.0)):
            continue
        analytic = 0.0 if tangent is None else float(inner(gy, tangent))
        scale = 0.0 if tangent is None else float(np.sum(np.abs(gy) * np.abs(tangent)))
        rtol, atol = s.tolerance(GRADIENT_RTOL), GRADIENT_ATOL[s.dtype] * (1 + abs(here))
        numeric, bound = slope(loss, analytic, _allowed(rtol, scale, atol))
        assert abs(analytic - numeric) <= bound, (
            f"the tangent of output {i} is {analytic:.10g} along a random cotangent, but {numeric:.10g} by differences "
            f"of the reference (allowed distance {bound:.2g})"
        )


def _allowed(rtol: float, scale: float, atol: float) -> Callable[[float], float]:
    """Return the allowed distance from a finite difference, as a function of the difference."""
    return lambda numeric: rtol * (scale + abs(numeric)) + atol


def assert_gradient(s: Scenario) -> None:
    """Compare gradients with finite differences of the reference; check types, single inputs, and unchanged arrays."""
    arrays = s.arrays()
    xs = s.variables(arrays)
    ys = s.call(xs)
    outputs = s.differentiable(ys)
    if s.case.order == 0:
        assert not outputs, "a function without derivatives (order 0) returned outputs that require a gradient"
        return
    assert outputs or not ys, "no output requires a gradient, but the case has derivatives"
    gys = s.cotangents([ys[i] for i in outputs])
    seeds = [s.placed(gy) for gy in gys]
    values = [on_host(ys[i]) for i in outputs]
    backward([ys[i] for i in outputs], [Variable(g) for g in seeds])
    for i, x in enumerate(xs):
        if s.case.inputs[i].kind in ("int", "bool"):
            assert x.grad is None, f"input {i} is not floating-point but has a gradient"
        elif x.grad is not None:
            assert_place(s.device, x.grad, f"gradient {i}")
            assert s.describe(x.grad) == s.describe(x.array), (
                f"gradient {i} is {s.describe(x.grad)}, its input {s.describe(x.array)}"
            )
    gxs = [None if xs[i].grad is None else on_host(xs[i].grad) for i in s.floating]
    _assert_directional(s, gxs, outputs, gys)
    _assert_unchanged(s, arrays)
    for i, (seed, gy) in enumerate(zip(seeds, gys, strict=True)):
        assert_same_bits(on_host(seed), gy, f"cotangent {i} before and after")
    for i, value in zip(outputs, values, strict=True):
        assert_same_bits(on_host(ys[i]), value, f"output {i} before and after the backward computation")
    _assert_alone(s, arrays, gxs, gys)


def _assert_directional(s: Scenario, gxs: Sequence[Any], outputs: Sequence[int], gys: Sequence[Any]) -> None:
    """Compare gradients with differences of the reference, along directions through all inputs and through each.

    Where the value is undefined, such as the mean of an empty array, the difference is undefined as well.
    """
    wide = [s.inputs[i].astype(WIDE[s.inputs[i].dtype.name]) for i in s.floating]
    rng = s.generator()
    rtol = s.tolerance(GRADIENT_RTOL)
    everything = range(len(s.floating))
    for moved in (everything, *([k] for k in everything if len(s.floating) > 1)):
        directions = [random_values(v.shape, np.iscomplexobj(v), rng) * (k in moved) for k, v in enumerate(wide)]

        def loss(t: float, directions: Sequence[Any] = directions) -> float:
            values = list(s.inputs)
            for i, v, d in zip(s.floating, wide, directions, strict=True):
                values[i] = v + t * d
            ys = s.reference(values)
            return float(sum(inner(gy, ys[i]) for i, gy in zip(outputs, gys, strict=True)))

        if not np.isfinite(here := loss(0.0)):
            return
        pairs = [(g, d) for g, d in zip(gxs, directions, strict=True) if g is not None]
        analytic = float(sum(inner(g, d) for g, d in pairs))
        scale = float(sum(np.sum(np.abs(g) * np.abs(d)) for g, d in pairs))
        which = f"input {s.floating[moved[0]]}" if len(moved) < len(s.floating) else "all inputs"
        atol = GRADIENT_ATOL[s.dtype] * (1 + abs(here))
        numeric, bound = slope(loss, analytic, _allowed(rtol, scale, atol))
        assert abs(analytic - numeric) <= bound, (
            f"the derivative along a random direction of {which} is {analytic:.10g} by the gradients, "
            f"but {numeric:.10g} by differences of the reference (allowed distance {bound:.2g})"
        )


def _assert_alone(s: Scenario, arrays: Sequence[Any], gxs: Sequence[Any], gys: Sequence[Any]) -> None:
    """Check that the gradient for a single input is identical, if only this input requires it or is requested."""
    if len(s.floating) < 2:
        return
    for needed, together in zip(s.floating, gxs, strict=True):
        for alone in (True, False):
            xs = s.variables(arrays, needed if alone else None)
            ys = s.call(xs)
            outputs = s.differentiable(ys)
            seeds = [Variable(s.placed(gy)) for gy in gys]
            got = grad([ys[i] for i in outputs], [xs[needed]], seeds)[0] if len(outputs) == len(seeds) else None
            how = "alone requires one" if alone else "is alone asked for"
            assert (got is None) == (together is None), f"input {needed} has a gradient only if it {how}, or only else"
            if got is not None:
                assert_same_bits(on_host(got), together, f"gradient {needed} when it {how}, and together with others")


def assert_recorded(s: Scenario) -> None:
    """Gradients of a raw and of a recorded sweep, bit by bit."""
    raw, recorded = (_gradients(s, enable_double_backprop=each) for each in (False, True))
    for i, one, two in zip(s.floating, raw, recorded, strict=True):
        assert (one is None) == (two is None), f"gradient {i} exists in one sweep only: raw {one}, recorded {two}"
        if one is not None and two is not None:
            assert s.describe(one) == s.describe(two), (
                f"gradient {i}: raw {s.describe(one)}, recorded {s.describe(two)}"
            )
            assert_same_bits(on_host(one), on_host(two), f"gradient {i} of the raw and of the recorded sweep")


def _gradients(s: Scenario, enable_double_backprop: bool) -> list[Any]:
    xs = s.variables(s.arrays())
    ys = s.call(xs)
    wanted = [ys[i] for i in s.differentiable(ys)]
    seeds = [Variable(s.placed(gy)) for gy in s.cotangents(wanted)]
    backward(wanted, seeds, enable_double_backprop=enable_double_backprop)
    return [xs[i].grad for i in s.floating]


def _assert_unchanged(s: Scenario, arrays: Sequence[Any]) -> None:
    for i, array in enumerate(arrays):
        original = s.inputs[0] if s.variant.same else s.inputs[i]
        assert on_host(array).tobytes() == original.tobytes(), f"input {i} has been written to"
