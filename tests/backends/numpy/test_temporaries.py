"""Results in the memory of temporary operands, and operands that are none."""

import functools
import operator
import tracemalloc

import numpy as np
import pytest
from tests.core.graph.leaves import leaf

import xpgrad
from xpgrad import array_api as xp
from xpgrad_numpy import temporaries

SIZE = 300_000
BYTES = 8 * SIZE


@pytest.fixture(autouse=True)
def _unwatched():
    """Mutation detection refers to the operands of a call."""
    with xpgrad.using_config("detect_mutation", False):
        yield


def _arrays(function) -> float:
    """Return the peak memory of a call, in arrays."""
    function()  # makes plans
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1] / BYTES
    finally:
        tracemalloc.stop()


TEMPORARY = {
    "left": (lambda x, c: (x * 2.0 + 1.0) / c - 3.0, 1), "right": (lambda x, c: 2.0 - (c + x * 2.0), 1),
    "unary": (lambda x, c: xp.exp(-(x - c)), 1), "constant": (lambda x, c: (x + 1.0) * c.array, 1),
    "kept": (lambda x, c: (x + 1.0) * (x + 2.0), 3), "view": (lambda x, c: xp.reshape(x + 1.0, (3, -1)) + 1.0, 2),
    "broadcast": (lambda x, c: (x[:1] + 1.0) + c, 1),
}  # fmt: skip


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("name", TEMPORARY)
def test_temporary_operands_lend_their_memory_unless_the_graph_keeps_them(monkeypatch, name, number) -> None:
    monkeypatch.setenv("XPGRAD_NUM_THREADS", str(number))
    monkeypatch.setattr("xpgrad_numpy.elementwise.LIGHT_FROM", 0)
    function, count = TEMPORARY[name]
    x, c = leaf((SIZE,)), xpgrad.Variable(leaf((SIZE,), start=3).array, requires_grad=False)
    before = x.array.copy(), c.array.copy()
    if temporaries.COUNTED:
        assert round(_arrays(lambda: function(x, c)), 1) == count
    y = function(x, c)
    with xpgrad.no_backprop_mode():
        z = function(x, c)
    monkeypatch.setattr(temporaries, "COUNTED", False)
    assert y.array.tobytes() == z.array.tobytes() == function(x, c).array.tobytes()
    for array, old in zip((x.array, c.array), before, strict=True):
        np.testing.assert_array_equal(array, old)


def _in_local(y):
    z = y + 1.0
    return xp.exp(z - 1.0), z


def _in_array(y):
    z = (y + 1.0).array
    return (xpgrad.Variable(z) + 1.0, z)[1:]


def _in_objects(y):
    held = np.empty(1, object)
    held[0] = y + 1.0
    return (held + 1.0, -held, held[0])[2:]


HOLDERS = {
    "local": lambda y: (_in_local(y)[1],), "argument": lambda y: (lambda z: (xp.exp(z), -z, z))(y + 1.0)[2:],
    "list": lambda y: [z := [y + 1.0], z[0] + 1.0, -z[0]][0], "objects": _in_objects,
    "partial": lambda y: [f := functools.partial(operator.add, y + 1.0), f(1.0), f(1.0)][0].args, "array": _in_array,
}  # fmt: skip


@pytest.mark.parametrize("name", HOLDERS)
def test_operands_that_something_else_refers_to_remain_unchanged(name) -> None:
    y = xpgrad.Variable(leaf((SIZE,)).array)
    for _ in range(2):  # the first call of a function makes its plan
        for z in HOLDERS[name](y):
            np.testing.assert_array_equal(z if name == "array" else z.array, y.array + 1.0)


def test_no_operator_writes_to_operands_where_its_callers_are_unknown(monkeypatch) -> None:
    monkeypatch.setattr(temporaries, "_look_up", lambda: None)
    y = xpgrad.Variable(leaf((SIZE,)).array)
    assert round(_arrays(lambda: y + 1.0 + 1.0), 1) == 2
