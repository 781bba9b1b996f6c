"""Floor division and remainder of real arrays: all signs, multiples, infinite divisors.

Quotients here have few digits, so that libraries agree whether or not they round the quotient first. The sign of zero
is not tested, because libraries differ.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from xpgrad_conformance.generated.accuracy import PERIOD, repeated
from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.operation import operations
from xpgrad_conformance.generated.operations.elementwise_binary import CHOSEN, with_number, with_symbol
from xpgrad_conformance.generated.points import PAIRS, shaped
from xpgrad_conformance.generated.sample import Argument, Sample, laid

DIVISORS = 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 7.0
NUMBERS = 1, 2, 3, -3, 0.25, -0.75, 7
BEYOND = np.inf, -np.inf, np.nan


def _quarters(draw: Draw, shape: tuple[int, ...], axes: tuple[str, ...], layout: str = "contiguous") -> Argument:
    """Return multiples of a quarter from -16 to 16, zeros of both signs among them."""
    host = draw.rng.integers(-64, 65, shape) / 4 * draw.rng.choice([1.0, -1.0], shape)
    return laid(host.astype(draw.dtype), axes, layout)


def _divisors(draw: Draw, shape: tuple[int, ...], axes: tuple[str, ...], layout: str = "contiguous") -> Argument:
    """Return short numbers of both signs."""
    host = draw.rng.choice(np.asarray([sign * each for each in DIVISORS for sign in (1, -1)], draw.dtype), shape)
    return laid(host, axes, layout)


def _grid(draw: Draw, name: str) -> tuple[Argument, Argument]:
    """Return pairs with each divisor: multiples, adjacent numbers, small and large numbers, zeros and NaN.

    Numbers divided by an infinity of the other sign are tested only for the remainder: the standard allows two
    quotients.
    """
    positive = [k * d for d in DIVISORS for k in (1, 2, 5, 1000)]
    multiples = np.asarray([*positive, *(-each for each in positive), 0.0, -0.0, np.nan], draw.dtype)
    few = np.asarray([sign * each for each in DIVISORS for sign in (1, -1)], draw.dtype)
    x1, x2 = (each.reshape(-1) for each in np.meshgrid(multiples, few, indexing="ij"))
    pairs = [(a, b) for a in (1.5, -1.5, 0.0, -0.0) for b in BEYOND if name == "remainder" or not a * b < 0]
    beyond = np.asarray(pairs, draw.dtype)
    x1, x2 = np.concatenate([x1, beyond[:, 0]]), np.concatenate([x2, beyond[:, 1]])
    return Argument(x1, ("n",)), Argument(x2, ("n",))


@operations()
def division(draw: Draw, name: str, symbol: str, reference: Callable[..., Any]) -> Iterator[Sample]:
    """Yield samples of floor_divide or remainder; multiples, where they jump, have gradients by convention."""
    what: dict[str, Any] = {"units": 0, "smooth": True}
    for n in draw.lengths():
        base = (min(n, PERIOD),)
        hosts = [np.resize(make(draw, base, ("n",)).host, (n,)) for make in (_quarters, _divisors)]
        yield Sample(tuple(Argument(host, ("n",)) for host in hosts), repeated(reference), **what)
    x1, x2 = _grid(draw, name)
    yield Sample((x1, x2), repeated(reference), **what)
    yield with_symbol(symbol, x1, x2, reference=reference, **what)
    if name == "remainder":  # exact in Python, and as fmod
        ends = ((2.0**14, 2.0**18), (2.0**28, 2.0**40)) if draw.dtype == "float32" else ((2.0**28, 2.0**40),) * 2
        for low, high in ends:
            x1 = draw.array((257,), low=low, high=high, axes=("n",))
            x2 = draw.array((257,), low=0.1, high=3.0, axes=("n",))
            yield Sample((x1, x2), reference, units=1, scale=lambda a, b: np.abs(b), smooth=True)
    for row in draw.combinations(axes=PAIRS, n=CHOSEN, layout1=draw.layouts(), layout2=draw.layouts()):
        axes1, axes2 = row["axes"]
        first = _quarters(draw, shaped(axes1, row["n"]), axes1, row["layout1"])
        second = _divisors(draw, shaped(axes2, row["n"]), axes2, row["layout2"])
        yield Sample((first, second), reference, **what)
    x = _divisors(draw, (33,), ("n",))
    for number in NUMBERS:
        for each in ("", symbol):
            yield with_number(name, each, x, number, True, reference=reference, **what)
            yield with_number(name, each, _quarters(draw, (33,), ("n",)), number, False, reference=reference, **what)


DIVISIONS = (division("floor_divide", "//", np.floor_divide), division("remainder", "%", np.remainder))
