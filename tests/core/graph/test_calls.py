"""Call paths: which one serves a call, and that a kernel that raised is not called again."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import xpgrad
import xpgrad.array_api as xp
from xpgrad import FunctionNode, Parameter, Variable, elementwise, primitive
from xpgrad.array_api.indexing import getitem
from xpgrad.graph import general

FOLDER = str(Path(general.__file__).parent)
PATHS = {"apply", "binary", "indexed", "n_ary", "parameterised", "reflected", "sequence", "unary"}
X, W, M = Variable(np.ones(3)), Variable(np.full(3, 2.0)), Variable(np.ones((2, 3)))
P = Parameter(np.ones(3))
WHOLE, SINGLE = Variable(np.ones(3, dtype=np.int64)), Variable(np.ones(3, dtype=np.float32))
ARRAY = np.ones(3)

CALLS: list[tuple[str, Callable[[], Any]]] = [
    ("unary", lambda: xp.tanh(X)),
    ("unary", lambda: xp.exp(P)),
    ("unary", lambda: -X),
    ("unary", lambda: +SINGLE),
    ("unary", lambda: abs(X)),
    ("unary", lambda: xp.isnan(X)),
    ("unary", lambda: ~(X > 0)),
    ("unary", lambda: xp.sign(WHOLE)),
    ("binary", lambda: X + W),
    ("binary", lambda: X * P),
    ("binary", lambda: P * X),
    ("binary", lambda: X - M),
    ("binary", lambda: X * SINGLE),
    ("binary", lambda: X * WHOLE),
    ("binary", lambda: X @ W),
    ("binary", lambda: M @ X),
    ("binary", lambda: X < W),
    ("binary", lambda: X == 1.0),
    ("binary", lambda: X * 2.0),
    ("binary", lambda: X / 3),
    ("unary", lambda: X**2.0),
    ("binary", lambda: X * float("inf")),
    ("binary", lambda: X * np.float64(2.0)),
    ("binary", lambda: SINGLE * np.int64(2)),
    ("binary", lambda: X + ARRAY),
    ("binary", lambda: M @ ARRAY),
    ("binary", lambda: xp.add(X, 1.0)),
    ("binary", lambda: xp.maximum(X, W)),
    ("binary", lambda: xp.atan2(X, 2)),
    ("binary", lambda: xp.matmul(M, X)),
    ("reflected", lambda: 2.0 - X),
    ("reflected", lambda: 1 / X),
    ("reflected", lambda: 2 * P),
    ("reflected", lambda: 2.0**X),
    ("reflected", lambda: np.float64(2.0) * X),
    ("reflected", lambda: ARRAY + X),
    ("parameterised", lambda: xp.sum(M)),
    ("parameterised", lambda: M.sum(axis=0)),
    ("parameterised", lambda: xp.mean(M, axis=(0, 1), keepdims=True)),
    ("parameterised", lambda: xp.reshape(M, (6,))),
    ("parameterised", lambda: xp.permute_dims(M, (1, 0))),
    ("parameterised", lambda: xp.broadcast_to(X, (2, 3))),
    ("parameterised", lambda: xp.sum(np.float64(1) * M, axis=np.int64(0))),
    ("indexed", lambda: X[0]),
    ("indexed", lambda: X[1:]),
    ("indexed", lambda: M[0, ..., None]),
    ("sequence", lambda: xp.concat([X, W])),
    ("sequence", lambda: xp.concat((M, M), axis=1)),
    ("sequence", lambda: xp.stack([X, P])),
    ("n_ary", lambda: xp.where(X > 0, X, W)),
    ("n_ary", lambda: xp.where(X > 0, X, 0.0)),
    ("apply", lambda: X * True),
    ("apply", lambda: X * 2j),
    ("apply", lambda: WHOLE * 2),
    ("apply", lambda: WHOLE * 2.0),
    ("apply", lambda: 2 * WHOLE),
    ("apply", lambda: xp.tanh(ARRAY)),
    ("apply", lambda: xp.add(ARRAY, X)),
    ("apply", lambda: xp.sum(ARRAY)),
    ("apply", lambda: xp.concat([ARRAY, X])),
    ("apply", lambda: xp.where(X > 0, WHOLE, 0.5)),
]


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


@pytest.mark.parametrize(("path", "call"), CALLS)
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


ONCE: list[tuple[str, Any, Callable[[], Any]]] = [
    ("tanh", xp.tanh, lambda: xp.tanh(X)),
    ("negative", xp.negative, lambda: -X),
    ("multiply", xp.multiply, lambda: X * W),
    ("multiply", xp.multiply, lambda: xp.multiply(X, P)),
    ("multiply", xp.multiply, lambda: X * 2.0),
    ("multiply", xp.multiply, lambda: xp.multiply(X, 2)),
    ("multiply", xp.multiply, lambda: X * np.float64(2.0)),
    ("multiply", xp.multiply, lambda: X * ARRAY),
    ("multiply", xp.multiply, lambda: 2.0 * X),
    ("multiply", xp.multiply, lambda: ARRAY * X),
    ("multiply", xp.multiply, lambda: X * SINGLE),
    ("multiply", xp.multiply, lambda: X * True),
    ("multiply", xp.multiply, lambda: xp.multiply(ARRAY, X)),
    ("matmul", xp.matmul, lambda: M @ X),
    ("sum", xp.sum, lambda: xp.sum(M)),
    ("sum", xp.sum, lambda: M.sum(axis=0)),
    ("reshape", xp.reshape, lambda: xp.reshape(M, (6,))),
    ("getitem", getitem, lambda: X[0]),
    ("getitem", getitem, lambda: M[0, 1:]),
    ("getitem", getitem, lambda: X[np.asarray([0, 1])]),
    ("concat", xp.concat, lambda: xp.concat([X, W], axis=0)),
    ("concat", xp.concat, lambda: xp.concat([ARRAY, X])),
    ("stack", xp.stack, lambda: xp.stack([X, W])),
    ("where", xp.where, lambda: xp.where(X > 0, X, W)),
    ("clip", xp.maximum, lambda: xp.clip(X, 0.5, None)),
]


@pytest.mark.parametrize("switch", ["train", "debug", "detect_mutation"])
@pytest.mark.parametrize(("name", "function", "call"), ONCE)
def test_kernel_that_raised_is_not_called_again(
    name: str, function: Any, call: Callable[[], Any], switch: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    call()
    plan = function.definition.plans[np.ndarray]
    for error, raised in ((ValueError("out of luck"), ValueError), (ZeroDivisionError("none"), ZeroDivisionError)):
        kernel = RaisesOnce(error, plan.kernel)
        with monkeypatch.context() as patch, xpgrad.using_config(switch, True):
            patch.setattr(plan, "kernel", kernel)
            with pytest.raises(raised) as caught:
                call()
        assert kernel.calls == 1
        if raised is ValueError:
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
    class Picky(FunctionNode):
        calls = 0

        def forward(self, inputs: Any) -> Any:
            self.calls += 1
            raise ValueError("not today")

    function = Picky()
    with pytest.raises(ValueError, match="not today"):
        function.apply((X,))
    assert function.calls == 1


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
