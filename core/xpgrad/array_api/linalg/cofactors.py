"""Derivatives of cofactors along several directions: third and higher derivatives of the determinant."""

import functools
import itertools
import math
import operator
from collections.abc import Callable
from typing import Any

from xpgrad.graph.primitive import primitive
from xpgrad.types import Array, Namespace


class Truncated:
    """A polynomial in variables whose squares are 0; its coefficients are arrays.

    The coefficient of ``t1 t2 ...`` in a polynomial of ``x + t1 g1 + t2 g2 + ...`` is its derivative along all `g`.

    Attributes
    ----------
    terms : dict
        Nonzero coefficients by the set of variables of their term, with a bit for each variable.
    """

    __slots__ = ("terms",)

    def __init__(self, terms: dict[int, Array]) -> None:
        self.terms = terms

    def map(self, linear: Callable[[Array], Array]) -> "Truncated":
        """Return the polynomial of `linear` of each coefficient."""
        return Truncated({i: linear(x) for i, x in self.terms.items()})

    def __add__(self, other: "Truncated") -> "Truncated":
        terms = dict(self.terms)
        for i, x in other.terms.items():
            terms[i] = terms[i] + x if i in terms else x
        return Truncated(terms)

    def __neg__(self) -> "Truncated":
        return self.map(lambda x: -x)

    def __mul__(self, other: Any) -> "Truncated":
        """Return the product, elementwise, with a polynomial, an array or a number."""
        if not isinstance(other, Truncated):
            return self.map(lambda x: x * other)
        return self._product(other, lambda x, y: x * y)

    def matmul(self, xp: Namespace, other: "Truncated") -> "Truncated":
        """Return the product of matrices."""
        return self._product(other, xp.matmul)

    def _product(self, other: "Truncated", multiply: Callable[[Array, Array], Array]) -> "Truncated":
        terms: dict[int, Array] = {}
        for (i, x), (j, y) in itertools.product(self.terms.items(), other.terms.items()):
            if not i & j:
                terms[i | j] = terms[i | j] + multiply(x, y) if i | j in terms else multiply(x, y)
        return Truncated(terms)


def _product_of(xp: Namespace, s: Array) -> Array:
    """Return products of positive numbers along the last axis, without overflow of partial products."""
    exponent = xp.round(xp.log2(s))
    total = xp.sum(exponent, axis=-1)
    half = xp.floor(total / 2)
    return xp.prod(s / 2.0**exponent, axis=-1) * 2.0**half * 2.0 ** (total - half)


@functools.cache
def _leibniz(size: int) -> tuple[list[list[int]], list[float]]:
    """Return the terms of all cofactors of a matrix: flat positions of their factors, and their signs."""
    places, signs = [], []
    for row, column in itertools.product(range(size), repeat=2):
        rows = [i for i in range(size) if i != row]
        columns = [j for j in range(size) if j != column]
        for order in itertools.permutations(range(size - 1)):
            swaps = sum(first > second for first, second in itertools.combinations(order, 2))
            places.append([i * size + columns[j] for i, j in zip(rows, order, strict=True)])
            signs.append((-1.0) ** (row + column + swaps))
    return places, signs


def _entries(xp: Namespace, flat: Truncated, index: Array) -> Truncated:
    return flat.map(lambda x: xp.take(x, index, axis=-1))


def _small_cofactors(xp: Namespace, z: Truncated) -> Truncated:
    """Return the cofactors of a small matrix as sums over permutations, without a division."""
    constant = z.terms[0]
    size, device = constant.shape[-1], xp.device_of(constant)
    places, signs = _leibniz(size)
    flat = z.map(lambda x: xp.reshape(x, (*x.shape[:-2], size * size)))
    entries = [_entries(xp, flat, xp.asarray(place, device=device)) for place in zip(*places, strict=True)]
    products = functools.reduce(operator.mul, entries)
    sign = xp.asarray(signs, dtype=constant.dtype, device=device)
    return products.map(lambda x: xp.sum(xp.reshape(x * sign, (*x.shape[:-1], size, size, -1)), axis=-1))


def _inverse_and_determinant(xp: Namespace, n: Truncated, count: int) -> tuple[Truncated, Truncated]:
    """Return the inverse of ``1 + n`` and its determinant; `n` has no constant term, so powers above `count` vanish."""
    g = next(iter(n.terms.values()))
    identity = xp.eye(g.shape[-1], dtype=g.dtype, device=xp.device_of(g))
    inverse, power = Truncated({0: identity}), n
    logarithm = n.map(xp.linalg.trace)
    for j in range(1, count + 1):
        if j > 1:
            power = power.matmul(xp, n)
            logarithm = logarithm + power.map(xp.linalg.trace) * (-((-1.0) ** j) / j)
        inverse = inverse + power * (-1.0) ** j
    term = logarithm
    determinant = Truncated({0: xp.ones_like(logarithm.terms[1])}) + term
    for j in range(2, count + 1):
        term = term * logarithm
        determinant = determinant + term * (1 / math.factorial(j))
    return inverse, determinant


