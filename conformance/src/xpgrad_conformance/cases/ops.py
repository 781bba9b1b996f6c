"""Cases of `xpgrad.ops`: contractions, products, padding, diagonals, and elementwise functions."""

from typing import Any

import numpy as np

from xpgrad.array_api import greater
from xpgrad_conformance.table.case import Case, Input

LINE = (Input((5,)),)
CUBE = (Input((2, 3, 4)),)


def _ops(name: str, call: Any, reference: Any, inputs: tuple[Input, ...] = (Input(),), **options: Any) -> Case:
    return Case(name, call, reference, inputs, area="ops", **options)


def _einsum(name: str, formula: str, *shapes: tuple[int, ...], complex: bool = False) -> Case:
    return _ops(
        f"einsum-{name}",
        lambda ops, *xs: ops.einsum(formula, *xs),
        lambda *xs: np.einsum(formula, *xs),
        tuple(map(Input, shapes)),
        complex=complex,
    )


CONTRACTIONS = (
    _einsum("matmul", "ij,jk->ik", (2, 3), (3, 4), complex=True),
    _einsum("implicit", "ba,cb", (2, 3), (4, 2), complex=True),
    _einsum("chain", "ij,jk,kl->il", (2, 3), (3, 4), (4, 2), complex=True),
    _einsum("batch", "bij,bjk->bki", (2, 3, 2), (2, 2, 3), complex=True),
    _einsum("batch-elementwise", "bi,bj->jbi", (2, 3), (2, 4), complex=True),
    _einsum("trace", "ii->", (3, 3), complex=True),
    _einsum("diagonal", "iji->ji", (3, 2, 3), complex=True),
    _einsum("ellipsis", "...i,i...->...", (2, 3, 4), (4, 1, 3), complex=True),
    _einsum("sum", "ijk->j", (2, 3, 4), complex=True),
    _einsum("lonely", "ij,kj->k", (2, 3), (4, 3), complex=True),
    _einsum("outer", "i,j->ji", (3,), (4,), complex=True),
    _einsum("broadcast", "ij,ij->ij", (1, 3), (2, 3), complex=True),
    _einsum("many", "ab,bc,cd,ad,e->e", (2, 3), (3, 2), (2, 2), (2, 2), (3,), complex=True),
    _ops(
        "einsum-left",
        lambda ops, *xs: ops.einsum("ab,bc,cd->ad", *xs, optimize=False),
        lambda a, b, c: a @ b @ c,
        tuple(map(Input, ((2, 3), (3, 2), (2, 4)))),
        complex=True,
    ),
    _ops(
        "einsum-lists",
        lambda ops, a, b: ops.einsum(a, [0, 1], b, [1, 2], [2, 0]),
        lambda a, b: (a @ b).T,
        (Input((2, 3)), Input((3, 4))),
        complex=True,
    ),
    _ops("kron", lambda ops, a, b: ops.kron(a, b), np.kron, (Input((2, 3)), Input((3, 2))), complex=True),
    _ops("kron-ranks", lambda ops, a, b: ops.kron(a, b), np.kron, (Input((2,)), Input((2, 1, 3))), complex=True),
    _ops(
        "convolve",
        lambda ops, a, v: ops.convolve(a, v),
        np.convolve,
        (Input((6,)), Input((3,), low=0.3)),
        complex=True,
        keeps=("x0", "x1"),
    ),
    _ops(
        "convolve-same",
        lambda ops, a, v: ops.convolve(a, v, "same"),
        lambda a, v: np.convolve(a, v, "same"),
        (Input((3,)), Input((6,))),
        complex=True,
    ),
    _ops(
        "convolve-valid",
        lambda ops, a, v: ops.convolve(a, v, mode="valid"),
        lambda a, v: np.convolve(a, v, "valid"),
        (Input((6,)), Input((2,))),
        complex=True,
    ),
    _ops("polyval", lambda ops, p, x: ops.polyval(p, x), np.polyval, (Input((4,)), Input((2, 3))), complex=True),
    _ops(
        "polyval-number", lambda ops, p: ops.polyval(p, 0.7), lambda p: np.polyval(p, 0.7), (Input((4,)),), complex=True
    ),
)


