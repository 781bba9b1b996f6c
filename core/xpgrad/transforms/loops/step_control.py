"""`StepControl`: the step sizes of an integration, by an error estimate for each step.

Source: Hairer, Nørsett and Wanner, Solving Ordinary Differential Equations I, section II.4; the proportional-integral
control of Gustafsson as in their code DOPRI5.
"""

import math
from collections.abc import Sequence
from typing import Any

from xpgrad.backend.plugins import plugins
from xpgrad.errors import IterationError
from xpgrad.transforms.loops.dormand_prince import ERROR, Derivative, combined

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
