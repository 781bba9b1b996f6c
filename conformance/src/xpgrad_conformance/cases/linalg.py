"""Cases of linear algebra whose result is unique: solutions, inverses, determinants, norms, diagonals."""

from typing import Any

import numpy as np

from xpgrad.types import Shape
from xpgrad_conformance.table.case import Case, Input, Inputs

SQUARE, STACK = ((3, 3),), ((2, 3, 3),)
NULL = [[1.0, 2.0, -0.5], [0.5, -1.0, 0.25], [2.0, 4.0, -1.0]]  # of rank 2, exactly
ONE = [[1.0, 2.0, -0.5], [2.0, 4.0, -1.0], [0.0, 0.0, 0.0]]  # of rank 1, exactly


def _leibniz(x: Any) -> Any:
    """Return determinants as the sum over permutations, right at singular matrices to any order."""
    if x.shape[-1] == 0:
        return np.ones(x.shape[:-2], x.dtype)
    rest = [np.delete(x[..., 1:, :], j, -1) for j in range(x.shape[-1])]
    return sum((-1) ** j * x[..., 0, j] * _leibniz(m) for j, m in enumerate(rest))


def _adjugate(x: Any) -> Any:
    """Return inverses by Cramer's rule."""
    n = x.shape[-1]
    minors = [[np.delete(np.delete(x, i, -2), j, -1) for i in range(n)] for j in range(n)]
    rows = [np.stack([(-1) ** (i + j) * _leibniz(m) for i, m in enumerate(row)], -1) for j, row in enumerate(minors)]
    return np.stack(rows, -2) / _leibniz(x)[..., None, None]


def _case(
    name: str,
    call: Any,
    reference: Any,
    inputs: Inputs,
    keeps: Any = None,
    order: int = 2,
    complex: bool = True,
    **rest: Any,
) -> Case:
    return Case(f"linalg.{name}", call, reference, inputs, keeps, order, complex=complex, **rest)


def _inv(name: str, *inputs: Input | Shape, order: int = 2) -> Case:
    return _case(name, {}, _adjugate, inputs, ("y",), order)


def _det(name: str, *inputs: Input | Shape, order: int = 2) -> Case:
    return _case(name, {}, _leibniz, inputs, ("x", "y"), order)


def _solve(name: str, a: tuple[int, ...], b: tuple[int, ...], formula: str, **rest: Any) -> Case:
    return _case(
        name,
        {},
        lambda a, b: np.einsum(formula, _adjugate(a) if a.size else a, b),
        (Input(a), Input(b)),
        ("x0", "y0"),
        **rest,
    )


def _slogdet(x: Any) -> Any:
    d = _leibniz(x)
    return d / np.abs(d), np.log(np.abs(d))


SOLVING = (
    _inv("inv", *SQUARE, order=3),
    _inv("inv-batch", *STACK),
    _inv("inv-one", Input((1, 1), low=0.5)),
    _solve("solve", (3, 3), (3, 2), "ij,jk->ik", order=3),
    _solve("solve-vector", (3, 3), (3,), "ij,j->i"),
    _solve("solve-batch", (2, 3, 3), (2, 3, 1), "bij,bjk->bik"),
    _solve("solve-batch-vector", (2, 3, 3), (3,), "bij,j->bi"),
    _solve("solve-one-right-side", (2, 3, 3), (3, 2), "bij,jk->bik"),
    _solve("solve-one-matrix", (3, 3), (2, 3, 4), "ij,bjk->bik"),
    _case("matrix_power", (5,), lambda x: np.einsum("...ij,...jk,...kl,...lm,...mn->...in", x, x, x, x, x), STACK),
    _case("matrix_power-one", (1,), lambda x: x, SQUARE),
    _case("matrix_power-negative", (-2,), lambda x: _adjugate(x @ x), SQUARE, order=3),
    _case("matrix_power-zero", (0,), lambda x: 0 * x + np.eye(x.shape[-1]), STACK, order=0),
)

