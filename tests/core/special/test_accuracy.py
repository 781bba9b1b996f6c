"""Values and derivatives of functions against references.txt and elementary.txt, which `references` writes by mpmath.

A result is within 64 units in the last place and 2 more for each unit of its logarithm, as for exponentials, or within
the bound in the function's docstring. Near zeros units are relative to the largest term: the function plus its change
over the argument, up to 1.
"""

import functools
import itertools
import math
import re
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.core.special import elementary
from tests.core.special.references import CONSTANT, FILE, TABLE
from tests.devices import device_or_skip

import xpgrad
from xpgrad import Variable, array_api, as_variable, functions, ops, special, transforms
from xpgrad.backend.kernels import table
from xpgrad.testing.arrays import on_host, placed
from xpgrad_numpy.backend import NumPyBackend


class WithoutSciPy(NumPyBackend):
    """NumPy where SciPy is not installed: every special function is its default body."""

    def lazy_override(self, name: str) -> None:
        return None


PLAIN = WithoutSciPy().xp
RANGES = {"float32": (1e-36, 1e37), "float64": (1e-290, 1e300)}
"""Between these numbers, arguments and results are compared."""
NOISE = 1e-50
"""Relative to the value, how small a derivative in references.txt may be only because of rounding."""
SECOND = (
    "betaincc", "betaln", "boxcox", "dawsn", "ellipeinc", "erfcx", "fdtrc", "gammainc", "gammaincc",
    "hyperbolic_sine_integral", "i0e", "i1e", "jacobi_am", "k0e", "k1e", "poch", "rgamma", "sine_integral", "spence",
    "wrightomega",
)  # fmt: skip
"""Special functions whose second derivatives are also compared, with a bound of 1e-12 at least."""
TERMS: dict[str, Any] = {
    "kl_div": lambda a, row, k: np.max(np.abs(a)),
    "gammainc": lambda a, row, k: abs(row[3]) if k == 4 else 0.0,
    "poch": lambda a, row, k: abs(row[1]) if k == 2 else 0.0,  # times a difference
    "hyp0f1": lambda a, row, k: abs(special.hyp0f1(a[0], np.asarray(abs(a[1]))).array),
    **dict.fromkeys(("logsumexp", "log_softmax", "softmax_cross_entropy"), lambda a, row, k: 1.0 if k == 0 else 0.0),
    "binom": lambda a, row, k: abs(row[0]),  # times differences of psi
    **dict.fromkeys(
        ("expit", "softmax"),
        lambda a, row, k: abs(row[1]) if k % 3 == 2 else 0.0,
    ),  # times a difference
}
"""Largest terms of functions that are differences of these terms."""


@functools.cache
def references(file: Path) -> dict[str, list[tuple[tuple[float, ...], tuple[float, ...]]]]:
    """Return the arguments and results of each function in a file."""
    found = defaultdict(list)
    for line in file.read_text().splitlines():
        args, row = line.split("|")
        name, *args = args.split()
        found[name].append((tuple(map(float, args)), tuple(map(float, row.split()))))
    return found


OF_ROWS: dict[str, Any] = {
    "logsumexp": lambda *xs: special.logsumexp(array_api.stack(xs, axis=1), axis=1),
    "softmax": lambda *xs: special.softmax(array_api.stack(xs, axis=1), axis=1)[:, 0],
    "log_softmax": lambda *xs: special.log_softmax(array_api.stack(xs, axis=1), axis=1)[:, 0],
    "softmax_cross_entropy": lambda *xs: functions.softmax_cross_entropy(
        array_api.stack(xs, axis=1), (array_api.argmax(array_api.stack(xs, axis=1), axis=1) * 0).array, reduce="no"
    ),
}
"""Functions along an axis, as functions of its elements."""


def function(name: str) -> Any:
    """Return the function of a name, with separate arguments."""
    if name in OF_ROWS:
        return OF_ROWS[name]
    return next(getattr(module, name) for module in (special, array_api, ops, functions) if hasattr(module, name))


