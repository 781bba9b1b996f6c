"""Write references.txt: values, first and second derivatives of special functions by mpmath, at 50 digits or more.

Run ``python -m tests.core.special.references [NAME ...]``; without names all functions are computed again. The name
``elementary`` selects all functions of `elementary`, including their third derivatives, in a minute.
"""

import itertools
import math
import pathlib
import random
import signal
import sys
from collections.abc import Callable, Iterator
from typing import Any

from mpmath import mp
from tests.core.special import elementary

Number = Any  # an mpf: mpmath is untyped
FILE = pathlib.Path(__file__).with_name("references.txt")
SECONDS = 6  # points that take mpmath longer are left out
POINTS = 70  # of a function of several arguments

TINY = (1e-300, 1e-100, 1e-20, 1e-8)
ORDINARY = (0.003, 0.1, 0.3, 0.5, 0.7, 1.3, 1.5, 2.5, 3.7, 5.2, 7.3, 9.1, 12.6, 30.1)
INTEGERS = (1.0, 2.0, 3.0, 4.0, 9.0)
BESIDE = (1 - 1e-9, 1 + 1e-9, 2 - 1e-9, 2 + 1e-9)
LARGE = (60.2, 150.3, 650.7, 1e4, 1e8, 1e10, 1e100)
POSITIVE = TINY + ORDINARY + INTEGERS + BESIDE + LARGE
REAL = (0.0, *POSITIVE, *(-x for x in POSITIVE))
AVERAGE = tuple(x for x in POSITIVE if 1e-9 < x < 1e5)  # of parameters
PROBABILITIES = (*TINY, 0.003, 0.1, 0.3, 0.5 - 1e-9, 0.5, 0.5 + 1e-9, 0.7, 0.9, 1 - 1e-9)
FEW_VALUES = tuple(sign * x for sign in (1, -1) for x in (1e-20, 1e-8, 0.1, 0.7, 1 - 1e-9, 1.0, 1.3, 2.5, 5.2))
CENTRE, SHAPES = (0.003, 0.1, 0.3, 0.45, 0.7, 0.9), (0.3, 1.3, 2.5, 9.1)  # of inverses in a parameter
COUNTS = (0.0, 1.0, 2.0, 5.0, 30.0)


def until(limit: float, xs: tuple[float, ...] = POSITIVE) -> tuple[float, ...]:
    return tuple(x for x in xs if abs(x) <= limit)


def above(limit: float, xs: tuple[float, ...] = POSITIVE) -> tuple[float, ...]:
    return tuple(x for x in xs if x > limit)


def within(factor: float, xs: tuple[float, ...] = POSITIVE) -> tuple[float, ...]:
    return tuple(x for x in xs if 1 / factor <= x <= factor)


def _erfcx(x: Number) -> Number:
    if x > 1e6:
        return 1 / (x * mp.sqrt(mp.pi)) * mp.hyp2f0(1, mp.mpf(1) / 2, -1 / (x * x))
    return mp.exp(x * x) * mp.erfc(x)


def _voigt(x: Number, sigma: Number, gamma: Number) -> Number:
    z = (x + 1j * gamma) / (sigma * mp.sqrt(2))
    return mp.re(mp.exp(-z * z) * mp.erfc(-1j * z)) / (sigma * mp.sqrt(2 * mp.pi))


def _ndtr(x: Number) -> Number:
    return mp.erfc(-x / mp.sqrt(2)) / 2


def _log_ndtr(x: Number) -> Number:
    if x > 0:
        return mp.log1p(-_ndtr(-x))
    z = -x / mp.sqrt(2)
    return mp.log(_erfcx(z) / 2) - z * z


def _density(x: Number) -> Number:
    return mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)


def _mills(x: Number) -> Number:
    z = -x / mp.sqrt(2)
    return mp.sqrt(2 / mp.pi) / _erfcx(z) if x < 0 else _density(x) / _ndtr(x)


