"""Special functions of NumPy and, if installed, of SciPy, which is imported on first use."""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from xpgrad.types import Array, Kernel, Namespace
from xpgrad_numpy.kernels import expansions, tails
from xpgrad_numpy.kernels.sinc import SINC

_SAME_NAME = """erf erfc erfcinv erfcx erfinv log_ndtr ndtr ndtri
gamma gammaln gammasgn loggamma psi rgamma
gammaincc gammainccinv betainc betaincc betainccinv betaincinv stdtr
entr kl_div rel_entr xlog1py xlogy logit
i0 i0e i1 i1e k0 k0e k1 k1e
boxcox boxcox1p cosdg cosm1 exp10 exprel sindg tandg
ellipkm1 exp1 expi hyp1f1 spence
dawsn ellipe ellipeinc ellipkinc erfi hyp0f1 hyp2f1 iv ive jv kve modstruve ndtri_exp struve
wrightomega yv
btdtria btdtrib stdtridf"""
ORDERED = {
    "expn_of": "expn", "iv_of": "iv", "ive_of": "ive", "jn_of": "jv", "yn_of": "yn",
}  # fmt: skip
FAST = {"iv_of": ("i0", "i1"), "ive_of": ("i0e", "i1e"), "jn_of": ("j0", "j1"), "yn_of": ("y0", "y1")}
"""Functions of the orders 0 and 1, which take less time."""
SECOND = {"iv_of": -1.0, "ive_of": -1.0, "jn_of": 1.0}
"""Functions whose order 2 is that times the difference of 2 / x times order 1 and order 0, if `x` is not small."""
RECURRENT = 2.0, 25.0
"""Moduli from which on that difference keeps its digits, and up to which the functions of the orders 0 and 1 do."""
EXCESS = [1 / math.factorial(k) for k in range(16, 1, -1)]
"""Coefficients of the power series of ``exp(s) - 1 - s``, the last first."""


def exp_excess(s: Array, /) -> Array:
    """Return ``exp(s) - 1 - s``, by its power series only where the difference cancels."""
    y = np.expm1(s)
    y = np.subtract(y, s, out=y if y.ndim else None)
    near = np.abs(s) < 0.5
    if near.any():
        small = s[near]
        series = np.full_like(small, EXCESS[0])
        for c in EXCESS[1:]:
            np.multiply(series, small, out=series)
            np.add(series, c, out=series)
        y = np.asarray(y)
        y[near] = series * small * small
    return y


SPECIAL: dict[str, Kernel] = {
    "special.exp_excess": exp_excess,
    "special.cbrt": np.cbrt,
    "special.exp2": np.exp2,
    "fmod": np.fmod,
    "logaddexp2": np.logaddexp2,
    **SINC,
}
"""NumPy's own functions: vectorised, and as accurate as SciPy's."""
CANCELLING = 18.0
"""Arguments from which on the derivative of `kve` is not computed from functions of neighbouring orders."""
STEP, MAX_NODES = 0.16, 200
"""Distance of nodes with which the trapezoidal rule is exact for orders up to 10; more nodes are for the others."""
HALF = np.dtype(np.float16)
PARTS = {
    "cosine_integral": ("sici", 1), "fresnel_cosine": ("fresnel", 1), "fresnel_sine": ("fresnel", 0),
    "hyperbolic_cosine_integral": ("shichi", 1), "hyperbolic_sine_integral": ("shichi", 0),
    "jacobi_am": ("ellipj", 3), "sine_integral": ("sici", 0),
}  # fmt: skip
"""Kernels that are one output of a function with several."""
IN_DOUBLE = frozenset(["bei", "ber", "kei", "ker"])
"""Those that need more digits than single precision has: sums for Kelvin functions cancel from 8 on."""
OF_COMPLEX = {
    "complex_erf": "erf", "complex_erfc": "erfc", "complex_loggamma": "loggamma", "complex_wofz": "wofz",
}  # fmt: skip
PARTLY = frozenset(
    [
        "betainc_slope",
        "elliptic_of",
        "erfc_quotient_of",
        "gammainc",
        "gammainc_slope",
        "gammaincinv",
        "kve_moment",
        "log1prel_of",
        "mills_excess",
        "stdtr_slope",
    ]
)
"""Kernels that are SciPy's for some orders or arguments."""
NAMES = (
    frozenset(_SAME_NAME.split()) | IN_DOUBLE | ORDERED.keys() | PARTS.keys() | OF_COMPLEX.keys() | PARTLY | {"airy_of"}
)
"""Kernels that are SciPy's."""


