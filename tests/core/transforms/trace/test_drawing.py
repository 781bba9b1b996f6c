"""Random numbers in compiled functions: the numbers of the eager function, also in repeated draws."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from tests.core.transforms.trace.compiled_cases import assert_same

import xpgrad
import xpgrad.functions as F
from xpgrad import Variable, array_api, random, transforms
from xpgrad.errors import CompileWarning


@pytest.fixture(autouse=True)
def _compiled() -> Iterator[None]:
    with xpgrad.using_config("detect_mutation", False):
        yield


def dropped(x: Variable) -> Variable:
    """Two draws in one function."""
    return F.dropout(F.dropout(x, 0.5) * x * x, 0.3)


def recomputed(x: Variable) -> Variable:
    """Draws that a checkpoint repeats, and a draw that it does not repeat."""
    return F.dropout(transforms.checkpoint(dropped)(x)) * x


def gradient_inside(x: Variable) -> Any:
    """A gradient for which a checkpoint repeats its draws."""
    y = transforms.checkpoint(dropped)(x)
    return y, xpgrad.grad([y], [x], [array_api.ones_like(y)])


def calls(f: Callable[..., Any], twice: bool) -> list[Any]:
    """Return results and gradients of four calls with different numbers, and random numbers drawn between them."""
    random.seed(1)
    found = []
    for i in range(4):
        x = Variable(np.arange(1.0, 8.0) + i)
        y = f(x)
        first = y[0] if isinstance(y, tuple) else y
        (g,) = xpgrad.grad([first], [x], enable_double_backprop=twice)
        assert g is not None
        found += [y, g, random.uniform((2,)), xpgrad.grad([g], [x]) if twice else None]
    return found


@pytest.mark.parametrize("twice", [False, True], ids=["once", "twice"])
@pytest.mark.parametrize("f", [dropped, recomputed, gradient_inside])
def test_draws_and_repeated_draws_agree_with_eager_calls(f: Callable[..., Any], twice: bool) -> None:
    compiled = xpgrad.compile(f, exact=True, strict=True)
    assert_same(calls(compiled, twice), calls(f, twice), f.__name__)
    assert compiled.cache_info().hits == 2


def test_second_derivatives_use_the_configuration_of_the_call() -> None:
    compiled = xpgrad.compile(dropped)
    for _ in range(3):
        x = Variable(np.arange(1.0, 4.0))
        with xpgrad.using_config("train", False):
            y = compiled(x)
        (g,) = xpgrad.grad([y], [x], enable_double_backprop=True)
        assert g is not None
        assert_same([g.array], [3 * np.arange(1.0, 4.0) ** 2], "the gradient")


@pytest.mark.parametrize(
    "act",
    [lambda: random.seed(0), lambda: random.seed(0, "@numpy"), lambda: random.set_state(random.get_state())],
    ids=["seed", "seed of a device", "state"],
)
def test_functions_that_seed_the_stream_run_without_a_program(act: Callable[[], None]) -> None:
    def seeded(x: Variable) -> Any:
        act()
        return x + random.uniform(x.shape)

    compiled = xpgrad.compile(seeded)
    random.seed(1)
    expected = [seeded(Variable(np.zeros(3))) for _ in range(4)]
    random.seed(1)
    with pytest.warns(CompileWarning, match=r"random.* was called .*, in <lambda>"):
        got = [compiled(Variable(np.zeros(3))) for _ in range(4)]
    assert_same(got, expected, "the sums")
