"""Determinants, inverses, solutions, powers, ranks and norms: results that are unique."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from xpgrad.types import Shape
from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.matrices import SCALES, SIZES, argument, rectangular, regular, square
from xpgrad_conformance.generated.moved import around, given, swept
from xpgrad_conformance.generated.operation import COMPLEX, FLOATS, operation
from xpgrad_conformance.generated.sample import Argument, Sample

EVERY = (*FLOATS, *COMPLEX)
QUICK = "float32", "float64", "complex64"
REAL = {"float32": "float32", "float64": "float64", "complex64": "float32", "complex128": "float64"}


def largest(x: Any, rank: int = 2) -> Any:
    """Return the largest absolute value of each matrix, or vector, to be compared with its elements."""
    axes = tuple(range(x.ndim - min(rank, x.ndim), x.ndim))
    return np.max(abs(x), axis=axes, keepdims=True, initial=0.0)


def scaled(reference: Callable[..., Any], rank: int = 2) -> Callable[..., Any]:
    """Return the scale of errors that are multiples of the largest element of each result."""
    return lambda *hosts, **parameters: largest(np.asarray(reference(*hosts, **parameters)), rank)


def bound(n: int) -> float:
    """Return how many units in the last place a result from a matrix with `n` rows may be wrong by."""
    return 32.0 + 8 * n


def _regular(arguments: tuple[Argument, ...], reference: Callable[..., Any], **options: Any) -> Sample:
    """Return a call with matrices at which the function has derivatives."""
    return Sample(arguments, reference, precise=False, smooth=True, **options)


@operation("linalg.inv", EVERY, QUICK)
def _inv(draw: Draw) -> Iterator[Sample]:
    for batch, n, kind, layout in square(draw):
        x = argument(regular(draw, batch, n, kind), layout)
        yield _regular((x,), np.linalg.inv, units=bound(n), scale=scaled(np.linalg.inv))


@operation("linalg.det", EVERY, QUICK)
def _det(draw: Draw) -> Iterator[Sample]:
    for batch, n, kind, layout in square(draw):
        if kind in ("large", "tiny") and n > 2:
            continue
        x = argument(regular(draw, batch, n, kind), layout)
        rounded = 4 * abs(np.log(SCALES.get(kind, 1.0))) * n  # NumPy's is the exponential of a sum of logarithms
        yield _regular((x,), np.linalg.det, units=bound(n) + rounded)
    for host in _singular():
        x = Argument(host.astype(draw.dtype))
        yield Sample((x,), np.linalg.det, units=8.0, scale=lambda x: 1.0, precise=False)


def _singular() -> Iterator[Any]:
    """Yield singular matrices whose determinant is exactly zero in any order of operations."""
    yield np.zeros((1, 1))
    yield np.zeros((3, 3))
    yield np.asarray([[1.0, 2.0], [2.0, 4.0]])
    yield np.asarray([[1.0, 0.0, 3.0], [2.0, 0.0, 1.0], [4.0, 0.0, 5.0]])
    yield np.asarray([[[0.0, 0.0], [1.0, 3.0]], [[2.0, 2.0], [2.0, 2.0]]])


@operation("linalg.slogdet", EVERY, QUICK)
def _slogdet(draw: Draw) -> Iterator[Sample]:
    for batch, n, kind, layout in square(draw):
        x = argument(regular(draw, batch, n, kind), layout)
        yield _regular(
            (x,), lambda x: tuple(np.linalg.slogdet(x)), dtype=(draw.dtype, REAL[draw.dtype]),
            units=bound(n), scale=lambda x: (1.0, 1.0 + abs(np.linalg.slogdet(x)[1])),
        )  # fmt: skip
    for shape in ((1, 1), (3, 3), (2, 4, 4)):
        host = np.ones(shape, draw.dtype)
        host[..., 0] = 0
        yield Sample(
            (Argument(host),), lambda x: tuple(np.linalg.slogdet(x)), precise=False,
            dtype=(draw.dtype, REAL[draw.dtype]),
        )  # fmt: skip


@operation("linalg.solve", EVERY, QUICK)
def _solve(draw: Draw) -> Iterator[Sample]:
    for batch, n, kind, layout in square(draw):
        for shape in (draw.pick(((n,), (n, 1), (n, 3))), (n, draw.pick((2, 33)))):
            over = batch if len(shape) > 1 and draw.pick((0, 1)) else ()
            if len(shape) == 1 and len(batch) > 1:
                continue
            x = argument(regular(draw, batch, n, kind), layout)
            axes = (*(f"b{len(batch) - len(over) + i}" for i in range(len(over))), *[""] * len(shape))
            b = draw.array((*over, *shape), axes=axes)
            b = Argument(b.host, b.axes, "contiguous" if layout == "strided" else layout, kept=True)
            yield _regular((x, b), solve, units=bound(n), scale=scaled(solve, min(b.host.ndim, 2)))
    for rows, columns in ((3, 65), (17, 129), (2, 1025)):
        x, b = argument(regular(draw, (), rows)), draw.array((rows, columns))
        yield _regular((x, b), solve, units=bound(rows), scale=scaled(solve))


def solve(a: Any, b: Any) -> Any:
    """Return the solution for host matrices; for a vector only if `b` has rank 1."""
    if b.ndim > 1:
        return np.linalg.solve(a, b)
    return np.linalg.solve(a, np.broadcast_to(b, (*a.shape[:-2], *b.shape))[..., None])[..., 0]


@operation("linalg.pinv", EVERY, QUICK)
def _pinv(draw: Draw) -> Iterator[Sample]:
    for m, n in ((1, 1), (1, 3), (4, 1), (2, 2), (3, 2), (2, 3), (9, 16), (17, 8), (33, 33), (65, 3), (3, 65)):
        for batch in ((), draw.pick(((2,), (3, 2), (17,)))):
            host = rectangular(draw, batch, m, n).astype(draw.dtype)
            x = argument(host, draw.pick(draw.layouts(broadcast=False)))
            yield _regular((x,), np.linalg.pinv, units=2 * bound(max(m, n)), scale=scaled(np.linalg.pinv))
    for x, rank in _ranks(draw):
        if rank:
            yield Sample(
                (x,), lambda x, rtol: np.linalg.pinv(x, rcond=rtol), {"rtol": 1e-3},
                units=2 * bound(65), scale=scaled(lambda x, rtol: np.linalg.pinv(x, rcond=rtol)), precise=False,
            )  # fmt: skip


def _ranks(draw: Draw) -> Iterator[tuple[Argument, int]]:
    """Yield matrices of known rank, whose other singular values are nearly zero."""
    for m, n in ((1, 1), (2, 3), (4, 4), (9, 5), (17, 33), (65, 64)):
        for rank in sorted({0, 1, min(m, n) - 1, min(m, n)}):
            one, other = rectangular(draw, (2,), m, m), rectangular(draw, (2,), n, n)
            yield argument((one[..., :rank] @ other[..., :rank, :]).astype(draw.dtype)), rank


@operation("linalg.matrix_rank", EVERY, QUICK)
def _matrix_rank(draw: Draw) -> Iterator[Sample]:
    for x, rank in _ranks(draw):
        yield Sample((x,), lambda x, rtol, rank=rank: np.full(x.shape[:-2], rank), {"rtol": 1e-3}, dtype="int")
    for n in (1, 3, 16, 33, 65):
        for zeros in {0, 1, n // 2, n}:
            host = np.diag(np.where(draw.rng.permutation(n) < zeros, 0.0, draw.rng.uniform(0.5, 2.0, n)))
            size = 2.0 ** draw.pick((0, 24, -24))  # ranks do not depend on the scale
            x = Argument((host[draw.rng.permutation(n)] * size).astype(draw.dtype))
            yield Sample((x,), lambda x, rank=n - zeros: np.asarray(rank), dtype="int")
    for n in (2, 5, 17):  # stacks of large and small matrices with different ranks
        ranks, sizes = draw.rng.integers(0, n + 1, (3, 1)), draw.rng.permutation([1.0, 2.0**30, 2.0**-30])
        values = (np.arange(n) < ranks) * draw.rng.uniform(0.5, 2.0, (3, n)) * sizes[:, None]
        x = Argument((np.eye(n) * values[:, None]).astype(draw.dtype), kept=True)
        yield Sample((x,), np.linalg.matrix_rank, dtype="int", precise=False)


@operation("linalg.matrix_power", EVERY, QUICK)
def _matrix_power(draw: Draw) -> Iterator[Sample]:
    for row in draw.combinations(
        n=(-3, -2, -1, 0, 1, 2, 3, 4, 5, 7, 8), size=(1, 2, 3, 8, 17, 33), batch=((), (2,), (3, 2))
    ):
        host = regular(draw, row["batch"], row["size"], draw.pick(("ordinary", "permutation")))
        layout = draw.pick(draw.layouts(broadcast=False))
        yield _regular(
            (argument(host, layout),), np.linalg.matrix_power, parameters={"n": row["n"]},
            units=8 * bound(row["size"]), scale=lambda x, n: 2.0 ** abs(n),
            call=lambda xp, x, n: xp.linalg.matrix_power(x, n), text=f"xp.linalg.matrix_power(x0, {row['n']})",
        )  # fmt: skip


@operation("linalg.vector_norm", EVERY, QUICK)
def _vector_norm(draw: Draw) -> Iterator[Sample]:
    for n in swept(draw, least=1):
        units = 32.0 if n >= 5000 else 4.0 + (n / 4 if draw.dtype in COMPLEX else 0)  # moduli have digits to be rounded
        for order in (1, 2, np.inf) if n < 5000 else (draw.pick((1, 2)),):
            yield _norm(draw, given(draw, (n,), "integers", ("n",)), units, ord=order)
    orders = (1, 2, np.inf, -np.inf, 0, 3, -1, 0.5)
    for row in draw.combinations(
        n=(1, 2, 16, 33, 257), place=(0, 1, 2), ord=orders, axis=(None, 0, 1, 2, -1, (0, 2), (-1, 1)),
        keepdims=(False, True), layout=draw.layouts(), kind=("ordinary", "integers"),
    ):  # fmt: skip
        x = given(draw, around(row["n"], row["place"]), row["kind"], layout=row["layout"])
        units = 16.0 + x.host.size / 4 if row["ord"] in (1, 2, np.inf, -np.inf, 0) else 128.0 + x.host.size
        if row["ord"] in (-1, 0.5) and row["kind"] == "integers":
            x = Argument(np.where(x.host == 0, np.ones((), x.host.dtype), x.host), (), x.layout)
        yield _norm(draw, x, units, ord=row["ord"], axis=row["axis"], keepdims=row["keepdims"])
    for n in (1, 5, 17, 33) if draw.dtype in FLOATS else ():
        for value, order in ((np.nan, 1), (np.nan, 2), (np.nan, np.inf), (-np.inf, 2), (np.inf, 1), (-np.inf, np.inf)):
            x = draw.array((n,), axes=("n",))
            x.host[draw.rng.integers(n)] = value
            yield _norm(draw, x, 16.0, ord=order)


def _norm(draw: Draw, x: Argument, units: float, **parameters: Any) -> Sample:
    parameters = {"ord": 2, "axis": None, "keepdims": False} | parameters
    return Sample(
        (x,), vector_norm, parameters, units=units, dtype=REAL[draw.dtype],
        smooth=parameters["ord"] != 0 and bool(np.isfinite(x.host).all()) and bool(x.host.any()),
    )  # fmt: skip


def vector_norm(x: Any, axis: Any, keepdims: bool, ord: float) -> Any:
    """Return the norm of host vectors along one axis, or several, or all."""
    size, over = abs(x), axis if axis is None or isinstance(axis, int) else tuple(axis)
    if np.isinf(ord):
        return (np.max if ord > 0 else np.min)(size, axis=over, keepdims=keepdims)
    if ord == 0:
        return np.sum(size != 0, axis=over, keepdims=keepdims).astype(size.dtype)
    return np.sum(size**ord, axis=over, keepdims=keepdims) ** (np.ones((), size.dtype) / ord)


@operation("linalg.matrix_norm", EVERY, QUICK)
def _matrix_norm(draw: Draw) -> Iterator[Sample]:
    orders = ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)
    sizes = (1, 2, 3, 8, 17, 33, 65)
    for row in draw.combinations(m=sizes, n=sizes, ord=orders, keepdims=(False, True), layout=draw.layouts()):
        host = rectangular(draw, draw.pick(((), (2,), (3, 2))), row["m"], row["n"]).astype(draw.dtype)
        layout = "contiguous" if row["layout"] == "broadcast" else row["layout"]
        yield _of_matrix(draw, argument(host, layout), row["ord"], row["keepdims"])
    for n in SIZES[-8:]:
        host = rectangular(draw, (), n, 9).astype(draw.dtype)
        yield _of_matrix(draw, argument(host), draw.pick(orders), False)


def _of_matrix(draw: Draw, x: Argument, ord: Any, keepdims: bool) -> Sample:
    shape: Shape = x.host.shape
    return Sample(
        (x,), lambda x, ord, keepdims: np.linalg.matrix_norm(x, ord=ord, keepdims=keepdims),
        {"ord": ord, "keepdims": keepdims}, units=16.0 + 4 * max(shape[-2:]),
        precise=False, dtype=REAL[draw.dtype], smooth=ord not in ("nuc", 2, -2),
    )  # fmt: skip
