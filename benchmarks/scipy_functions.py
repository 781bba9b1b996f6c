"""Costs of SciPy's functions with gradients: `python -m benchmarks.scipy_functions [NAME ...]` prints a table.

Each row has the CPU time of SciPy's function on NumPy's arrays of medium size, and those of our value, and of value and
gradient together, in units of it. The three are called by turns, and the fastest call of each counts. Where the last
is above `LIMIT`, the row says why.
"""

import argparse
from collections.abc import Callable, Iterator
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import scipy.fft
import scipy.linalg
import scipy.ndimage
import scipy.signal

from xpgrad import Variable
from xpgrad import array_api as xp
from xpgrad.scipy import fft, linalg, ndimage, signal
from xpgrad.transforms import value_and_grad

LIMIT = 3.0
ROUNDS = 60


class Rival(NamedTuple):
    """One function, SciPy's, their inputs, and why value and gradient take longer than the limit."""

    function: Callable[..., Any]
    reference: Callable[..., Any]
    inputs: tuple[Any, ...]
    reason: str = ""


def rows() -> dict[str, Rival]:
    """Return the rows by name."""
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((200, 200)) + 20 * np.eye(200), rng.standard_normal((200, 200))
    image, wide = rng.standard_normal((256, 256)), rng.standard_normal((512, 512))
    grid = np.stack(np.meshgrid(*[np.linspace(5, 250, 256)] * 2, indexing="ij")) + rng.uniform(-1, 1, (2, 256, 256))
    filtered = np.asarray([0.2, 0.3, -0.1]), np.asarray([1.0, -1.1, 0.7]), rng.standard_normal(10_000)
    triangular = "the gradient is one more solve and a product of matrices: 3 times the operations"
    return {
        "lu_factor": Rival(
            lambda a: linalg.lu_factor(a)[0], scipy.linalg.lu_factor, (a,),
            "the gradient is two solves and two halves of products: 6 times the operations; BLAS's triangular products "
            "take as long as these halves",
        ),
        "solve_triangular": Rival(linalg.solve_triangular, scipy.linalg.solve_triangular, (np.triu(a), b), triangular),
        "expm": Rival(linalg.expm, scipy.linalg.expm, (a / 40,), "the derivative takes two products for each"),
        "sqrtm": Rival(linalg.sqrtm, scipy.linalg.sqrtm, (a @ a.T,)),
        "dct": Rival(fft.dct, scipy.fft.dct, (wide,), "scaled ends and the sum are passes over memory, too"),
        "lfilter": Rival(
            signal.lfilter, scipy.signal.lfilter, filtered, "short: 0.3 ms are calls of Python, see the longer signal"
        ),
        "lfilter, longer": Rival(
            signal.lfilter, scipy.signal.lfilter, (*filtered[:2], rng.standard_normal(100_000)),
            "another recursion, another filter by b, and an inner product for each of six coefficients",
        ),
        "gaussian_filter": Rival(
            lambda x: ndimage.gaussian_filter(x, 2.0), lambda x: scipy.ndimage.gaussian_filter(x, 2.0), (image,),
        ),
        "map_coordinates": Rival(
            lambda x, c: ndimage.map_coordinates(x, c, order=1),
            lambda x, c: scipy.ndimage.map_coordinates(x, c, order=1), (image, grid),
            "two gradients, one of which adds at scattered places",
        ),
    }  # fmt: skip


def costs(row: Rival) -> tuple[float, float, float]:
    """Return SciPy's seconds, and those of the value, and of value and gradients, in units of them."""
    numbers = tuple(range(len(row.inputs)))
    both = value_and_grad(lambda *xs: xp.sum(row.function(*xs)), argnums=numbers)
    calls: list[Callable[[], Any]] = [
        lambda: row.reference(*row.inputs),
        lambda: row.function(*map(Variable, row.inputs)),
        lambda: both(*row.inputs),
    ]
    best = [float("inf")] * 3
    for _ in range(ROUNDS):
        for i, call in enumerate(calls):
            start = process_time()
            call()
            best[i] = min(best[i], process_time() - start)
    return best[0], best[1] / best[0], best[2] / best[0]


def table(names: list[str]) -> Iterator[str]:
    """Yield the lines of the table."""
    yield "| function | SciPy, ms | value | value and gradient | why above 3 |\n|---|---|---|---|---|"
    for name, row in rows().items():
        if not names or name in names:
            base, value, gradient = costs(row)
            reason = row.reason if gradient > LIMIT else ""
            yield f"| `{name}` | {base * 1e3:.2f} | {value:.1f} | {gradient:.1f} | {reason} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    for line in table(parser.parse_args().names):
        print(line, flush=True)


if __name__ == "__main__":
    main()
