"""Elementwise functions of one array, and of two."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.operation import Operation
from xpgrad_conformance.generated.sample import Sample


def unary(
    name: str, reference: Callable[..., Any], low: float = -2.0, high: float = 2.0, units: float = 4.0
) -> Operation:
    """Return the operation of an elementwise function of one array."""

    def samples(draw: Draw) -> Iterator[Sample]:
        for n in draw.lengths():
            x = draw.array((n,), low=low, high=high, axes=("n",))
            yield Sample(name, (x,), reference, units=units, smooth=True)
        kinds = "specials", "extremes", "spread"
        for row in draw.combinations(n=(1, 7, 33, 257), kind=kinds, layout=draw.layouts()):
            shape = (row["n"], 5)
            x = draw.array(shape, row["kind"], low=low, high=high, axes=("n", "m"), layout=row["layout"])
            yield Sample(name, (x,), reference, units=units)

    return Operation(name, samples)


UNARY = (
    unary("exp", np.exp, -5.0, 5.0),
    unary("tanh", np.tanh),
    unary("sqrt", np.sqrt, 0.1, 4.0, units=1.0),
)
