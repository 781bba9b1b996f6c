"""Values and derivatives of special functions against references.txt, which `references` writes by mpmath.

A result is within 64 units in the last place and 2 more for each unit of its logarithm, as exponentials are,
or within the bound that the function's docstring has. Near zeros units are those of the largest term: of the function
plus its change over the argument, up to 1.
"""

import functools
import itertools
import math
import re
import warnings
from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from tests.core.special.references import CONSTANT, FILE, TABLE
from tests.devices import device_or_skip

import xpgrad
from xpgrad import Variable, special
from xpgrad.testing.arrays import on_host, placed

EPS = 2.0**-52
SMALLEST, LARGEST = 1e-290, 1e300
SECOND = ("betaln", "dawsn", "erfcx", "expm1", "i0e", "i1e", "k0e", "k1e", "rgamma", "spence")
"""Functions whose second derivatives are compared, too, with a bound of 1e-12."""
TERMS: dict[str, Any] = {
    "kl_div": lambda a, row: np.max(np.abs(a)),
    "hyp0f1": lambda a, row: abs(special.hyp0f1(a[0], np.asarray(abs(a[1]))).array),
    "binom": lambda a, row: abs(row[0]),  # times differences of psi
}
"""Largest terms of functions that are differences of them."""


@functools.cache
def _references() -> dict[str, list[tuple[tuple[float, ...], tuple[float, ...]]]]:
    found = defaultdict(list)
    for line in FILE.read_text().splitlines():
        args, row = line.split("|")
        name, *args = args.split()
        found[name].append((tuple(map(float, args)), tuple(map(float, row.split()))))
    return found


def _evaluated(name: str, points: list[tuple[float, ...]], specifier: str) -> list[Any]:
    """Return the value and, for each input that has a gradient, the first and the second derivative."""
    device, first = device_or_skip(specifier), CONSTANT.get(name, 0)
    columns = [placed(np.asarray(column), device) for column in zip(*points, strict=True)]
    xs = [Variable(column, requires_grad=i >= first) for i, column in enumerate(columns)]
    ones = Variable(placed(np.ones(len(points)), device))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        y = getattr(special, name)(*xs)
        found = [on_host(y)]
        slopes = xpgrad.grad([y], xs[first:], grad_outputs=[ones], enable_double_backprop=name in SECOND)
        for x, slope in zip(xs[first:], slopes, strict=True):
            found += [on_host(slope), None]
            if name in SECOND:
                found[-1] = on_host(xpgrad.grad([slope], [x], grad_outputs=[ones])[0])
    return found


def _bound(name: str) -> float | None:
    found = re.search(r"errors are up to (\d+e-\d+)", getattr(special, name).__doc__)
    return float(found[1]) if found else None


