"""Raw arrays in a batched function: the case table with the library's own functions, and arrays that it captures."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest
from tests.core.transforms.batch.batched_cases import SEEDED, WITHOUT_BATCH, Members
from tests.core.transforms.batch.rows.members import leaves
from tests.core.transforms.references import looped
from tests.devices import device_or_skip, lacking
from tests.turn import part_of

import xpgrad
from xpgrad import Variable, transforms
from xpgrad.backend.plugins import plugins
from xpgrad.testing.arrays import on_host, placed
from xpgrad_conformance.cases import CASES
from xpgrad_conformance.table.case import Case
from xpgrad_conformance.table.scenario import dtypes_of

OF_VARIABLES = (
    *("average", "average-axes", "copy", "gate", "transposed_matmul"),
    *("asarray-nested", "asarray-rows", "linspace", "linspace-open"),
)
"""Only functions of Variables take these operands; the same is true for the assignment of elements."""
WRONG = {"@numpy": ("sort-descending", "argsort-descending"), "@strict:cpu": ("isin-not",)}
"""The library's function lacks this parameter, or ignores it."""
RAW = [
    case for case in CASES
    if case.area == "xp" and not case.name.startswith(("special.", "setitem"))
    and case.name not in (*WITHOUT_BATCH, *SEEDED, *OF_VARIABLES)
]  # fmt: skip

CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "reflected operator": lambda xp, x, r: r - x,
    "column": lambda xp, x, r: x * r[:, None],
    "comparison": lambda xp, x, r: xp.where(x > r, x, r),
    "by name": lambda xp, x, r: xp.clip(x, min=r),
    "no lower bound": lambda xp, x, r: xp.clip(x, None, 1.0),
    "captured 0-d": lambda xp, x, r: x * xp.broadcast_arrays(x, r[1, ...])[1],
    "list of numbers": lambda xp, x, r: xp.add(xp.sum(x), [1.0, 2.0, 3.0]) * r,
    "0-d member": lambda xp, x, r: xp.sum(x) * r,
    "matmul": lambda xp, x, r: x @ (r[:, None] * r),
    "reflected matmul": lambda xp, x, r: (r[:, None] * r) @ x,
    "index": lambda xp, x, r: x[xp.astype(r > 0, xp.int64)],
}


@pytest.mark.parametrize("device", ["@numpy", "@strict:cpu", "native:0"])
@pytest.mark.parametrize("name", CALLS)
def test_captured_array_is_the_same_for_all_members(name: str, device: str) -> None:
    """Three members and three elements, so that the hidden axis would fit."""
    place = xpgrad.get_device(device)
    if device != "@numpy" and name.startswith(("reflected", "list")):
        pytest.skip(f"arrays of {device} refuse operands of other types before these are asked")
    r = placed(np.asarray([-1.0, 0.5, 2.0]), place)
    xs = placed(np.asarray([[0.3, -2.0, 1.0], [4.0, 0.1, -0.7], [0.2, 0.6, 5.0]]), place)

    def f(x: Variable) -> Variable:
        namespace = xpgrad.get_device_from_array(x.array).backend.namespace
        return Variable(CALLS[name](namespace, x.array, r))

    assert np.array_equal(on_host(transforms.vmap(f)(xs)), on_host(looped(f)(xs)))


def computed(case: Case, captured: Sequence[Any], *xs: Variable) -> tuple[Variable, ...]:
    """Return the results of the library's functions, for arrays of Variables in place of None among `captured` ones."""
    own = iter(xs)
    backend = plugins.backend_of(xs[0].array)
    results = case.call(backend.namespace, *[next(own).array if x is None else x for x in captured])
    return tuple(Variable(backend.restore(y)) for y in leaves(results))


@pytest.mark.parametrize("device", ["@numpy", "@strict:cpu", "native:0"])
@pytest.mark.parametrize("case", part_of(RAW, 1), ids=lambda case: case.name)
def test_case_of_raw_arrays_is_the_loop(case: Case, device: str) -> None:
    """For three members, one and none; arrays that they share are arguments, or captured."""
    place = device_or_skip(device)
    if case.name in WRONG.get(device, ()) or lacking(place.backend.name, case.needs) is not None:
        pytest.skip(f"{device} does not compute it")
    members = Members(case, place, dtypes_of(case)[-1])
    for pattern, capturing in product(members.patterns(), (False, True)):
        if capturing and (device == "@strict:cpu" or all(pattern)):
            continue  # operators of array-api-strict refuse other types before these are asked
        args = members.arguments(pattern)
        captured = [x if capturing and not batched else None for x, batched in zip(args, pattern, strict=True)]
        f = partial(computed, case, captured)
        xs = [x for x, given in zip(args, captured, strict=True) if given is None]
        axes = tuple(0 if batched else None for batched, x in zip(pattern, captured, strict=True) if x is None)
        try:
            expected = looped(f, axes)(*xs)
        except Exception as error:
            if device == "@numpy":
                raise
            pytest.skip(f"{device} does not compute it: {error}")
        for size in (3, 1, 0):
            some = [x if axis is None else x[:size, ...] for x, axis in zip(xs, axes, strict=True)]
            for y, each in zip(transforms.vmap(f, axes)(*some), expected, strict=True):
                assert (y.dtype, y.shape) == (each.dtype, (size, *each.shape[1:]))
                np.testing.assert_allclose(on_host(y), on_host(each)[:size], rtol=1e-6, atol=1e-6)
