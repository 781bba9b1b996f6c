"""Moving between any two places: one test for all pairs of devices, and one for moves that fail half-way."""

import contextlib
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.building import place, values
from tests.core.toy_arrays import Plugin, registered
from tests.devices import device_or_skip

import xpgrad
import xpgrad.array_api as A
import xpgrad.functions as F
from xpgrad import Device, Parameter, Variable
from xpgrad.backend import transfer as transfers
from xpgrad.errors import BackendUnavailable
from xpgrad.testing.arrays import on_host, placed

PLACES = (
    "@numpy", "@strict:cpu", "@strict:device1", "@strict:device2", "@toy:cpu", "@toy:away", "native:0", "native:1",
    "@torch:cpu", "@cupy:0",
)  # fmt: skip
ARRAYS = {
    "float32": np.asarray([[0.5, -1.5, 2.0], [3.0, 4.5, -6.0]], np.float32),
    "complex": np.asarray([1 + 2j, 3 - 4j]),
    "integer": np.asarray([1, 2, 3], np.int16),
    "boolean": np.asarray([True, False]),
    "0-d": np.asarray(2.5),
    "empty": np.zeros((0, 3)),
    "reversed": np.arange(6.0)[::-2],
    "transposed": np.arange(6.0).reshape(2, 3).T,
    "read-only": np.broadcast_to(np.float32(1.5), (2, 2)),
}
FLOATING = [name for name, values in ARRAYS.items() if values.dtype.kind in "fc"]


@pytest.fixture(autouse=True, scope="module")
def _toy_arrays() -> Iterator[None]:
    with registered(Plugin()):
        yield


@pytest.fixture(params=PLACES)
def moves(request: pytest.FixtureRequest) -> list[tuple[Device, Device]]:
    """Moves from a device to every other one that is here."""
    first, others = device_or_skip(request.param), []
    for name in PLACES:
        with contextlib.suppress(pytest.skip.Exception):
            others.append(device_or_skip(name))
    return [(first, second) for second in others if second != first]


def there(name: str, device: Device) -> Any:
    """Return an array on a device; on the host with the named layout."""
    return ARRAYS[name] if device.name == "@numpy" else placed(ARRAYS[name], device)


def test_everything_arrives(moves: list[tuple[Device, Device]]) -> None:
    for first, second in moves:
        for name, expected in ARRAYS.items():
            x = Variable(there(name, first), name=name)
            node, (seen, remove) = x.node, _hooked(x)
            if name in FLOATING:
                x.grad = placed(2 * expected, first)
            assert x.to_device(second) is x
            assert (x.device, x.node.device, x.name, x.requires_grad) == (second, second, name, True), name
            assert (x.rank, x.creator_node) == (0, None)
            assert x.node is not node
            np.testing.assert_array_equal(on_host(x), expected)
            assert on_host(x).dtype == expected.dtype
            if name in FLOATING:
                assert place(x.grad) == place(x.array)
                np.testing.assert_array_equal(on_host(x.grad), 2 * expected)
                assert x.grad_var.device == second
                x.cleargrad()
                F.sum(A.real(x * x) if name == "complex" else x * x).backward()
                np.testing.assert_allclose(on_host(x.grad), 2 * np.conj(expected), rtol=1e-6)
                assert len(seen) == 1
            remove()
            x.to_device(first)
            assert x.device == first
            np.testing.assert_array_equal(on_host(x), expected)


def _hooked(x: Variable) -> Any:
    seen: list[Any] = []
    return seen, x.register_hook(lambda g: seen.append(g.device))


def test_moved_array_shares_no_memory(moves: list[tuple[Device, Device]]) -> None:
    for first, second in moves:
        array, gradient = placed(np.ones(3), first), placed(np.full(3, 2.0), first)
        x = Variable(array)
        x.grad = gradient
        x.to_device(second)
        if not first.backend.immutable:
            for old in (array, gradient):
                old[...] = placed(np.asarray(7.0), first)
        assert (values(x), values(x.grad)) == ([1.0] * 3, [2.0] * 3)
        if not second.backend.immutable:
            for new in (x.array, x.grad):
                new[...] = placed(np.asarray(5.0), second)
            assert values(array) == values(gradient) == [1.0 if first.backend.immutable else 7.0] * 3