def _forward(name: str, points: list[tuple[float, ...]]) -> list[Any]:
    """Return the value and, for each input, the first and second derivative in forward mode."""
    xs = tuple(np.asarray(column) for column in zip(*points, strict=True))
    found: list[Any] = [function(name)(*map(Variable, xs))]
    for place, x in enumerate(xs):
        tangents = tuple(np.ones_like(x) if i == place else np.zeros_like(x) for i in range(len(xs)))

        def slope(*xs: Any, tangents: Any = tangents) -> Any:
            return transforms.jvp(lambda *xs: function(name)(*map(as_variable, xs)), xs, tangents)[1]

        with np.errstate(all="ignore"):
            found += transforms.jvp(slope, xs, tangents)
    return [on_host(each) for each in found]


def _evaluated(name: str, points: list[tuple[float, ...]], specifier: str, dtype: str, orders: int) -> list[Any]:
    """Return the value and, for each input that has a gradient, its derivatives, None where they are not compared."""
    device, first = device_or_skip(specifier), CONSTANT.get(name, 0)
    columns = [placed(np.asarray(column, dtype), device) for column in zip(*points, strict=True)]
    xs = [Variable(column, requires_grad=i >= first) for i, column in enumerate(columns)]
    ones = Variable(placed(np.ones(len(points), dtype), device))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        y = function(name)(*xs)
        found = [on_host(y)]
        slopes = xpgrad.grad([y], xs[first:], grad_outputs=[ones], enable_double_backprop=orders > 1)
        for x, slope in zip(xs[first:], slopes, strict=True):
            found += [on_host(slope), None]
            if orders > 1:
                (curvature,) = xpgrad.grad([slope], [x], grad_outputs=[ones])
                found[-1] = np.zeros(len(points)) if curvature is None else on_host(curvature)
    return found


def _bound(name: str) -> float | None:
    found = re.search(r"errors are up to (\d+e-\d+)", function(name).__doc__)
    return float(found[1]) if found else None


def scale(name: str, args: tuple[float, ...], row: tuple[float, ...], k: int, orders: int) -> float:
    """Return the largest term of number `k` of the row: the value, and `orders` derivatives by each argument."""
    first, scale = CONSTANT.get(name, 0), abs(row[k])
    sizes = [min(abs(a), 1.0) for a in args[first:]]
    place, order = divmod(k - 1, orders)
    if k == 0:
        scale += sum(size * abs(slope) for size, slope in zip(sizes, row[1::orders], strict=True))
    elif order + 1 < orders:
        scale += sizes[place] * abs(row[k + 1])
    if name in TERMS:
        scale = max(scale, float(TERMS[name](args, row, k)))
    return scale if math.isfinite(scale) else abs(row[k])


def _wrong(
    name: str, device: str | None, step: int = 1, file: Path = FILE, dtype: str = "float64", values: Any = None
) -> list[str]:
    """Return descriptions of results that are not within their bounds, at every `step`-th point.

    Without a device, derivatives come from forward mode. Given `values` at all points are checked alone.
    """
    exact = file is elementary.FILE  # with derivatives to third order, and of more digits
    smallest, largest = RANGES[dtype]
    rows = [
        (args, row)
        for args, row in references(file)[name][::step]
        if dtype == "float64" or all(not a or smallest < abs(a) < largest for a in args)
    ]
    stored, orders = (3 if exact else 2), 2 if exact or name in SECOND else 1
    points = [args for args, _ in rows]
    if values is not None:
        found = [values]
    else:
        found = _evaluated(name, points, device, dtype, orders) if device else _forward(name, points)
    eps, bound = float(np.finfo(dtype).eps), None if exact else _bound(name)
    wrong = []
    for i, (args, row) in enumerate(rows):
        for number, got in enumerate(found):
            place, order = divmod(number - 1, 2)
            k = 1 + place * stored + order if number else 0
            expected, second = row[k], number and order == 1
            if (
                got is None
                or not smallest < abs(expected) < largest
                or (second and abs(expected) < NOISE * abs(row[0]) and not exact)
            ):
                continue
            limit = (
                max(1e-12, bound or 0)
                if second and not exact
                else bound or eps * (64 + 2 * abs(math.log(abs(expected))))
            )
            error = abs(float(got[i]) - expected) / scale(name, args, row, k, stored)
            if not error <= limit:
                wrong.append(f"{name}{args}, number {k}: got {got[i]!r}, expected {expected!r}, {error:.0e}")
    return wrong


