"""Cases of linear algebra whose result is unique: solutions, inverses, determinants, norms, diagonals."""

from typing import Any

import numpy as np

from xpgrad_conformance.table.case import Case, Input

SQUARE, STACK = (Input((3, 3)),), (Input((2, 3, 3)),)
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
    name: str, call: Any, reference: Any, inputs: tuple[Input, ...], keeps: Any = None, order: int = 2, **rest: Any
) -> Case:
    return Case(f"linalg.{name}", call, reference, inputs, keeps, order, **rest)


def _inv(name: str, *inputs: Input, order: int = 2, complex: bool = False) -> Case:
    return _case(name, lambda xp, x: xp.linalg.inv(x), _adjugate, inputs, ("y",), order, complex=complex)


def _det(name: str, *inputs: Input, order: int = 2, complex: bool = False) -> Case:
    return _case(name, lambda xp, x: xp.linalg.det(x), _leibniz, inputs, ("x", "y"), order, complex=complex)


def _solve(name: str, a: tuple[int, ...], b: tuple[int, ...], formula: str, **rest: Any) -> Case:
    return _case(
        name,
        lambda xp, a, b: xp.linalg.solve(a, b),
        lambda a, b: np.einsum(formula, _adjugate(a) if a.size else a, b),
        (Input(a), Input(b)),
        ("x0", "y0"),
        **rest,
    )


def _slogdet(x: Any) -> Any:
    d = _leibniz(x)
    return d / np.abs(d), np.log(np.abs(d))


SOLVING = (
    _inv("inv", *SQUARE, order=3, complex=True),
    _inv("inv-batch", *STACK, complex=True),
    _inv("inv-one", Input((1, 1), low=0.5), complex=True),
    _solve("solve", (3, 3), (3, 2), "ij,jk->ik", order=3, complex=True),
    _solve("solve-vector", (3, 3), (3,), "ij,j->i", complex=True),
    _solve("solve-batch", (2, 3, 3), (2, 3, 1), "bij,bjk->bik", complex=True),
    _solve("solve-batch-vector", (2, 3, 3), (3,), "bij,j->bi", complex=True),
    _solve("solve-one-right-side", (2, 3, 3), (3, 2), "bij,jk->bik", complex=True),
    _solve("solve-one-matrix", (3, 3), (2, 3, 4), "ij,bjk->bik", complex=True),
    _case(
        "matrix_power",
        lambda xp, x: xp.linalg.matrix_power(x, 5),
        lambda x: np.einsum("...ij,...jk,...kl,...lm,...mn->...in", x, x, x, x, x),
        STACK,
        complex=True,
    ),
    _case("matrix_power-one", lambda xp, x: xp.linalg.matrix_power(x, 1), lambda x: x, SQUARE, complex=True),
    _case(
        "matrix_power-negative",
        lambda xp, x: xp.linalg.matrix_power(x, -2),
        lambda x: _adjugate(x @ x),
        SQUARE,
        order=3,
        complex=True,
    ),
    _case(
        "matrix_power-zero",
        lambda xp, x: xp.linalg.matrix_power(x, 0),
        lambda x: 0 * x + np.eye(x.shape[-1]),
        STACK,
        order=0,
        complex=True,
    ),
)

DETERMINANTS = (
    _det("det", *SQUARE, order=3, complex=True),
    _det("det-batch", Input((2, 4, 4)), complex=True),
    _det("det-two", Input((2, 2)), order=3, complex=True),
    _det("det-one", Input((1, 1), low=0.5), order=3, complex=True),
    _det("det-identity", Input(values=np.eye(3)), order=3, complex=True),
    _det("det-rank-2", Input(values=NULL), order=3, complex=True),
    _det("det-rank-1", Input(values=ONE), order=3, complex=True),
    _det("det-rank-0", Input(values=np.zeros((4, 4))), order=3, complex=True),
    _det("det-singular-two", Input(values=[[1.0, 2.0], [2.0, 4.0]]), order=3, complex=True),
    _case(
        "det-nearly-singular",
        lambda xp, x: xp.linalg.det(x),
        _leibniz,
        (Input(values=np.add(NULL, 1e-13 * np.eye(3))),),
        ("x", "y"),
        3,
        complex=True,
        rtol={"float64": 1e-2, "complex128": 1e-2},  # rounding times the condition, which is 1e13
    ),
    _det("det-some-singular", Input(values=[NULL, np.diag([1.0, 2.0, 3.0]), ONE]), order=3, complex=True),
    _case(
        "slogdet",
        lambda xp, x: tuple(xp.linalg.slogdet(x)),
        _slogdet,
        SQUARE,
        ("x0", "y0"),
        3,
        complex=True,
        dtype=(None, "real"),
    ),
    _case(
        "slogdet-batch",
        lambda xp, x: xp.linalg.slogdet(x).logabsdet,
        lambda x: _slogdet(x)[1],
        STACK,
        complex=True,
        dtype="real",
    ),
)


