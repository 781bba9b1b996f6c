"""Errors for functions without batching, and errors about a member."""

import re

import numpy as np
import pytest
from tests.building import array

import xpgrad
from xpgrad import Variable, ops
from xpgrad import array_api as xp
from xpgrad.errors import BatchError
from xpgrad.transforms import vmap

pytestmark = pytest.mark.parametrize("device", ["@numpy", "@strict:cpu"], indirect=True)

REFUSED = {
    "nonzero": (lambda x: xp.nonzero(x), "nonzero has a result of another length .*xp.count_nonzero"),
    "unique_values": (lambda x: xp.unique_values(x), "unique values are of another number .*sort them"),
    "unique_all": (lambda x: xp.unique_all(x).counts, "unique values"),
    "mask": (lambda x: x[x > 0], "mask of an index.*xp.where"),
    "repeat": (lambda x: xp.repeat(x, xp.astype(x, xp.int64)), "other repeats for each batch element.*searchsorted"),
    "arange": (lambda x: xp.arange(x[0]), "each batch element"),
    "if": (lambda x: x if x[0] > 0 else -x, "truth value.*xp.where"),
    "float": (lambda x: x * float(x[0]), "float"),
    "as an index": (lambda x: [1, 2, 3][xp.astype(x[0], xp.int64)], "an int|integer"),
    "bounds of a slice": (lambda x: x[: xp.astype(x[0], xp.int64)], "an int|integer"),
    "offset": (lambda x: xp.linalg.diagonal(x[:, None] * x, offset=xp.astype(x[0], xp.int64)), "parameter offset"),
    "segments": (lambda x: ops.segment_sum(x, xp.astype(0 * x, xp.int64), xp.astype(x[0], xp.int64)), "an int"),
    "shape": (lambda x: xp.zeros((xp.astype(x[0], xp.int64),)), "batch elements|integer"),
    "raw arange": (lambda x: Variable(x.array.__array_namespace__().arange(x.array[0])), "start \\+ step"),
    "raw linspace": (lambda x: Variable(x.array.__array_namespace__().linspace(x.array[0], 1.0, 3)), "start \\+"),
    "raw list": (lambda x: Variable(x.array.__array_namespace__().asarray([x.array[0], x.array[1]])), "xp.stack"),
    "writing": (lambda x: Variable(x.array.__setitem__(0, 1.0)), "elements of its Variable.*xp.where"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_value_dependent_result_raises_with_a_remedy(device, name):
    f, text = REFUSED[name]
    with xpgrad.using_device(device), pytest.raises(BatchError, match=f"^vmap: .*{text}"):
        vmap(f)(array(device, [[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]], "float64"))


WRONG = {
    "sum axis": lambda x: xp.sum(x, axis=2),
    "argmax axis": lambda x: xp.argmax(x, axis=-3),
    "sort axis": lambda x: xp.sort(x, axis=2),
    "concat": lambda x: xp.concat([x, x[:, :1]], axis=0),
    "concat axis": lambda x: xp.concat([x, x], axis=2),
    "stack": lambda x: xp.stack([x, x[0]]),
    "stack axis": lambda x: xp.stack([x, x], axis=-4),
    "reshape": lambda x: xp.reshape(x, (4, 2)),
    "reshape by -1": lambda x: xp.reshape(x, (4, -1)),
    "broadcast_to": lambda x: xp.broadcast_to(x, (3,)),
    "permute_dims": lambda x: xp.permute_dims(x, (0, 2)),
    "squeeze": lambda x: xp.squeeze(x, axis=0),
    "squeeze axis": lambda x: xp.squeeze(x, axis=-3),
    "expand_dims": lambda x: xp.expand_dims(x, axis=4),
    "flip": lambda x: xp.flip(x, axis=2),
    "roll": lambda x: xp.roll(x, 1, axis=2),
    "unstack": lambda x: xp.unstack(x, axis=2),
    "take axis": lambda x: xp.take(x, xp.asarray([0]), axis=2),
    "take without an axis": lambda x: xp.take(x, xp.asarray([0])),
    "take_along_axis": lambda x: xp.take_along_axis(x, xp.asarray([0])),
    "cumulative_sum without an axis": lambda x: xp.cumulative_sum(x),
    "cumulative_prod axis": lambda x: xp.cumulative_prod(x, axis=2),
    "matrix_transpose of a vector": lambda x: xp.matrix_transpose(x[0]),
    "integer": lambda x: x[2],
    "integer, last axis": lambda x: x[0, -4],
    "too many indices": lambda x: x[0, 0, 0],
    "shapes": lambda x: x + x[:, :2],
    "shapes of where": lambda x: xp.where(x > 0, x, x[:, :2]),
    "searchsorted of a matrix": lambda x: xp.searchsorted(x, x),
    "dtype": lambda x: xp.bitwise_and(x, x),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("size", [2, 0])
def test_an_error_describes_a_member(device, name, size):
    f = WRONG[name]
    member = array(device, np.zeros((2, 3)), "float64")
    with xpgrad.using_device(device):
        with pytest.raises(Exception) as usual:  # noqa: PT011 - libraries differ
            f(Variable(member))
        with pytest.raises(type(usual.value)) as got:
            vmap(f)(array(device, np.zeros((size, 2, 3)), "float64"))
    assert re.sub(r"batch\((\w+)\)", r"\1", str(got.value)) == str(usual.value)
