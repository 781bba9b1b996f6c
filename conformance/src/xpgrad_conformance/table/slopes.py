"""Finite differences that kinks nearby do not mislead."""

from collections.abc import Callable

from xpgrad.testing.differences import STEP, derivative

SHORTER = 1, 1 / 16, 1 / 256
"""Factors of the step: a function such as the remainder may jump within the longest one, at some values of a seed."""


def slope(
    loss: Callable[[float], float], analytic: float, allowed: Callable[[float], float], step: float = STEP
) -> tuple[float, float]:
    """Return the derivative of `loss` at 0 by differences, and the distance from `analytic` that is allowed.

    Where a difference is far from `analytic`, shorter steps are tried; if all steps fail, the first counts. A wrong
    derivative is far from the differences with all steps, which agree where the function is smooth.
    """
    first: tuple[float, float] | None = None
    for factor in SHORTER:
        numeric = derivative(loss, step * factor)
        bound = allowed(numeric)
        if abs(analytic - numeric) <= bound:
            return numeric, bound
        first = first or (numeric, bound)
    assert first is not None
    return first
