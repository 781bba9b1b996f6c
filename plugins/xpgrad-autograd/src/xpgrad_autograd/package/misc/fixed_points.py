"""Fixed points of functions, with the derivatives of the point."""

from collections.abc import Callable
from typing import Any

from xpgrad_autograd.derivatives import defvjp, make_vjp, primitive
from xpgrad_autograd.spaces import vspace


@primitive
def fixed_point(
    f: Callable[[Any], Callable[[Any], Any]], a: Any, x0: Any, distance: Callable[[Any, Any], Any], tol: float
) -> Any:
    """Return the fixed point of ``f(a)``, reached from `x0` with steps until one is shorter than `tol`."""
    step = f(a)
    x, previous = step(x0), x0
    while distance(x, previous) > tol:
        x, previous = step(x), x
    return x


def _by_parameters(ans: Any, f: Any, a: Any, x0: Any, distance: Any, tol: float) -> Callable[[Any], Any]:
    """Return the pullback by the parameters: the fixed point of the adjoint iteration is pulled back once."""
    pull_parameters, _ = make_vjp(lambda parameters: f(parameters)(ans), a)

    def adjoint(given: Any) -> Callable[[Any], Any]:
        parameters, point, cotangent = given
        pull_point, _ = make_vjp(f(parameters), point)
        space = vspace(point)
        return lambda g: space.add(pull_point(g), cotangent)

    return lambda g: pull_parameters(fixed_point(adjoint, (a, ans, g), vspace(x0).zeros(), distance, tol))


defvjp(fixed_point, None, _by_parameters, None)
