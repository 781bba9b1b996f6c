"""Cases of `xpgrad.ops`: contractions, products, padding, diagonals, and elementwise functions."""

from typing import Any

import numpy as np

from xpgrad.array_api import greater
from xpgrad_conformance.table.case import Case, Input, Inputs

LINE = ((5,),)
CUBE = ((2, 3, 4),)


def _ops(
    name: str, call: Any, reference: Any, inputs: Inputs = ((3, 4),), complex: bool = True, **options: Any
) -> Case:
    return Case(name, call, reference, inputs, area="ops", complex=complex, **options)


def _einsum(name: str, formula: str, *shapes: tuple[int, ...]) -> Case:
    return _ops(
        f"einsum-{name}",
        lambda ops, *xs: ops.einsum(formula, *xs),
        lambda *xs: np.einsum(formula, *xs),
        tuple(map(Input, shapes)),
    )


CONTRACTIONS = (
    _einsum("matmul", "ij,jk->ik", (2, 3), (3, 4)),
    _einsum("implicit", "ba,cb", (2, 3), (4, 2)),
    _einsum("chain", "ij,jk,kl->il", (2, 3), (3, 4), (4, 2)),
    _einsum("batch", "bij,bjk->bki", (2, 3, 2), (2, 2, 3)),
    _einsum("batch-elementwise", "bi,bj->jbi", (2, 3), (2, 4)),
    _einsum("trace", "ii->", (3, 3)),
    _einsum("diagonal", "iji->ji", (3, 2, 3)),
    _einsum("ellipsis", "...i,i...->...", (2, 3, 4), (4, 1, 3)),
    _einsum("sum", "ijk->j", (2, 3, 4)),
    _einsum("lonely", "ij,kj->k", (2, 3), (4, 3)),
    _einsum("outer", "i,j->ji", (3,), (4,)),
    _einsum("broadcast", "ij,ij->ij", (1, 3), (2, 3)),
    _einsum("many", "ab,bc,cd,ad,e->e", (2, 3), (3, 2), (2, 2), (2, 2), (3,)),
    _ops("einsum-left", lambda ops, *xs: ops.einsum("ab,bc,cd->ad", *xs, optimize=False), lambda a, b, c: a @ b @ c,
         tuple(map(Input, ((2, 3), (3, 2), (2, 4))))),
    _ops("einsum-lists", lambda ops, a, b: ops.einsum(a, [0, 1], b, [1, 2], [2, 0]), lambda a, b: (a @ b).T,
         ((2, 3), (3, 4))),
    _ops("kron", {}, np.kron, ((2, 3), (3, 2))),
    _ops("kron-ranks", {}, np.kron, ((2,), (2, 1, 3))),
    _ops("convolve", {}, np.convolve, ((6,), Input((3,), low=0.3)), keeps=("x0", "x1")),
    _ops("convolve-same", ("same",), lambda a, v: np.convolve(a, v, "same"), ((3,), (6,))),
    _ops("convolve-valid", {"mode": "valid"}, lambda a, v: np.convolve(a, v, "valid"), ((6,), (2,))),
    _ops("polyval", {}, np.polyval, ((4,), (2, 3))),
    _ops("polyval-number", (0.7,), lambda p: np.polyval(p, 0.7), ((4,),)),
)  # fmt: skip


def _pad(mode: Any) -> Case:
    return _ops(
        f"pad-{mode}",
        lambda ops, x: ops.pad(x, ((2, 1), (0, 5)), mode),
        lambda x: np.pad(x, ((2, 1), (0, 5)), mode),
        ((2, 3),),
    )


PADS = (
    *map(_pad, ("edge", "reflect", "symmetric", "wrap")),
    _ops(
        "pad", lambda ops, x: ops.pad(x, (1, 2), constant_values=0.5), lambda x: np.pad(x, (1, 2), constant_values=0.5)
    ),
    _ops("pad-number", (2,), lambda x: np.pad(x, 2), LINE),
)

DIAGONALS = (
    _ops("create_diagonal", {}, lambda x: np.einsum("ij,jk->ijk", x, np.eye(x.shape[1]))),
    _ops("create_diagonal-offset", {"offset": -2}, lambda x: np.diag(x, -2), LINE),
    _ops("diag", {}, np.diag, LINE),
    _ops("diag-above", (1,), lambda x: np.diag(x, 1)),
    _ops("diag-below", {"k": -1}, lambda x: np.diag(x, -1)),
    _ops("diag-outside", (4,), lambda x: np.zeros(0)),
    _ops("atleast_nd", {"ndim": 4}, lambda x: x.reshape((1,) * (4 - x.ndim) + x.shape), CUBE),
)

ELEMENTWISE = (
    _ops("deg2rad", {}, lambda x: x * np.pi / 180, elementwise=True),
    _ops("rad2deg", {}, lambda x: x / np.pi * 180, elementwise=True),
    _ops("angle", {}, np.angle, elementwise=True, dtype="real"),
    _ops("angle-degrees", {"deg": True}, lambda x: np.angle(x, True), order=1, dtype="real"),
    _ops("fmod", {}, np.fmod, (Input(), Input((4,), 0.3, 0.9)), order=1, complex=False),
    _ops("logaddexp2", {}, np.logaddexp2, (Input(), (4,)), complex=False),
    _ops("apply_where", lambda ops, x: ops.apply_where(greater(x, 0), x, lambda x: x**1.5, lambda x: x**3),
         lambda x: np.where(x > 0, np.abs(x) ** 1.5, x**3), needs=("data_dependent_shapes",), complex=False),
    _ops("apply_where-fill",
         lambda ops, x, y: ops.apply_where(greater(x, 0), (x, y), lambda x, y: x * y * y, fill_value=2.0),
         lambda x, y: np.where(x > 0, x * y * y, 2), (Input(), (4,)), needs=("data_dependent_shapes",), complex=False),
    _ops("isclose", {"rtol": 0.5}, lambda a, b: np.isclose(a, b, rtol=0.5), (Input(), (4,)), order=0, dtype="bool"),
    _ops("allclose", {}, np.allclose, (Input(), Input()), order=0, dtype="bool"),
)  # fmt: skip


CASES = CONTRACTIONS + PADS + DIAGONALS + ELEMENTWISE