def _solved(f: Callable[[Number], Number], start: Number, goal: Number) -> Number:
    """Return the root of ``f(x) = goal`` by secants, whose precision doubles the one of `start`."""
    x, before = start, start * (1 + mp.mpf(10) ** -8)
    fx, fb = f(x) - goal, f(before) - goal
    for _ in range(60):
        if fx == fb or fx == 0:
            break
        x, before, fb = x - fx * (x - before) / (fx - fb), x, fx
        fx = f(x) - goal
        if abs(x - before) <= abs(x) * mp.mpf(10) ** (8 - mp.dps):
            break
    return x


def _scipy(name: str, *args: Number) -> Number:
    import scipy.special

    return mp.mpf(float(getattr(scipy.special, name)(*(float(a) for a in args))))


def _ndtri(p: Number) -> Number:
    y = _scipy("ndtri", p)
    return _solved(lambda z: mp.log(_ndtr(z)), y, mp.log(p)) if y else _solved(_ndtr, mp.mpf("1e-12"), p)


def _erfcinv(q: Number) -> Number:
    y = _scipy("erfcinv", q)
    if q < 0.5:
        return _solved(lambda z: mp.log(_erfcx(z)) - z * z, y, mp.log(q))
    return mp.erfinv(1 - q) if q < 1.9 else -_erfcinv(2 - q)


def _gammainc(a: Number, x: Number) -> Number:
    return mp.gammainc(a, 0, x, regularized=True)


def _gammaincc(a: Number, x: Number) -> Number:
    return mp.gammainc(a, x, mp.inf, regularized=True)


def _gammaincinv(a: Number, p: Number) -> Number:
    x = mp.exp(_solved(lambda u: mp.log(_gammainc(a, mp.exp(u))), mp.log(_scipy("gammaincinv", a, p)), mp.log(p)))
    return x


def _gammainccinv(a: Number, q: Number) -> Number:
    return mp.exp(_solved(lambda u: mp.log(_gammaincc(a, mp.exp(u))), mp.log(_scipy("gammainccinv", a, q)), mp.log(q)))


def _betainc(a: Number, b: Number, x: Number) -> Number:
    if x > a / (a + b):
        return 1 - _betainc(b, a, 1 - x)
    head = a * mp.log(x) + b * mp.log1p(-x) - mp.log(a) - (mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b))
    return mp.exp(head) * mp.hyp2f1(a + b, 1, a + 1, x)


def _betaincc(a: Number, b: Number, x: Number) -> Number:
    return _betainc(b, a, 1 - x)


def _betaincinv(a: Number, b: Number, p: Number) -> Number:
    """Return the inverse for the odds: the probability is ``u / (1 + u)``."""
    import scipy.special

    start = mp.mpf(float(scipy.special.betaincinv(float(a), float(b), float(p))))
    if start > 0.9:
        start = 1 - mp.mpf(float(scipy.special.betainccinv(float(b), float(a), float(p))))
    u = mp.log(start) - mp.log1p(-start)
    if p < 0.5:
        u = _solved(lambda v: mp.log(_betainc(a, b, 1 / (1 + mp.exp(-v)))), u, mp.log(p))
    else:
        u = _solved(lambda v: mp.log(_betainc(b, a, 1 / (1 + mp.exp(v)))), u, mp.log1p(-p))
    return 1 / (1 + mp.exp(-u))


def _betainccinv(a: Number, b: Number, q: Number) -> Number:
    return 1 - _betaincinv(b, a, q)


def _stdtr(df: Number, t: Number) -> Number:
    if t == 0:
        return mp.mpf(0.5)
    tail = _betainc(df / 2, mp.mpf(0.5), df / (df + t * t)) / 2
    return tail if t < 0 else 1 - tail


def _stdtrit(df: Number, p: Number) -> Number:
    if p > 0.5:
        return -_stdtrit(df, 1 - p)
    if p == 0.5:
        return mp.mpf(0)
    start = _scipy("stdtrit", df, p)
    if not mp.isfinite(start):
        raise ValueError("no start")
    if p > 0.4999:
        return _solved(lambda t: _stdtr(df, t), start, p)
    return -mp.exp(_solved(lambda u: mp.log(_stdtr(df, -mp.exp(u))), mp.log(-start), mp.log(p)))


