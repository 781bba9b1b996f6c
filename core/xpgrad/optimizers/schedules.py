"""Schedules: hyperparameters that change from step to step, ``SGD(lr=schedules.cosine(0.1, 1000))``.

A schedule is a function of the number of steps made before: 0 for the first. Schedules here accept numbers, and 0-d
Variables as in compiled functions, and can be pickled.
"""

import functools
import math
from collections.abc import Callable, Mapping
from typing import Any

from xpgrad import array_api
from xpgrad.graph.variable import Variable
from xpgrad.listing import listed as _listed
from xpgrad.optimizers.formula import least

__all__ = ["constant", "cosine", "exponential", "inverse_sqrt", "linear_warmup", "piecewise", "polynomial"]

Schedule = Callable[[Any], Any]


def constant(value: float) -> Schedule:
    """Return the schedule that is always `value`."""
    return functools.partial(_constant, value)


def exponential(value: float, rate: float, steps: float = 1) -> Schedule:
    """Return the schedule ``value * rate ** (t / steps)``."""
    _positive("exponential", steps=steps, rate=rate)
    return functools.partial(_exponential, value, rate, steps)


def cosine(value: float, steps: float, final: float = 0.0) -> Schedule:
    """Return the schedule that falls from `value` to `final` along half a cosine in `steps`, then stays.

    Source: Loshchilov and Hutter, "SGDR: stochastic gradient descent with warm restarts", 2017.
    """
    _positive("cosine", steps=steps)
    return functools.partial(_cosine, value, steps, final)


def polynomial(value: float, steps: float, final: float = 0.0, power: float = 1.0) -> Schedule:
    """Return the schedule that falls from `value` to `final` as ``(1 - t / steps) ** power``, then stays."""
    _positive("polynomial", steps=steps, power=power)
    return functools.partial(_polynomial, value, steps, final, power)


def piecewise(value: float, factors: Mapping[int, float]) -> Schedule:
    """Return the schedule that starts from `value` and is multiplied by a factor from each given step on.

    Parameters
    ----------
    value : float
    factors : mapping of int to float
        Steps, and factors from there on, one after the other.
    """
    return functools.partial(_piecewise, value, tuple(sorted(factors.items())))


def inverse_sqrt(value: float, steps: float = 1) -> Schedule:
    """Return the schedule that rises linearly to `value` in `steps`, then falls as ``sqrt(steps / t)``.

    Source: Vaswani et al., "Attention is all you need", 2017, section 5.3.
    """
    _positive("inverse_sqrt", steps=steps)
    return functools.partial(_inverse_sqrt, value, steps)


def linear_warmup(steps: float, then: float | Schedule) -> Schedule:
    """Return a schedule that rises linearly to a value or to the start of another schedule, and then follows it.

    Parameters
    ----------
    steps : float
        Number of steps of the rise: the first has ``1 / steps`` of the value.
    then : float or schedule
        It is called with the number of steps after the rise.
    """
    _positive("linear_warmup", steps=steps)
    return functools.partial(_linear_warmup, steps, then if callable(then) else constant(then))


def _constant(value: float, t: Any) -> Any:
    return value


def _exponential(value: float, rate: float, steps: float, t: Any) -> Any:
    return value * rate ** (t / steps)


def _cosine(value: float, steps: float, final: float, t: Any) -> Any:
    angle = math.pi * least(t / steps, 1.0)
    fallen = array_api.cos(angle) if isinstance(angle, Variable) else math.cos(angle)
    return final + (value - final) * 0.5 * (1.0 + fallen)


def _polynomial(value: float, steps: float, final: float, power: float, t: Any) -> Any:
    return final + (value - final) * (1.0 - least(t / steps, 1.0)) ** power


def _piecewise(value: float, factors: tuple[tuple[int, float], ...], t: Any) -> Any:
    product: Any = value + 0.0 * t
    for start, factor in factors:
        product = _chosen(t >= start, product * factor, product)
    return product


def _inverse_sqrt(value: float, steps: float, t: Any) -> Any:
    n = t + 1.0
    return value * least(n / steps, (steps / n) ** 0.5)


def _linear_warmup(steps: float, then: Schedule, t: Any) -> Any:
    late = t >= steps
    after = then(_chosen(late, t - steps, t * 0)) + 0.0 * t
    return _chosen(late, after, after * (t + 1.0) / steps)


def _chosen(condition: Any, x1: Any, x2: Any) -> Any:
    if isinstance(condition, Variable):
        return array_api.where(condition, x1, x2)
    return x1 if condition else x2


def _positive(name: str, **numbers: float) -> None:
    for key, value in numbers.items():
        if not value > 0:
            raise ValueError(f"{name}: {key} must be positive, got {value}")


__getattr__, __dir__ = _listed(__name__, __all__)
