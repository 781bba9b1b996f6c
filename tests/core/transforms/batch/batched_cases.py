"""Cases of the table in batches: other values for each member, and the comparison of `vmap` with a loop."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
from tests.core.transforms.batch.rows.members import compare

from xpgrad import Device
from xpgrad.testing.arrays import placed
from xpgrad_conformance.subject import RTOL
from xpgrad_conformance.table.assertions import GRADIENT_RTOL
from xpgrad_conformance.table.case import Case
from xpgrad_conformance.table.scenario import Scenario, dtypes_of
from xpgrad_conformance.table.variants import PLAIN, Variant, broadcasting, variants_of

MEMBERS = 3
Pattern = tuple[bool, ...]
"""Which inputs are batched."""

REFUSED: dict[str, tuple[str, ...]] = {
    "the shape of a result depends on values": (
        *("nonzero", "unique_all", "unique_counts", "unique_inverse", "unique_values", "nunique"),
        *("union1d", "setdiff1d", "bincount", "bincount-weights", "repeat-counts"),
        *("getitem-mask", "getitem-condition", "apply_where", "apply_where-fill"),
    )
}
"""The cases that cannot be batched, with the reasons, and raise. All remaining cases must be equal."""
SEEDED = (
    *("F.dropout", "F.gaussian-eps", "F.gumbel_softmax", "F.gumbel_softmax-temperature", "F.zoneout"),
    *("F.simplified_dropconnect", "F.simplified_dropconnect-one_mask"),
)
"""These seed the random numbers, which differ for each member."""
WITHOUT_BATCH = {name: reason for reason, names in REFUSED.items() for name in names}


class Members:
    """The members of a case's inputs: other numbers for each, in the ranges of the case.

    Parameters
    ----------
    case : Case
    device : Device
    dtype : str
    variant : Variant
    """

    def __init__(self, case: Case, device: Device, dtype: str, variant: Variant = PLAIN) -> None:
        self.case, self.device = case, device
        self.scenarios = [Scenario(case, device, dtype, variant, seed=seed) for seed in range(MEMBERS)]
        self.first = self.scenarios[0]
        for number, scenario in enumerate(self.scenarios):
            for i, x in enumerate(case.inputs):
                if x.values is not None:
                    scenario.inputs[i] = _turned(scenario.inputs[i], number)

    def patterns(self) -> Iterator[Pattern]:
        """Yield the patterns with a single batched input, and the pattern with all inputs batched."""
        count = len(self.case.inputs)
        for k in range(count):
            yield tuple(i == k for i in range(count))
        if count > 1:
            yield (True,) * count

    def hosts(self, pattern: Pattern) -> list[Any]:
        """Return the inputs as host arrays, with a leading axis where they are batched."""
        return [
            np.stack([s.inputs[i] for s in self.scenarios]) if batched else self.first.inputs[i]
            for i, batched in enumerate(pattern)
        ]

    def arguments(self, pattern: Pattern) -> list[Any]:
        """Return the inputs on the device, with a leading axis where they are batched."""
        return [placed(x, self.device) for x in self.hosts(pattern)]

    def values(self, *xs: Any) -> Any:
        """Return the outputs of the case, as a tuple."""
        return tuple(y for y in self.first.call(xs) if hasattr(y, "dtype"))


def _turned(x: Any, number: int) -> Any:
    """Return rows in another order; sorted numbers remain so."""
    if x.ndim == 0 or (x.dtype.kind == "f" and x.ndim == 1 and np.array_equal(x, np.sort(x))):
        return x
    return np.roll(x, number, axis=0)


def check(case: Case, device: Device, orders: Sequence[int], *, every: bool) -> None:
    """Compare `vmap` of a case with a loop.

    Parameters
    ----------
    case : Case
    device : Device
    orders : sequence of int
        0 for values, 1 for gradients within and from outside, 2 for second derivatives.
    every : bool
        All dtypes, and values for all shapes; otherwise one dtype and one shape.

    Raises
    ------
    AssertionError
        Another result; the note has dtype, variant and pattern.
    """
    for dtype in [dtype for dtype in dtypes_of(case) if every or dtype == dtypes_of(case)[-1]]:
        for variant in _variants(case, every=every and dtype == "float64"):
            members = Members(case, device, dtype, variant)
            for pattern, order in product(members.patterns(), orders if variant is PLAIN else [0]):
                if order > case.order:
                    continue
                rtol = members.first.tolerance(GRADIENT_RTOL if order else RTOL) * 10**order
                axes = tuple(0 if batched else None for batched in pattern)
                try:
                    compare(members.values, axes, members.hosts(pattern), device, order, rtol, within=order)
                except Exception as error:
                    where = f"{case.name} in {dtype} on {device}, {variant.name}, batched {pattern}, order {order}"
                    error.add_note(where)
                    raise


def _variants(case: Case, *, every: bool) -> list[Variant]:
    stretched = broadcasting(case)
    others = [v for v in variants_of(case) if v.name in ("0-d", "empty")]
    return [PLAIN, *(others if every else []), *([stretched] if every and stretched is not None else [])]