def _fdtri(m: Number, n: Number, p: Number) -> Number:
    rest = _betaincinv(n / 2, m / 2, 1 - p)
    return n * (1 - rest) / (m * rest)


def _boxcox(x: Number, lmbda: Number) -> Number:
    return mp.expm1(lmbda * mp.log(x)) / lmbda if lmbda else mp.log(x)


def _log1p_over(x: Number) -> Number:
    return mp.log1p(x) / x if x else mp.mpf(1)


def _exprel(x: Number) -> Number:
    return mp.expm1(x) / x if x else mp.mpf(1)


def _sinc(x: Number) -> Number:
    return mp.sinpi(x) / (mp.pi * x) if x else mp.mpf(1)


def _spence(x: Number) -> Number:
    return mp.polylog(2, 1 - x) if abs(x - 1) < 1 else mp.re(mp.polylog(2, 1 - x))


def _pseudo_huber(d: Number, r: Number) -> Number:
    return d * r * r / (mp.sqrt(d * d + r * r) + d)


def _owens_t(h: Number, a: Number) -> Number:
    return mp.quad(lambda t: mp.exp(-h * h * (1 + t * t) / 2) / (1 + t * t), mp.linspace(0, a, 9)) / (2 * mp.pi)


def _kolmogorov(x: Number) -> Number:
    return 2 * mp.nsum(lambda k: (-1) ** (int(k) - 1) * mp.exp(-2 * (k * x) ** 2), [1, 40], method="d")


def _wrightomega(x: Number) -> Number:
    if x > 1e5:
        return _solved(lambda y: y + mp.log(y), x - mp.log(x), x)
    return mp.lambertw(mp.exp(x))


def _zetac(x: Number) -> Number:
    return mp.zeta(x) - 1


def _kv(v: Number, x: Number) -> Number:
    return mp.besselk(v, x)


def _jacobi_am(u: Number, m: Number) -> Number:
    start = mp.atan2(mp.ellipfun("sn", u, m=m), mp.ellipfun("cn", u, m=m))
    turns = mp.nint(u * mp.pi / (2 * mp.ellipk(m)) / (2 * mp.pi) - start / (2 * mp.pi))
    return start + 2 * mp.pi * turns


def _scaled_i(v: Number, x: Number) -> Number:
    return mp.besseli(v, x) * mp.exp(-abs(x))


def _expi(x: Number) -> Number:
    return mp.re(mp.ei(x))


def _log_ratio(x: Number, y: Number) -> Number:
    return x * mp.log(x / y)


def _pdtr(k: Number, m: Number) -> Number:
    return _gammaincc(k + 1, m)


Axis = tuple[float, ...]
Row = tuple[Callable[..., Number], tuple[Axis, ...]]
BESSEL = until(1e10)
ORDERS = (0.0, 1e-8, 0.3, 0.5, 1.0, 1 + 1e-9, 2.0, 3.7, 12.6)

