"""`interop.foreign`: calls of another framework in our graph, here a framework of strict arrays with our engine."""

from collections.abc import Callable, Sequence
from typing import Any

import array_api_strict
import numpy as np
import pytest

import xpgrad
import xpgrad.array_api as xp
from xpgrad import Variable
from xpgrad.errors import BackendMismatch, BatchError, GraphError, UnknownArray
from xpgrad.interop.foreign import call, place_of
from xpgrad.interop.framework import Framework, Run, Tape
from xpgrad.interop.ours import Recorded
from xpgrad.transforms import grad, vmap
from xpgrad.transforms.trees import flatten

STRICT = type(array_api_strict.asarray(1.0))
A = np.asarray([0.5, -1.0, 2.0])


class StrictTape(Tape):
    """The recorded calls of a function of strict arrays."""

    def __init__(self, recorded: Recorded) -> None:
        self.recorded, self.outputs = recorded, recorded.outputs

    def pull(self, cotangents: Any, targets: Sequence[int]) -> list[Any]:
        return self.recorded.pull(cotangents, targets, accumulate=False)

    def pulled(self, cotangents: Any, targets: Sequence[int]) -> "StrictTape":
        return StrictTape(self.recorded.pulled(cotangents, targets))


class Strict(Framework):
    """The framework."""

    def flatten(self, tree: Any) -> Any:
        leaves, structure = flatten(tree)
        return leaves, list(structure.paths()), structure.build

    def owns(self, leaf: Any) -> bool:
        return type(leaf) is STRICT

    def run(self, f: Any, call: Any, inputs: Any, active: Sequence[int], recorded: bool) -> Run:
        if not active:
            leaves, structure = flatten(call(inputs))
            return Run([y._array for y in leaves], structure.build, None, [None] * len(leaves))
        structures = []

        def function(variables: list[Variable]) -> list[Variable]:
            given = dict(zip(active, variables, strict=True))
            leaves, structure = flatten(call([given.get(i, x) for i, x in enumerate(inputs)]))
            structures.append(structure)
            return leaves

        chosen = [inputs[i] for i in active]
        tape = StrictTape(Recorded("strict", function, chosen, range(len(active))))
        return Run(tape.outputs, structures[0].build, tape, list(range(len(tape.outputs))))


@pytest.fixture
def framework() -> Strict:
    return Strict(xpgrad.get_device("@strict").backend)


def function(x: Any, y: Any) -> Any:
    return [xp.sum(x**3 * y), xp.sin(y)]


@pytest.fixture
def door(framework: Strict) -> Callable[..., Any]:
    return lambda *args, **kwargs: call("door", framework, None, function, args, kwargs)


def test_results_are_on_the_device_of_the_arguments(door: Callable[..., Any]) -> None:
    first, second = door(Variable(A), A + 1)
    assert type(first.array) is np.ndarray
    np.testing.assert_allclose(first.array, np.sum(A**3 * (A + 1)))
    assert first.requires_grad
    assert not door(A, A)[0].requires_grad
    with xpgrad.no_backprop_mode():
        assert not door(Variable(A), A)[0].requires_grad
    del second


def test_gradients_of_any_order(door: Callable[..., Any]) -> None:
    y = A + 1
    x, v = Variable(A), Variable(y)
    first, second = door(x, v)
    (first + xp.sum(second)).backward()
    np.testing.assert_allclose(x.grad, 3 * A**2 * y)
    np.testing.assert_allclose(v.grad, A**3 + np.cos(y))
    g2 = grad(lambda x: xp.sum(grad(lambda x: door(x, y)[0])(x)))
    np.testing.assert_allclose(g2(A), 6 * A * y)
    g3 = grad(lambda x: xp.sum(g2(x)))
    np.testing.assert_allclose(g3(A), 6 * y)


def test_a_released_tape_is_an_error(door: Callable[..., Any]) -> None:
    x = Variable(A)
    first = door(x, A)[0]
    first.backward(retain_graph=False)
    with pytest.raises(GraphError, match="retain_graph=False"):
        first.backward()


def test_arguments_are_checked(door: Callable[..., Any]) -> None:
    with pytest.raises(UnknownArray, match=r"door: argument 0 at \['w'\]: the Variable is uninitialised"):
        door({"w": Variable()}, A)
    with pytest.raises(
        BackendMismatch, match="door: expected arrays of one device, got @numpy and, for argument 'y', @"
    ):
        door(Variable(A), y=Variable(array_api_strict.asarray([1.0])))
    with pytest.raises(xpgrad.ShapeError) as caught:
        door(Variable(A), np.ones(2))
    assert "in door, called with float64 (3,), float64 (2,)" in caught.value.__notes__


def test_a_batch_raises(door: Callable[..., Any]) -> None:
    with pytest.raises(
        BatchError, match="door: arrays within vmap cannot be passed to another framework; call it outs"
    ):
        vmap(lambda x: door(x, A)[0])(np.ones((2, 3)))


def test_the_place_of_an_argument() -> None:
    assert place_of((0, 2, "w", 0)) == "argument 2 at ['w'][0]"
    assert place_of((1, "scale")) == "argument 'scale'"