DETERMINANTS = (
    _det("det", *SQUARE, order=3),
    _det("det-batch", (2, 4, 4)),
    _det("det-two", (2, 2), order=3),
    _det("det-one", Input((1, 1), low=0.5), order=3),
    _det("det-identity", Input(values=np.eye(3)), order=3),
    _det("det-rank-2", Input(values=NULL), order=3),
    _det("det-rank-1", Input(values=ONE), order=3),
    _det("det-rank-0", Input(values=np.zeros((4, 4))), order=3),
    _det("det-singular-two", Input(values=[[1.0, 2.0], [2.0, 4.0]]), order=3),
    _case(
        "det-nearly-singular",
        {},
        _leibniz,
        (Input(values=np.add(NULL, 1e-13 * np.eye(3))),),
        ("x", "y"),
        3,
        rtol={"float64": 1e-2, "complex128": 1e-2},  # rounding times the condition, which is 1e13
    ),
    _det("det-some-singular", Input(values=[NULL, np.diag([1.0, 2.0, 3.0]), ONE]), order=3),
    _case(
        "slogdet", lambda xp, x: tuple(xp.linalg.slogdet(x)), _slogdet, SQUARE, ("x0", "y0"), 3, dtype=(None, "real")
    ),
    _case("slogdet-batch", lambda xp, x: xp.linalg.slogdet(x).logabsdet, lambda x: _slogdet(x)[1], STACK, dtype="real"),
)


def _diagonal(name: str, shape: tuple[int, ...], offset: int, reference: Any, order: int = 2, **rest: Any) -> Case:
    return _case(f"diagonal{name}", {"offset": offset}, reference, (Input(shape),), (), order, **rest)


def _trace(name: str, shape: tuple[int, ...], offset: int, reference: Any, order: int = 2, **rest: Any) -> Case:
    return _case(f"trace{name}", {"offset": offset}, reference, (Input(shape),), (), order, **rest)


LINES = (
    _diagonal("", (2, 3, 4), 0, lambda x: np.einsum("bii->bi", x[:, : x.shape[2], : x.shape[1]])),
    _diagonal("-above", (3, 4), 2, lambda x: x[[0, 1], [2, 3]]),
    _diagonal("-below", (3, 4), -1, lambda x: x[[1, 2], [0, 1]]),
    _diagonal("-tall", (5, 2), -2, lambda x: x[[2, 3], [0, 1]]),
    _diagonal("-beyond", (3, 4), 4, lambda x: x[0, :0], 1),
    _diagonal("-far-beyond", (2, 3), 5, lambda x: x[0, :0], 1),
    _diagonal("-far-below", (3, 2), -5, lambda x: x[0, :0], 1),
    _trace("", (2, 3, 4), 0, lambda x: np.einsum("bii->b", x[:, : x.shape[2], : x.shape[1]])),
    _trace("-offset", (3, 4), 1, lambda x: x[0, 1] + x[1, 2] + x[2, 3]),
    _trace("-beyond", (3, 4), -3, lambda x: 0 * x[0, 0], 1),
    _trace("-far-beyond", (2, 3), 5, lambda x: 0 * x[0, 0]),
    _trace("-beyond-stack", (2, 3, 2), 4, lambda x: 0 * x[:, 0, 0]),
    _case("trace-dtype", lambda xp, x: xp.linalg.trace(x, dtype=xp.float64), np.trace, SQUARE, (), dtype="float64",
          needs=("float64",), complex=False),
    _case("trace-int", {}, np.trace, (Input((3, 3), kind="int"),), order=0, dtype="int", complex=False),
)  # fmt: skip


def _cross(name: str, shape1: tuple[int, ...], shape2: tuple[int, ...], axis: int, **rest: Any) -> Case:
    return _case(
        name,
        {"axis": axis},
        lambda a, b: np.stack(
            [
                np.take(a, i, axis) * np.take(b, j, axis) - np.take(a, j, axis) * np.take(b, i, axis)
                for i, j in ((1, 2), (2, 0), (0, 1))
            ],
            axis,
        ),
        (Input(shape1), Input(shape2)),
        ("x1", "x2"),
        **rest,
    )


PRODUCTS = (_cross("cross", (2, 3), (2, 3), -1, order=3), _cross("cross-axis", (2, 3, 4), (3, 1), -2))


def _powers(ord: float, axis: Any = None) -> Any:
    return lambda x: np.sum(np.abs(x) ** ord, axis) ** (1 / ord)


def _vector(name: str, ord: Any, reference: Any, *inputs: Input | Shape, keeps: Any = None, **rest: Any) -> Case:
    return _case(
        f"vector_norm{name}",
        {"ord": ord, **rest.get("options", {})},
        reference,
        inputs or ((3, 4),),
        keeps,
        **{"dtype": "real", **{k: v for k, v in rest.items() if k != "options"}},
    )


