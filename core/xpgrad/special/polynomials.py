"""Orthogonal polynomials, by the recurrences of NIST DLMF 18.9; their parameters have gradients too."""

from collections.abc import Callable
from typing import Any

from xpgrad.graph.variable import Variable
from xpgrad.special.beta_functions import binom
from xpgrad.special.operands import composed_of_order
from xpgrad.types import AnyArray, RealOperand

__all__ = [
    "eval_chebyc", "eval_chebys", "eval_chebyt", "eval_chebyu", "eval_gegenbauer", "eval_genlaguerre", "eval_hermite",
    "eval_hermitenorm", "eval_jacobi", "eval_laguerre", "eval_legendre", "eval_sh_chebyt", "eval_sh_chebyu",
    "eval_sh_jacobi", "eval_sh_legendre",
]  # fmt: skip

MAX_DEGREE = 1_000_000
"""Steps of a recurrence, above which it would not end."""
Step = Callable[[int, Any, Any], Any]
composed_of_degree = composed_of_order("degree")


def _recurrence(n: int, p1: Any, step: Step) -> Variable:
    """Return polynomial `n` of the sequence 1, `p1`, ...; ``step(k, p, before)`` is number k, from the two before."""
    if n > MAX_DEGREE:
        raise ValueError(f"expected a degree of at most {MAX_DEGREE}, got {n}")
    before: Any = p1.__array_namespace__().ones_like(p1)
    if not n:
        return before  # type: ignore[no-any-return]  # a Variable
    p = p1
    for k in range(2, n + 1):
        before, p = p, step(k, p, before)
    return p  # type: ignore[no-any-return]  # as above


@composed_of_degree
def eval_legendre(n: int, x: AnyArray, /) -> Variable:
    """Return the Legendre polynomial of degree `n`, elementwise."""
    return _recurrence(n, x, lambda k, p, before: ((2 * k - 1) * x * p - (k - 1) * before) / k)


@composed_of_degree
def eval_chebyt(n: int, x: AnyArray, /) -> Variable:
    """Return the Chebyshev polynomial of the first kind of degree `n`, elementwise."""
    return _recurrence(n, x, lambda k, p, before: 2 * x * p - before)


@composed_of_degree
def eval_chebyu(n: int, x: AnyArray, /) -> Variable:
    """Return the Chebyshev polynomial of the second kind of degree `n`, elementwise."""
    return _recurrence(n, 2 * x, lambda k, p, before: 2 * x * p - before)


@composed_of_degree
def eval_chebyc(n: int, x: AnyArray, /) -> Variable:
    """Return ``2 * eval_chebyt(n, x / 2)``, elementwise."""
    return 2 * eval_chebyt(n, x / 2)


@composed_of_degree
def eval_chebys(n: int, x: AnyArray, /) -> Variable:
    """Return ``eval_chebyu(n, x / 2)``, elementwise."""
    return eval_chebyu(n, x / 2)


@composed_of_degree
def eval_sh_legendre(n: int, x: AnyArray, /) -> Variable:
    """Return ``eval_legendre(n, 2 * x - 1)``, elementwise."""
    return eval_legendre(n, 2 * x - 1)


@composed_of_degree
def eval_sh_chebyt(n: int, x: AnyArray, /) -> Variable:
    """Return ``eval_chebyt(n, 2 * x - 1)``, elementwise."""
    return eval_chebyt(n, 2 * x - 1)


@composed_of_degree
def eval_sh_chebyu(n: int, x: AnyArray, /) -> Variable:
    """Return ``eval_chebyu(n, 2 * x - 1)``, elementwise."""
    return eval_chebyu(n, 2 * x - 1)


@composed_of_degree
def eval_hermite(n: int, x: AnyArray, /) -> Variable:
    """Return the Hermite polynomial of degree `n` with the weight ``exp(-x * x)``, elementwise."""
    return _recurrence(n, 2 * x, lambda k, p, before: 2 * (x * p - (k - 1) * before))


@composed_of_degree
def eval_hermitenorm(n: int, x: AnyArray, /) -> Variable:
    """Return the Hermite polynomial of degree `n` with the weight ``exp(-x * x / 2)``, elementwise."""
    return _recurrence(n, x, lambda k, p, before: x * p - (k - 1) * before)


@composed_of_degree
def eval_laguerre(n: int, x: AnyArray, /) -> Variable:
    """Return the Laguerre polynomial of degree `n`, elementwise."""
    return eval_genlaguerre(n, 0.0, x)


@composed_of_degree
def eval_genlaguerre(n: int, alpha: RealOperand, x: RealOperand, /) -> Variable:
    """Return the generalised Laguerre polynomial of degree `n`, elementwise."""

    def step(k: int, p: Any, before: Any) -> Any:
        return ((2 * k - 1 + alpha - x) * p - (k - 1 + alpha) * before) / k

    return _recurrence(n, 1 + alpha - x, step)


@composed_of_degree
def eval_gegenbauer(n: int, alpha: RealOperand, x: RealOperand, /) -> Variable:
    """Return the Gegenbauer polynomial of degree `n`, elementwise."""

    def step(k: int, p: Any, before: Any) -> Any:
        return (2 * (k - 1 + alpha) * x * p - (k - 2 + 2 * alpha) * before) / k

    return _recurrence(n, 2 * alpha * x, step)


@composed_of_degree
def eval_jacobi(n: int, alpha: RealOperand, beta: RealOperand, x: RealOperand, /) -> Variable:
    """Return the Jacobi polynomial of degree `n`, elementwise, for `alpha` and `beta` greater than -1."""
    both = alpha + beta

    def step(k: int, p: Any, before: Any) -> Any:
        c = 2 * k + both
        grown = (c - 1) * (c * (c - 2) * x + (alpha - beta) * both) * p
        return (grown - 2 * (k + alpha - 1) * (k + beta - 1) * c * before) / (2 * k * (k + both) * (c - 2))

    return _recurrence(n, alpha + 1 + (both + 2) * (0.5 * (x - 1)), step)


@composed_of_degree
def eval_sh_jacobi(n: int, p: RealOperand, q: RealOperand, x: RealOperand, /) -> Variable:
    """Return the Jacobi polynomial of degree `n` on the range from 0 to 1 with a leading coefficient 1, elementwise.

    ``p - q`` is greater than -1, and `q` greater than 0.
    """
    return eval_jacobi(n, p - q, q - 1, 2 * x - 1) / binom(2 * n + p - 1, float(n))
