"""Costs of tangents in units of their functions: `python -m benchmarks.ratios [NAME ...] [--all]` prints a table.

The functions come from the case table for the standard and `special`, and run on NumPy, with larger inputs. The cost of
a tangent is the cost of `jvp` minus the costs of the function and of `jvp` itself (measured with a function that
returns its arguments). No tangent should cost more than `LIMIT` functions, or than its bound in `BOUNDS`.
"""

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from time import process_time
from typing import Any, NamedTuple

import numpy as np

import xpgrad
from xpgrad import Variable, as_array
from xpgrad.testing.arrays import is_floating
from xpgrad.transforms import jvp
from xpgrad_conformance.cases import CASES
from xpgrad_conformance.table.case import Case, Input
from xpgrad_conformance.table.scenario import Scenario

LIMIT = 4.0
INTEGRAL = "the derivative by a parameter is an integral of 160 to 200 nodes; the function is compiled"
SERIES = "the derivative by a parameter has 20 to 60 terms of some array operations each; the function is compiled"
SLOPES = "its derivative has a function of its own, or two, that keep its digits in the tails and near zeros"
COFACTORS = "at singular matrices derivatives are cofactors, from singular values; the inputs have few elements"
OTHERS = "a tree of products and their changes, right at zeros, makes three products and a sum of each pair"
VIEW = "the function returns a view, and its tangent is a new array"
BOUNDS: dict[str, tuple[float, str]] = {
    "special.betainc": (12, SERIES),
    "special.stdtr": (12, SERIES),
    **dict.fromkeys(("special.gammainc", "special.gammaincc"), (10, SERIES)),
    "special.betaincc": (6, INTEGRAL),
    **dict.fromkeys(("special.kv", "special.kve"), (5, "the derivative by the order is an integral of 32 to 64 nodes")),
    "special.psi-complex": (9, "its derivative is a series in array operations; the function is compiled"),
    "special.jn_of-2": (7, "its derivative has a function of order 3, for which there is no loop as for those up to 2"),
    **dict.fromkeys(("special.boxcox", "special.agm", "special.exprel", "special.inverse_mills"), (6, SLOPES)),
    **dict.fromkeys(("special.ndtri_exp", "special.rgamma", "special.rgamma-complex"), (5, SLOPES)),
    **dict.fromkeys(("special.i1", "special.i1e", "special.jv-0.7"), (6, "its derivative has two neighbouring orders")),
    "prod-axis": (5, OTHERS),
    "cumulative_prod": (5, "the scan that is right at zeros makes six steps over all elements"),
    **dict.fromkeys((f"linalg.det-{name}" for name in (
        "some-singular", "rank-0", "rank-1", "rank-2", "singular-two")), (12, COFACTORS)),
    "linalg.det-batch": (5, COFACTORS),
    "linalg.cholesky-upper": (6, "an inverse, three products and four adjoints"),
    **dict.fromkeys(("operator-mul-complex", "operator-rsub-complex"), (
        9, "NumPy's own operator, without a Variable, of few elements")),
    **dict.fromkeys(("flip-axis", "getitem-backwards"), (6, VIEW)),
    "clip": (5, "two extrema, each with a comparison, a choice and a test for ties"),
    "sign-complex": (5, "the tangent is perpendicular to the sign: two moduli, and divisions of complex numbers"),
    "unique_values": (5, "the tangent is gathered from the first of equal elements, which a stable sort finds"),
}  # fmt: skip
"""Functions with other limits, and the reasons."""
NOISE = 1.25
"""How far above its limit a measured cost may be."""
SECONDS, CALLS = 0.01, 3
"""How long, and how often at least, each is repeated; the fastest call counts."""
ELEMENTS = 40_000
"""Number of elements of each input of an elementwise function."""
GROWTH = 16
"""Factor of the lengths of all axes of the inputs of the other functions."""


