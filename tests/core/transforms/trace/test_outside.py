"""Programs that read external state are never stale, for any kind of state and any place of reading."""

import contextlib
from typing import NamedTuple

import numpy as np
import pytest
from tests.core.transforms.trace.outside_programs import outcome, programs
from tests.devices import device_or_skip

import xpgrad
from xpgrad import Variable
from xpgrad import array_api as xp
from xpgrad.testing.arrays import on_host
from xpgrad.transforms import grad, value_and_grad
from xpgrad.transforms.trace.guards.facts import Facts

pytestmark = pytest.mark.exhaustive(1)

PROGRAMS = programs()


def executor_of(number):
    """Return an executor and a device for a program, so that all kinds of state are tested with each."""
    if number % 16 == 3:
        return "c", "@numpy"
    if number % 7 == 2 and "Variable" not in PROGRAMS[number].name:  # these use NumPy arrays
        return "python", "@torch:cpu"
    return "python", "@numpy"


@pytest.mark.parametrize("number", range(len(PROGRAMS)), ids=lambda number: PROGRAMS[number].name)
def test_a_change_outside_is_noticed(number):
    program, (executor, device) = PROGRAMS[number], executor_of(number)
    device_or_skip(device)
    found = outcome(program, executor, device)
    assert not found.differs, found
    assert found.ran, found.warnings


@pytest.mark.parametrize(
    "uses",
    [lambda x, w: xp.sum(xp.asarray(w, device=x.device) * x), lambda x, w: xp.sum(np.quantile(x, w / 8))],
    ids=["moved to the device", "fractions"],
)
def test_an_array_of_another_library_is_read(uses):
    w, x = np.ones(3), device_or_skip("@strict").send(np.arange(3.0))
    f = xpgrad.compile(lambda x: uses(x, w))
    for value in 1.0, 5.0:
        w[1] = value
        assert [float(f(x)) for _ in range(4)] == [float(uses(x, w))] * 4
    assert f.cache_info().hits == 4


def test_a_replaced_method_that_the_library_calls_is_noticed():
    class Node(xpgrad.FunctionNode):
        def forward(self, xs):
            return (xs[0] * 2.0,)

        def backward(self, indexes, gys):
            return (gys[0] * 2.0,)

    f = xpgrad.compile(grad(lambda x: Node().apply((x,))[0]), verify=False)
    assert [float(f(np.ones(()))) for _ in range(4)] == [2.0] * 4
    Node.backward = lambda self, indexes, gys: (gys[0] * 5.0,)
    assert [float(f(np.ones(()))) for _ in range(4)] == [5.0] * 4
    assert f.cache_info().hits == 4


W, B = [np.ones((2, 2)), np.ones((2, 2))], [np.ones(2), np.ones(2)]
NAMED = {"w": W[0], "b": B[0]}


class Affine(NamedTuple):
    w: np.ndarray
    b: np.ndarray


@pytest.mark.parametrize(
    "f",
    [
        lambda x: sum([x @ w + b for w, b in zip(W, B, strict=True)]),
        lambda x: sum(xp.sum(w) * x for _, w in NAMED.items()),
        lambda x: sum(x @ w * i for i, w in enumerate(list(W))),
        lambda x: x @ dict(NAMED)["w"] @ [*W][1] @ W[1:][0],
        lambda x: x @ Affine(W[0], B[0]).w,
    ],
    ids=["pairs", "items", "numbered", "copies", "an object"],
)  # fmt: skip
def test_arrays_in_containers_that_a_call_goes_over_are_inputs(f):
    x, compiled = np.ones(2), xpgrad.compile(f, executor="python", verify=False)
    for call in range(6):
        W[0][0, 0] = W[1][0, 1] = call
        np.testing.assert_array_equal(compiled(x), f(Variable(x)).array)
    assert compiled.cache_info().hits == 4


@pytest.mark.parametrize("device", ["@numpy", "@torch:cpu"])
def test_an_array_that_only_its_library_computes_is_state(device):
    state = {"steps": device_or_skip(device).send(np.zeros(1))}

    @xpgrad.compile
    def step(x):
        state["steps"] = state["steps"] + 1
        return x / (1 - 0.5 ** state["steps"])

    x = device_or_skip(device).send(np.ones(1))
    found = [float(on_host(step(x))[0]) for _ in range(8)]
    np.testing.assert_allclose(found, 1 / (1 - 0.5 ** np.arange(1, 9)))
    assert step.cache_info().hits > 2
    assert float(on_host(Variable(state["steps"]).array)[0]) == 8.0


MASK = np.array([True, False, True])


def filled(x):
    new = np.zeros(3)
    new[MASK] = 2.0
    return xp.sum(x * MASK * new)


@pytest.mark.parametrize("f", [lambda x: xp.sum(x * MASK) + xp.sum(x[:, MASK] ** 2), filled], ids=["taken", "filled"])
def test_a_mask_that_is_an_input_as_well_is_read(f):
    x, compiled = np.ones((2, 3)), xpgrad.compile(value_and_grad(f), verify=False)
    for call in range(8):
        MASK[1] = call > 4
        for got, expected in zip(compiled(x), value_and_grad(f)(Variable(x)), strict=True):
            np.testing.assert_array_equal(got, expected.array)
    assert compiled.cache_info().hits == 4


def test_a_mask_among_the_arguments_decides_a_shape():
    compiled = xpgrad.compile(grad(lambda x, mask: xp.sum(x[:, mask] ** 2)))
    for call in range(4):
        mask = np.array([True, False, call > 1])
        with pytest.warns(xpgrad.CompileWarning, match="it was a mask") if not call else contextlib.nullcontext():
            np.testing.assert_array_equal(compiled(np.ones((2, 3)), mask), [2.0 * mask] * 2)


def test_appends_to_a_list_cost_the_same_each(monkeypatch):
    counts = []
    original = Facts.is_risky
    monkeypatch.setattr(Facts, "is_risky", lambda *args: counts.append(1) or original(*args))

    def appended(x, n):
        found = []
        for i in range(n):
            found.append(x * i)
        return found[-1]

    found = []
    for n in 50, 100:
        counts.clear()
        xpgrad.compile(appended)(np.ones(1), n)
        found.append(len(counts))
    assert found[1] < 2.5 * found[0]


def test_number_of_programs():
    assert len(PROGRAMS) >= 450
