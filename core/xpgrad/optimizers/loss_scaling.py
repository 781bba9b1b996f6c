"""Loss scaling: factors that keep gradients of half precision from vanishing."""

from collections.abc import Sequence
from typing import Any

from xpgrad import array_api
from xpgrad.graph.parameter import Parameter
from xpgrad.graph.variable import Variable, constant_variable
from xpgrad.types import Array

MAX_FLOAT16 = 65504.0
"""The largest factor: the largest number of float16."""


class LossScale:
    """The factor of the loss, fixed or dynamic.

    Attributes
    ----------
    value : float
    interval : int or None
        Number of consecutive good steps after which a dynamic factor doubles; None for a fixed factor.
    good : int
        Number of good steps since it last changed.
    """

    def __init__(self, value: float, interval: int | None = None) -> None:
        if not value > 0:
            raise ValueError(f"loss_scaling: scale must be positive, got {value}")
        if interval is not None and interval < 1:
            raise ValueError(f"loss_scaling: interval must be at least 1, got {interval}")
        self.value, self.interval, self.good = float(value), interval, 0

    def after(self, finite: bool) -> None:
        """Adapt a dynamic factor to a step whose gradients were finite, or not."""
        if self.interval is None:
            return
        if not finite:
            self.value, self.good = max(1.0, self.value / 2), 0
            return
        self.good += 1
        if self.good >= self.interval:
            self.value, self.good = min(MAX_FLOAT16, self.value * 2), 0


def finite(params: Sequence[Parameter]) -> list[Array]:
    """Return for each device whether no gradient there has an infinite element or NaN: 0-d boolean arrays."""
    found: dict[Any, Variable] = {}
    for param in params:
        grad = param.grad
        if grad is not None:
            g = constant_variable(grad)
            flag = array_api.all(array_api.isfinite(g))
            found[g.device] = array_api.logical_and(found[g.device], flag) if g.device in found else flag
    return [flag.array for flag in found.values()]
