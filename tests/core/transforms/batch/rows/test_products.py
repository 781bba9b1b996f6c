"""Products of matrices and vectors in batches, against a loop over the members."""

from typing import Any

import pytest
from tests.core.transforms.batch.rows.members import check, numbers

import xpgrad
from xpgrad import array_api as xp
from xpgrad import functions as F
from xpgrad.errors import ShapeError
from xpgrad.testing.arrays import placed
from xpgrad.transforms.batch.vmap import vmap

MATMUL = [
    ((4,), (4,)), ((3, 4), (4,)), ((4,), (4, 2)), ((3, 4), (4, 2)), ((2, 3, 4), (4,)), ((4,), (2, 4, 3)),
    ((2, 3, 4), (4, 5)), ((3, 4), (2, 4, 5)), ((2, 3, 4), (2, 4, 5)), ((2, 1, 3, 4), (5, 4, 2)), ((1, 4), (4, 1)),
]  # fmt: skip
TENSORDOT = [
    ((3, 4), (4, 2), 1), ((3, 4), (3, 4), 2), ((3, 4), (2,), 0), ((2, 3, 4), (4, 5, 2), ((2, 0), (0, 2))),
    ((2, 3, 4), (3, 5), ((-2,), (-2,))), ((3,), (3,), 1),
]  # fmt: skip
EINSUMS = [
    ("ij,jk->ik", (3, 4), (4, 2)), ("ij,ij->i", (3, 4), (3, 4)), ("i,j->ij", (3,), (4,)), ("ii,i->", (3, 3), (3,)),
    ("...i,ij->...j", (2, 5, 3), (3, 4)), ("bij,bjk->bki", (2, 3, 4), (2, 4, 5)),
]  # fmt: skip


@pytest.mark.parametrize("shapes", MATMUL, ids=str)
def test_matmul(shapes: Any, device: xpgrad.Device) -> None:
    check(xp.matmul, shapes, device)
    check(xp.matmul, shapes, device, "complex128", order=1)
    check(xp.matmul, shapes, device, "float32", order=1, size=1, rtol=1e-4)


@pytest.mark.parametrize(("shape1", "shape2", "axes"), TENSORDOT, ids=str)
def test_tensordot(shape1: Any, shape2: Any, axes: Any, device: xpgrad.Device) -> None:
    check(lambda a, b: xp.tensordot(a, b, axes=axes), (shape1, shape2), device)


@pytest.mark.parametrize(("equation", "shape1", "shape2"), EINSUMS, ids=str)
def test_einsum(equation: str, shape1: Any, shape2: Any, device: xpgrad.Device) -> None:
    check(lambda a, b: xpgrad.ops.einsum(equation, a, b), (shape1, shape2), device)


@pytest.mark.parametrize(
    ("shapes", "axis"), [(((3, 4), (3, 4)), -1), (((4,), (3, 4)), -1), (((2, 3, 4), (3, 1)), -2)], ids=str
)
def test_vecdot(shapes: Any, axis: int, device: xpgrad.Device) -> None:
    check(lambda a, b: xp.vecdot(a, b, axis=axis), shapes, device)
    check(lambda a, b: xp.vecdot(a, b, axis=axis), shapes, device, "complex128", order=1)


def test_outer_and_cross(device: xpgrad.Device) -> None:
    check(xp.linalg.outer, ((3,), (4,)), device)
    check(xp.linalg.cross, ((3,), (4, 3)), device)
    check(lambda a, b: xp.linalg.cross(a, b, axis=-2), ((3, 2), (4, 3, 2)), device)


@pytest.mark.parametrize("shapes", [((5, 4), (3, 4), (3,)), ((5, 4), (3, 4)), ((1, 4), (3, 4), (3,))], ids=str)
def test_linear(shapes: Any, device: xpgrad.Device) -> None:
    check(F.linear, shapes, device)


def test_a_weight_with_few_rows_and_with_many(device: xpgrad.Device) -> None:
    for rows in (2, 40):
        check(lambda x, W: xp.tanh(xp.tanh(x @ W) @ W), ((rows, 3), (3, 3)), device)


def test_vectors_without_an_axis_raise(device: xpgrad.Device) -> None:
    x = placed(numbers((3,), 0), device)
    with pytest.raises(ShapeError, match="matmul: a has no axes"):
        vmap(xp.matmul)(x, x)
    with pytest.raises(ShapeError, match=r"outer: expected two vectors, got shapes \(\) and \(\)"):
        vmap(xp.linalg.outer)(x, x)
