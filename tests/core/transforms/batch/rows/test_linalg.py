"""Linear algebra of batches, against a loop over the members."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.core.transforms.batch.rows.members import check, numbers

import xpgrad
from xpgrad import array_api as xp
from xpgrad.errors import BatchError, ShapeError
from xpgrad.testing.arrays import on_host, placed
from xpgrad.transforms import grad
from xpgrad.transforms.batch.vmap import vmap

linalg = xp.linalg


def definite(seed: int, dtype: str) -> Any:
    """Return a Hermitian positive definite matrix."""
    x = numbers((3, 3), seed, dtype)
    return (x @ x.conj().T + 2 * np.eye(3)).astype(dtype)


def singular(seed: int, dtype: str) -> Any:
    """Return a matrix of rank 2 for an even seed, else a regular matrix."""
    x = numbers((3, 3), seed, dtype)
    return np.concatenate([x[:2], x[:1]]) if seed % 2 == 0 else x


def symmetric(seed: int, dtype: str) -> Any:
    """Return a symmetric matrix with equal eigenvalues for an even seed."""
    return 2 * np.eye(3, dtype=dtype) if seed % 2 == 0 else definite(seed, dtype)


FUNCTIONS: list[tuple[str, Callable[..., Any], Any]] = [
    ("det", linalg.det, [(3, 3)]),
    ("det of a stack", linalg.det, [(2, 3, 3)]),
    ("det of a stack of stacks", linalg.det, [(2, 1, 3, 3)]),
    ("det of singular matrices", linalg.det, [singular]),
    ("slogdet", lambda x: linalg.slogdet(x).logabsdet, [(3, 3)]),
    ("inv", linalg.inv, [(2, 3, 3)]),
    ("solve", linalg.solve, [(3, 3), (3, 2)]),
    ("solve, as many right-hand sides as members", linalg.solve, [(3, 3), (3, 3)]),
    ("solve for a vector", linalg.solve, [(3, 3), (3,)]),
    ("solve a stack for a vector", linalg.solve, [(2, 3, 3), (3,)]),
    ("solve one for a stack", linalg.solve, [(3, 3), (2, 3, 4)]),
    ("solve a stack for one", linalg.solve, [(2, 3, 3), (3, 4)]),
    ("cholesky", linalg.cholesky, [definite]),
    ("cholesky, upper", lambda x: linalg.cholesky(x, upper=True), [definite]),
    ("qr", lambda x: tuple(linalg.qr(x)), [(4, 3)]),
    ("svdvals", linalg.svdvals, [(2, 4, 3)]),
    ("svd", lambda x: linalg.svd(x).U * linalg.svd(x).U, [(3, 3)]),
    ("eigvalsh", linalg.eigvalsh, [definite]),
    ("eigh of equal values", lambda x: xp.sum(linalg.eigh(x).eigenvalues ** 2), [symmetric]),
    ("pinv", linalg.pinv, [(4, 3)]),
    ("matrix_power", lambda x: linalg.matrix_power(x, 3), [(3, 3)]),
    ("trace", lambda x: linalg.trace(x, offset=1), [(3, 4)]),
    ("diagonal", lambda x: linalg.diagonal(x, offset=-1), [(2, 3, 4)]),
    ("matrix_norm", linalg.matrix_norm, [(2, 3, 4)]),
    ("matrix_norm, keepdims", lambda x: linalg.matrix_norm(x, ord=1, keepdims=True), [(3, 4)]),
    ("vector_norm", linalg.vector_norm, [(3, 4)]),
    ("vector_norm of a number", lambda x: linalg.vector_norm(x, keepdims=True), [()]),
    ("vector_norm along an axis", lambda x: linalg.vector_norm(x, axis=0, keepdims=True, ord=3), [(3, 4)]),
    ("vector_norm along two", lambda x: linalg.vector_norm(x, axis=(0, -1), ord=1), [(3, 2, 4)]),
]


@pytest.mark.parametrize("number", range(len(FUNCTIONS)), ids=[name for name, *_ in FUNCTIONS])
def test_gradients_agree_with_members(number: int, device: xpgrad.Device) -> None:
    _, call, shapes = FUNCTIONS[number]
    order = 1 if number in (2, 16) else 2
    check(call, shapes, device, order=order, rtol=1e-7)
    check(call, shapes, device, order=1, size=1, rtol=1e-7)


@pytest.mark.parametrize("name", ["det", "inv", "solve", "cholesky", "qr", "svdvals", "vector_norm"])
def test_complex_matrices_and_single_precision(name: str, device: xpgrad.Device) -> None:
    _, call, shapes = next(row for row in FUNCTIONS if row[0] == name)
    check(call, shapes, device, "complex128", order=1, rtol=1e-7)
    check(call, shapes, device, "float32", order=1, rtol=2e-3)


def test_the_rank_of_each_member(device: xpgrad.Device) -> None:
    x = placed(np.stack([np.eye(3), np.diag([1.0, 2.0, 0.0]), np.zeros((3, 3))]), device)
    assert on_host(vmap(linalg.matrix_rank)(x)).tolist() == [3, 2, 0]
    rtol = placed(np.asarray([0.0, 0.6, 0.0]), device)
    assert on_host(vmap(lambda x, r: linalg.matrix_rank(x, rtol=r))(x, rtol)).tolist() == [3, 1, 0]


@pytest.mark.parametrize("function", [linalg.matrix_rank, linalg.pinv])
def test_a_tolerance_of_each_member_of_stacks(function: Callable[..., Any], device: xpgrad.Device) -> None:
    x, rtol = placed(numbers((3, 2, 4, 2), 0), device), placed(np.asarray([0.9, 0.2, 0.0]), device)
    y = on_host(vmap(lambda x, r: function(x, rtol=r))(x, rtol))
    of_stack = on_host(vmap(lambda r: function(xpgrad.as_variable(x)[0, ...], rtol=r))(rtol))
    for i in range(3):
        np.testing.assert_allclose(y[i], on_host(function(x, rtol=float(on_host(rtol)[i])))[i], rtol=1e-12)
        np.testing.assert_allclose(of_stack[i], on_host(function(x, rtol=float(on_host(rtol)[i])))[0], rtol=1e-12)


def test_a_stack_of_vectors_is_no_matrix(device: xpgrad.Device) -> None:
    x = placed(numbers((3, 3), 0), device)
    for function, text in (
        (linalg.det, r"det: expected square matrices, .* got shape \(3,\)"),
        (linalg.diagonal, r"got .*\(3,\)"),
        (lambda x: linalg.solve(x, x), r"solve: expected square matrices, .*got shape \(3,\)"),
    ):
        with pytest.raises(ShapeError, match=text):
            vmap(function)(x)


def test_one_singular_member_does_not_affect_other_gradients(device: xpgrad.Device) -> None:
    x = np.stack([np.eye(3), np.zeros((3, 3)), 2 * np.eye(3)])
    g = on_host(vmap(grad(lambda x: linalg.slogdet(x).logabsdet))(placed(x, device)))
    np.testing.assert_allclose(g[[0, 2]], [np.eye(3), 0.5 * np.eye(3)])
    assert np.isnan(g[1]).all()


def test_a_batch_of_powers_raises(device: xpgrad.Device) -> None:
    x, n = placed(numbers((3, 2, 2), 0), device), placed(np.arange(3), device)
    with pytest.raises(BatchError, match="the value of a batched array is needed: it was converted to an int"):
        vmap(linalg.matrix_power)(x, n)
