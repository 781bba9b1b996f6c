"""Products of matrices and vectors in batches, against a loop over the members."""

import numpy as np
import pytest
from tests.core.transforms.batch.rows.members import Case, check

import xpgrad
from xpgrad import array_api as xp
from xpgrad import functions as F
from xpgrad.errors import ShapeError
from xpgrad.testing.arrays import placed
from xpgrad.transforms import vmap


def of_shapes(name, function, *rows):
    """Return a case for each row of shapes."""
    return [Case(name, function, *(f"f8 {shape}" for shape in row), raw=False, order=2) for row in rows]


def by_options(name, function, rows):
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


@pytest.mark.parametrize("case", [*MATMUL, *VECDOT, *OTHERS], ids=repr)
def test_a_product_agrees_with_each_member(case, device):
    check(case, device, rtol=1e-9)


@pytest.mark.parametrize("case", [*MATMUL, *VECDOT], ids=repr)
def test_complex_products_and_single_precision(case, device):
    check(case, device, dtype="complex128", order=1, rtol=1e-9)
    check(case, device, dtype="float32", order=1, rtol=1e-4)


def test_vectors_without_an_axis_raise(device):
    x = placed(np.arange(3.0), device)
    with pytest.raises(ShapeError, match="matmul: a has no axes"):
        vmap(xp.matmul)(x, x)
    with pytest.raises(ShapeError, match=r"outer: expected two vectors, got shapes \(\) and \(\)"):
        vmap(xp.linalg.outer)(x, x)