def test_within_a_graph_the_gradient_returns(moves: list[tuple[Device, Device]]) -> None:
    for first, second in moves:
        for name in FLOATING:
            x = Variable(there(name, first))
            y = F.copy(x * x, second)
            assert (y.device, x.device) == (second, first)
            y.grad = placed(ARRAYS[name] + 1, second)
            y.backward()
            assert place(x.grad) == place(x.array)
            np.testing.assert_allclose(on_host(x.grad), 2 * np.conj(ARRAYS[name]) * (ARRAYS[name] + 1), rtol=1e-6)
            x.cleargrad()
            z = x * x
            seen, _ = _hooked(z)
            z.to_device(second)
            z = F.sum(A.real(z * z) if name == "complex" else z * z)
            (gx,) = xpgrad.grad([z], [x], enable_double_backprop=True)
            assert gx.device == first
            assert len(seen) == 1
            np.testing.assert_allclose(on_host(gx), 4 * np.conj(ARRAYS[name]) ** 3, rtol=1e-6)
            (ggx,) = xpgrad.grad([F.sum(A.real(gx) if name == "complex" else gx)], [x])
            np.testing.assert_allclose(on_host(ggx), 12 * np.conj(ARRAYS[name] ** 2), rtol=1e-6)


def test_raw_and_recorded_gradients_are_equal_to_the_bit(moves: list[tuple[Device, Device]]) -> None:
    for first, second in moves:
        x = Variable(placed(np.linspace(0.1, 0.9, 5), first))
        y = F.sum(F.exp(F.copy(F.tanh(x), second)) * F.copy(x, second))
        raw, recorded = (xpgrad.grad([y], [x], enable_double_backprop=each)[0] for each in (False, True))
        assert on_host(raw).tobytes() == on_host(recorded).tobytes(), second


def test_parameters_move_and_are_made_where_they_were_sent(moves: list[tuple[Device, Device]]) -> None:
    for first, second in moves:
        p = Parameter(3.0, name="W").to_device(first).to_device(second)
        assert not p.is_initialized
        p.initialize((2,))
        assert (p.device, p.name, values(p)) == (second, "W", [3.0, 3.0])
        assert place(p.grad) == place(p.array)
        p.to_device(first)
        assert (p.device, values(p), place(p.grad)) == (first, [3.0, 3.0], place(p.array))
        other = Variable(placed(np.ones(2, np.float32), second), grad=placed(np.full(2, 4.0, np.float32), second))
        p.cleargrad()
        p.addgrad(other)
        p.addgrad(other)
        p.copydata(other)
        assert (p.device, values(p), values(p.grad)) == (first, [1.0, 1.0], [8.0, 8.0])


# Moves that fail half-way

ERRORS = [
    RuntimeError("the device is gone"),
    MemoryError("no memory is left"),
    BackendUnavailable("gone: the driver has been unloaded"),
]
HALVES = {
    "the gradient moves, the data do not": 2,
    "the data do not move": 1,
}
SOME = [
    ("@numpy", "@strict:device1"),
    ("@strict:device1", "@strict:device2"),
    ("@toy:cpu", "@numpy"),
    ("@strict:cpu", "@toy:away"),
    ("native:0", "@strict:device1"),
    ("@numpy", "@cupy:0"),
]