def find(name: str, xp: Namespace) -> Kernel | None:
    """Return SciPy's function for the kernel `name`, None where SciPy has none or is not installed.

    Parameters
    ----------
    name : str
    xp : Namespace
        The namespace of other kernels, for functions that SciPy has in some dtypes only.
    """
    extension, _, name = name.rpartition(".")
    if extension != "special" or name not in NAMES:
        return None
    scipy_special = _library()
    if name in PARTLY:
        return None if scipy_special is None else _partly(name, scipy_special, xp)
    theirs, part = PARTS.get(name, (ORDERED.get(name, OF_COMPLEX.get(name, name)), None))
    found = getattr(scipy_special, "airy" if name == "airy_of" else theirs, None)
    if found is None:
        return None
    found = getattr(found, "__wrapped__", found)  # the ufunc itself: with SCIPY_ARRAY_API it is wrapped in a dispatcher
    if name in IN_DOUBLE:
        of_order = getattr(xp.special, f"{name}_of")
        return lambda x, /: of_order(x, n=0) if x.itemsize == 8 else found(x, dtype=np.float64).astype(x.dtype)
    if name == "airy_of":
        return lambda x, /, n: np.asarray(found(x)[n], x.dtype)
    if name == "ive":
        return lambda v, x, /: _with_expansion(found, v, x)
    if name == "hyp1f1":
        kernel = _with_half(found, part)
        return lambda a, b, x, /: kernel(a, b, _within_range(a, x))
    if name in ORDERED:
        first = [getattr(scipy_special, each) for each in FAST.get(name, ())]
        return _of_order(found, first, SECOND.get(name))
    return _with_half(found, part)


@functools.cache
def _library() -> Any:
    try:
        import scipy.special
    except ImportError:
        return None
    return scipy.special


def _partly(name: str, library: Any, xp: Namespace) -> Kernel:
    make: Callable[[Any, Namespace, Kernel], Kernel] = {
        "betainc_slope": tails.betainc_slope, "elliptic_of": _elliptic, "erfc_quotient_of": tails.erfc_quotient_of,
        "gammainc": _of_shape(expansions.gammainc), "gammaincinv": _of_shape(expansions.gammaincinv),
        "gammainc_slope": tails.gammainc_slope, "kve_moment": _kve_moment,
        "log1prel_of": expansions.log1prel_of, "mills_excess": tails.mills_excess, "stdtr_slope": tails.stdtr_slope,
    }[name]  # fmt: skip
    return make(library, xp, xp.default(f"special.{name}"))


def _of_shape(function: Any) -> Callable[[Any, Namespace, Kernel], Kernel]:
    """Return the maker of a kernel from a function of SciPy's module and two arrays."""
    return lambda library, xp, default: lambda a, x, /: np.asarray(function(library, a, x), np.result_type(a, x))


def _elliptic(library: Any, xp: Namespace, default: Kernel) -> Kernel:
    """Return elliptic integrals of the orders 0 and 1, which is Carlson's of the second kind, by SciPy's functions."""

    def kernel(phi: Array, m: Array, /, n: int, power: float) -> Array:
        if n > 1:
            return default(phi, m, n=n, power=power)
        if n == 0:
            return np.asarray((library.ellipkinc if power < 0 else library.ellipeinc)(phi, m))
        with np.errstate(all="ignore"):
            turns = np.round(phi / np.pi)
            angle = phi - turns * np.pi
            sine, cosine = np.sin(angle), np.cos(angle)
            square, other = sine * sine, cosine * cosine
            rest = other + (1 - m) * square
            y = library.elliprd(other, 1, rest) if power < 0 else library.elliprd(other, rest, 1)
            y = y * (square * sine / 3)
            outside = m * square > 1
            if turns.any():
                turned = turns != 0
                inside = np.where(turned & (m <= 1), m, 0)
                of = xp.special
                whole = of.ellipkm1_of(1 - inside, n=1) if power < 0 else of.ellipe_of(inside, n=1)
                y = y + np.where(turned, 2 * turns * whole, 0)
                outside = outside | ((m > 1) & turned)
            return np.where(outside, np.nan, y)

    return kernel