def _scale(name: str, args: tuple[float, ...], row: tuple[float, ...], k: int) -> float:
    """Return the largest term of number `k` of the row: value, first and second derivatives."""
    first, scale = CONSTANT.get(name, 0), abs(row[k])
    sizes = [min(abs(a), 1.0) for a in args[first:]]
    if k == 0:
        scale += sum(size * abs(slope) for size, slope in zip(sizes, row[1::2], strict=True))
    elif k % 2:
        scale += sizes[k // 2] * abs(row[k + 1])
    if name in TERMS:
        scale = max(scale, float(TERMS[name](args, row)))
    return scale if math.isfinite(scale) else abs(row[k])


def _wrong(name: str, device: str, step: int = 1) -> list[str]:
    """Return descriptions of results that are not within their bounds, at every `step`-th point."""
    references = _references()[name][::step]
    found, bound = _evaluated(name, [args for args, _ in references], device), _bound(name)
    wrong = []
    for i, (args, row) in enumerate(references):
        for k, (got, expected) in enumerate(zip(found, row, strict=True)):
            if got is None or not SMALLEST < abs(expected) < LARGEST:
                continue
            second = k and k % 2 == 0
            limit = 1e-12 if second else bound or EPS * (64 + 2 * abs(math.log(abs(expected))))
            error = abs(float(got[i]) - expected) / _scale(name, args, row, k)
            if not error <= limit:
                wrong.append(f"{name}{args}, number {k}: got {got[i]!r}, expected {expected!r}, {error:.0e}")
    return wrong


@pytest.mark.parametrize("name", sorted(TABLE))
def test_value_and_derivatives_are_within_their_bounds(name: str) -> None:
    assert _wrong(name, "@numpy") == []


@pytest.mark.parametrize("name", sorted(TABLE))
def test_default_bodies_are_within_the_same_bounds(name: str) -> None:
    assert _wrong(name, "@torch:cpu", 3) == []


def test_every_function_has_references() -> None:
    families = {"agm", *TABLE}
    named = {name for name in special.__all__ if not re.search(r"_(of|moment|slope|rise)$|^eval_|^complex_", name)}
    composed = {
        "berp", "beip", "kerp", "keip", "kelvin", "digamma", "ellipj", "expn", "fresnel", "gammasgn", "hankel1",
        "hankel2", "huber", "jn", "multigammaln", "polygamma", "radian", "shichi", "sici", "softmax",
        "log_softmax", "logsumexp", "carlson", "yn",
    }  # fmt: skip
    assert named - families == composed


ENDS = (0.0, -0.0, 0.5, 1.0, 2.0, 3.7, -0.5, -1.0)
PARAMETERS, LIMITS, INSIDE = (0.5, 1.0, 2.0, 3.7), (0.0, 0.5, 1.0), (0.25, 0.5, 0.9)
AXES = {
    **dict.fromkeys(("gammainc", "gammaincc", "chdtr", "chdtrc", "stdtr"), (PARAMETERS, ENDS)),
    **dict.fromkeys(("gdtr", "gdtrc", "fdtr", "fdtrc", "betainc", "betaincc"), (PARAMETERS, PARAMETERS, LIMITS)),
    **dict.fromkeys(("gammaincinv", "gammainccinv", "chdtri", "stdtrit"), (PARAMETERS, INSIDE)),
    **dict.fromkeys(("betaincinv", "betainccinv", "fdtri", "gdtrix"), (PARAMETERS, PARAMETERS, INSIDE)),
    "gdtria": (INSIDE, PARAMETERS, PARAMETERS),
    "huber": (ENDS, ENDS),
    **dict.fromkeys(("elliprf", "elliprd"), (ENDS[:5],) * 3),
}
"""Special points of functions of two inputs or more: the ends of domains, and what formulas treat by itself."""
SEVERAL = sorted({*AXES, "pow"} | {name for name, (_, axes) in TABLE.items() if len(axes) > 1 and name not in CONSTANT})


@pytest.mark.parametrize("name", SEVERAL)
def test_hessian_is_symmetric_at_special_points(name: str) -> None:
    points = list(itertools.product(*AXES.get(name, (ENDS, ENDS))))
    xs = [Variable(np.asarray(column)) for column in zip(*points, strict=True)]
    ones = Variable(np.ones(len(points)))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        y = getattr(xpgrad.array_api if name == "pow" else special, name)(*xs)
        slopes = xpgrad.grad([y], xs, grad_outputs=[ones], enable_double_backprop=True)
        rows = [xpgrad.grad([slope], xs, grad_outputs=[ones]) for slope in slopes]
    for i, k in itertools.combinations(range(len(xs)), 2):
        both = [np.zeros(len(points)) if z is None else z.array for z in (rows[i][k], rows[k][i])]
        for args, value, one, other in zip(points, y.array, *both, strict=True):
            if np.isfinite(value) and (np.isfinite(one) or np.isfinite(other)):
                assert one == pytest.approx(other, rel=1e-9, abs=1e-9), (args, i, k)
