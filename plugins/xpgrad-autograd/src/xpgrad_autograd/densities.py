"""Densities and distribution functions of arrays whose derivatives are taken."""

import functools
from collections.abc import Callable
from typing import Any

import xpgrad.scipy.stats
from xpgrad_autograd.boxes import functions
from xpgrad_autograd.wrapping import has_box, wrapped


def by_formula(exact: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that calls SciPy's function for plain arguments, and the formula for boxes."""

    def decorated(formula: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(formula)
        def call(*args: Any, **kwargs: Any) -> Any:
            if not has_box(args) and not has_box(kwargs.values()):
                return exact(*args, **kwargs)
            return formula(functions(), *args, **kwargs)

        return call

    return decorated


def methods_of(distribution: Any, *names: str) -> list[Callable[..., Any]]:
    """Return methods of SciPy's distribution: SciPy's methods for plain arguments, xpgrad's methods for boxes."""
    differentiated = getattr(xpgrad.scipy.stats, distribution.name)
    return [_either(getattr(distribution, name), getattr(differentiated, name)) for name in names]


def _either(exact: Callable[..., Any], differentiated: Callable[..., Any]) -> Callable[..., Any]:
    of_boxes = wrapped(differentiated)

    @functools.wraps(exact)
    def call(*args: Any, **kwargs: Any) -> Any:
        return (of_boxes if has_box(args) or has_box(kwargs.values()) else exact)(*args, **kwargs)

    return call
