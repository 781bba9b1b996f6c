"""Schedules: extensions that change a hyperparameter of an optimizer each time they are called."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from xpgrad.graph.undo import attributes_restored
from xpgrad.training.extension import Extension


class _Shift(Extension):
    """Sets ``optimizer.attr`` to `value(t)` at the t-th call; a snapshot restores `t`."""

    def __init__(self, attr: str, init: float | None, target: float | None, optimizer: Any) -> None:
        self._attr, self._init, self._target, self._optimizer, self._t = attr, init, target, optimizer, 0
        self._last: float | None = None

    def value(self, t: int) -> float:
        """Return the value after `t` calls."""
        assert self._init is not None
        return self._init * float(self._factor(t))

    def _factor(self, t: int) -> Any:
        raise NotImplementedError

    def initialize(self, trainer: Any) -> None:
        """Set the first value, or the value of the snapshot."""
        optimizer = self._optimizer = self._optimizer or trainer.updater.get_optimizer("main")
        if self._init is None:
            self._init = getattr(optimizer, self._attr)
        self._set(self.value(self._t) if self._last is None else self._last)

    def __call__(self, trainer: Any) -> None:
        """Set the next value."""
        with attributes_restored(self):
            self._t += 1
            self._set(self.value(self._t))

    def _set(self, value: float) -> None:
        if self._target is not None:  # the value approaches the target from the initial value
            assert self._init is not None
            value = max(value, self._target) if self._target < self._init else min(value, self._target)
        self._last = value
        setattr(self._optimizer, self._attr, value)

    def serialize(self, serializer: Any) -> None:
        """Save or load the number of calls, and the last value."""
        self._t = int(serializer("_t", self._t))
        with suppress(KeyError):  # not saved by Chainer, the last value by some of its extensions
            self._last = _number(serializer, "_last_value", self._last)
            self._init = _number(serializer, "_init", self._init)


def _number(serializer: Any, key: str, value: float | None) -> float | None:
    found = float(serializer(key, float("nan") if value is None else value))
    return None if found != found else found


class ExponentialShift(_Shift):
    """Multiplies by `rate` at each call: ``init * rate**t``, until `target`.

    Parameters
    ----------
    attr : str
        The hyperparameter, such as "lr".
    rate : float
    init, target : float, optional
        By default, the value at the start, and no limit.
    optimizer : Optimizer, optional
        By default the updater's "main".
    """

    def __init__(
        self, attr: str, rate: float, init: float | None = None, target: float | None = None, optimizer: Any = None
    ) -> None:
        if rate < 0:
            raise ValueError(f"ExponentialShift: rate must not be negative, got {rate}")
        super().__init__(attr, init, target, optimizer)
        self._rate = rate

    def _factor(self, t: int) -> Any:
        return self._rate**t


class InverseShift(_Shift):
    """``init * (1 + gamma * t)**-power``, until `target`; parameters as of `ExponentialShift`."""

    def __init__(
        self, attr: str, gamma: float, power: float, init: float | None = None, target: float | None = None,
        optimizer: Any = None,
    ) -> None:  # fmt: skip
        if gamma < 0:
            raise ValueError(f"InverseShift: gamma must not be negative, got {gamma}")
        super().__init__(attr, init, target, optimizer)
        self._gamma, self._power = gamma, power

    def _factor(self, t: int) -> Any:
        return (1 + self._gamma * t) ** -self._power


class StepShift(_Shift):
    """Multiplies by `gamma` at every `step` calls, until `target`; parameters as of `ExponentialShift`."""

    def __init__(
        self, attr: str, gamma: float, step: int, init: float | None = None, target: float | None = None,
        optimizer: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(attr, init, target, optimizer)
        self._gamma, self._step = gamma, step

    def _factor(self, t: int) -> Any:
        return self._gamma ** (t // self._step)


class MultistepShift(_Shift):
    """Multiplies by `gamma` at each of the calls `step_value`; parameters as of `ExponentialShift`."""

    def __init__(
        self, attr: str, gamma: float, step_value: Sequence[int], init: float | None = None, optimizer: Any = None
    ) -> None:
        super().__init__(attr, init, None, optimizer)
        self._gamma, self._steps = gamma, step_value

    def _factor(self, t: int) -> Any:
        return self._gamma ** self._steps_until(t)

    def _steps_until(self, t: int) -> int:
        return sum(step <= t for step in self._steps)

    def serialize(self, serializer: Any) -> None:
        """Save or load the number of calls, the last value, and, for Chainer, the number of steps."""
        super().serialize(serializer)
        with suppress(KeyError):
            serializer("_current_step", self._steps_until(self._t))


class PolynomialShift(_Shift):
    """``init * (1 - t / max_count)**rate``, until `target`; parameters as of `ExponentialShift`."""

    def __init__(
        self, attr: str, rate: float, max_count: int, init: float | None = None, target: float | None = None,
        optimizer: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(attr, init, target, optimizer)
        self._rate, self._count = rate, max_count

    def _factor(self, t: int) -> Any:
        return max(1 - t / self._count, 0.0) ** self._rate


class LinearShift(_Shift):
    """A line from ``value_range[0]`` at call ``time_range[0]`` to ``value_range[1]`` at ``time_range[1]``.

    Parameters
    ----------
    attr : str
    value_range : pair of float
    time_range : pair of int
    optimizer : Optimizer, optional
        By default the updater's "main".
    """

    def __init__(
        self, attr: str, value_range: tuple[float, float], time_range: tuple[int, int], optimizer: Any = None
    ) -> None:
        super().__init__(attr, value_range[0], None, optimizer)
        self._values, self._times = value_range, time_range

    def value(self, t: int) -> float:
        """Return the value after `t` calls."""
        (first, last), (start, end) = self._values, self._times
        share = min(max((t - start) / (end - start), 0.0), 1.0) if end > start else float(t >= end)
        return first + (last - first) * share


class WarmupShift(LinearShift):
    """A line from `warmup_start` to `init` in the first `warmup_iter` calls."""

    def __init__(self, attr: str, warmup_start: float, warmup_iter: int, init: float, optimizer: Any = None) -> None:
        super().__init__(attr, (warmup_start, init), (0, warmup_iter), optimizer)
