"""One step of the Runge-Kutta method of Dormand and Prince, of order 5, with an error estimate of order 4.

Source: Dormand and Prince, A family of embedded Runge-Kutta formulae, J. Comp. Appl. Math. 6 (1980), table 2.
"""

from collections.abc import Callable, Sequence
from typing import Any

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