class Ratio(NamedTuple):
    """A function, its seconds, and the costs of its tangent and gradient relative to this time."""

    name: str
    seconds: float
    tangent: float
    gradient: float

    def __str__(self) -> str:
        return f"{self.name:34}{self.seconds * 1e6:10.0f} µs{self.tangent:9.1f}{self.gradient:9.1f}"


def enlarged(case: Case) -> Case:
    """Return a case with larger inputs; inputs with given values are unchanged."""

    def larger(x: Input) -> Input:
        if x.values is not None:
            return x
        if case.elementwise:
            return replace(x, shape=(ELEMENTS,))
        return replace(x, shape=tuple(GROWTH * n if n > 1 else n for n in x.shape), diagonal=GROWTH * x.diagonal)

    return replace(case, inputs=tuple(map(larger, case.inputs)))


def ratio(case: Case) -> Ratio | None:
    """Return the costs of a case; None if it has no large inputs."""
    scenario = Scenario(enlarged(case), xpgrad.get_device("@numpy"), "float64")
    arrays, floating = scenario.arrays(), scenario.floating
    xs = tuple(arrays[i] for i in floating)
    rng = np.random.default_rng(0)
    ts = tuple(rng.standard_normal(x.shape) for x in xs)

    def call(*given: Any) -> tuple[Any, ...]:
        every = list(arrays)
        for i, x in zip(floating, given, strict=True):
            every[i] = x
        return tuple(y for y in scenario.call(every) if is_floating(as_array(y)))

    def pulled() -> None:
        leaves = list(map(Variable, xs))
        ys = [y for y in call(*leaves) if y.requires_grad]
        xpgrad.grad(ys, leaves, [Variable(np.ones_like(y.array)) for y in ys])

    try:
        outputs = len(call(*xs))
    except (xpgrad.errors.XpgradError, ValueError, IndexError):  # its arguments belong to the small inputs
        return None
    alone, moved, swept = map(_seconds, (lambda: call(*xs), lambda: jvp(call, xs, ts, allow_constant=True), pulled))
    passed = _seconds(lambda: jvp(lambda *given: given[:outputs], xs, ts, allow_constant=True))
    return Ratio(case.name, alone, (moved - passed) / alone - 1, swept / alone - 1)


def _seconds(run: Callable[[], Any]) -> float:
    run()
    best, calls, end = np.inf, 0, process_time() + SECONDS
    while calls < CALLS or process_time() < end:
        start = process_time()
        run()
        best, calls = min(best, process_time() - start), calls + 1
    return best


def ratios(names: list[str]) -> Iterator[Ratio]:
    """Yield the costs of the named functions, or of all differentiable functions of the standard and `special`."""
    for case in CASES:
        wanted = any(case.name == name or case.name.startswith(f"{name}-") for name in names) if names else True
        if case.area == "xp" and case.order and wanted and any(x.kind in ("float", "real") for x in case.inputs):
            found = ratio(case)
            if found is not None:
                yield found


def main() -> int:
    """Print the functions whose tangents cost more than the limit, or all; exit status 1 if one is above its bound."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--all", action="store_true")
    given = parser.parse_args()
    print(f"{'':34}{'function':>13}{'tangent':>9}{'gradient':>9}{'bound':>9}")
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        found = list(ratios(given.names))
    for each in sorted(found, key=lambda each: -each.tangent):
        bound, reason = BOUNDS.get(each.name, (LIMIT, ""))
        if given.all or given.names or each.tangent > LIMIT:
            print(f"{each}{bound:9g}{'  ' * bool(reason)}{reason}")
    above = [each.name for each in found if each.tangent > NOISE * BOUNDS.get(each.name, (LIMIT, ""))[0]]
    print(
        f"{len(found)} functions, {sum(each.tangent > LIMIT for each in found)} above {LIMIT:g}, "
        f"{len(above)} above their bounds: {', '.join(above)}"
    )
    return int(bool(above))


if __name__ == "__main__":
    sys.exit(main())
