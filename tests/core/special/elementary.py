"""Elementary functions that `references` computes, at arguments that are exact in float32 as well."""

import math
import pathlib
import struct
from collections.abc import Callable
from typing import Any

from mpmath import mp

Number = Any  # an mpf: mpmath is untyped
FILE = pathlib.Path(__file__).with_name("elementary.txt")


def _single(x: float) -> float:
    """Return `x` rounded to float32, where that is a normal number."""
    return float(struct.unpack("f", struct.pack("f", x))[0]) if 1e-37 < abs(x) < 3e38 else x


SMALL = tuple(map(_single, (1e-200, 1e-100, 1e-36, 1e-20, 1e-8, 1e-4, 0.01)))
MIDDLE = tuple(map(_single, (0.1, 0.3, 0.5, 0.7, 0.95, 1.0, 1.3, 1.6, 2.1, 2.7, 3.7, 5.2, 7.3)))
UPPER = tuple(map(_single, (10.0, 14.3, 18.0, 20.0, 25.6, 40.0, 60.2, 80.0, 87.0)))
LARGE = tuple(map(_single, (127.5, 300.0, 700.0, 1e4, 1e7, 1e10, 1e20, 1e36, 1e100, 1e200, 1e300)))
POSITIVE = SMALL + MIDDLE + UPPER + LARGE
REAL = (*POSITIVE, *(-x for x in POSITIVE))
BELOW_1 = tuple(x for x in POSITIVE if x < 1)
EDGE = tuple(1 - 2.0**-k for k in (4, 8, 12, 20, 24))
ABOVE_1 = (*(1 + 2.0**-k for k in (2, 6, 12, 23)), *(x for x in POSITIVE if x > 1))


def _both(xs: tuple[float, ...], limit: float = math.inf) -> tuple[float, ...]:
    return tuple(sign * x for x in xs for sign in (1, -1) if x <= limit)


def _softplus(x: Number) -> Number:
    return mp.log1p(mp.exp(x))


def _sigmoid(x: Number) -> Number:
    return 1 / (1 + mp.exp(-x))


PAIRS = (0.0, *_both(tuple(map(_single, (1e-8, 0.3, 2.1, 18.0, 40.0, 88.0, 300.0, 700.0)))))
FEW_VALUES = tuple(map(_single, (1e-8, 0.01, 0.3, 1.0, 2.1, 40.0, 1e4, 1e10)))
Row = tuple[Callable[..., Number], tuple[tuple[float, ...], ...]]
TABLE: dict[str, Row] = {
    "exp": (mp.exp, (_both(POSITIVE, 700),)),
    "expm1": (mp.expm1, (_both(POSITIVE, 700),)),
    "exp2": (lambda x: mp.mpf(2) ** x, (_both((*POSITIVE, 1000.0, 1020.0, 1023.9), 1024),)),
    "exp10": (lambda x: mp.mpf(10) ** x, (_both((*POSITIVE, 307.0, 308.2), 308.2),)),
    "log": (mp.log, (POSITIVE,)),
    "log1p": (mp.log1p, ((*POSITIVE, *(-x for x in (*BELOW_1, *EDGE))),)),
    "log2": (lambda x: mp.log(x) / mp.log(2), (POSITIVE,)),
    "log10": (lambda x: mp.log(x) / mp.log(10), (POSITIVE,)),
    "sqrt": (mp.sqrt, (POSITIVE,)),
    "rsqrt": (lambda x: 1 / mp.sqrt(x), (POSITIVE,)),
    "cbrt": (lambda x: mp.cbrt(x) if x > 0 else -mp.cbrt(-x), (REAL,)),
    "square": (lambda x: x * x, (REAL,)),
    "reciprocal": (lambda x: 1 / x, (REAL,)),
    "divide": (lambda x, y: x / y, (REAL, REAL)),
    "sin": (mp.sin, (REAL,)),
    "cos": (mp.cos, (REAL,)),
    "tan": (mp.tan, (REAL,)),
    "asin": (mp.asin, (_both((*BELOW_1, *EDGE)),)),
    "acos": (mp.acos, (_both((*BELOW_1, *EDGE)),)),
    "atan": (mp.atan, (REAL,)),
    "sinh": (mp.sinh, (_both(POSITIVE, 700),)),
    "cosh": (mp.cosh, (_both(POSITIVE, 700),)),
    "tanh": (mp.tanh, (_both(POSITIVE, 700),)),
    "asinh": (mp.asinh, (REAL,)),
    "acosh": (mp.acosh, (ABOVE_1,)),
    "atanh": (mp.atanh, (_both((*BELOW_1, *EDGE)),)),
    "logaddexp": (lambda x, y: mp.log(mp.exp(x) + mp.exp(y)), (PAIRS, PAIRS)),
    "logaddexp2": (lambda x, y: mp.log(mp.mpf(2) ** x + mp.mpf(2) ** y) / mp.log(2), (PAIRS, PAIRS)),
    "logsumexp": (lambda x, y: mp.log(mp.exp(x) + mp.exp(y)), (PAIRS, PAIRS)),
    "softmax": (lambda x, y: _sigmoid(x - y), (PAIRS, PAIRS)),
    "log_softmax": (lambda x, y: -_softplus(y - x), (PAIRS, PAIRS)),
    "softmax_cross_entropy": (lambda x, y: _softplus(y - x), (PAIRS, PAIRS)),
    "pseudo_huber": (lambda d, r: d * r * r / (mp.sqrt(d * d + r * r) + d), (FEW_VALUES, _both(FEW_VALUES))),
    "expit": (_sigmoid, (_both(POSITIVE, 700),)),
    "log_expit": (lambda x: -_softplus(-x), (_both(POSITIVE, 700),)),
    "softplus": (_softplus, (_both(POSITIVE, 700),)),
    "elu": (lambda x: x if x > 0 else mp.expm1(x), (_both(POSITIVE, 700),)),
    "selu": (
        lambda x: 1.0507009873554804934 * (x if x > 0 else 1.6732632423543772848 * mp.expm1(x)),
        (_both(POSITIVE, 700),),
    ),
}  # fmt: skip