TABLE: dict[str, Row] = {
    # the error function and its relatives
    "erf": (mp.erf, (REAL,)),
    "erfc": (mp.erfc, (until(30, REAL),)),
    "erfcx": (_erfcx, ((*until(26, REAL), *LARGE),)),
    "erfi": (mp.erfi, (until(26, REAL),)),
    "voigt_profile": (_voigt, (until(30, FEW_VALUES), (0.3, 1.3, 2.5), (0.1, 0.7, 2.5))),
    "erfinv": (mp.erfinv, (until(0.9999, REAL),)),
    "erfcinv": (_erfcinv, ((*PROBABILITIES, 1.0, 1 + 1e-9, 1.3, 1.9, 2 - 1e-9),)),
    "dawsn": (lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x), (until(1e4, REAL),)),
    "ndtr": (_ndtr, (above(-37, REAL),)),
    "ndtri": (_ndtri, (PROBABILITIES,)),
    "log_ndtr": (_log_ndtr, (until(1e10, REAL),)),
    "ndtri_exp": (lambda x: _solved(_log_ndtr, _scipy("ndtri_exp", x), x), (tuple(-x for x in until(1e8)),)),
    "inverse_mills": (_mills, (above(-1e11, until(30, REAL)),)),
    "mills_excess": (lambda x: x + _mills(x), (above(-1e11, until(1e10, REAL)),)),
    # gamma functions
    "gamma": (mp.gamma, (until(160, REAL),)),
    "gammaln": (lambda x: mp.re(mp.loggamma(x)), (REAL,)),
    "loggamma": (mp.loggamma, (POSITIVE,)),
    "rgamma": (mp.rgamma, (until(160, REAL),)),
    "psi": (mp.digamma, (REAL,)),
    "beta": (mp.beta, (POSITIVE, POSITIVE)),
    "betaln": (lambda a, b: mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b), (POSITIVE, POSITIVE)),
    "binom": (mp.binomial, (above(-1, until(1e4, REAL)), until(150, REAL))),
    "poch": (mp.rf, (until(1e4), until(1e3))),
    "zeta": (mp.zeta, (above(1), until(1e8))),
    "zetac": (_zetac, (until(120, REAL),)),
    "gammainc": (_gammainc, (until(1e5), until(1e5))),
    "gammaincc": (_gammaincc, (until(1e5), until(1e5))),
    "gammaincinv": (_gammaincinv, (AVERAGE, PROBABILITIES)),
    "gammainccinv": (_gammainccinv, (AVERAGE, PROBABILITIES)),
    "chdtr": (lambda v, x: _gammainc(v / 2, x / 2), (AVERAGE, until(1e4))),
    "chdtrc": (lambda v, x: _gammaincc(v / 2, x / 2), (AVERAGE, until(1e4))),
    "chdtri": (lambda v, p: 2 * _gammainccinv(v / 2, p), (AVERAGE, PROBABILITIES)),
    "gdtr": (lambda a, b, x: _gammainc(b, a * x), (AVERAGE, AVERAGE, AVERAGE)),
    "gdtrc": (lambda a, b, x: _gammaincc(b, a * x), (AVERAGE, AVERAGE, AVERAGE)),
    "gdtria": (lambda p, b, x: _gammaincinv(b, p) / x, (PROBABILITIES, AVERAGE, AVERAGE)),
    "gdtrix": (lambda a, b, p: _gammaincinv(b, p) / a, (AVERAGE, AVERAGE, PROBABILITIES)),
    "pdtr": (_pdtr, (COUNTS, until(1e3))),
    "pdtrc": (lambda k, m: _gammainc(k + 1, m), (COUNTS, until(1e3))),
    "pdtri": (lambda k, p: _gammainccinv(k + 1, p), (COUNTS, PROBABILITIES)),
    # incomplete beta functions
    "betainc": (_betainc, (AVERAGE, AVERAGE, PROBABILITIES)),
    "betaincc": (_betaincc, (AVERAGE, AVERAGE, PROBABILITIES)),
    "betaincinv": (_betaincinv, (AVERAGE, AVERAGE, PROBABILITIES)),
    "betainccinv": (_betainccinv, (AVERAGE, AVERAGE, PROBABILITIES)),
    "stdtr": (_stdtr, (until(1e5), until(1e5, REAL))),
    "stdtrit": (_stdtrit, (AVERAGE, PROBABILITIES)),
    "fdtr": (lambda m, n, x: _betainc(m / 2, n / 2, m * x / (n + m * x)), (AVERAGE, AVERAGE, AVERAGE)),
    "fdtrc": (lambda m, n, x: _betainc(n / 2, m / 2, n / (n + m * x)), (AVERAGE, AVERAGE, AVERAGE)),
    "fdtri": (_fdtri, (AVERAGE, above(0.05, AVERAGE), PROBABILITIES)),
    "bdtr": (lambda k, n, p: _betainc(n - k, k + 1, 1 - p), (COUNTS, (35.0, 31.0), PROBABILITIES)),
    "bdtrc": (lambda k, n, p: _betainc(k + 1, n - k, p), (COUNTS, (35.0, 31.0), PROBABILITIES)),
    "bdtri": (lambda k, n, y: _betainccinv(k + 1, n - k, y), (COUNTS, (35.0, 31.0), PROBABILITIES)),
    "nbdtr": (lambda k, n, p: _betainc(n, k + 1, p), (COUNTS, (5.0, 1.0), PROBABILITIES)),
    "nbdtrc": (lambda k, n, p: _betainc(k + 1, n, 1 - p), (COUNTS, (5.0, 1.0), PROBABILITIES)),
    "nbdtri": (lambda k, n, y: _betaincinv(n, k + 1, y), (COUNTS, (5.0, 1.0), PROBABILITIES)),
    # inverses in a parameter
    "btdtria": (lambda p, b, x: _solved(lambda a: mp.log(_betainc(a, b, x)), _scipy("btdtria", p, b, x), mp.log(p)),
        (CENTRE, SHAPES, CENTRE)),
    "btdtrib": (lambda a, p, x: _solved(lambda b: mp.log(_betainc(a, b, x)), _scipy("btdtrib", a, p, x), mp.log(p)),
        (SHAPES, CENTRE, CENTRE)),
    "bdtrik": (lambda y, n, p: _solved(lambda k: _betainc(n - k, k + 1, 1 - p), _scipy("bdtrik", y, n, p), y),
        (CENTRE, (35.0, 31.0), (0.3, 0.5, 0.7))),
    "bdtrin": (lambda k, y, p: _solved(lambda n: _betainc(n - k, k + 1, 1 - p), _scipy("bdtrin", k, y, p), y),
        ((1.0, 3.0, 9.0), CENTRE, CENTRE)),
    "nbdtrik": (lambda y, n, p: _solved(lambda k: _betainc(n, k + 1, p), _scipy("nbdtrik", y, n, p), y),
        (CENTRE[2:], (5.0, 2.5), (0.3, 0.5))),
    "nbdtrin": (lambda k, y, p: _solved(lambda n: _betainc(n, k + 1, p), _scipy("nbdtrin", k, y, p), y),
        ((1.0, 3.0, 9.0), CENTRE, CENTRE)),
    "gdtrib": (lambda a, p, x: _solved(lambda b: _gammainc(b, a * x), _scipy("gdtrib", a, p, x), p),
        (SHAPES, CENTRE, SHAPES)),
    "chdtriv": (lambda p, x: _solved(lambda v: _gammainc(v / 2, x / 2), _scipy("chdtriv", p, x), p), (CENTRE, SHAPES)),
    "pdtrik": (lambda p, m: _solved(lambda k: _gammaincc(k + 1, m), _scipy("pdtrik", p, m), p),
        (CENTRE[1:], (2.7, 9.1, 30.1))),
    "stdtridf": (lambda p, t: _solved(lambda df: _stdtr(df, t), _scipy("stdtridf", p, t), p),
        ((0.3, 0.35, 0.4), (-0.7, -1.3))),
    "nrdtrimn": (lambda p, std, x: x - std * _ndtri(p), (CENTRE, SHAPES, FEW_VALUES)),
    "nrdtrisd": (lambda mn, p, x: (x - mn) / _ndtri(p), (FEW_VALUES, CENTRE, FEW_VALUES)),
    "tklmbda": (lambda x, c: _solved(lambda p: _boxcox(p, c) - _boxcox(1 - p, c), _scipy("tklmbda", x, c), x),
        ((-1.3, -0.5, 0.3, 0.7, 1.3), (-1.3, -0.3, 0.2, 0.6))),
    "kolmogorov": (_kolmogorov, (above(0.2, until(20)),)),
    # entropies and losses
    "entr": (lambda x: -x * mp.log(x), (POSITIVE,)),
    "rel_entr": (_log_ratio, (POSITIVE, POSITIVE)),
    "kl_div": (lambda x, y: _log_ratio(x, y) - x + y, (POSITIVE, POSITIVE)),
    "xlogy": (lambda x, y: x * mp.log(y), (REAL, POSITIVE)),
    "xlog1py": (lambda x, y: x * mp.log1p(y), (REAL, above(-1, REAL))),
    "pseudo_huber": (_pseudo_huber, (POSITIVE, REAL)),
    "expit": (lambda x: 1 / (1 + mp.exp(-x)), (above(-700, REAL),)),
    "log_expit": (lambda x: -mp.log1p(mp.exp(-x)), (until(700, REAL),)),
    "logit": (lambda x: mp.log(x) - mp.log1p(-x), (PROBABILITIES,)),
    # Bessel functions
    "j0": (lambda x: mp.besselj(0, x), (until(1e10, REAL),)),
    "j1": (lambda x: mp.besselj(1, x), (until(1e10, REAL),)),
    "y0": (lambda x: mp.bessely(0, x), (BESSEL,)),
    "y1": (lambda x: mp.bessely(1, x), (BESSEL,)),
    "i0": (lambda x: mp.besseli(0, x), (until(700, REAL),)),
    "i1": (lambda x: mp.besseli(1, x), (until(700, REAL),)),
    "i0e": (lambda x: _scaled_i(0, x), (until(1e10, REAL[1:]),)),
    "i1e": (lambda x: _scaled_i(1, x), (until(1e10, REAL[1:]),)),
    "k0": (lambda x: _kv(0, x), (until(700),)),
    "k1": (lambda x: _kv(1, x), (until(700),)),
    "k0e": (lambda x: _kv(0, x) * mp.exp(x), (until(1e10),)),
    "k1e": (lambda x: _kv(1, x) * mp.exp(x), (until(1e10),)),
    "jv": (mp.besselj, (ORDERS, until(100))),
    "yv": (mp.bessely, (ORDERS, until(100))),
    "iv": (mp.besseli, (ORDERS, until(100))),
    "ive": (_scaled_i, (ORDERS, until(1e10))),
    "kv": (_kv, ((*ORDERS, -0.3, -2.0), until(700))),
    "kve": (lambda v, x: _kv(v, x) * mp.exp(x), ((*ORDERS, -0.3, -2.0), until(1e8))),
    "kn": (_kv, ((0.0, 1.0, 2.0, 3.0, 12.0), until(700))),
    "struve": (mp.struveh, (ORDERS, until(100))),
    "modstruve": (mp.struvel, (ORDERS, until(100))),
    "ber": (lambda x: mp.ber(0, x), (until(100, REAL),)),
    "bei": (lambda x: mp.bei(0, x), (until(100, REAL),)),
    "ker": (lambda x: mp.ker(0, x), (until(100),)),
    "kei": (lambda x: mp.kei(0, x), (until(100),)),
    # elementary functions
    "cbrt": (lambda x: mp.cbrt(x) if x > 0 else -mp.cbrt(-x), (REAL[1:],)),
    "exp2": (lambda x: mp.mpf(2) ** x, (until(700, REAL),)),
    "exp10": (lambda x: mp.mpf(10) ** x, (until(200, REAL),)),
    "cosm1": (lambda x: mp.cos(x) - 1, (REAL,)),
    "exprel": (_exprel, (until(700, REAL),)),
    "sinc": (_sinc, (until(1e10, REAL),)),
    "boxcox": (_boxcox, (POSITIVE, until(200, REAL))),
    "boxcox1p": (lambda x, c: _boxcox(1 + x, c), (POSITIVE, until(200, REAL))),
    "inv_boxcox": (lambda y, c: mp.exp(y * _log1p_over(c * y)), (until(20, REAL), until(20, REAL))),
    "inv_boxcox1p": (lambda y, c: mp.expm1(y * _log1p_over(c * y)), (until(20, REAL), until(20, REAL))),
    "powm1": (lambda x, y: x**y - 1, (POSITIVE, until(200, REAL))),
    "sindg": (lambda x: mp.sinpi(x / 180), (until(1e10, REAL),)),
    "cosdg": (lambda x: mp.cospi(x / 180), (until(1e10, REAL),)),
    "tandg": (lambda x: mp.sinpi(x / 180) / mp.cospi(x / 180), (until(1e10, REAL),)),
    "cotdg": (lambda x: mp.cospi(x / 180) / mp.sinpi(x / 180), (until(1e10, REAL),)),
    "expm1": (mp.expm1, (until(700, REAL),)),
    "log1p": (mp.log1p, (above(-1, REAL),)),
    # integrals
    "exp1": (mp.e1, (until(700),)),
    "expi": (_expi, (until(700, REAL),)),
    "spence": (_spence, (POSITIVE,)),
    "ellipk": (mp.ellipk, ((*(-x for x in POSITIVE), *PROBABILITIES),)),
    "ellipkm1": (lambda x: mp.ellipk(1 - x), (POSITIVE,)),
    "ellipe": (mp.ellipe, ((*(-x for x in POSITIVE), *PROBABILITIES),)),
    "ellipkinc": (mp.ellipf, (until(60, REAL), (*(-x for x in until(1e4)), *PROBABILITIES))),
    "ellipeinc": (mp.ellipe, (until(60, REAL), (*(-x for x in until(1e4)), *PROBABILITIES))),
    "jacobi_am": (_jacobi_am, (until(60, REAL), PROBABILITIES)),
    "agm": (mp.agm, (within(1e100), within(1e100))),
    "elliprf": (mp.elliprf, (within(1e20), within(1e20), within(1e20))),
    "elliprd": (mp.elliprd, (within(1e20), within(1e20), within(1e20))),
    "elliprc": (mp.elliprc, (within(1e20), within(1e20))),
    "sine_integral": (mp.si, (until(1e10, REAL),)),
    "cosine_integral": (mp.ci, (until(1e10),)),
    "hyperbolic_sine_integral": (mp.shi, (until(600, REAL),)),
    "hyperbolic_cosine_integral": (mp.chi, (until(600),)),
    "fresnel_sine": (mp.fresnels, (until(1e10, REAL),)),
    "fresnel_cosine": (mp.fresnelc, (until(1e10, REAL),)),
    "owens_t": (_owens_t, (FEW_VALUES, FEW_VALUES)),
    "wrightomega": (_wrightomega, (above(-700, REAL),)),
    "hyp0f1": (mp.hyp0f1, ((1e-8, 0.3, 1.0, 1.3, 2.0, 7.3, 30.1), until(900, (*REAL,)))),
    "hyp1f1": (mp.hyp1f1, ((0.3, 1.0, 2.5), (0.5, 1.3, 3.0), until(40, REAL))),
    "hyp2f1": (mp.hyp2f1,
        ((0.3, 1.0, 2.5), (0.5, 1.3), (0.7, 2.2), (-7.3, -1.3, *(-x for x in TINY), 0.0, *PROBABILITIES[:-1]))),
}  # fmt: skip
CONSTANT = {"jv": 1, "yv": 1, "iv": 1, "ive": 1, "struve": 1, "modstruve": 1, "hyp0f1": 1, "hyp1f1": 2, "hyp2f1": 3,
            "kn": 1, "pdtr": 1, "pdtrc": 1, "pdtri": 1, "bdtr": 2, "bdtrc": 2, "bdtri": 2, "nbdtr": 2, "nbdtrc": 2,
            "nbdtri": 2}  # fmt: skip
