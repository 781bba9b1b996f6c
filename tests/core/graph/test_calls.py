"""Call paths: which one serves a call, and that a kernel that raised is not called again."""

import itertools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
from tests.core.graph.nodes import node

import xpgrad
import xpgrad.array_api as xp
from xpgrad import Parameter, Variable, elementwise, primitive
from xpgrad.array_api.indexing import getitem
from xpgrad.graph import general

FOLDER = str(Path(general.__file__).parent)
PATHS = {"apply", "binary", "indexed", "n_ary", "parameterised", "reflected", "sequence", "unary"}
X, W, M = Variable(np.ones(3)), Variable(np.full(3, 2.0)), Variable(np.ones((2, 3)))
P = Parameter(np.ones(3))
WHOLE, SINGLE = Variable(np.ones(3, dtype=np.int64)), Variable(np.ones(3, dtype=np.float32))
ARRAY = np.ones(3)

CALLS: dict[str, tuple[Callable[[], Any], ...]] = {
    "unary": (lambda: xp.tanh(X), lambda: xp.exp(P), lambda: -X, lambda: +SINGLE, lambda: abs(X), lambda: xp.isnan(X),
        lambda: ~(X > 0), lambda: xp.sign(WHOLE), lambda: X**2.0),
    "binary": (lambda: X + W, lambda: X * P, lambda: P * X, lambda: X - M, lambda: X * SINGLE, lambda: X * WHOLE,
        lambda: X @ W, lambda: M @ X, lambda: X < W, lambda: X == 1.0, lambda: X * 2.0, lambda: X / 3,
        lambda: X * float("inf"), lambda: X * np.float64(2.0), lambda: SINGLE * np.int64(2), lambda: X + ARRAY,
        lambda: M @ ARRAY, lambda: xp.add(X, 1.0), lambda: xp.maximum(X, W), lambda: xp.atan2(X, 2),
        lambda: xp.matmul(M, X)),
    "reflected": (lambda: 2.0 - X, lambda: 1 / X, lambda: 2 * P, lambda: 2.0**X, lambda: np.float64(2.0) * X,
        lambda: ARRAY + X),
    "parameterised": (lambda: xp.sum(M), lambda: M.sum(axis=0), lambda: xp.mean(M, axis=(0, 1), keepdims=True),
        lambda: xp.reshape(M, (6,)), lambda: xp.permute_dims(M, (1, 0)), lambda: xp.broadcast_to(X, (2, 3)),
        lambda: xp.sum(np.float64(1) * M, axis=np.int64(0))),
    "indexed": (lambda: X[0], lambda: X[1:], lambda: M[0, ..., None]),
    "sequence": (lambda: xp.concat([X, W]), lambda: xp.concat((M, M), axis=1), lambda: xp.stack([X, P])),
    "n_ary": (lambda: xp.where(X > 0, X, W), lambda: xp.where(X > 0, X, 0.0)),
    "apply": (lambda: X * True, lambda: X * 2j, lambda: WHOLE * 2, lambda: WHOLE * 2.0, lambda: 2 * WHOLE,
        lambda: xp.tanh(ARRAY), lambda: xp.add(ARRAY, X), lambda: xp.sum(ARRAY), lambda: xp.concat([ARRAY, X]),
        lambda: xp.where(X > 0, WHOLE, 0.5)),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _without_detection_of_mutations() -> Iterator[None]:
    """Let calls use their fast path immediately; with the detection they use the general path first."""
    with xpgrad.using_config("detect_mutation", False):
        yield


@contextmanager
def watched_paths() -> Iterator[list[str]]:
    """Collect the names of the call paths that run."""
    seen: list[str] = []

    def note(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_name in PATHS and code.co_filename.startswith(FOLDER):
            seen.append(code.co_name)

    sys.setprofile(note)
    try:
        yield seen
    finally:
        sys.setprofile(None)


@pytest.mark.parametrize(("path", "call"), [(path, call) for path, calls in CALLS.items() for call in calls])
def test_call_takes_its_path(path: str, call: Callable[[], Any]) -> None:
    call()  # the first call with an array type makes the plan, which may call other functions
    with watched_paths() as seen:
        call()
    if path == "apply":
        assert "apply" in seen
    else:
        assert path in seen
        assert "apply" not in seen


def test_first_call_with_an_array_type_makes_the_plan_and_takes_the_path() -> None:
    function = elementwise(x=lambda xp, gy: gy)(_one)
    for expected in (["unary", "unary"], ["unary"]):
        with watched_paths() as seen:
            function(X)
        assert seen == expected


class RaisesOnce:
    """A kernel that raises in its first call, and would succeed in the next."""

    def __init__(self, error: Exception, kernel: Callable[..., Any]) -> None:
        self.error, self.kernel, self.calls = error, kernel, 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.calls += 1
        if self.calls == 1:
            raise self.error
        return self.kernel(*args, **kwargs)


ONCE: dict[str, tuple[Any, tuple[Callable[[], Any], ...]]] = {
    "tanh": (xp.tanh, (lambda: xp.tanh(X),)),
    "negative": (xp.negative, (lambda: -X,)),
    "multiply": (xp.multiply, (lambda: X * W, lambda: xp.multiply(X, P), lambda: X * 2.0, lambda: xp.multiply(X, 2),
        lambda: X * np.float64(2.0), lambda: X * ARRAY, lambda: 2.0 * X, lambda: ARRAY * X, lambda: X * SINGLE,
        lambda: X * True, lambda: xp.multiply(ARRAY, X))),
    "matmul": (xp.matmul, (lambda: M @ X,)),
    "sum": (xp.sum, (lambda: xp.sum(M), lambda: M.sum(axis=0))),
    "reshape": (xp.reshape, (lambda: xp.reshape(M, (6,)),)),
    "getitem": (getitem, (lambda: X[0], lambda: M[0, 1:], lambda: X[np.asarray([0, 1])])),
    "concat": (xp.concat, (lambda: xp.concat([X, W], axis=0), lambda: xp.concat([ARRAY, X]))),
    "stack": (xp.stack, (lambda: xp.stack([X, W]),)),
    "where": (xp.where, (lambda: xp.where(X > 0, X, W),)),
    "clip": (xp.maximum, (lambda: xp.clip(X, 0.5, None),)),
}  # fmt: skip


@pytest.mark.parametrize("switch", ["train", "debug", "detect_mutation"])
@pytest.mark.parametrize("name", ONCE)
def test_kernel_that_raised_is_not_called_again(name: str, switch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function, calls = ONCE[name]
    for call, error in itertools.product(calls, (ValueError("out of luck"), ZeroDivisionError("none"))):
        call()
        plan = function.definition.plans[np.ndarray]
        kernel = RaisesOnce(error, plan.kernel)
        with monkeypatch.context() as patch, xpgrad.using_config(switch, True):
            patch.setattr(plan, "kernel", kernel)
            with pytest.raises(type(error)) as caught:
                call()
        assert kernel.calls == 1
        if type(error) is ValueError:
            assert str(caught.value).startswith(f"{name}: out of luck; got ")
            assert caught.value.__cause__ is error
        else:
            assert caught.value is error


def _one(xp: Any, x: Any, /) -> Any:
    return x


def test_primitive_of_a_user_that_raises_is_not_called_again() -> None:
    calls = []

    @primitive()
    def picky(xp: Any, x: Any, /) -> Any:
        calls.append(x)
        if len(calls) in (1, 3):
            raise RuntimeError("not today")
        return x

    for expected in (1, 3):  # without a plan, and with one
        with pytest.raises(RuntimeError, match=r"picky: not today; got float64 \(3,\) on numpy"):
            picky(X)
        assert len(calls) == expected
        picky(X)
    assert len(calls) == 4


def test_forward_of_a_function_that_raises_is_not_called_again() -> None:
    calls = []

    def forward(self: Any, inputs: Any) -> Any:
        calls.append(inputs)
        raise ValueError("not today")

    with pytest.raises(ValueError, match="not today"):
        node(forward=forward).apply((X,))
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("call", "function", "parameters"),
    [
        (lambda x: xp.sum(x, axis=[0, 1]), xp.sum, {"axis": (0, 1)}),
        (lambda x: xp.reshape(x, [6]), xp.reshape, {"shape": (6,)}),
        (lambda x: xp.permute_dims(x, [1, 0]), xp.permute_dims, {"axes": (1, 0)}),
    ],
)
def test_parameter_that_the_library_rejects_is_converted_for_a_second_call(
    call: Callable[[Any], Any], function: Any, parameters: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    call(M)
    plan, given = function.definition.plans[np.ndarray], []
    kernel = plan.kernel

    def strict(x: Any, **values: Any) -> Any:
        given.append(values)
        if any(isinstance(value, list) for value in values.values()):
            raise TypeError("expected a tuple")
        return kernel(x, **values)

    monkeypatch.setattr(plan, "kernel", strict)
    call(M)
    assert len(given) == 2
    assert given[1] == given[0] | parameters
