"""Orthogonal polynomials, by the recurrences of NIST DLMF 18.9; their parameters have gradients too."""

import operator
from collections.abc import Callable
from typing import Any

from xpgrad.errors import DtypeError
from xpgrad.graph.variable import Variable
from xpgrad.special.beta_functions import binom
from xpgrad.special.operands import fitted
from xpgrad.types import RealOperand

Step = Callable[[int, Any, Any], Any]


def _degree(name: str, n: Any) -> int:
    try:
        degree = operator.index(n) if not isinstance(n, (bool, Variable)) and not getattr(n, "shape", ()) else -1
    except TypeError:
        degree = -1
    if degree < 0:
        raise DtypeError(f"{name}: expected an int from 0 on as the degree, got {n!r}")
    return degree


def _recurrence(n: int, x: Variable, first: Any, step: Step) -> Variable:
    """Return polynomial `n` of those that start with 1 and `first`; ``step(k, p, before)`` gives number k."""
    before: Any = x.__array_namespace__().ones_like(first)
    if not n:
        return before  # type: ignore[no-any-return]  # a Variable
    p: Any = first
    for k in range(2, n + 1):
        before, p = p, step(k, p, before)
    return p  # type: ignore[no-any-return]  # as above


def eval_legendre(n: RealOperand, x: RealOperand, /) -> Variable:
    """Return the Legendre polynomial of degree `n`, elementwise.

    Parameters
    ----------
    n : int
        From 0 on.
    x : Variable or array, real
    """
    (x,) = fitted("eval_legendre", (x,))
    return _recurrence(
        _degree("eval_legendre", n), x, x, lambda k, p, before: ((2 * k - 1) * x * p - (k - 1) * before) / k
    )


def eval_chebyt(n: RealOperand, x: RealOperand, /) -> Variable:
    """Return the Chebyshev polynomial of the first kind, elementwise; arguments as for `eval_legendre`."""
    (x,) = fitted("eval_chebyt", (x,))
    return _recurrence(_degree("eval_chebyt", n), x, x, lambda k, p, before: 2 * x * p - before)


def eval_chebyu(n: RealOperand, x: RealOperand, /) -> Variable:
    """Return the Chebyshev polynomial of the second kind, elementwise; arguments as for `eval_legendre`."""
    (x,) = fitted("eval_chebyu", (x,))
    return _recurrence(_degree("eval_chebyu", n), x, 2 * x, lambda k, p, before: 2 * x * p - before)


def eval_chebyc(n: RealOperand, x: RealOperand, /) -> Variable:
    """Return ``2 * eval_chebyt(n, x / 2)``, elementwise."""
    (x,) = fitted("eval_chebyc", (x,))
    return 2 * eval_chebyt(n, x / 2)


def eval_chebys(n: RealOperand, x: RealOperand, /) -> Variable:
    """Return ``eval_chebyu(n, x / 2)``, elementwise."""
    (x,) = fitted("eval_chebys", (x,))
    return eval_chebyu(n, x / 2)


def eval_sh_legendre(n: RealOperand, x: RealOperand, /) -> Variable:
    """Return ``eval_legendre(n, 2 * x - 1)``, elementwise."""
    (x,) = fitted("eval_sh_legendre", (x,))
    return eval_legendre(n, 2 * x - 1)


def eval_sh_chebyt(n: RealOperand, x: RealOperand, /) -> Variable:
    """Return ``eval_chebyt(n, 2 * x - 1)``, elementwise."""
    (x,) = fitted("eval_sh_chebyt", (x,))
    return eval_chebyt(n, 2 * x - 1)


def eval_sh_chebyu(n: RealOperand, x: RealOperand, /) -> Variable:
    """Return ``eval_chebyu(n, 2 * x - 1)``, elementwise."""
    (x,) = fitted("eval_sh_chebyu", (x,))
    return eval_chebyu(n, 2 * x - 1)