@pytest.fixture(params=SOME, ids=" to ".join)
def some(request: pytest.FixtureRequest) -> tuple[Device, Device]:
    """Two devices of different kinds."""
    first, second = map(device_or_skip, request.param)
    return first, second


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Let the move that comes next but n - 1 fail."""

    def arrange(number: int, error: Exception) -> None:
        moves = itertools.count(1)

        def route(array: Any, source: Device, target: Device) -> Any:
            if next(moves) == number:
                raise error
            return NotImplemented

        monkeypatch.setattr(transfers, "ROUTES", (("a wire", route), *transfers.ROUTES))

    return arrange


def _state(x: Variable) -> list[Any]:
    """Return the state that must not change: the objects themselves, and their contents."""
    held = [x.array, x._grad, x.node, x.creator_node, x.name, str(x.device), x.requires_grad]
    return [*map(id, held[:4]), *held[4:], None if x.array is None else values(x), values(x._grad)]


@pytest.mark.parametrize("half", HALVES.values(), ids=HALVES.keys())
@pytest.mark.parametrize("kind", ["root", "inside a graph", "recorded gradient", "parameter"])
def test_a_move_that_fails_half_way_leaves_the_state_unchanged(
    some: tuple[Device, Device], failing: Any, kind: str, half: int
) -> None:
    first, second = some
    for error in ERRORS:
        leaf = x = (Parameter if kind == "parameter" else Variable)(placed(np.asarray([1.0, 2.0]), first))
        if kind == "inside a graph":
            x = leaf * leaf
        x.name = "x"
        if kind == "recorded gradient":
            F.sum(x * x * x).backward(enable_double_backprop=True)
        else:
            x.grad = placed(np.asarray([3.0, 4.0]), first)
        before = _state(x)
        failing(half, error)
        with pytest.raises(type(error), match=str(error)) as caught:
            x.to_device(second)
        assert caught.value.__notes__[-1] == f"while {leaf.dtype} (2,) was moved from {first} to {second}"
        error.__notes__.clear()
        assert _state(x) == before
        x.to_device(second)  # the next move does not fail
        assert (x.device, place(x.grad)) == (second, place(x.array))
        leaf.cleargrad()
        F.sum(x * x).backward()
        assert place(leaf.grad) == place(leaf.array)


def test_exchanges_that_fail_leave_both_sides(some: tuple[Device, Device], failing: Any) -> None:
    first, second = some
    gone = RuntimeError("the device is gone")
    for fresh in (
        Parameter(7.0).to_device(first),
        Variable(None).to_device(first),
        Variable(placed(np.zeros(2), first)),
    ):
        source = Variable(placed(np.ones(2), second), grad=placed(np.ones(2), second))
        before = fresh.array, fresh._grad, fresh.node, source.array, source.grad
        for exchange in (fresh.addgrad, fresh.copydata):
            failing(1, gone)
            with pytest.raises(RuntimeError, match="gone"):
                exchange(source)
            after = fresh.array, fresh._grad, fresh.node, source.array, source.grad
            assert all(a is b for a, b in zip(before, after, strict=True))
            assert fresh.device == first


def test_a_sweep_with_a_failing_move_leaves_the_state_unchanged(some: tuple[Device, Device], failing: Any) -> None:
    first, second = some
    x = Variable(placed(np.ones(2), first))
    y = F.sum(F.copy(x, second) * 2.0)
    failing(1, RuntimeError("the device is gone"))
    with pytest.raises(RuntimeError, match="gone"):
        y.backward()
    assert x.grad is None
    y.backward()
    assert values(x.grad) == [2.0, 2.0]


@pytest.mark.parametrize("half", [1, 2, 3])
@pytest.mark.parametrize("inside", [False, True], ids=["root", "inside a graph"])
def test_sharing_that_fails_half_way_leaves_the_state_unchanged(
    monkeypatch: pytest.MonkeyPatch, inside: bool, half: int
) -> None:
    native: Any = device_or_skip("native:0").backend
    leaf = Variable(np.asarray([1.0, 2.0]))
    x = leaf * leaf if inside else leaf
    x.grad = np.asarray([3.0, 4.0])
    for method, function in (("to_chx", "wrap"), ("from_chx", "unwrap")):
        before, calls = _state(x), itertools.count(1)
        convert = getattr(native, function)

        def failing(array: Any, convert: Any = convert, calls: Any = calls) -> Any:
            if next(calls) == half:
                raise MemoryError("no memory is left")
            return convert(array)

        with monkeypatch.context() as patched:
            patched.setattr(native, function, failing)
            with pytest.raises(MemoryError):
                getattr(x, method)()
        assert _state(x) == before
        data = x._array
        assert getattr(x, method)() is x
        assert type(x.array) is not type(data)
        assert values(x) == values(data)
    assert type(x.array) is np.ndarray
    F.sum(x * x).backward()
    assert values(leaf.grad) == ([4.0, 32.0] if inside else [5.0, 8.0])
