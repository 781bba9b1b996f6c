"""Cases of `xpgrad.scipy.integrate`."""

import numpy as np
import pytest
from tests.core.scipy.table import cases_of, uniform

from xpgrad import array_api as xp
from xpgrad.scipy import integrate

cases = cases_of("integrate", integrate, pytest.importorskip("scipy.integrate"))


def of(name, y, x=None, **kwargs):
    """Return a case of samples, and of places if they are given; those with a label are not for all libraries."""

    def call(m, y, x=None):
        return getattr(m, name.partition(":")[0])(y, x=x, **kwargs)

    given = (y,) if x is None else (y, x)
    return cases(name, *given, call=call, orders=len(given), libraries=":" not in name)


def places(*shape):
    return np.cumsum(uniform(*shape, low=0.2), axis=-1)


def quad(name, f, *inputs, rtol=1e-7, ends=None, **options):
    """Return a case of the integral of ``f(module, x, p)`` from ``a`` to ``b``, which are inputs before p or given."""
    function = name.partition(":")[0]

    def call(m, *xs):
        a, b = ends(*xs) if ends else xs[:2]
        return getattr(m, function)(lambda x, p: f(library(m), x, p), a, b, (xs[-1],))[0]

    return cases(name, *map(np.asarray, inputs), call=call, rtol=rtol, batched=False, **options)


def library(m):
    """Return the functions of arrays for a module."""
    return xp if m is integrate else np


def bent(m, c, x):
    """Return the solution of ``y'' = -exp(c y)`` between two ends."""
    lib = library(m)
    return m.solve_bvp(
        lambda x, y: lib.stack([y[1], -lib.exp(c * y[0])]),
        lambda a, b: lib.stack([a[0], b[0] - 0.3]),
        x,
        lib.stack([0 * x, 0 * x]),
        tol=1e-7,
    ).sol(0.5)


def frequency(m, q, x):
    """Return the first frequency of a string whose mass grows along it."""
    lib = library(m)
    return m.solve_bvp(
        lambda x, y, p: lib.stack([y[1], -(p[0] ** 2) * (1 + q * x) * y[0]]),
        lambda a, b, p: lib.stack([a[0], b[0], a[1] - p[0]]),
        x,
        lib.stack([lib.sin(3 * x), 3 * lib.cos(3 * x)]),
        p=x[-1:] * 3,
        tol=1e-7,
    ).p


CASES = [
    cases("solve_bvp", np.asarray(0.7), np.linspace(0.1, 1.1, 6), call=bent, rtol=1e-6, batched=False),
    cases("solve_bvp:parameter", np.asarray(0.3), np.linspace(0.0, 1.0, 9), call=frequency, rtol=1e-6, batched=False),
    of("trapezoid", uniform(2, 5), places(5)),
    of("simpson", uniform(2, 5), places(5)),
    of("simpson:even", uniform(2, 6), places(2, 6)),
    of("simpson:dx", uniform(6, 2), dx=0.3, axis=0),
    of("simpson:two", uniform(2)),
    of("cumulative_trapezoid", uniform(2, 5), places(5), initial=0),
    of("cumulative_trapezoid:dx", uniform(5, 2), dx=0.3, axis=0),
    of("cumulative_trapezoid:one", uniform(2, 1), initial=0),
    of("cumulative_simpson:one", uniform(1), initial=1.5),
    of("cumulative_simpson", uniform(2, 6), places(2, 6)),
    of("cumulative_simpson:initial", uniform(7), dx=0.5, initial=1.5),
    quad("fixed_quad:finite", lambda lib, x, p: lib.sin(p * x), 0.2, 1.4, 1.3),
    quad("quad:finite", lambda lib, x, p: lib.exp(-p * x * x), 0.2, 1.4, 1.3),
    quad("quad:peak", lambda lib, x, p: 1 / (1e-2 + (x - p) ** 2), 0.0, 1.0, 0.3, libraries=False),
    quad("quad:infinite", lambda lib, x, p: lib.exp(-p * x), 0.3, 1.7, ends=lambda a, p: (a, np.inf), libraries=False),
    quad("quad:line", lambda lib, x, p: lib.exp(-p * x * x), 1.7, ends=lambda p: (-np.inf, np.inf), libraries=False),
    quad("quad:singular", lambda lib, x, p: lib.log(x) * x ** (p - 1), 0.8, ends=lambda p: (0.0, 1.0), rtol=1e-6,
         libraries=False),
]  # fmt: skip