@pytest.mark.parametrize("name", sorted(TABLE))
def test_value_and_derivatives_are_within_their_bounds(name: str) -> None:
    assert _wrong(name, "@numpy") == []


def test_default_bodies_in_numpy_have_values_within_the_same_bounds() -> None:
    wrong = []
    for name in TABLE:
        if f"special.{name}" in table.declared:
            columns = map(np.asarray, zip(*[args for args, _ in references(FILE)[name]], strict=True))
            with np.errstate(all="ignore"):
                wrong += _wrong(name, None, values=PLAIN.kernel(f"special.{name}")(*columns))
    assert wrong == []


@pytest.mark.exhaustive(2)
@pytest.mark.parametrize("name", sorted(TABLE))
def test_default_bodies_are_within_the_same_bounds(name: str) -> None:
    assert _wrong(name, "@torch:cpu", 3) == []


PLACES = [
    *itertools.product(("@numpy", "native:0", "@strict:cpu", "@torch:cpu"), ("float32", "float64")),
    ("@jax:cpu", "float32"),  # it supports 64 bits only if configured
]


@pytest.mark.parametrize(("device", "dtype"), PLACES)
@pytest.mark.parametrize("name", sorted(elementary.TABLE))
def test_first_and_second_derivatives_of_elementary_functions_are_within_their_bounds(
    name: str, device: str, dtype: str
) -> None:
    assert _wrong(name, device, file=elementary.FILE, dtype=dtype) == []


@pytest.mark.parametrize("name", sorted(elementary.TABLE))
def test_derivatives_in_forward_mode_are_within_the_same_bounds(name: str) -> None:
    assert _wrong(name, None, file=elementary.FILE) == []


def test_every_function_has_references() -> None:
    families = {"agm", *TABLE, *elementary.TABLE}
    named = {name for name in special.__all__ if not re.search(r"_(of|moment|slope|rise)$|^eval_|^complex_", name)}
    composed = {
        "airy", "berp", "beip", "kerp", "keip", "kelvin", "digamma", "ellipj", "expn", "fresnel", "gammasgn",
        "hankel1", "hankel1e",
        "hankel2", "hankel2e", "huber", "jn", "jve", "multigammaln", "polygamma", "radian", "shichi", "sici", "carlson",
        "wofz", "yn", "yve",
    }  # fmt: skip
    assert named - families == composed


@pytest.mark.parametrize("device", ["@numpy", "@torch:cpu"])
def test_mixed_second_derivatives_by_large_parameters_are_those_of_the_derivative_by_the_other_argument(
    device: str,
) -> None:
    mp = pytest.importorskip("mpmath").mp
    of_gamma = lambda a, x: mp.exp((a - 1) * mp.log(x) - x - mp.loggamma(a))  # noqa: E731
    scale = lambda df: mp.exp(mp.loggamma((df + 1) / 2) - mp.loggamma(df / 2)) / mp.sqrt(df * mp.pi)  # noqa: E731
    slope = lambda delta, r: r / mp.sqrt(1 + (r / delta) ** 2)  # noqa: E731
    densities = {
        "pseudo_huber": (slope, [(106.0, -0.0024), (1.0, 0.003)]),
        "gammainc": (of_gamma, [(1e5, 100_300.0), (1e8, 1e8 - 5000)]),
        "stdtr": (lambda df, t: scale(df) * (1 + t * t / df) ** (-(df + 1) / 2), [(500.0, 1.3), (1e6, -2.2)]),
    }
    ones = Variable(placed(np.ones(2), device_or_skip(device)))
    for name, (density, points) in densities.items():
        with mp.workdps(50):
            expected = [float(mp.diff(lambda a, x=x, f=density: f(a, mp.mpf(x)), mp.mpf(a))) for a, x in points]
        xs = [Variable(placed(np.asarray(column), device_or_skip(device))) for column in zip(*points, strict=True)]
        slopes = xpgrad.grad([function(name)(*xs)], xs, grad_outputs=[ones], enable_double_backprop=True)
        for slope, x in zip(slopes, reversed(xs), strict=True):
            (mixed,) = xpgrad.grad([slope], [x], grad_outputs=[ones])
            np.testing.assert_allclose(on_host(mixed), expected, rtol=1e-13)