def _diagonal(name: str, shape: tuple[int, ...], offset: int, reference: Any, order: int = 2, **rest: Any) -> Case:
    call = lambda xp, x: xp.linalg.diagonal(x, offset=offset)  # noqa: E731 - as in the other lines
    return _case(f"diagonal{name}", call, reference, (Input(shape),), (), order, **rest)


def _trace(name: str, shape: tuple[int, ...], offset: int, reference: Any, order: int = 2, **rest: Any) -> Case:
    call = lambda xp, x: xp.linalg.trace(x, offset=offset)  # noqa: E731 - as above
    return _case(f"trace{name}", call, reference, (Input(shape),), (), order, **rest)


LINES = (
    _diagonal("", (2, 3, 4), 0, lambda x: np.einsum("bii->bi", x[:, : x.shape[2], : x.shape[1]]), complex=True),
    _diagonal("-above", (3, 4), 2, lambda x: x[[0, 1], [2, 3]], complex=True),
    _diagonal("-below", (3, 4), -1, lambda x: x[[1, 2], [0, 1]], complex=True),
    _diagonal("-tall", (5, 2), -2, lambda x: x[[2, 3], [0, 1]], complex=True),
    _diagonal("-beyond", (3, 4), 4, lambda x: x[0, :0], 1, complex=True),
    _diagonal("-far-beyond", (2, 3), 5, lambda x: x[0, :0], 1, complex=True),
    _diagonal("-far-below", (3, 2), -5, lambda x: x[0, :0], 1, complex=True),
    _trace("", (2, 3, 4), 0, lambda x: np.einsum("bii->b", x[:, : x.shape[2], : x.shape[1]]), complex=True),
    _trace("-offset", (3, 4), 1, lambda x: x[0, 1] + x[1, 2] + x[2, 3], complex=True),
    _trace("-beyond", (3, 4), -3, lambda x: 0 * x[0, 0], 1, complex=True),
    _trace("-far-beyond", (2, 3), 5, lambda x: 0 * x[0, 0], complex=True),
    _trace("-beyond-stack", (2, 3, 2), 4, lambda x: 0 * x[:, 0, 0], complex=True),
    _case(
        "trace-dtype",
        lambda xp, x: xp.linalg.trace(x, dtype=xp.float64),
        np.trace,
        SQUARE,
        (),
        dtype="float64",
        needs=("float64",),
    ),
    _case("trace-int", lambda xp, x: xp.linalg.trace(x), np.trace, (Input((3, 3), kind="int"),), order=0, dtype="int"),
)


