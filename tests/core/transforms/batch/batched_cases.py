"""Compares `vmap` of a case of the table with a loop over the members: values, gradients, gradients of these."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from tests.core.transforms.references import looped

import xpgrad
from xpgrad import Device, Variable, transforms
from xpgrad.testing.arrays import on_host, placed
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
    ),
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

    def arguments(self, pattern: Pattern) -> list[Any]:
        """Return the inputs, with a leading axis where they are batched."""
        return [
            placed(np.stack([s.inputs[i] for s in self.scenarios]) if batched else self.first.inputs[i], self.device)
            for i, batched in enumerate(pattern)
        ]

    def values(self, *xs: Any) -> Any:
        """Return the outputs of the case, as a tuple."""
        return tuple(y for y in self.first.call(xs) if hasattr(y, "dtype"))

    def derivatives(self, order: int) -> Callable[..., Any]:
        """Return a function with gradients of inputs, or second-order gradients, from different cotangents."""

        def gradients(*args: Any) -> Any:
            wanted = [Variable(x.array) if isinstance(x, Variable) else Variable(x) for x in args]
            xs = [wanted[i] if i in self.first.floating else x for i, x in enumerate(args)]
            ys = [y for y in self.values(*xs) if isinstance(y, Variable) and y.requires_grad]
            inputs = [xs[i] for i in self.first.floating]
            gs = xpgrad.grad(ys, inputs, [self._seed(y) for y in ys], enable_double_backprop=order > 1) if ys else []
            if order > 1:
                again = [g for g in gs if g is not None and g.requires_grad]
                gs = xpgrad.grad(again, inputs, [self._seed(g) for g in again]) if again else []
            return tuple(g for g in gs if g is not None)

        return gradients

    def _seed(self, y: Variable) -> Variable:
        values = np.cos(np.arange(1.0, y.size + 1)).reshape(y.shape)
        name = y.node.spec.backend.dtype_name(y.dtype)
        values = values * (1 - 0.5j) if name.startswith("complex") else values
        return Variable(placed(values.astype(name), self.device), requires_grad=False)


def _turned(x: Any, number: int) -> Any:
    """Return rows in another order; sorted numbers remain so."""
    if x.ndim == 0 or (x.dtype.kind == "f" and x.ndim == 1 and np.array_equal(x, np.sort(x))):
        return x
    return np.roll(x, number, axis=0)


def difference(members: Members, pattern: Pattern, order: int) -> str | None:
    """Return the differences of results of `vmap` and of a loop, or None.

    Parameters
    ----------
    members : Members
    pattern : tuple of bool
    order : int
        Of the derivatives, which are computed within.
    """
    f = members.values if order == 0 else members.derivatives(order)
    axes = tuple(0 if batched else None for batched in pattern)
    args = members.arguments(pattern)
    expected = looped(f, axes)(*args)
    got = transforms.vmap(f, axes)(*args)
    if len(got) != len(expected):
        return f"{len(got)} results, expected {len(expected)}"
    rtol = members.first.tolerance(RTOL if order == 0 else GRADIENT_RTOL)
    for i, (a, b) in enumerate(zip(got, expected, strict=True)):
        if (text := _difference(on_host(a), on_host(b), rtol * 10**order)) is not None:
            return f"result {i}{text}"
    return None


def through(members: Members, pattern: Pattern) -> str | None:
    """Return the differences of gradients through `vmap` and through a loop, or None."""
    found = []
    for vmap in (looped, transforms.vmap):
        xs = [Variable(x) for x in members.arguments(pattern)]
        ys = [y for y in vmap(members.values, tuple(0 if b else None for b in pattern))(*xs) if y.requires_grad]
        inputs = [xs[i] for i in members.first.floating]
        found.append(xpgrad.grad(ys, inputs, [members._seed(y) for y in ys]) if ys else [])
    rtol = members.first.tolerance(GRADIENT_RTOL)
    for i, (b, a) in enumerate(zip(*found, strict=True)):
        if a is None or b is None:
            zero = all(x is None or not np.any(on_host(x)) for x in (a, b))
            text = None if zero else f" is {a}, expected {b}"
        else:
            text = _difference(on_host(a), on_host(b), rtol)
        if text is not None:
            return f"gradient {i} from outside{text}"
    return None


def _difference(a: Any, b: Any, rtol: float) -> str | None:
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return f" is {a.dtype}{a.shape}, expected {b.dtype}{b.shape}"
    if b.dtype.kind not in "fc":
        return None if np.array_equal(a, b) else f": got {a.tolist()}, expected {b.tolist()}"
    with np.errstate(all="ignore"):
        size = np.max(np.abs(b), initial=0.0, where=np.isfinite(b))
    near = np.allclose(a, b, rtol=rtol, atol=rtol * size, equal_nan=True)
    return None if near else f": got {a.tolist()}, expected {b.tolist()}"


def differences(case: Case, device: Device, orders: Sequence[int], *, every: bool) -> Iterator[str]:
    """Yield the differences in a case, with dtype, variant and pattern.

    Parameters
    ----------
    case : Case
    device : Device
    orders : sequence of int
        0 for values, 1 for gradients within and from outside, 2 for second derivatives.
    every : bool
        All dtypes, and values for all shapes; otherwise one dtype and one shape.
    """
    dtypes = [dtype for dtype in dtypes_of(case) if every or dtype == dtypes_of(case)[-1]]
    for dtype in dtypes:
        for variant in _variants(case, every=every and dtype == "float64"):
            members = Members(case, device, dtype, variant)
            for pattern in members.patterns():
                for order in orders if variant is PLAIN else [0]:
                    if order > case.order:
                        continue
                    where = f"{case.name} in {dtype} on {device}, {variant.name}, batched {pattern}, order {order}"
                    try:
                        found = difference(members, pattern, order)
                        if found is None and order == 1:
                            found = through(members, pattern)
                    except Exception as error:
                        error.add_note(where)
                        raise
                    if found is not None:
                        yield f"{where}: {found}"


def _variants(case: Case, *, every: bool) -> list[Variant]:
    stretched = broadcasting(case)
    others = [v for v in variants_of(case) if v.name in ("0-d", "empty")]
    return [PLAIN, *(others if every else []), *([stretched] if every and stretched is not None else [])]