def _pad(mode: Any) -> Case:
    return _ops(
        f"pad-{mode}",
        lambda ops, x: ops.pad(x, ((2, 1), (0, 5)), mode),
        lambda x: np.pad(x, ((2, 1), (0, 5)), mode),
        (Input((2, 3)),),
        complex=True,
    )


PADS = (
    *map(_pad, ("edge", "reflect", "symmetric", "wrap")),
    _ops(
        "pad",
        lambda ops, x: ops.pad(x, (1, 2), constant_values=0.5),
        lambda x: np.pad(x, (1, 2), constant_values=0.5),
        complex=True,
    ),
    _ops("pad-number", lambda ops, x: ops.pad(x, 2), lambda x: np.pad(x, 2), LINE, complex=True),
)

DIAGONALS = (
    _ops(
        "create_diagonal",
        lambda ops, x: ops.create_diagonal(x),
        lambda x: np.einsum("ij,jk->ijk", x, np.eye(x.shape[1])),
        complex=True,
    ),
    _ops(
        "create_diagonal-offset",
        lambda ops, x: ops.create_diagonal(x, offset=-2),
        lambda x: np.diag(x, -2),
        LINE,
        complex=True,
    ),
    _ops("diag", lambda ops, x: ops.diag(x), np.diag, LINE, complex=True),
    _ops("diag-above", lambda ops, x: ops.diag(x, 1), lambda x: np.diag(x, 1), complex=True),
    _ops("diag-below", lambda ops, x: ops.diag(x, k=-1), lambda x: np.diag(x, -1), complex=True),
    _ops("diag-outside", lambda ops, x: ops.diag(x, 4), lambda x: np.zeros(0), complex=True),
    _ops(
        "atleast_nd",
        lambda ops, x: ops.atleast_nd(x, ndim=4),
        lambda x: x.reshape((1,) * (4 - x.ndim) + x.shape),
        CUBE,
        complex=True,
    ),
)

ELEMENTWISE = (
    _ops("deg2rad", lambda ops, x: ops.deg2rad(x), lambda x: x * np.pi / 180, elementwise=True, complex=True),
    _ops("rad2deg", lambda ops, x: ops.rad2deg(x), lambda x: x / np.pi * 180, elementwise=True, complex=True),
    _ops("angle", lambda ops, x: ops.angle(x), np.angle, elementwise=True, complex=True, dtype="real"),
    _ops("angle-degrees", lambda ops, x: ops.angle(x, deg=True), lambda x: np.angle(x, True), order=1, dtype="real",
         complex=True),
    _ops("fmod", lambda ops, x, y: ops.fmod(x, y), np.fmod, (Input(), Input((4,), 0.3, 0.9)), order=1),
    _ops("logaddexp2", lambda ops, x, y: ops.logaddexp2(x, y), np.logaddexp2, (Input(), Input((4,)))),
    _ops(
        "apply_where",
        lambda ops, x: ops.apply_where(greater(x, 0), x, lambda x: x**1.5, lambda x: x**3),
        lambda x: np.where(x > 0, np.abs(x) ** 1.5, x**3),
        needs=("data_dependent_shapes",),
    ),
    _ops(
        "apply_where-fill",
        lambda ops, x, y: ops.apply_where(greater(x, 0), (x, y), lambda x, y: x * y * y, fill_value=2.0),
        lambda x, y: np.where(x > 0, x * y * y, 2),
        (Input(), Input((4,))),
        needs=("data_dependent_shapes",),
    ),
    _ops("isclose", lambda ops, a, b: ops.isclose(a, b, rtol=0.5), lambda a, b: np.isclose(a, b, rtol=0.5),
         (Input(), Input((4,))), order=0, dtype="bool", complex=True),
    _ops("allclose", lambda ops, a, b: ops.allclose(a, b), np.allclose, (Input(), Input()), order=0, dtype="bool",
         complex=True),
)  # fmt: skip


CASES = CONTRACTIONS + PADS + DIAGONALS + ELEMENTWISE
