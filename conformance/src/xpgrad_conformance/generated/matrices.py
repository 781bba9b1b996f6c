"""Matrices with known properties: well-conditioned, Hermitian, normal and singular matrices."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from xpgrad.types import Shape
from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.sample import Argument

SIZES = 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 257
"""Numbers of rows around the sizes of blocks in factorisations."""
BATCHES: tuple[Shape, ...] = (2,), (3, 2), (7,), (16,), (17,), (33,), (65,), (129,), (257,), (1025,)
KINDS = "ordinary", "permutation", "no pivots", "small pivots", "triangular", "large", "tiny"
"""Kinds of regular matrices: dense, with a zero or nearly zero diagonal, and dense times 1e15 or 1e-15."""
SCALES = {"large": 1e15, "tiny": 1e-15}


def sizes(draw: Draw, most: int = 257) -> list[int]:
    """Return numbers of rows: in quick those up to 129, and in a second dtype some chosen by chance."""
    found = [n for n in SIZES if n <= (min(most, 129) if draw.quick else most)]
    if draw.quick and draw.dtype != "float32":
        return sorted(int(n) for n in draw.rng.choice(found, 8, replace=False))
    return found


def _random(draw: Draw, shape: Shape) -> Any:
    made = draw.rng.standard_normal(shape)
    return made + 1j * draw.rng.standard_normal(shape) if draw.dtype.startswith("complex") else made


def unitary(draw: Draw, batch: Shape, n: int) -> Any:
    """Return random unitary host matrices."""
    return np.linalg.qr(_random(draw, (*batch, n, n)))[0]


def adjoint(x: Any) -> Any:
    """Return the conjugate transpose of host matrices."""
    return np.conj(np.swapaxes(x, -1, -2))


def rectangular(draw: Draw, batch: Shape, m: int, n: int) -> Any:
    """Return random host matrices of full rank, with singular values between 0.5 and 2."""
    k = min(m, n)
    values = 2.0 ** draw.rng.uniform(-1, 1, (*batch, 1, k))
    return (unitary(draw, batch, m)[..., :k] * values) @ adjoint(unitary(draw, batch, n)[..., :k])


def regular(draw: Draw, batch: Shape, n: int, kind: str = "ordinary") -> Any:
    """Return regular host matrices of a kind, in the dtype of the draw."""
    if kind in ("permutation", "no pivots", "small pivots"):
        a = np.eye(n)[:, draw.rng.permutation(n) if kind == "permutation" else np.roll(np.arange(n), 1)]
        a = np.broadcast_to(a, (*batch, n, n))
        a = a * (1 if kind == "permutation" else draw.rng.uniform(0.5, 2, (*batch, 1, n)))
        if kind == "small pivots" and n > 1:
            a = a + np.eye(n) * np.finfo(draw.dtype).eps ** 0.75
    elif kind == "triangular":
        a = np.eye(n) + np.triu(_random(draw, (*batch, n, n)), 1) / (4 * n)
    else:
        a = rectangular(draw, batch, n, n) * SCALES.get(kind, 1.0)
    return a.astype(draw.dtype)


def positive(draw: Draw, batch: Shape, n: int, kind: str = "ordinary") -> Any:
    """Return positive definite Hermitian host matrices in the dtype of the draw, with eigenvalues between 0.5 and 2."""
    return hermitian(draw, batch, n, 2.0 ** draw.rng.uniform(-1, 1, (*batch, n)), kind)


def hermitian(draw: Draw, batch: Shape, n: int, values: Any, kind: str = "ordinary") -> Any:
    """Return Hermitian host matrices with these eigenvalues, in the dtype of the draw."""
    q = np.eye(n) if kind == "diagonal" else unitary(draw, batch, n)
    a = (q * values[..., None, :]) @ adjoint(q) * SCALES.get(kind, 1.0)
    return ((a + adjoint(a)) / 2).astype(draw.dtype)


def argument(host: Any, layout: str = "contiguous") -> Argument:
    """Return matrices as an argument that can be shortened to fewer matrices only."""
    return Argument(host, (*(f"b{i}" for i in range(host.ndim - 2)), "", ""), layout, kept=True)


def square(draw: Draw, most: int = 257, kinds: tuple[str, ...] = KINDS) -> Iterator[tuple[Shape, int, str, str]]:
    """Yield shapes of batches, numbers of rows, kinds and layouts."""
    for n in sizes(draw, most):
        yield (), n, "ordinary", "contiguous"
    for n in (2, 3, 5, 17, 33):
        for kind in kinds[1:]:
            yield (), n, kind, "contiguous"
    layouts = draw.layouts(broadcast=False)
    for row in draw.combinations(batch=BATCHES, n=(1, 2, 3, 4), layout=layouts):
        yield row["batch"], row["n"], "ordinary", row["layout"]
    for row in draw.combinations(batch=((), (2,)), n=(5, 8, 33), layout=layouts):
        yield row["batch"], row["n"], "ordinary", row["layout"]
    if not draw.quick:
        yield (65_537,), 2, "ordinary", "contiguous"
    if draw.has("empty_arrays"):
        yield (0,), 3, "ordinary", "contiguous"
