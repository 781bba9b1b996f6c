"""Linear algebra and products of batches, against a loop over the members."""

from typing import Any

import numpy as np
import pytest
from tests.core.transforms.batch.rows.members import Case, check, made

import xpgrad
from xpgrad import array_api as xp
from xpgrad import functions as F
from xpgrad.errors import BatchError, ShapeError
from xpgrad.testing.arrays import on_host, placed
from xpgrad.transforms import grad, vmap

linalg = xp.linalg


def definite(seed: int, dtype: str = "float64") -> Any:
    """Return a Hermitian positive definite matrix."""
    x = made("f8 3 3", seed, dtype)
    return (x @ x.conj().T + 2 * np.eye(3)).astype(dtype)


def singular(seed: int) -> Any:
    """Return a matrix of rank 2 for an even seed, else a regular matrix."""
    x = made("f8 3 3", seed)
    return np.concatenate([x[:2], x[:1]]) if seed % 2 == 0 else x


def symmetric(seed: int) -> Any:
    """Return a symmetric matrix with equal eigenvalues for an even seed."""
    return 2 * np.eye(3) if seed % 2 == 0 else definite(seed)


def case(name: str, function: Any, *arrays: Any, order: int = 2) -> Case:
    """Return the case of a function of Variables."""
    return Case(name, lambda xp, *xs: function(*xs), *arrays, raw=False, order=order)


CASES = [
    case("det", linalg.det, "f8 3 3"),
    case("det of a stack of stacks", linalg.det, "f8 2 1 3 3"),
    case("det of singular matrices", linalg.det, singular),
    case("inv", linalg.inv, "f8 2 3 3"),
    case("solve", linalg.solve, "f8 3 3", "f8 3 2"),
    case("solve, as many right-hand sides as members", linalg.solve, "f8 3 3", "f8 3 3"),
    case("solve for a vector", linalg.solve, "f8 3 3", "f8 3"),
    case("solve a stack for a vector", linalg.solve, "f8 2 3 3", "f8 3"),
    case("solve one for a stack", linalg.solve, "f8 3 3", "f8 2 3 4"),
    case("solve a stack for one", linalg.solve, "f8 2 3 3", "f8 3 4"),
    case("cholesky, upper", lambda x: linalg.cholesky(x, upper=True), definite),
    case("qr", lambda x: tuple(linalg.qr(x)), "f8 4 3"),
    case("svdvals", linalg.svdvals, "f8 2 4 3"),
    case("svd", lambda x: linalg.svd(x).U * linalg.svd(x).U, "f8 3 3", order=1),
    case("eigh of equal values", lambda x: xp.sum(linalg.eigh(x).eigenvalues ** 2), symmetric, order=1),
    case("pinv", linalg.pinv, "f8 4 3"),
    case("matrix_power", lambda x: linalg.matrix_power(x, 3), "f8 3 3"),
    case("trace", lambda x: linalg.trace(x, offset=1), "f8 3 4"),
    case("diagonal", lambda x: linalg.diagonal(x, offset=-1), "f8 2 3 4"),
    case("matrix_norm", linalg.matrix_norm, "f8 2 3 4"),
    case("matrix_norm, keepdims", lambda x: linalg.matrix_norm(x, ord=1, keepdims=True), "f8 3 4"),
    case("vector_norm", linalg.vector_norm, "f8 3 4"),
    case("vector_norm of a number", lambda x: linalg.vector_norm(x, keepdims=True), "f8"),
    case("vector_norm along an axis", lambda x: linalg.vector_norm(x, axis=0, keepdims=True, ord=3), "f8 3 4"),
    case("vector_norm along two", lambda x: linalg.vector_norm(x, axis=(0, -1), ord=1), "f8 3 2 4"),
]
OTHER_DTYPES = [each for each in CASES if each.name in ("det", "inv", "solve", "qr", "svdvals", "vector_norm")]


def of_shapes(name: str, function: Any, *rows: Any) -> list[Case]:
    """Return a case for each row of shapes."""
    return [Case(name, function, *(f"f8 {shape}" for shape in row), raw=False, order=2) for row in rows]


def by_options(name: str, function: Any, rows: Any) -> list[Case]:
    """Return a case for each row: an option of the function, and shapes."""
    return [
        Case(f"{name} {option}", lambda xp, *xs, option=option: function(*xs, option), *(f"f8 {s}" for s in shapes),
             raw=False, order=2)
        for option, *shapes in rows
    ]  # fmt: skip


