"""Special functions of one argument: ordinary arguments, and tails where formulas lose all digits to cancellation."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.layers import lengths, written
from xpgrad_conformance.generated.operation import operations
from xpgrad_conformance.generated.points import SPECIAL
from xpgrad_conformance.generated.sample import Argument, Sample

RANGES: dict[str, tuple[tuple[float, float], ...]] = {
    "expit": ((-5, 5), (12, 30), (-60, -30)),
    "log_expit": ((-5, 5), (12, 30), (-60, -30)),
    "logit": ((0.1, 0.4), (0.6, 0.9), (1e-6, 1e-5)),
    "erf": ((-2, 2), (3, 4), (1e-6, 1e-5)),
    "erfc": ((-2, 2), (3, 5), (6.5, 9)),
    "erfcx": ((-2, 2), (5, 40)),
    "ndtr": ((-2, 2), (-6, -4), (-12, -8)),
    "log_ndtr": ((-2, 2), (-30, -10), (5, 8)),
    "gammaln": ((0.3, 0.9), (2.3, 4), (20, 300)),
    "psi": ((0.3, 1.2), (3, 50)),
    "entr": ((0.1, 3), (1e-6, 1e-5)),
    "i0e": ((-4, 4), (20, 30)),
    "i1e": ((0.5, 4), (20, 30)),
    "exp2": ((-5, 5), (20, 30)),
    "cosm1": ((0.5, 2), (1e-4, 1e-3)),
    "sinc": ((0.2, 0.7),),
}
"""Ranges of arguments that are tested separately, so that small results are not hidden by large results."""
FAR: dict[str, tuple[tuple[float, float], ...]] = {
    "expit": ((-80, -60), (100, 1000), (-1e6, -1000)),
    "log_expit": ((-1e4, -100), (60, 80)),
    "logit": ((1e-30, 1e-20),),
    "erf": ((10, 1e4), (-1e4, -10), (1e-30, 1e-20)),
    "erfc": ((-1e4, -10), (-5, -3)),
    "erfcx": ((100, 1e4), (1e6, 1e15)),
    "ndtr": ((10, 1e4),),
    "log_ndtr": ((-1e4, -100),),
    "gammaln": ((1e4, 1e10), (1e-30, 1e-20)),
    "psi": ((1e3, 1e10),),
    "entr": ((1e4, 1e15), (1e-30, 1e-20)),
    "i0e": ((-80, -40), (95, 600), (720, 1e5)),
    "i1e": ((-80, -40), (95, 600), (720, 1e5)),
    "exp2": ((90, 125), (-120, -90)),
    "cosm1": ((1e-12, 1e-9),),
    "sinc": ((1e-8, 1e-5),),
}
"""Ranges where exponentials or squares overflow or underflow, or only a series converges; only values are compared."""
OPEN = {"gammaln": (-np.inf,)}
"""Arguments for which libraries have different values: C's infinity, or SciPy's -infinity."""
UNITS = {
    "log_ndtr": 256.0, "ndtr": 256.0, "erfc": 256.0, "gammaln": 256.0, "psi": 256.0, "erfcx": 128.0,
    "i0e": 512.0, "i1e": 512.0,  # their second derivatives are differences that cancel to 1 / x ** 2 of the terms
}  # fmt: skip


@operations(needs=(), area="special.")
def _special(draw: Draw, name: str, ranges: tuple[tuple[float, float], ...]) -> Iterator[Sample]:
    def called(x: Argument, smooth: bool = True) -> Sample:
        text, units = f"xp.special.{name}(x0)", UNITS.get(name, 64.0)
        call: Callable[..., Any] = lambda xp, x: getattr(xp.special, name)(x)  # noqa: E731
        return written(call, text, x, units=units, smooth=smooth)

    for n in lengths(draw, 5000):
        low, high = draw.pick(ranges)
        x = draw.array((n,), low=low, high=high, axes=("n",))
        yield called(x)
    for row in draw.combinations(n=(3, 40), range=ranges, layout=draw.layouts()):
        x = draw.array((row["n"], 3), low=row["range"][0], high=row["range"][1], layout=row["layout"])
        yield called(x)
    some = [each for each in (*SPECIAL, np.nan) if each not in OPEN.get(name, ())]
    yield called(Argument(draw.rng.permutation(np.asarray(some, draw.dtype)), ("n",)), smooth=False)
    for low, high in FAR[name]:
        yield called(draw.array((19,), low=low, high=high, axes=("n",)), smooth=False)


FUNCTIONS = tuple(_special(name, ranges) for name, ranges in RANGES.items())
