"""Loss scaling: factors that keep gradients of half precision from vanishing."""

from collections.abc import Sequence
from typing import Any

from xpgrad.backend.plugins import plugins
from xpgrad.chainer.parameter import Parameter
from xpgrad.types import Array

MOST = 65504.0
"""The largest factor: the largest number of float16."""


class LossScale:
    """The factor of the loss, fixed or dynamic.

    Attributes
    ----------
    value : float
    interval : int or None
        After how many good steps in a row a dynamic factor doubles; None for a fixed one.
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
            self.value, self.good = min(MOST, self.value * 2), 0


def all_finite(params: Sequence[Parameter]) -> bool:
    """Return whether no gradient has an infinite element or NaN: one value is read for each device."""
    found: dict[Any, Array] = {}
    for param in params:
        grad = param.grad
        if grad is not None:
            backend = plugins.backend_of(grad)
            flag = backend.follow(_finite)(backend.xp, grad)
            device = backend.device_of(grad)
            found[device] = flag if device not in found else found[device] & flag
    return all(bool(flag) for flag in found.values())


def _finite(xp: Any, grad: Array) -> Array:
    return xp.all(xp.isfinite(grad))
