"""Gradients of values that all members share: sums over members, without an array for each."""

import tracemalloc
from typing import Any

import pytest
from tests.core.transforms.batch.rows.members import Case, check, made

import xpgrad
from xpgrad import array_api as xp
from xpgrad import functions as F
from xpgrad.testing.arrays import placed
from xpgrad.transforms import grad, vmap


def places(x: Any) -> Any:
    """Return integers from 0 to 3."""
    return xp.astype(xp.abs(4 * xp.sin(x)), xp.int64)


SHARED: dict[str, tuple[Any, str, str]] = {
    "rows by a matrix": (lambda W, x: x @ W, "9 8", "2 9"),
    "many rows by a matrix": (lambda W, x: x @ W, "9 8", "40 9"),
    "a row by a matrix": (lambda W, x: x @ W, "9 8", "9"),
    "a matrix by a column": (lambda W, x: W @ x, "9 8", "8"),
    "a matrix by columns": (lambda W, x: W @ x, "9 8", "8 2"),
    "a transposed matrix": (lambda W, x: x @ W.T, "8 9", "2 9"),
    "a stack of rows": (lambda W, x: x @ W, "9 8", "2 2 9"),
    "the same matrix twice": (lambda W, x: xp.tanh(x @ W) @ W, "9 9", "2 9"),
    "a reshaped matrix": (lambda W, x: x @ xp.reshape(W, shape=(9, 8)), "72", "2 9"),
    "linear": (lambda W, x: F.linear(x, W), "8 9", "2 9"),
    "einsum": (lambda W, x: xpgrad.ops.einsum("nij,kj->nik", W, x), "4 5 9", "2 9"),
    "outer": (lambda W, x: xp.linalg.outer(W, x) @ x, "9", "8"),
    "convolution": (lambda W, x: F.convolution_2d(x, W, pad=1), "3 2 3 3", "1 2 4 4"),
    "rows of a table": (lambda W, x: xp.take(W, places(x), axis=0), "9 4", "5"),
    "columns of a table": (lambda W, x: W[:, places(x)], "4 9", "5"),
    "elements of a table": (lambda W, x: W[places(x), xp.astype(x > 0, xp.int64)], "9 2", "2 3"),
    "the same rows of a table": (lambda W, x: xp.take(W, xp.asarray([1, 3, 1]), axis=0) * x, "9 4", "3 4"),
}


@pytest.mark.parametrize("name", SHARED)
def test_gradients_are_the_sums_over_members(name: str, device: xpgrad.Device) -> None:
    call, *shapes = SHARED[name]
    case = Case(name, lambda _, *xs: call(*xs), *(f"f8 {shape}" for shape in shapes), raw=False)
    check(case, device, order=1 if "table" in name else 2, rtol=1e-9)


LARGE = {
    "rows by a matrix": ("200 300", "2 200"), "a row by a matrix": ("200 300", "200"),
    "a matrix by a column": ("200 300", "300"), "a matrix by columns": ("200 300", "300 2"),
    "a transposed matrix": ("200 300", "2 300"), "the same matrix twice": ("300 300", "2 300"),
    "linear": ("200 300", "2 300"), "rows of a table": ("30000 2", "5"),
}  # fmt: skip


@pytest.mark.parametrize("name", LARGE)
def test_a_gradient_takes_no_array_for_each_member(name: str) -> None:
    (call, *_), (weight, shape), size = SHARED[name], LARGE[name], 64
    W, x = made(f"f8 {weight}", 0), made(f"f8 {size} {shape}", 1)

    def loss(W: Any) -> Any:
        return xp.sum(vmap(lambda x: call(W, x))(xpgrad.Variable(x)))

    grad(loss)(W)
    tracemalloc.start()
    try:
        grad(loss)(W)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < size * W.nbytes / 4


def test_gradients_of_each_member_are_all_there(device: xpgrad.Device) -> None:
    W, x = placed(made("f8 9 8", 0), device), placed(made("f8 3 2 9", 1), device)
    g = vmap(grad(lambda W, x: xp.sum(xp.tanh(x @ W.T.T))), in_axes=(None, 0))(W, x)
    assert g.shape == (3, 9, 8)
