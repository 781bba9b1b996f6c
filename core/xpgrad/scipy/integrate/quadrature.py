"""Integrals of functions, with gradients by limits and parameters.

`quad` lets SciPy divide the interval, and integrates each part by one rule, which derivatives follow.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

from xpgrad import array_api as xpa
from xpgrad.backend.current import current_device
from xpgrad.backend.plugins import plugins
from xpgrad.errors import ShapeError
from xpgrad.graph.operands import is_operand
from xpgrad.graph.variable import Variable, as_variable, constant_variable
from xpgrad.scipy.operands import beside, from_host, known, required
from xpgrad.transforms.batch.vmap import vmap
from xpgrad.transforms.vectors import host_number
from xpgrad.types import Array, as_list

POINTS = 21
"""Nodes in each part of an interval."""


@functools.cache
def _rule(n: int) -> tuple[Array, Array]:
    """Return nodes and weights of the quadrature of Gauss and Legendre on the host."""
    nodes, weights = required("scipy.special", "fixed_quad").roots_legendre(n)
    return nodes, weights


def _example(*values: Any) -> Variable:
    """Return the first floating-point array, as the prototype for new numbers; else a number on the current device."""
    for value in values:
        if is_operand(value) and not isinstance(value, (int, float, complex)):
            x = as_variable(value)
            if x.node.spec.differentiable:
                return xpa.real(x) if x.node.spec.complex else x
    device = current_device()
    xp = device.backend.namespace
    return constant_variable(xp.zeros((), dtype=device.backend.default_dtype("float"), device=device.handle))


def fixed_quad(func: Callable[..., Any], a: Any, b: Any, args: tuple[Any, ...] = (), n: int = 5) -> Any:
    """Return the integral of a function by Gauss and Legendre's rule with `n` points, and None.

    Parameters
    ----------
    func : callable
        ``func(x, *args)`` takes a vector, and returns values along its last axis.
    a, b : float or Variable
        Finite limits, differentiable.
    args : tuple
        Further arguments, with gradients.
    n : int

    Returns
    -------
    Variable, and None
    """
    args = tuple(as_list(args, "arguments"))
    like = _example(a, b, *args)
    nodes, weights = (from_host(like, each) for each in _rule(n))
    low, high = (beside(like, each, "fixed_quad") for each in (a, b))
    if any(known(end) and not xpa.all(xpa.isfinite(end)) for end in (low, high)):
        raise ValueError("fixed_quad: expected finite limits; quad takes others")
    half = 0.5 * (high - low)
    return half * xpa.sum(weights * func(half * (nodes + 1.0) + low, *args), axis=-1), None


def _value(x: Any) -> float:
    """Return a Variable of one number as a number, which has no gradient."""
    return host_number(as_variable(as_variable(x).array))


Map = Callable[[Variable, Variable], tuple[Variable, Variable]]


def _substitution(a: Any, b: Any, like: Variable) -> tuple[Map, float]:
    """Return places and their slopes for numbers `t` from the second result to 1, and for ``s = 1 - t * t``."""
    ends = [beside(like, each, "quad") for each in (a, b)]
    if any(end.ndim for end in ends):
        raise ShapeError(f"quad: expected numbers as limits, got shapes {ends[0].shape} and {ends[1].shape}")
    low, high = (_value(end) for end in ends)
    if math.isinf(low) and math.isinf(high):
        sign = 1.0 if high > low else -1.0 if high < low else 0.0
        return (lambda t, s: (t / s, sign * (2.0 - s) / s**2)), -1.0
    if math.isinf(high) or math.isinf(low):
        end, sign = (ends[0], 1.0 if high > 0 else -1.0) if math.isinf(high) else (ends[1], 1.0 if low > 0 else -1.0)
        slope = sign if math.isinf(high) else -sign
        return (lambda t, s: (end + sign * t * (1.0 + t) / s, slope * ((1.0 + t) / s) ** 2)), 0.0
    return (lambda t, s: (ends[0] + (ends[1] - ends[0]) * t, (ends[1] - ends[0]) * xpa.ones_like(t))), 0.0


def quad(
    func: Callable[..., Any], a: Any, b: Any, args: Any = (), *, epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8, limit: int = 50, points: Any = None,
) -> tuple[Variable, float]:  # fmt: skip
    """Return the integral of a function of one number, and an estimate of its error.

    Parameters
    ----------
    func : callable
        ``func(x, *args)`` takes and returns scalar Variables; `vmap` maps it over the nodes.
    a, b : float or Variable, shape ()
        Limits, differentiable; they may be infinite.
    args : tuple, or a Variable or number
        Further arguments, with gradients, as have Variables that `func` captures.
    epsabs, epsrel, limit
        As for ``scipy.integrate.quad``, which divides the interval.
    points : sequence of float, optional
        Places of discontinuities, for finite limits.

    Returns
    -------
    Variable, shape (), and float
    """
    args = (args,) if is_operand(args) else tuple(as_list(args, "arguments"))
    like = _example(a, b, *args)
    place, start = _substitution(a, b, like)

    def integrand(t: Variable, s: Variable) -> Any:
        x, slope = place(t, s)
        return func(x, *args) * slope

    def on_device(t: Any) -> list[Variable]:
        """Return `t` and ``1 - t * t``, which has few digits if it is computed in single precision."""
        return [from_host(like, each) for each in (t, 1.0 - t * t)]

    host = plugins.host

    def value(t: float) -> float:
        return _value(integrand(*on_device(float(t))))

    breaks = None
    if points is not None:
        low, high = (_value(beside(like, each, "quad")) for each in (a, b))
        breaks = [(float(p) - low) / (high - low) for p in as_list(points, "numbers")]
    found = required("scipy.integrate", "quad").quad(
        value, start, 1.0, full_output=1, epsabs=epsabs, epsrel=epsrel, limit=limit, points=breaks
    )
    count = found[2]["last"]
    nodes, weights = _rule(POINTS)
    xp: Any = host.namespace
    parts = xp.stack([found[2][key][:count] for key in ("alist", "blist")])

    def over(parts: Array) -> Variable:
        lows, half = parts[0][:, None], 0.5 * (parts[1] - parts[0])[:, None]
        ts = on_device(xp.reshape(lows + half * (nodes + 1.0), (-1,)))
        return xpa.sum(from_host(like, xp.reshape(half * weights, (-1,))) * vmap(integrand)(*ts))

    y = over(parts)
    if abs(_value(y) - found[0]) > max(epsabs, epsrel * abs(found[0])):  # SciPy extrapolated to a singularity
        y = over(_graded(parts, xp))
    return y, max(float(found[1]), abs(_value(y) - found[0]))


def _graded(parts: Array, xp: Any) -> Array:
    """Return the intervals, of which the smallest is halved 40 times towards each end, and 60 times towards 0."""
    lows, highs = parts
    k = int(xp.argmin(highs - lows))
    below, above = (0.5 * (highs[k] - lows[k]) * 2.0 ** -xp.arange(n) for n in (61.0 - 20 * bool(lows[k]), 41.0))
    made = [
        xp.delete(parts, k, axis=1),
        xp.stack([lows[k] + below[1:], lows[k] + below[:-1]]),
        xp.stack([highs[k] - above[:-1], highs[k] - above[1:]]),
    ]
    return xp.concat(made, axis=1)
