"""Steps of the Runge-Kutta method of Dormand and Prince, of order 5, and `StepControl`, which chooses their sizes.

Sources: Dormand and Prince, A family of embedded Runge-Kutta formulae, J. Comp. Appl. Math. 6 (1980), table 2; Hairer,
Nørsett and Wanner, Solving Ordinary Differential Equations I, section II.4; the proportional-integral control of
Gustafsson as in their code DOPRI5.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.backend.plugins import plugins
from xpgrad.errors import IterationError

Derivative = Callable[[list[Any], Any], list[Any]]
"""The right-hand side: from the leaves of the solution and the time to their derivatives."""

NODES = 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0
STAGES = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
ERROR = 71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40


def stepped(f: Derivative, y: list[Any], k: list[Any], t: Any, h: Any) -> tuple[list[Any], list[Any], list[list[Any]]]:
    """Return the solution after a step, its derivative there, and the derivatives of all stages.

    Parameters
    ----------
    f : callable
    y, k : list of Variable
        The solution, and its derivative.
    t, h : float or Variable
        The time, and the step.
    """
    stages, x = [k], y
    for node, weights in zip(NODES, STAGES, strict=True):
        x = combined(y, stages, weights, h)
        stages.append(f(x, t + node * h))
    return x, stages[-1], stages


def combined(y: Sequence[Any] | None, stages: Sequence[Sequence[Any]], weights: Sequence[float], h: Any) -> list[Any]:
    """Return ``y + sum(h * weights * stages)`` for each leaf; None for `y` means zeros."""
    pairs = [(k, h * w) for k, w in zip(stages, weights, strict=True) if w]
    found = []
    for i in range(len(stages[0])):
        total = None if y is None else y[i]
        for k, w in pairs:
            term = k[i] * w
            total = term if total is None else total + term
        found.append(total)
    return found


SAFETY, SMALLEST, LARGEST = 0.9, 0.2, 10.0
ORDER = 5
INTEGRAL = 0.04
PROPORTIONAL = 1 / ORDER - 0.75 * INTEGRAL


class StepControl:
    """The step sizes of one integration.

    Parameters
    ----------
    rtol, atol : float
    max_steps : int
        Number of steps from one output time to the next, rejected ones included.
    eps : float
        The relative spacing of the solution's numbers.

    Attributes
    ----------
    size : float
        The size of the next step, as far as the error is concerned.
    """

    def __init__(self, rtol: float, atol: float, max_steps: int, eps: float) -> None:
        self.rtol, self.atol, self.max_steps, self.eps = rtol, atol, max_steps, eps
        self.size = 0.0
        self._before = 1e-4
        self._rejected = False

    def start(self, f: Derivative, y: list[Any], k: list[Any], t: float, end: float) -> None:
        """Choose the size of the first step."""
        scales = [self._scale(a, a) for a in y]
        d0, d1 = self._norm(y, scales), self._norm(k, scales)
        h = 1e-6 if min(d0, d1) < 1e-5 else 0.01 * d0 / d1
        h = min(h, abs(end - t))
        sign = math.copysign(1.0, end - t)
        later = f([a + b * (sign * h) for a, b in zip(y, k, strict=True)], t + sign * h)
        d2 = self._norm([a - b for a, b in zip(later, k, strict=True)], scales) / h if h else 0.0
        most = max(d1, d2)
        h1 = max(1e-6, h * 1e-3) if most <= 1e-15 else (0.01 / most) ** (1 / ORDER)
        self.size = min(100 * h, h1) if math.isfinite(h1) else h

    def step(self, t: float, end: float) -> float:
        """Return the next step, which ends at `end` at the latest."""
        left = abs(end - t)
        h = self.size
        if h >= left * (1 - 1e-9):
            h = left
        elif 2 * h > left:
            h = left / 2  # two equal steps rather than a very short last one
        return math.copysign(h, end - t)

    def accepts(self, y: list[Any], after: list[Any], stages: Sequence[list[Any]], h: float) -> bool:
        """Return whether the error of a step is small enough, and choose the size of the next step."""
        errors = combined(None, stages, ERROR, h)
        scales = [self._scale(a, b) for a, b in zip(y, after, strict=True)]
        error = self._norm(errors, scales)
        if not math.isfinite(error):
            self.size, self._rejected = abs(h) * SMALLEST, True
            return False
        factor = SAFETY * max(error, 1e-10) ** -PROPORTIONAL * (self._before**INTEGRAL)
        if error > 1:
            self.size = abs(h) * max(SMALLEST, SAFETY * error ** (-1 / ORDER))
            self._rejected = True
            return False
        size = abs(h) * min(1.0 if self._rejected else LARGEST, max(SMALLEST, factor))
        self.size = size if abs(h) >= self.size * (1 - 1e-9) else max(self.size, size)  # an end time shortened the step
        self._before, self._rejected = max(error, 1e-4), False
        return True

    def check(self, steps: int, t: float, start: float, end: float) -> None:
        """Raise `IterationError` if the integration cannot continue."""
        where = f"from t={start:.6g} to {end:.6g} it has come to t={t:.6g}"
        if steps >= self.max_steps:
            raise IterationError(
                f"odeint: {where} in max_steps={self.max_steps} steps, the last of size {self.size:.3g}; the problem "
                "may be stiff: loosen rtol and atol, raise max_steps, or take a solver for stiff problems"
            )
        if self.size < 4 * self.eps * max(abs(t), abs(end - start) * 1e-3) or not self.size > 0:
            raise IterationError(
                f"odeint: {where}, where the step size {self.size:.3g} is too small for the requested error: f has a "
                "singularity or returns NaN, or rtol and atol are too small for the dtype"
            )

    def _scale(self, a: Any, b: Any) -> Any:
        backend = plugins.backend_of(a._array)
        xp = backend.xp
        return self.atol + self.rtol * xp.maximum(xp.abs(a._array), xp.abs(b._array))

    @staticmethod
    def _norm(values: Sequence[Any], scales: Sequence[Any]) -> float:
        """Return the root mean square of all values over their scales: in a batch, for the worst element."""
        total, count = 0.0, 0
        for x, scale in zip(values, scales, strict=True):
            spec = x._node.spec
            xp = spec.backend.xp
            ratio = xp.abs(x._array) / scale
            total += spec.backend.largest(spec.backend.restore(xp.sum(ratio * ratio)))
            count += spec.size
        return math.sqrt(total / count) if count else 0.0
