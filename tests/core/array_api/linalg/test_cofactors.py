"""Derivatives of determinants to the fourth order, at and near singular matrices, against exact integers."""

import functools
import itertools

import numpy as np
import pytest

import xpgrad
from xpgrad import Variable, array_api
from xpgrad.array_api.linalg.cofactors import cofactor_derivatives
from xpgrad.testing.arrays import on_host, placed

BITS = {0.0: 0, 2.0**-27: 27, 2.0**-43: 43}
"""How far matrices are from singular ones, about 0, 1e-8 and 1e-13, and how many bits make them integers."""


def _plus(a, b, sign=1):
    return {i: a.get(i, 0) + sign * b.get(i, 0) for i in a.keys() | b.keys()}


def _times(a, b):
    """Return the product of polynomials in t1, t2, ..., without squares; keys are sets of variables, as bits."""
    total = {}
    for (i, x), (j, y) in itertools.product(a.items(), b.items()):
        if not i & j:
            total[i | j] = total.get(i | j, 0) + x * y
    return total


def _determinant(rows):
    """Return the determinant of a matrix of polynomials by expansion along its rows."""

    @functools.cache
    def of(columns):
        if not columns:
            return {0: 1}
        total = {}
        for place, j in enumerate(columns):
            rest = columns[:place] + columns[place + 1 :]
            total = _plus(total, _times(rows[-len(columns)][j], of(rest)), (-1) ** place)
        return total

    return of(tuple(range(len(rows))))


def _exact(x, gs, bits):
    """Return the derivatives of cofactors along `gs`; `x` are multiples of ``2**-bits``, as many for each matrix."""
    n, scale = x.shape[-1], np.asarray([2**b for b in bits], object)
    whole = [np.vectorize(int, otypes=[object])(m * float(f)) for m, f in zip(x, scale, strict=True)]
    entries = np.asarray(whole, object).reshape(x.shape)
    directions = [np.vectorize(int, otypes=[object])(g) for g in gs]
    terms = [
        [{0: entries[:, i, j]} | {1 << k: g[:, i, j] * scale for k, g in enumerate(directions)} for j in range(n)]
        for i in range(n)
    ]
    result = np.zeros(x.shape)
    for i, j in itertools.product(range(n), repeat=2):
        minor = [[terms[a][b] for b in range(n) if b != j] for a in range(n) if a != i]
        value = _determinant(minor).get(2 ** len(gs) - 1, 0) * (-1) ** (i + j)
        result[:, i, j] = [float(v) / 2.0 ** (b * (n - 1)) for v, b in zip(value + 0 * scale, bits, strict=True)]
    return result


def _derivatives(device, x, gs):
    """Return the gradient of determinants, and its derivatives along one after the other of `gs`."""
    v = Variable(placed(x, device))
    (gx,) = xpgrad.grad([array_api.sum(array_api.real(array_api.linalg.det(v)))], [v], enable_double_backprop=True)
    found = [np.conj(on_host(gx))]
    for g in gs:
        along = array_api.real(array_api.sum(gx * Variable(placed(np.conj(g), device))))
        (gx,) = xpgrad.grad([along], [v], enable_double_backprop=True)
        if gx is None:
            break
        found.append(np.conj(on_host(gx)))
    return found + [np.zeros_like(x)] * (len(gs) + 1 - len(found))


def _stack(n, rng):
    """Return matrices of every rank from `n` to ``n - 3``, exactly and nearly, and the bits of their fractions."""
    matrices, bits = [], []
    for missing, (near, count) in itertools.product(range(min(n, 3) + 1), BITS.items()):
        left, right = rng.integers(-3, 4, (n, n - missing)), rng.integers(-3, 4, (n - missing, n))
        matrices.append(left @ right + near * rng.integers(-3, 4, (n, n)))
        bits.append(count)
    return np.asarray(matrices), bits


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("n", range(1, 7))
def test_derivatives_of_determinants_at_matrices_of_any_rank(device, n, dtype, rng):
    x, bits = _stack(n, rng)
    gs = [rng.integers(-3, 4, x.shape).astype("float64") for _ in range(3)]
    d1, d2 = (1j ** np.arange(n), (-1j) ** (np.arange(n) // 2)) if dtype == "complex128" else np.ones((2, n))
    turn = np.multiply.outer(d1, d2)  # by units, so that a complex determinant is a real one but for its phase
    found = _derivatives(device, (turn * x).astype(dtype), [(turn * g).astype(dtype) for g in gs])
    norms = np.linalg.norm(x, 2, axis=(-2, -1))
    for k, y in enumerate(found):
        expected = _exact(x, gs[:k], bits) * np.prod(d1) * np.prod(d2) / turn
        size = 1 + norms ** max(n - 1 - k, 0) * np.prod([np.linalg.norm(g, axis=(-2, -1)) for g in gs[:k]], axis=0)
        wrong = np.max(np.abs(y - expected), axis=(-2, -1)) / size
        assert np.max(wrong) < 1e-14, f"order {k + 1}: {wrong}"


def test_order_of_directions_does_not_matter_in_the_fourth_derivative(device, rng):
    x, _ = _stack(5, rng)
    gs = [rng.normal(size=x.shape) for _ in range(3)]
    one, other = (_derivatives(device, x, order)[-1] for order in (gs, gs[::-1]))
    np.testing.assert_allclose(one, other, 1e-10, 1e-10)


def test_third_derivative_of_a_determinant_without_number_is_nan(device):
    x = np.stack([np.diag([1.0, 2.0, np.nan]), np.diag([1.0, 2.0, 0.0])])
    y = cofactor_derivatives(placed(np.ones((2, 2, 3, 3)), device), placed(x, device))
    assert np.isnan(on_host(y)[0]).all()
    assert np.isfinite(on_host(y)[1]).all()


def test_third_derivative_of_a_determinant_with_overflowing_singular_values(device):
    g = np.zeros((1, 60, 60))
    g[0, 0, 0] = 1.0
    gs = np.concatenate([g, np.roll(g, (1, 1), (-2, -1))])
    x = placed(np.diag(np.asarray([1e2, 1e-2] * 30)).astype("float32"), device)
    y = cofactor_derivatives(placed(gs.astype("float32"), device), x)
    np.testing.assert_allclose(on_host(y)[2, 2], 1e-2, 1e-3)
