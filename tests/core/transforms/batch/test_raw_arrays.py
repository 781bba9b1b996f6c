"""Arrays of the library that a function captures meet its own raw arrays: they are the same for all members."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.core.transforms.references import looped

import xpgrad
from xpgrad import Variable, transforms
from xpgrad.testing.arrays import on_host, placed

CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "operator": lambda xp, x, r: x * r,
    "reflected operator": lambda xp, x, r: r - x,
    "column": lambda xp, x, r: x * r[:, None],
    "comparison": lambda xp, x, r: xp.where(x > r, x, r),
    "function": lambda xp, x, r: xp.maximum(x, r),
    "function, captured first": lambda xp, x, r: xp.atan2(r, x),
    "by name": lambda xp, x, r: xp.clip(x, min=r),
    "no lower bound": lambda xp, x, r: xp.clip(x, None, 1.0),
    "0-d member": lambda xp, x, r: xp.sum(x) * r,
    "matmul": lambda xp, x, r: x @ (r[:, None] * r),
    "reflected matmul": lambda xp, x, r: (r[:, None] * r) @ x,
    "tensordot": lambda xp, x, r: xp.tensordot(x, r, axes=1),
    "concat": lambda xp, x, r: xp.concat([x, r]),
    "stack": lambda xp, x, r: xp.stack([r, x]),
    "index": lambda xp, x, r: x[xp.astype(r > 0, xp.int64)],
    "take": lambda xp, x, r: xp.take(x, xp.astype(r > 0, xp.int64), axis=0),
    "take from captured": lambda xp, x, r: xp.take(r, xp.astype(x > 0, xp.int64), axis=0),
}


@pytest.mark.parametrize("device", ["@numpy", "@strict:cpu", "native:0"])
@pytest.mark.parametrize("name", CALLS)
def test_captured_array_is_the_same_for_all_members(name: str, device: str) -> None:
    """Three members and three elements, so that the hidden axis would fit."""
    place = xpgrad.get_device(device)
    if device != "@numpy" and name.startswith("reflected"):
        pytest.skip(f"arrays of {device} refuse operands of other types before these are asked")
    r = placed(np.asarray([-1.0, 0.5, 2.0]), place)
    xs = placed(np.asarray([[0.3, -2.0, 1.0], [4.0, 0.1, -0.7], [0.2, 0.6, 5.0]]), place)

    def f(x: Variable) -> Variable:
        namespace = xpgrad.get_device_from_array(x.array).backend.namespace
        return Variable(CALLS[name](namespace, x.array, r))

    assert np.array_equal(on_host(transforms.vmap(f)(xs)), on_host(looped(f)(xs)))
