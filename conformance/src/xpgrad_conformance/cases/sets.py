"""Cases of sets; equal values, which share a gradient, are in the tests of kinks."""

from typing import Any

import numpy as np

from xpgrad_conformance.table.case import Case, Input

NEEDS = ("data_dependent_shapes",)


def _places(x: Any) -> tuple[Any, Any]:
    """Return the positions of the sorted values of `x`, and the rank of each element."""
    order = np.argsort(x, axis=None)
    return order, np.argsort(order).reshape(x.shape)


CASES = (
    Case("unique_values", {}, lambda x: x.ravel()[_places(x)[0]], needs=NEEDS),
    Case("unique_all", {}, lambda x: (x.ravel()[_places(x)[0]], *_places(x), np.ones(x.size, int)),
         dtype=(None, "int", "int", "int"), needs=NEEDS),
    Case("unique_counts", {}, lambda x: (x.ravel()[_places(x)[0]], np.ones(x.size, int)), dtype=(None, "int"),
         needs=NEEDS),
    Case("unique_inverse", {}, lambda x: (x.ravel()[_places(x)[0]], _places(x)[1]), dtype=(None, "int"), needs=NEEDS),
    Case("isin", {}, lambda x, y: (x[..., None] == y).any(-1),
         (Input(kind="int", low=0, high=5), Input(kind="int", values=[1, 4, 7])), order=0, dtype="bool"),
    Case("isin-not", lambda xp, x: xp.isin(x, 2, invert=True), lambda x: x != 2, (Input(kind="int", low=0, high=5),),
         order=0, dtype="bool"),
)  # fmt: skip
