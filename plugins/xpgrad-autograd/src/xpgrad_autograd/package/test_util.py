"""Comparison of derivatives with finite differences."""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from xpgrad_autograd.derivatives import make_jvp, make_vjp
from xpgrad_autograd.package.wrap_util import get_name, unary_to_nary
from xpgrad_autograd.spaces import vspace

TOL = RTOL = EPS = 1e-6


def scalar_close(a: Any, b: Any) -> Any:
    """Return whether two numbers differ by less than 1e-6, absolutely or relative to their sum."""
    return abs(a - b) < TOL or abs(a - b) / abs(a + b) < RTOL


def make_numerical_jvp(f: Callable[[Any], Any], x: Any) -> Callable[[Any], Any]:
    """Return the function from a direction to a central difference of `f` along it."""
    return _differences(f, x, vspace(f(x)))


def _differences(f: Callable[[Any], Any], x: Any, result: Any) -> Callable[[Any], Any]:
    space = vspace(x)

    def along(v: Any) -> Any:
        above, below = (f(space.add(x, space.scalar_mul(v, sign * EPS / 2))) for sign in (1, -1))
        return result.scalar_mul(result.add(above, result.scalar_mul(below, -1.0)), 1 / EPS)

    return along


def check_vjp(f: Callable[[Any], Any], x: Any) -> None:
    """Compare a pullback with differences along a random direction."""
    _check_vjp(f, x)


def _check_vjp(f: Callable[[Any], Any], x: Any) -> Any:
    """Return the space of the value, after the comparison."""
    vjp, y = make_vjp(f, x)
    space, result = vspace(x), vspace(y)
    direction, cotangent = space.randn(), result.randn()
    pulled = space.covector(vjp(result.covector(cotangent)))
    assert vspace(pulled) == space, f"the gradient of {get_name(f)} is in {vspace(pulled)}, its argument in {space}"
    exact = space.inner_prod(direction, pulled)
    numeric = result.inner_prod(cotangent, _differences(f, x, result)(direction))
    assert scalar_close(numeric, exact), (
        f"Derivative (VJP) check of {get_name(f)} failed with arg {x}:\nanalytic: {exact}\nnumeric:  {numeric}"
    )
    return result


def check_jvp(f: Callable[[Any], Any], x: Any) -> None:
    """Compare a tangent with differences along a random direction."""
    direction = vspace(x).randn()
    value, tangent = make_jvp(f, x)(direction)
    check_equivalent(tangent, _differences(f, x, vspace(value))(direction))


def check_equivalent(x: Any, y: Any) -> None:
    """Compare two values along a random direction."""
    space, other = vspace(x), vspace(y)
    assert space == other, f"VSpace mismatch:\nx: {space}\ny: {other}"
    direction = space.randn()
    products = space.inner_prod(x, direction), space.inner_prod(y, direction)
    assert scalar_close(*products), f"Value mismatch:\nx: {x}\ny: {y}"


@unary_to_nary
def check_grads(f: Callable[[Any], Any], x: Any, modes: Sequence[str] = ("fwd", "rev"), order: int = 2) -> None:
    """Compare derivatives up to an order with finite differences, in forward and reverse mode."""
    assert all(mode in ("fwd", "rev") for mode in modes), modes
    if "fwd" in modes:
        check_jvp(f, x)
        if order > 1:

            def tangent(x: Any, v: Any) -> Any:
                return make_jvp(f, x)(v)[1]

            tangent.__name__ = f"jvp_{get_name(f)}"
            check_grads(tangent, (0, 1), modes, order=order - 1)(x, vspace(x).randn())
    if "rev" in modes:
        result = _check_vjp(f, x)
        if order > 1:

            def pulled(x: Any, v: Any) -> Any:
                return make_vjp(f, x)[0](v)

            pulled.__name__ = f"vjp_{get_name(f)}"
            check_grads(pulled, (0, 1), modes, order=order - 1)(x, result.randn())


def combo_check(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[..., None]:
    """Return a function that checks all combinations of values of arguments."""
    check = check_grads(fun, *args, **kwargs)

    def checked(*values: Any, **named: Any) -> None:
        pairs = [[(key, value) for value in given] for key, given in named.items()]
        for chosen in product(*values):
            for options in product(*pairs):
                check(*chosen, **dict(options))

    return checked
