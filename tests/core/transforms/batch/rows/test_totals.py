"""Gradients of values that all members share: sums over members, without an array for each."""

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.core.transforms.batch.rows.members import check, numbers

import xpgrad
from xpgrad import array_api as xp
from xpgrad import functions as F
from xpgrad.testing.arrays import placed
from xpgrad.transforms import grad
from xpgrad.transforms.batch.vmap import vmap

SHARED: dict[str, tuple[Callable[..., Any], tuple[int, ...], tuple[int, ...]]] = {
    "rows by a matrix": (lambda W, x: x @ W, (9, 8), (2, 9)),
    "many rows by a matrix": (lambda W, x: x @ W, (9, 8), (40, 9)),
    "a row by a matrix": (lambda W, x: x @ W, (9, 8), (9,)),
    "a matrix by a column": (lambda W, x: W @ x, (9, 8), (8,)),
    "a matrix by columns": (lambda W, x: W @ x, (9, 8), (8, 2)),
    "a transposed matrix": (lambda W, x: x @ W.T, (8, 9), (2, 9)),
    "a stack of rows": (lambda W, x: x @ W, (9, 8), (2, 2, 9)),
    "the same matrix twice": (lambda W, x: xp.tanh(x @ W) @ W, (9, 9), (2, 9)),
    "a reshaped matrix": (lambda W, x: x @ xp.reshape(W, shape=(9, 8)), (72,), (2, 9)),
    "linear": (lambda W, x: F.linear(x, W), (8, 9), (2, 9)),
    "einsum": (lambda W, x: xpgrad.ops.einsum("nij,kj->nik", W, x), (4, 5, 9), (2, 9)),
    "outer": (lambda W, x: xp.linalg.outer(W, x) @ x, (9,), (8,)),
    "convolution": (lambda W, x: F.convolution_2d(x, W, pad=1), (3, 2, 3, 3), (1, 2, 4, 4)),
    "rows of a table": (lambda W, x: xp.take(W, xp.astype(xp.abs(x), xp.int64), axis=0), (9, 4), (5,)),
    "columns of a table": (lambda W, x: W[:, xp.astype(xp.abs(x), xp.int64)], (4, 9), (5,)),
    "elements of a table": (
        lambda W, x: W[xp.astype(xp.abs(x), xp.int64), xp.astype(x > 0, xp.int64)], (9, 2), (2, 3)
    ),
    "the same rows of a table": (lambda W, x: xp.take(W, xp.asarray([1, 3, 1]), axis=0) * x, (9, 4), (3, 4)),
}  # fmt: skip


@pytest.mark.parametrize("name", SHARED)
def test_gradients_are_the_sums_over_members(name: str, device: xpgrad.Device) -> None:
    call, weight, x = SHARED[name]
    if "table" in name:
        with xpgrad.using_device(device):
            check(call, (weight, x), device, order=1)
    else:
        check(call, (weight, x), device)


LARGE = {name: (SHARED[name][0], weight, x) for name, weight, x in (
    ("rows by a matrix", (200, 300), (2, 200)),
    ("a row by a matrix", (200, 300), (200,)),
    ("a matrix by a column", (200, 300), (300,)),
    ("a matrix by columns", (200, 300), (300, 2)),
    ("a transposed matrix", (200, 300), (2, 300)),
    ("the same matrix twice", (300, 300), (2, 300)),
    ("linear", (200, 300), (2, 300)),
    ("rows of a table", (30000, 2), (5,)),
)}  # fmt: skip


@pytest.mark.parametrize("name", LARGE)
def test_a_gradient_takes_no_array_for_each_member(name: str) -> None:
    call, weight, shape = LARGE[name]
    size = 64
    W, x = numbers(weight, 0), np.stack([numbers(shape, k) for k in range(size)])

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
    W, x = placed(numbers((9, 8), 0), device), placed(numbers((3, 2, 9), 1), device)
    g = vmap(grad(lambda W, x: xp.sum(xp.tanh(x @ W.T.T))), in_axes=(None, 0))(W, x)
    assert g.shape == (3, 9, 8)