MATMUL = of_shapes(
    "matmul", lambda xp, a, b: xp.matmul(a, b),
    ("4", "4"), ("3 4", "4"), ("4", "4 2"), ("3 4", "4 2"), ("2 3 4", "4"), ("4", "2 4 3"), ("2 3 4", "4 5"),
    ("3 4", "2 4 5"), ("2 3 4", "2 4 5"), ("2 1 3 4", "5 4 2"), ("1 4", "4 1"),
)  # fmt: skip
VECDOT = by_options("vecdot", lambda a, b, axis: xp.vecdot(a, b, axis=axis), [
    (-1, "3 4", "3 4"), (-1, "4", "3 4"), (-2, "2 3 4", "3 1"),
])  # fmt: skip
OTHERS = [
    *by_options("tensordot", lambda a, b, axes: xp.tensordot(a, b, axes=axes), [
        (1, "3 4", "4 2"), (2, "3 4", "3 4"), (0, "3 4", "2"), (((2, 0), (0, 2)), "2 3 4", "4 5 2"),
        (((-2,), (-2,)), "2 3 4", "3 5"), (1, "3", "3"),
    ]),
    *by_options("einsum", lambda a, b, equation: xpgrad.ops.einsum(equation, a, b), [
        ("ij,jk->ik", "3 4", "4 2"), ("ij,ij->i", "3 4", "3 4"), ("i,j->ij", "3", "4"), ("ii,i->", "3 3", "3"),
        ("...i,ij->...j", "2 5 3", "3 4"), ("bij,bjk->bki", "2 3 4", "2 4 5"),
    ]),
    *of_shapes("outer", lambda xp, a, b: xp.linalg.outer(a, b), ("3", "4")),
    *by_options("cross", lambda a, b, axis: xp.linalg.cross(a, b, axis=axis), [(-1, "3", "4 3"), (-2, "3 2", "4 3 2")]),
    *of_shapes("linear", lambda xp, *xs: F.linear(*xs), ("5 4", "3 4", "3"), ("5 4", "3 4"), ("1 4", "3 4", "3")),
    *of_shapes("few rows and many", lambda xp, x, W: xp.tanh(xp.tanh(x @ W) @ W), ("2 3", "3 3"), ("40 3", "3 3")),
]  # fmt: skip


@pytest.mark.parametrize("case", [*CASES, *MATMUL, *VECDOT, *OTHERS], ids=repr)
def test_gradients_agree_with_members(case: Case, device: xpgrad.Device) -> None:
    check(case, device, rtol=1e-7 if case in CASES else 1e-9)


@pytest.mark.parametrize("case", [*OTHER_DTYPES, *MATMUL, *VECDOT], ids=repr)
def test_complex_matrices_and_single_precision(case: Case, device: xpgrad.Device) -> None:
    wide, narrow = (1e-7, 2e-3) if case in CASES else (1e-9, 1e-4)
    check(case, device, dtype="complex128", order=1, rtol=wide)
    check(case, device, dtype="float32", order=1, rtol=narrow)


def test_the_rank_of_each_member(device: xpgrad.Device) -> None:
    x = placed(np.stack([np.eye(3), np.diag([1.0, 2.0, 0.0]), np.zeros((3, 3))]), device)
    assert on_host(vmap(linalg.matrix_rank)(x)).tolist() == [3, 2, 0]
    rtol = placed(np.asarray([0.0, 0.6, 0.0]), device)
    assert on_host(vmap(lambda x, r: linalg.matrix_rank(x, rtol=r))(x, rtol)).tolist() == [3, 1, 0]


@pytest.mark.parametrize("function", [linalg.matrix_rank, linalg.pinv])
def test_a_tolerance_of_each_member_of_stacks(function: Any, device: xpgrad.Device) -> None:
    x, rtol = placed(made("f8 3 2 4 2", 0), device), placed(np.asarray([0.9, 0.2, 0.0]), device)
    y = on_host(vmap(lambda x, r: function(x, rtol=r))(x, rtol))
    of_stack = on_host(vmap(lambda r: function(xpgrad.as_variable(x)[0, ...], rtol=r))(rtol))
    for i in range(3):
        np.testing.assert_allclose(y[i], on_host(function(x, rtol=float(on_host(rtol)[i])))[i], rtol=1e-12)
        np.testing.assert_allclose(of_stack[i], on_host(function(x, rtol=float(on_host(rtol)[i])))[0], rtol=1e-12)


def test_a_stack_of_vectors_is_no_matrix(device: xpgrad.Device) -> None:
    x = placed(made("f8 3 3", 0), device)
    for function, text in (
        (linalg.det, r"det: expected square matrices, .* got shape \(3,\)"),
        (linalg.diagonal, r"got .*\(3,\)"),
        (lambda x: linalg.solve(x, x), r"solve: expected square matrices, .*got shape \(3,\)"),
        (lambda x: xp.matmul(x[0], x[0]), "matmul: a has no axes"),
        (lambda x: linalg.outer(x[0], x[0]), r"outer: expected two vectors, got shapes \(\) and \(\)"),
    ):
        with pytest.raises(ShapeError, match=text):
            vmap(function)(x)


def test_one_singular_member_does_not_affect_other_gradients(device: xpgrad.Device) -> None:
    x = np.stack([np.eye(3), np.zeros((3, 3)), 2 * np.eye(3)])
    g = on_host(vmap(grad(lambda x: linalg.slogdet(x).logabsdet))(placed(x, device)))
    np.testing.assert_allclose(g[[0, 2]], [np.eye(3), 0.5 * np.eye(3)])
    assert np.isnan(g[1]).all()


def test_a_batch_of_powers_raises(device: xpgrad.Device) -> None:
    x, n = placed(made("f8 3 2 2", 0), device), placed(np.arange(3), device)
    with pytest.raises(BatchError, match="the value of a batched array is needed: it was converted to an int"):
        vmap(linalg.matrix_power)(x, n)