def _diagonal_cofactors(xp: Namespace, s: Array, gs: list[Array], dtype: Any) -> Array:
    """Return the coefficient of ``t1 t2 ...`` in the cofactors of ``diag(s) + t1 g1 + t2 g2 + ...``, `s` descending.

    The rows and columns of the smallest numbers, one more than the number of variables, are split off: cofactors of a
    block matrix are the cofactors of the Schur complement, multiplied from both sides. Terms divided by a large number
    are multiplied by a smaller number, so large terms do not cancel; if one of the large numbers is 0, all of the
    numbers are 0.
    """
    split = s.shape[-1] - len(gs) - 1
    smallest = xp.astype(s[..., split:, None], dtype)
    smallest = smallest * xp.eye(len(gs) + 1, dtype=dtype, device=xp.device_of(s))
    change = Truncated({1 << i: g for i, g in enumerate(gs)})
    z = Truncated({0: smallest}) + change.map(lambda g: g[..., split:, split:])
    if not split:
        return _small_cofactors(xp, z).terms[2 ** len(gs) - 1]
    zero = s[..., split - 1] < xp.finfo(s.dtype).smallest_normal
    large = xp.where(zero[..., None], xp.ones_like(s), s)[..., :split]
    product = _product_of(xp, large)
    product = xp.astype(xp.where(zero, xp.zeros_like(product), product), dtype)
    inverse_s = xp.astype(1 / large, dtype)
    rows, columns = inverse_s[..., :, None], inverse_s[..., None, :]

    inverse, determinant = _inverse_and_determinant(xp, change.map(lambda g: rows * g[..., :split, :split]), len(gs))
    right = inverse.matmul(xp, change.map(lambda g: rows * g[..., :split, split:]))
    below = change.map(lambda g: g[..., split:, :split])
    z = z + -below.matmul(xp, right)
    below = below.matmul(xp, inverse) * columns
    determinant = (determinant * product).map(lambda x: x[..., None, None])
    cofactors = _small_cofactors(xp, z)
    whole = determinant * (cofactors * z).map(lambda x: xp.sum(x[..., :1, :], axis=-1, keepdims=True))
    adjugate = determinant * cofactors.map(xp.matrix_transpose)
    beside = right.matmul(xp, adjugate)
    blocks = [
        [whole * (inverse * columns) + beside.matmul(xp, below), -beside],
        [-adjugate.matmul(xp, below), adjugate],
    ]
    last = 2 ** len(gs) - 1
    lines = [xp.concat([block.terms[last] for block in line], axis=-1) for line in blocks]
    return xp.matrix_transpose(xp.concat(lines, axis=-2))


def _gs_rule(xp: Namespace, gy: Array, gs: Array, x: Array) -> Array:
    each = [gs[..., i : i + 1, :, :] for i in range(gs.shape[-3])]
    new = gy[..., None, :, :]
    others = (xp.concat([*each[:i], new, *each[i + 1 :]], axis=-3) for i in range(len(each)))
    return xp.stack([xp.linalg.cofactor_derivatives(g, x) for g in others], axis=-3)


def _x_rule(xp: Namespace, gy: Array, gs: Array, x: Array) -> Array:
    return xp.linalg.cofactor_derivatives(xp.concat([gs, gy[..., None, :, :]], axis=-3), x)


@primitive(extension="linalg", gs=_gs_rule, x=_x_rule)
def cofactor_derivatives(xp: Namespace, gs: Array, x: Array, /) -> Array:
    """The derivatives of the cofactors of `x` along all directions `gs`, shape (..., K, M, M), one after another.

    With two directions they are third derivatives of the determinant. They are the derivatives for the diagonal matrix
    of singular values, in the basis of the singular vectors; `gs` and `x` have the same axes before the matrix axes.
    """
    if x.shape[-1] <= gs.shape[-3] or 0 in x.shape:
        return xp.zeros_like(x)
    finite = xp.all(xp.isfinite(x), axis=(-2, -1))[..., None, None]
    identity = xp.eye(x.shape[-1], dtype=x.dtype, device=xp.device_of(x))
    u, s, vh = xp.linalg.svd(xp.where(finite, x, identity))
    is_complex = xp.isdtype(x.dtype, "complex floating")
    conj_u, conj_vh = (xp.conj(u), xp.conj(vh)) if is_complex else (u, vh)
    left, right = xp.matrix_transpose(conj_u), xp.matrix_transpose(conj_vh)
    inner = [xp.matmul(xp.matmul(left, gs[..., i, :, :]), right) for i in range(gs.shape[-3])]
    changes = _diagonal_cofactors(xp, s, inner, x.dtype)
    phase = (xp.linalg.det(u) * xp.linalg.det(vh))[..., None, None]
    return xp.where(finite, phase * xp.matmul(xp.matmul(conj_u, changes), conj_vh), float("nan"))
