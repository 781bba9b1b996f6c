"""Cases of products of matrices and vectors."""

import numpy as np

from xpgrad.array_api.shared.primitives import transposed_matmul
from xpgrad_conformance.table.case import Case, Input


def _matmul(name: str, shape1: tuple[int, ...], shape2: tuple[int, ...], formula: str, complex: bool = False) -> Case:
    return Case(
        name, {}, lambda a, b: np.einsum(formula, a, b), (Input(shape1), Input(shape2)), ("x1", "x2"), complex=complex
    )


PRODUCTS = (
    _matmul("matmul", (2, 3), (3, 4), "ij,jk->ik", complex=True),
    _matmul("matmul-batch", (5, 2, 3), (5, 3, 4), "bij,bjk->bik", complex=True),
    _matmul("matmul-one-matrix", (5, 2, 3), (3, 4), "bij,jk->bik", complex=True),
    _matmul("matmul-one-first", (2, 3), (5, 3, 4), "ij,bjk->bik", complex=True),
    _matmul("matmul-broadcast", (5, 1, 2, 3), (6, 3, 4), "abij,bjk->abik", complex=True),
    _matmul("matmul-vector-vector", (3,), (3,), "i,i->", complex=True),
    _matmul("matmul-matrix-vector", (2, 3), (3,), "ij,j->i", complex=True),
    _matmul("matmul-vector-matrix", (3,), (3, 4), "j,jk->k", complex=True),
    _matmul("matmul-batch-vector", (5, 2, 3), (3,), "bij,j->bi", complex=True),
    _matmul("matmul-vector-batch", (3,), (5, 3, 4), "j,bjk->bk", complex=True),
    Case("matmul-operator", lambda xp, a, b: xp.asarray(a) @ b, lambda a, b: np.einsum("ij,jk->ik", a, b),
         ((2, 3), (3, 4)), ("x1", "x2"), complex=True),
    Case("transposed_matmul", lambda xp, a, b: transposed_matmul(a, b), lambda a, b: np.einsum("ki,kj->ij", a, b),
         ((4, 2), (4, 3)), ("x1", "x2"), complex=True),
    Case("tensordot", {"axes": 2}, lambda a, b: np.einsum("ijk,jkl->il", a, b), ((2, 3, 4), (3, 4, 5)), ("x1", "x2"),
         complex=True),
    Case("tensordot-axes", {"axes": ((2, 0), (1, -1))}, lambda a, b: np.einsum("ijkm,lki->jml", a, b),
         ((2, 3, 4, 2), (5, 4, 2)), ("x1", "x2"), complex=True),
    Case("tensordot-outer", {"axes": 0}, lambda a, b: np.einsum("i,jk->ijk", a, b), ((2,), (3, 4)), ("x1", "x2"),
         complex=True),
    Case("vecdot", {}, lambda a, b: np.einsum("ij,kj->ki", np.conj(a), b[:, 0]), ((3, 4), (2, 1, 4)), ("x1", "x2"),
         complex=True),
    Case("vecdot-axis", {"axis": -2}, lambda a, b: np.einsum("ij,ij->j", np.conj(a), b),
         ((3, 4), Input((3, 4), low=0.3)), ("x1", "x2"), complex=True),
    Case("vecdot-first-axis", {"axis": 0}, lambda a, b: np.einsum("ij,ij->j", np.conj(a), np.broadcast_to(b, a.shape)),
         ((3, 4), Input((3, 1), low=0.3)), ("x1", "x2"), complex=True),
    Case("linalg.outer", {}, lambda a, b: np.einsum("i,j->ij", a, b), ((3,), (4,)), complex=True),
    Case("matrix_transpose", {}, lambda x: np.einsum("ijk->ikj", x), ((2, 3, 4),), (), complex=True),
    Case("mT", lambda xp, x: xp.asarray(x).mT, lambda x: np.einsum("ijk->ikj", x), ((2, 3, 4),), (), complex=True),
)  # fmt: skip

CASES = PRODUCTS
