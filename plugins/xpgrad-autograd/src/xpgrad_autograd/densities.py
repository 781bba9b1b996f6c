"""Densities and distribution functions by formulas, for arrays whose derivatives are taken."""

import functools
from collections.abc import Callable
from typing import Any

from xpgrad_autograd.boxes import functions
from xpgrad_autograd.wrapping import has_box


def by_formula(exact: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator: SciPy's function for plain arguments, the formula for those with boxes."""

    def decorated(formula: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(formula)
        def call(*args: Any, **kwargs: Any) -> Any:
            if not has_box(args) and not has_box(kwargs.values()):
                return exact(*args, **kwargs)
            return formula(functions(), *args, **kwargs)

        return call

    return decorated