def _kve_moment(library: Any, xp: Namespace, default: Kernel) -> Kernel:
    """Return `kve` and its derivative, by the functions of the neighbouring orders where their sum does not cancel.

    For arguments that are not small, the others are integrals of one part.
    """

    def kernel(v: Array, x: Array, /, m: int, k: int) -> Array:
        if m == k == 0:
            return np.asarray(library.kve(v, x))
        if m or k > 1:
            size = np.abs(v)
            if x.size and v.size and 1e-6 * (1 + size.max() + k) < x.min() and x.max() < np.inf:
                nodes = _nodes(float(size.max()), float(x.min())) if m + k <= 3 else MAX_NODES
                y = xp.special.kve_integral(*np.broadcast_arrays(size, x), m=m, k=k, nodes=nodes)
                return np.where(v < 0, -y, y) if m % 2 else y
            return default(v, x, m=m, k=k)
        with np.errstate(all="ignore"):
            size, own = np.abs(v), library.kve(v, x)  # by a recurrence, half the sum of both neighbouring orders
            y = np.asarray(library.kve(size - 1, x) + size / x * own - own)
            others = ~((x < CANCELLING) & (np.abs(y) < np.inf))
            if others.any():
                v, x, others = np.broadcast_arrays(v, x, others)
                y[others] = default(v[others], x[others], m=0, k=1)
        return y

    return kernel


def _nodes(order: float, least: float) -> int:
    """Return the number of nodes of the integrals of `kve_moment`, a multiple of 8, for a step of `STEP`."""
    if not (order <= 10 and least >= 0.01):
        return MAX_NODES
    end = math.acosh(1 + 60 / least)
    for _ in range(4):
        end = math.acosh(1 + (60 + (order + 3) * end) / least)
    return 8 * min(8, max(4, math.ceil(end / (8 * STEP))))


def _with_half(ufunc: Any, part: int | None) -> Kernel:
    """Return `ufunc`, or one of its outputs, with float16 results for float16, for which SciPy has no loops."""
    function = ufunc if part is None else lambda *xs: ufunc(*xs)[part]

    def of_one(x: Array, /) -> Array:
        y = function(x)
        return y.astype(HALF) if x.dtype is HALF else y

    def of_several(*xs: Array) -> Array:
        y = function(*xs)
        return y.astype(np.result_type(*xs)) if any(getattr(x, "dtype", None) is HALF for x in xs) else y

    if any(loop.startswith("e") for loop in ufunc.types):
        return function
    return of_one if ufunc.nin == 1 else of_several


def _within_range(a: Array, x: Array) -> Array:
    """Return arguments of `hyp1f1`, at most 1e6, from where it is infinite: SciPy's loop has as many steps.

    With an integer `a` below 1 it is a polynomial, so that the arguments stay.
    """
    beyond = (x > 1e6) & ~((a <= 0) & (a == np.round(a)))
    return np.where(beyond, 1e6, x).astype(x.dtype) if beyond.any() else x


def _with_expansion(ive: Any, v: Array, x: Array) -> Array:
    """Return SciPy's scaled Bessel function, and two terms of its expansion for arguments for which it is NaN."""
    y, size = ive(v, x), np.abs(x)
    missing = np.isnan(y) & (size > 1e8) & ~np.isnan(v) & ((x > 0) | (v == np.round(v)))
    if missing.any():
        with np.errstate(all="ignore"):
            expansion = (1 - (4 * v * v - 1) / (8 * size)) / np.sqrt(2 * np.pi * size)
            y = np.where(missing, np.where((x < 0) & (v % 2 == 1), -expansion, expansion), y)
    return y


def _of_order(function: Any, first: list[Any], sign: float | None) -> Kernel:
    def kernel(x: Array, /, n: int) -> Array:
        if n == 2 and sign is not None and x.ndim and x.itemsize == 8:
            return _second_order(function, first, sign, x)
        # the order, an integer, would make float64 of it
        return np.asarray(first[n](x) if n < len(first) else function(n, x), x.dtype)

    return kernel


def _second_order(function: Any, first: list[Any], sign: float, x: Array) -> Array:
    """Return a Bessel function of order 2 by recurrence where possible, in a tenth of the time."""
    low, high = RECURRENT
    size = np.abs(x)
    with np.errstate(all="ignore"):
        y = sign * (2.0 / x * first[1](x) - first[0](x))
    others = ~((size >= low) & (size <= high))
    if others.any():
        y[others] = function(2, x[others])
    return y