def eval_hermite(n: RealOperand, x: RealOperand, /) -> Variable:
    """Return the Hermite polynomial of degree `n` with the weight ``exp(-x * x)``, elementwise.

    Parameters
    ----------
    n : int
        From 0 on.
    x : Variable or array, real
    """
    (x,) = fitted("eval_hermite", (x,))
    return _recurrence(_degree("eval_hermite", n), x, 2 * x, lambda k, p, before: 2 * (x * p - (k - 1) * before))


def eval_hermitenorm(n: RealOperand, x: RealOperand, /) -> Variable:
    """Return the Hermite polynomial of degree `n` with the weight ``exp(-x * x / 2)``, elementwise.

    Parameters
    ----------
    n : int
        From 0 on.
    x : Variable or array, real
    """
    (x,) = fitted("eval_hermitenorm", (x,))
    return _recurrence(_degree("eval_hermitenorm", n), x, x, lambda k, p, before: x * p - (k - 1) * before)


def eval_laguerre(n: RealOperand, x: RealOperand, /) -> Variable:
    """Return the Laguerre polynomial of degree `n`, elementwise.

    Parameters
    ----------
    n : int
        From 0 on.
    x : Variable or array, real
    """
    (x,) = fitted("eval_laguerre", (x,))
    return eval_genlaguerre(n, 0.0, x)


def eval_genlaguerre(n: RealOperand, alpha: RealOperand, x: RealOperand, /) -> Variable:
    """Return the generalised Laguerre polynomial of degree `n`, elementwise.

    Parameters
    ----------
    n : int
        From 0 on.
    alpha, x : Variable or array, real
    """
    alpha, x = fitted("eval_genlaguerre", (alpha, x))

    def step(k: int, p: Any, before: Any) -> Any:
        return ((2 * k - 1 + alpha - x) * p - (k - 1 + alpha) * before) / k

    return _recurrence(_degree("eval_genlaguerre", n), x, 1 + alpha - x, step)


def eval_gegenbauer(n: RealOperand, alpha: RealOperand, x: RealOperand, /) -> Variable:
    """Return the Gegenbauer polynomial of degree `n`, elementwise.

    Parameters
    ----------
    n : int
        From 0 on.
    alpha, x : Variable or array, real
    """
    alpha, x = fitted("eval_gegenbauer", (alpha, x))

    def step(k: int, p: Any, before: Any) -> Any:
        return (2 * (k - 1 + alpha) * x * p - (k - 2 + 2 * alpha) * before) / k

    return _recurrence(_degree("eval_gegenbauer", n), x, 2 * alpha * x, step)


def eval_jacobi(n: RealOperand, alpha: RealOperand, beta: RealOperand, x: RealOperand, /) -> Variable:
    """Return the Jacobi polynomial of degree `n`, elementwise.

    Parameters
    ----------
    n : int
        From 0 on.
    alpha, beta, x : Variable or array, real
        Parameters greater than -1.
    """
    alpha, beta, x = fitted("eval_jacobi", (alpha, beta, x))
    both = alpha + beta

    def step(k: int, p: Any, before: Any) -> Any:
        c = 2 * k + both
        grown = (c - 1) * (c * (c - 2) * x + (alpha - beta) * both) * p
        return (grown - 2 * (k + alpha - 1) * (k + beta - 1) * c * before) / (2 * k * (k + both) * (c - 2))

    return _recurrence(_degree("eval_jacobi", n), x, alpha + 1 + (both + 2) * (0.5 * (x - 1)), step)


def eval_sh_jacobi(n: RealOperand, p: RealOperand, q: RealOperand, x: RealOperand, /) -> Variable:
    """Return the Jacobi polynomial of degree `n` on the range from 0 to 1 with a leading coefficient 1, elementwise.

    Parameters
    ----------
    n : int
        From 0 on.
    p, q, x : Variable or array, real
        ``p - q`` greater than -1, and `q` greater than 0.
    """
    p, q, x = fitted("eval_sh_jacobi", (p, q, x))
    degree = _degree("eval_sh_jacobi", n)
    return eval_jacobi(degree, p - q, q - 1, 2 * x - 1) / binom(2 * degree + p - 1, float(degree))