@pytest.mark.parametrize("device", ["@numpy", "@torch:cpu"])
def test_derivatives_of_voigt_profiles_have_the_digits_of_mpmath_far_out(device: str) -> None:
    mp = pytest.importorskip("mpmath").mp
    profile = TABLE["voigt_profile"][0]
    points = [(50.0, 1.0, 1.0), (200.0, 1.0, 1.0), (5.0, 0.1, 1.0), (60.0, 1.0, 1e-3)]
    xs = [Variable(placed(np.asarray(column), device_or_skip(device))) for column in zip(*points, strict=True)]
    ones = Variable(placed(np.ones(len(points)), device_or_skip(device)))
    slopes = xpgrad.grad([special.voigt_profile(*xs)], xs, grad_outputs=[ones], enable_double_backprop=True)
    for i, (x, slope) in enumerate(zip(xs, slopes, strict=True)):
        (curvature,) = xpgrad.grad([slope], [x], grad_outputs=[ones])
        for order, found in ((1, slope), (2, curvature)):
            orders = tuple(order * (k == i) for k in range(3))
            with mp.workdps(50):
                expected = [float(mp.diff(profile, tuple(map(mp.mpf, point)), orders)) for point in points]
            np.testing.assert_allclose(on_host(found), expected, rtol=1e-10)


ENDS = (0.0, -0.0, 0.5, 1.0, 2.0, 3.7, -0.5, -1.0)
PARAMETERS, LIMITS, INSIDE = (0.5, 1.0, 2.0, 3.7), (0.0, 0.5, 1.0), (0.25, 0.5, 0.9)
AXES = {
    **dict.fromkeys(("gammainc", "gammaincc", "chdtr", "chdtrc", "stdtr"), (PARAMETERS, ENDS)),
    **dict.fromkeys(("gdtr", "gdtrc", "fdtr", "fdtrc", "betainc", "betaincc"), (PARAMETERS, PARAMETERS, LIMITS)),
    **dict.fromkeys(("gammaincinv", "gammainccinv", "chdtri", "stdtrit"), (PARAMETERS, INSIDE)),
    **dict.fromkeys(("betaincinv", "betainccinv", "fdtri", "gdtrix"), (PARAMETERS, PARAMETERS, INSIDE)),
    "gdtria": (INSIDE, PARAMETERS, PARAMETERS),
    **dict.fromkeys(("btdtria", "nbdtrik"), (INSIDE, PARAMETERS, (0.25, 0.5))),
    **dict.fromkeys(("btdtrib", "gdtrib", "bdtrin", "nbdtrin"), (PARAMETERS, INSIDE, (0.25, 0.5))),
    "bdtrik": ((0.75, 0.9), (2.0, 5.0), (0.3, 0.4)),
    "chdtriv": (INSIDE, PARAMETERS),
    "pdtrik": (INSIDE, (2.7, 9.1)),
    "stdtridf": ((0.3, 0.35), (-0.7, -1.3)),
    "nrdtrimn": (INSIDE, PARAMETERS, ENDS),
    "nrdtrisd": (ENDS, (0.25, 0.9), ENDS),
    "voigt_profile": (ENDS, PARAMETERS, PARAMETERS),
    "tklmbda": ((-0.5, 0.5, 1.0), (-0.5, 0.25, 0.5)),
    "huber": (ENDS, ENDS),
    **dict.fromkeys(("elliprf", "elliprd"), (ENDS[:5],) * 3),
}
"""Special points of functions of two inputs or more: the ends of domains, and points with special formulas."""
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