"""Leading arguments that have no gradient."""


SOLVED = ("gammaincinv", "gammainccinv", "betaincinv", "betainccinv", "chdtri", "gdtria", "gdtrix", "pdtri", "bdtri",
          "nbdtri", "stdtrit", "fdtri", "ndtri_exp")  # fmt: skip
"""Inverses, whose values have a precision that a difference from 1 does not take away."""


QUADRATURE = ("owens_t",)


TABLES = {FILE: TABLE, elementary.FILE: elementary.TABLE}
"""The functions of each file."""


def points(name: str, axes: tuple[Axis, ...]) -> list[tuple[float, ...]]:
    """Return the arguments at which `name` is compared: all, or combinations that include each of them once."""
    combinations = list(itertools.product(*axes))
    if len(axes) == 1 or len(combinations) <= POINTS:
        return combinations
    rng = random.Random(name)
    found: list[tuple[float, ...]] = []
    longest = max(map(len, axes))
    for _ in range(max(1, round(POINTS / longest))):
        columns = [rng.sample(axis, len(axis)) for axis in axes]
        found += [tuple(column[k % len(column)] for column in columns) for k in range(longest)]
    return sorted(set(found))


def derivatives(f: Callable[..., Number], args: tuple[float, ...], place: int, orders: int) -> list[Number]:
    """Return the first derivatives with respect to one argument, from differences of numbers with more digits."""
    x = mp.mpf(args[place])
    step = (min(abs(x), 1) or mp.mpf(1)) * mp.mpf(10) ** -25
    lowest, low, middle, high, highest = (
        f(*map(mp.mpf, args[:place]), x + k * step, *map(mp.mpf, args[place + 1 :])) if abs(k) < orders else 0
        for k in (-2, -1, 0, 1, 2)
    )
    found = [(high - low) / (2 * step), (high - 2 * middle + low) / step**2]
    if orders == 3:
        found.append((highest - 2 * high + 2 * low - lowest) / (2 * step**3))
    return [d if abs(d) > 1e-40 or x else mp.mpf(0) for d in found]  # at 0, `step` is absolute