VECTOR_NORMS = (
    _vector("", 2, _powers(2), keeps=("x", "y"), order=3),
    _vector("-axis", 2, _powers(2, 0), keeps=("x", "y"), options={"axis": 0}),
    _vector("-axes", 2, lambda x: _powers(2, (0, 2))(x)[None, :, None], (2, 3, 4),
            options={"axis": (-1, 0), "keepdims": True}),
    _vector("-1", 1, lambda x: np.abs(x).sum()),
    _vector("-3", 3, _powers(3), order=3),
    _vector("-fraction", 0.5, _powers(0.5, 1), options={"axis": 1}),
    _vector("-minus-1.5", -1.5, lambda x: _powers(-1.5, 0)(x)[None], options={"axis": 0, "keepdims": True}),
    _vector("-inf", np.inf, lambda x: np.sort(np.abs(x), -1)[..., -1], options={"axis": -1}),
    _vector("-minus-inf", -np.inf, lambda x: np.sort(np.abs(x).ravel())[0]),
    _vector("-0", 0, lambda x: np.sum(x != 0, -1) * 1.0, Input(values=[[0.0, 2.0, 1.0], [3.0, 1.0, 5.0]]), order=0,
            options={"axis": -1}),
)  # fmt: skip


def _matrix(name: str, ord: Any, reference: Any, *inputs: Input | Shape, keepdims: bool = False, **rest: Any) -> Case:
    return _case(
        f"matrix_norm{name}",
        {"ord": ord, "keepdims": keepdims},
        reference,
        inputs or ((2, 3, 4),),
        dtype="real",
        **rest,
    )


def _roots(x: Any) -> Any:
    """Return singular values, descending, as roots of the eigenvalues of the smaller Gram matrix."""
    adjoint = np.conj(np.swapaxes(x, -1, -2))
    gram = x @ adjoint if x.shape[-2] <= x.shape[-1] else adjoint @ x
    return np.sqrt(np.linalg.eigvalsh(gram))[..., ::-1]


MATRIX_NORMS = (
    _matrix("", "fro", _powers(2, (-2, -1)), order=3),
    _matrix("-nuc", "nuc", lambda x: _roots(x).sum(-1), order=2),
    _matrix("-2", 2, lambda x: _roots(x)[..., 0], order=3),
    _matrix("-minus-2", -2, lambda x: _roots(x)[..., -1][..., None, None], keepdims=True),
    _matrix("-1", 1, lambda x: np.abs(x).sum(-2).max(-1), (2, 4, 3)),
    _matrix("-minus-1", -1, lambda x: np.abs(x).sum(-2).min(-1)),
    _matrix("-inf", np.inf, lambda x: np.abs(x).sum(-1).max(-1)[..., None, None], keepdims=True),
    _matrix("-minus-inf", -np.inf, lambda x: np.abs(x).sum(-1).min(-1)),
    _matrix("-none", None, _powers(2), (3, 3), order=1),
)


def _f(name: str, call: Any, reference: Any, shape: tuple[int, ...], **rest: Any) -> Case:
    return Case(f"F.{name}", call, reference, (Input(shape),), order=2, area="F", **rest)


CHAINER = (
    _f("cholesky", lambda F, x: F.cholesky(F.matmul(x, x, transb=True)), lambda x: np.linalg.cholesky(x @ x.T), (3, 5)),
    _f("det", {}, _leibniz, (3, 3)),
    _f("batch_det", {}, _leibniz, (2, 3, 3)),
    _f("inv", {}, _adjugate, (3, 3)),
    _f("batch_inv", {}, _adjugate, (2, 3, 3)),
    _f("batch_l2_norm_squared", {}, lambda x: (x * x).sum((1, 2)), (2, 3, 4)),
    _f("diagonal", {}, lambda x: np.einsum("iik->ki", x[: x.shape[1], : x.shape[0]]), (2, 3, 4), complex=True),
    _f("diagonal-axes", (1, 2, 0), lambda x: x[[1], :, [0]].T, (2, 3, 4), complex=True),
)

CASES = CHAINER + SOLVING + DETERMINANTS + LINES + PRODUCTS + VECTOR_NORMS + MATRIX_NORMS