def _cross(name: str, shape1: tuple[int, ...], shape2: tuple[int, ...], axis: int, **rest: Any) -> Case:
    return _case(
        name,
        lambda xp, a, b: xp.linalg.cross(a, b, axis=axis),
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


PRODUCTS = (
    _cross("cross", (2, 3), (2, 3), -1, order=3, complex=True),
    _cross("cross-axis", (2, 3, 4), (3, 1), -2, complex=True),
)


def _powers(ord: float, axis: Any = None) -> Any:
    return lambda x: np.sum(np.abs(x) ** ord, axis) ** (1 / ord)


def _vector(name: str, ord: Any, reference: Any, *inputs: Input, keeps: Any = None, **rest: Any) -> Case:
    return _case(
        f"vector_norm{name}",
        lambda xp, x: xp.linalg.vector_norm(x, ord=ord, **rest.get("options", {})),
        reference,
        inputs or (Input((3, 4)),),
        keeps,
        **{"dtype": "real", **{k: v for k, v in rest.items() if k != "options"}},
    )


VECTOR_NORMS = (
    _vector("", 2, _powers(2), keeps=("x", "y"), order=3, complex=True),
    _vector("-axis", 2, _powers(2, 0), keeps=("x", "y"), options={"axis": 0}, complex=True),
    _vector(
        "-axes", 2, lambda x: _powers(2, (0, 2))(x)[None, :, None], Input((2, 3, 4)),
        options={"axis": (-1, 0), "keepdims": True}, complex=True),
    _vector("-1", 1, lambda x: np.abs(x).sum(), complex=True),
    _vector("-3", 3, _powers(3), order=3, complex=True),
    _vector("-fraction", 0.5, _powers(0.5, 1), options={"axis": 1}, complex=True),
    _vector("-minus-1.5", -1.5, lambda x: _powers(-1.5, 0)(x)[None], options={"axis": 0, "keepdims": True},
            complex=True),
    _vector("-inf", np.inf, lambda x: np.sort(np.abs(x), -1)[..., -1], complex=True, options={"axis": -1}),
    _vector("-minus-inf", -np.inf, lambda x: np.sort(np.abs(x).ravel())[0], complex=True),
    _vector("-0", 0, lambda x: np.sum(x != 0, -1) * 1.0, Input(values=[[0.0, 2.0, 1.0], [3.0, 1.0, 5.0]]), order=0,
            complex=True, options={"axis": -1}),
)  # fmt: skip


def _matrix(name: str, ord: Any, reference: Any, *inputs: Input, keepdims: bool = False, **rest: Any) -> Case:
    return _case(
        f"matrix_norm{name}",
        lambda xp, x: xp.linalg.matrix_norm(x, ord=ord, keepdims=keepdims),
        reference,
        inputs or (Input((2, 3, 4)),),
        dtype="real",
        **rest,
    )


def _roots(x: Any) -> Any:
    """Return singular values, descending, as roots of the eigenvalues of the smaller Gram matrix."""
    adjoint = np.conj(np.swapaxes(x, -1, -2))
    gram = x @ adjoint if x.shape[-2] <= x.shape[-1] else adjoint @ x
    return np.sqrt(np.linalg.eigvalsh(gram))[..., ::-1]


MATRIX_NORMS = (
    _matrix("", "fro", _powers(2, (-2, -1)), order=3, complex=True),
    _matrix("-nuc", "nuc", lambda x: _roots(x).sum(-1), order=2, complex=True),
    _matrix("-2", 2, lambda x: _roots(x)[..., 0], order=3, complex=True),
    _matrix("-minus-2", -2, lambda x: _roots(x)[..., -1][..., None, None], keepdims=True, complex=True),
    _matrix("-1", 1, lambda x: np.abs(x).sum(-2).max(-1), Input((2, 4, 3)), complex=True),
    _matrix("-minus-1", -1, lambda x: np.abs(x).sum(-2).min(-1), complex=True),
    _matrix("-inf", np.inf, lambda x: np.abs(x).sum(-1).max(-1)[..., None, None], keepdims=True, complex=True),
    _matrix("-minus-inf", -np.inf, lambda x: np.abs(x).sum(-1).min(-1), complex=True),
    _matrix("-none", None, _powers(2), Input((3, 3)), order=1, complex=True),
)


def _f(name: str, call: Any, reference: Any, shape: tuple[int, ...], **rest: Any) -> Case:
    return Case(f"F.{name}", call, reference, (Input(shape),), order=2, area="F", **rest)


CHAINER = (
    _f("cholesky", lambda F, x: F.cholesky(F.matmul(x, x, transb=True)), lambda x: np.linalg.cholesky(x @ x.T), (3, 5)),
    _f("det", lambda F, x: F.det(x), _leibniz, (3, 3)),
    _f("batch_det", lambda F, x: F.batch_det(x), _leibniz, (2, 3, 3)),
    _f("inv", lambda F, x: F.inv(x), _adjugate, (3, 3)),
    _f("batch_inv", lambda F, x: F.batch_inv(x), _adjugate, (2, 3, 3)),
    _f("batch_l2_norm_squared", lambda F, x: F.batch_l2_norm_squared(x), lambda x: (x * x).sum((1, 2)), (2, 3, 4)),
    _f(
        "diagonal",
        lambda F, x: F.diagonal(x),
        lambda x: np.einsum("iik->ki", x[: x.shape[1], : x.shape[0]]),
        (2, 3, 4),
        complex=True,
    ),
    _f("diagonal-axes", lambda F, x: F.diagonal(x, 1, 2, 0), lambda x: x[[1], :, [0]].T, (2, 3, 4), complex=True),
)

CASES = CHAINER + SOLVING + DETERMINANTS + LINES + PRODUCTS + VECTOR_NORMS + MATRIX_NORMS