def reference(name: str, f: Callable[..., Number], args: tuple[float, ...], orders: int) -> list[float] | None:
    """Return the value and, for each argument, its derivatives, or None where the value is not a normal number."""
    size = sum(abs(math.log10(abs(x))) for x in args if x)
    digits = 80 if name in QUADRATURE else 130 + int((1 if name in SOLVED else 3) * size)
    if orders == 3:
        digits += 450  # for the tails of exponentials, which are added to 1
    with mp.workdps(digits):
        value = f(*map(mp.mpf, args))
        if not mp.isfinite(value) or mp.im(value):
            return None
        row = [mp.re(value)]
        for place in range(CONSTANT.get(name, 0), len(args)):
            row += map(mp.re, derivatives(f, args, place, orders))
        found = [float(x) for x in row]
    return found if math.isfinite(found[0]) else None


class TooSlow(Exception):
    """mpmath took longer than `SECONDS`."""


def _stop(*_: Any) -> None:
    raise TooSlow


def rows(name: str, row: Row, orders: int) -> Iterator[str]:
    """Compute the lines of one function."""
    signal.signal(signal.SIGALRM, _stop)
    f, axes = row
    for args in points(name, axes):
        signal.alarm(SECONDS)
        try:
            found = reference(name, f, args, orders)
        except (TooSlow, ArithmeticError, ValueError, mp.NoConvergence, TypeError) as error:
            print(f"{name}{args}: {type(error).__name__} {error}", file=sys.stderr)
            found = None
        finally:
            signal.alarm(0)
        if found is not None:
            yield " ".join([name, *map(repr, args), "|", *map(repr, found)])


def main(names: list[str]) -> None:
    """Replace the lines of the functions `names` in the files."""
    for file, table in TABLES.items():
        own = [name for name in table if not names or name in names or file.stem in names]
        kept = file.read_text().splitlines() if file.exists() and names else []
        for name in own:
            kept = [line for line in kept if line.split(" ", 1)[0] != name]
            kept += rows(name, table[name], 3 if table is elementary.TABLE else 2)
            file.write_text("\n".join(sorted(kept)) + "\n")
            print(name, sum(line.split(" ", 1)[0] == name for line in kept), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
