"""Cases of `xpgrad.scipy.integrate`."""

import numpy as np
import pytest
from tests.core.scipy.table import ScipyCase, uniform

from xpgrad import array_api as xp
from xpgrad.scipy import integrate

ref = pytest.importorskip("scipy.integrate")


def of(name, *inputs, label="", **kwargs):
    """Return a case of samples, and of places if there are two inputs."""
    found, expected = getattr(integrate, name), getattr(ref, name)
    return ScipyCase(
        f"integrate.{name}{label}",
        lambda y, x=None: found(y, x=x, **kwargs),
        lambda y, x=None: expected(y, x=x, **kwargs),
        inputs,
        orders=1 if len(inputs) == 1 else 2,
        libraries=not label,
    )


def places(*shape):
    return np.cumsum(uniform(*shape, low=0.2), axis=-1)


def integral(name, label, by_xp, by_numpy, *inputs, **kwargs):
    found, expected = getattr(integrate, name), getattr(ref, name)
    return ScipyCase(
        f"integrate.{name}:{label}",
        lambda a, b, p: found(by_xp, a, b, (p,), **kwargs)[0],
        lambda a, b, p: expected(by_numpy, float(a), float(b), (p,), **kwargs)[0],
        tuple(map(np.asarray, inputs)),
        rtol=1e-7,
        batched=False,
        libraries=label == "finite",
    )


def bent(lib, module):
    """Return the solution of ``y'' = -exp(c y)`` between two ends."""

    def solution(c, x):
        return module.solve_bvp(
            lambda x, y: lib.stack([y[1], -lib.exp(c * y[0])]),
            lambda a, b: lib.stack([a[0], b[0] - 0.3]),
            x,
            lib.stack([0 * x, 0 * x]),
            tol=1e-7,
        ).sol(0.5)

    return solution


def frequency(lib, module):
    """Return the first frequency of a string whose mass grows along it."""

    def solution(q, x):
        guess = lib.stack([lib.sin(3 * x), 3 * lib.cos(3 * x)])
        return module.solve_bvp(
            lambda x, y, p: lib.stack([y[1], -(p[0] ** 2) * (1 + q * x) * y[0]]),
            lambda a, b, p: lib.stack([a[0], b[0], a[1] - p[0]]),
            x,
            guess,
            p=x[-1:] * 3,
            tol=1e-7,
        ).p

    return solution


CASES = [
    ScipyCase(
        "integrate.solve_bvp",
        bent(xp, integrate),
        bent(np, ref),
        (np.asarray(0.7), np.linspace(0.1, 1.1, 6)),
        rtol=1e-6,
        batched=False,
    ),
    ScipyCase(
        "integrate.solve_bvp:parameter",
        frequency(xp, integrate),
        frequency(np, ref),
        (np.asarray(0.3), np.linspace(0.0, 1.0, 9)),
        rtol=1e-6,
        batched=False,
    ),
    of("trapezoid", uniform(2, 5), places(5)),
    of("simpson", uniform(2, 5), places(5)),
    of("simpson", uniform(2, 6), places(2, 6), label=":even"),
    of("simpson", uniform(6, 2), dx=0.3, axis=0, label=":dx"),
    of("simpson", uniform(2), label=":two"),
    of("cumulative_trapezoid", uniform(2, 5), places(5), initial=0),
    of("cumulative_trapezoid", uniform(5, 2), dx=0.3, axis=0, label=":dx"),
    of("cumulative_trapezoid", uniform(2, 1), initial=0, label=":one"),
    of("cumulative_simpson", uniform(1), initial=1.5, label=":one"),
    of("cumulative_simpson", uniform(2, 6), places(2, 6)),
    of("cumulative_simpson", uniform(7), dx=0.5, initial=1.5, label=":initial"),
    integral("fixed_quad", "finite", lambda x, p: xp.sin(p * x), lambda x, p: np.sin(p * x), 0.2, 1.4, 1.3),
    integral("quad", "finite", lambda x, p: xp.exp(-p * x * x), lambda x, p: np.exp(-p * x * x), 0.2, 1.4, 1.3),
    integral(
        "quad", "peak", lambda x, p: 1 / (1e-2 + (x - p) ** 2), lambda x, p: 1 / (1e-2 + (x - p) ** 2), 0.0, 1.0, 0.3
    ),
    ScipyCase(
        "integrate.quad:infinite",
        lambda a, p: integrate.quad(lambda x: xp.exp(-p * x), a, np.inf)[0],
        lambda a, p: ref.quad(lambda x: np.exp(-p * x), a, np.inf)[0],
        (np.asarray(0.3), np.asarray(1.7)),
        rtol=1e-7,
        batched=False,
        libraries=False,
    ),
    ScipyCase(
        "integrate.quad:line",
        lambda p: integrate.quad(lambda x: xp.exp(-p * x * x), -np.inf, np.inf)[0],
        lambda p: ref.quad(lambda x: np.exp(-p * x * x), -np.inf, np.inf)[0],
        (np.asarray(1.7),),
        rtol=1e-7,
        batched=False,
        libraries=False,
    ),
    ScipyCase(
        "integrate.quad:singular",
        lambda p: integrate.quad(lambda x: xp.log(x) * x ** (p - 1), 0.0, 1.0)[0],
        lambda p: ref.quad(lambda x: np.log(x) * x ** (p - 1), 0.0, 1.0)[0],
        (np.asarray(0.8),),
        rtol=1e-6,
        batched=False,
        libraries=False,
    ),
]
