"""Family V, the current device: new arrays are created on it by default, in nested scopes and in threads."""

from collections.abc import Callable
from typing import Any

from xpgrad import Device, FunctionNode, Variable, using_device
from xpgrad.array_api.namespace import namespace
from xpgrad.backend.current import current_device
from xpgrad_conformance.check import check
from xpgrad_conformance.checks.concurrent_calls import in_another_thread
from xpgrad_conformance.subject import Subject
from xpgrad_conformance.table.comparisons import assert_place

CREATION: dict[str, Callable[..., Any]] = {
    "zeros": lambda xp, **where: xp.zeros((2, 3), **where),
    "ones": lambda xp, **where: xp.ones((2, 3), **where),
    "full": lambda xp, **where: xp.full((2, 3), 1.5, **where),
    "empty": lambda xp, **where: xp.empty((2, 3), **where),
    "arange": lambda xp, **where: xp.arange(5, **where),
    "linspace": lambda xp, **where: xp.linspace(0.0, 1.0, 5, **where),
    "eye": lambda xp, **where: xp.eye(2, 3, **where),
    "asarray of a list": lambda xp, **where: xp.asarray([1.5, 2.5], **where),
    "asarray of a number": lambda xp, **where: xp.asarray(1.5, **where),
}
LIKE: dict[str, Callable[..., Any]] = {
    "zeros_like": lambda xp, x, **where: xp.zeros_like(x, **where),
    "ones_like": lambda xp, x, **where: xp.ones_like(x, **where),
    "full_like": lambda xp, x, **where: xp.full_like(x, 1.5, **where),
    "empty_like": lambda xp, x, **where: xp.empty_like(x, **where),
    "asarray of an array": lambda xp, x, **where: xp.asarray(x, **where),
    "astype": lambda xp, x, **where: xp.astype(x, xp.float32, **where),
}


def _made(device: Device, y: Variable, what: str) -> None:
    assert_place(device, y.array, what)


def _assert_current(device: Device, what: str) -> None:
    """Raise AssertionError unless xpgrad, and the library if it has a current device, create arrays on `device`."""
    assert current_device() == device, f"{what} the current device is {current_device()}, expected {device}"
    _made(device, namespace(device.backend).zeros((2,)), f"zeros((2,)) {what}")
    if device.backend.has_current_device:
        found = Device.from_array(device.backend.namespace.zeros((2,)))
        assert found == device, f"{what} the library's own current device is {found}, expected {device}"


@check("V21")
def creation(s: Subject) -> None:
    """Arrays are created on the device given by `device=`, else on the device of the scope or of the given array."""
    here, there = s.pair
    xp = namespace(here.backend)
    xs = {home: s.variable(s.values((3, 4), dtype="float64"), device=home) for home in s.pair}
    for scope in (there, here):
        with using_device(scope):
            for name, make in CREATION.items():
                _made(scope, make(xp), f"{name} in a scope of {scope}")
                for target in (there, here):
                    for given in (target, target.name, target.handle):
                        _made(target, make(xp, device=given), f"{name}(device={given!r}) in a scope of {scope}")
            for home, x in xs.items():
                what = f"of an array on {home}, in a scope of {scope},"
                for name, make in LIKE.items():
                    _made(home, make(xp, x), f"{name} {what}")
                    for target in (there, here):
                        _made(target, make(xp, x, device=target), f"{name}(device={target.name!r}) {what}")
                _made(home, xp.sum(xp.exp(x) * x + 1.5, axis=0), f"a sum {what}")


@check("V23")
def nested(s: Subject) -> None:
    """Scopes nest, and the device before is current again after each, after an exception too."""
    here, there = s.pair
    before = current_device()
    scope = using_device(there)
    with using_device(here):
        _assert_current(here, "in a scope,")
        with scope:
            _assert_current(there, "in a scope within it,")
            with using_device(here), scope:
                _assert_current(there, "in a scope that is entered again,")
            _assert_current(there, "after a scope that was entered again,")
        _assert_current(here, "after a scope within it,")
        try:
            with using_device(there):
                raise KeyError("left")
        except KeyError:
            pass
        _assert_current(here, "after a scope that an exception left,")
        here.use()
    assert current_device() == before, f"after all scopes the current device is {current_device()}, it was {before}"


@check("V24")
def computing_changes_no_device(s: Subject) -> None:
    """A computation on a device does not change the current device, even if the computation fails."""
    here, there = s.pair
    xp = namespace(here.backend)
    for current, other in ((here, there), (there, here)):
        with using_device(current):
            x = s.variable(s.values((3, 4), dtype="float64"), device=other)
            y = xp.sum(xp.exp(x) * x)
            y.backward(enable_double_backprop=True)
            _made(other, y, f"the result computed from an array on {other} while {current} is current")
            _assert_current(current, f"after a computation on {other},")
            s.raises(Exception, lambda x=x: xp.matmul(x, x), "matmul of two (3, 4) matrices")
            _assert_current(current, f"after a matmul on {other} that failed,")
            z = xp.sum(_Failing().apply((x * 2.0,))[0])
            s.raises(ArithmeticError, z.backward, "a sweep through a function whose backward raises")
            _assert_current(current, f"after a sweep on {other} that failed,")


class _Failing(FunctionNode):
    """A function whose backward fails; a class, because no rule may raise."""

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the input, doubled."""
        return (inputs[0] * 2.0,)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        """Fail."""
        raise ArithmeticError("this backward fails")


@check("V25", needs=("threads",))
def threads(s: Subject) -> None:
    """A scope applies to one thread: another thread starts from the default, and does not change this scope."""
    here, there = s.pair
    xp = namespace(here.backend)
    default = in_another_thread(current_device)

    def created() -> Device | None:
        return Device.from_array(here.backend.namespace.zeros((2,)))

    first = in_another_thread(created)
    with using_device(there):
        found = in_another_thread(current_device)
        assert found == default, f"in a thread begun within a scope of {there} {found} is current, expected {default}"
        if here.backend.has_current_device:
            made = in_another_thread(created)
            assert made == first, f"in a thread begun within a scope of {there} the library computes on {made}"

        def other() -> None:
            with using_device(here):
                _assert_current(here, "in a scope of another thread,")
            here.use()
            _assert_current(here, "after Device.use in another thread,")

        in_another_thread(other)
        _assert_current(there, "in a scope, after another thread has used another device,")
        x = s.variable(s.values((3, 4), dtype="float64"), device=here)
        y = in_another_thread(lambda: xp.sum(x * x, axis=0) * 1.5)
        _made(here, y, f"the result of another thread from an array on {here}")
        in_another_thread(lambda: xp.sum(y).backward())
        assert_place(here, x.grad, f"the gradient that another thread computed of an array on {here}")
