import contextvars
import threading
from collections.abc import Iterator

import pytest
from tests.core.backend.strangers import Strangers

import xpgrad
from xpgrad.backend.current import call_on, current_device, set_current_device
from xpgrad.backend.plugins import plugins


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    before = plugins.default_device
    yield
    plugins.default_device = before
    set_current_device(None)


def in_a_thread(function: "contextvars.Context | object") -> object:
    found: list[object] = []
    thread = threading.Thread(target=lambda: found.append(function()))  # type: ignore[operator]  # a callable
    thread.start()
    thread.join()
    return found[0]


def test_the_host_is_current_by_default() -> None:
    assert str(current_device()) == "@numpy"


def test_using_device_is_undone_also_after_an_error() -> None:
    with xpgrad.using_device("@strict:device1") as outer:
        with pytest.raises(KeyError), xpgrad.using_device("@strict:device2"):
            raise KeyError
        assert current_device() == outer
    assert str(current_device()) == "@numpy"


def test_one_context_may_be_entered_again_while_it_is_active() -> None:
    context = xpgrad.using_device("@strict:device1")
    with context, xpgrad.using_device("@strict:device2"), context:
        assert str(current_device()) == "@strict:device1"
    assert str(current_device()) == "@numpy"


def test_a_thread_starts_from_the_default_of_the_process() -> None:
    with xpgrad.using_device("@strict:device1"):
        assert str(in_a_thread(current_device)) == "@numpy"
    xpgrad.use("@strict:device2")
    assert str(in_a_thread(current_device)) == "@strict:device2"


def test_the_choice_of_a_thread_stays_there() -> None:
    def choose() -> xpgrad.Device:
        xpgrad.get_device("@strict:device1").use()
        return current_device()

    assert str(in_a_thread(choose)) == "@strict:device1"
    assert str(current_device()) == "@numpy"


def test_use_returns_the_device_and_refuses_what_is_none() -> None:
    assert str(xpgrad.use("@strict")) == "@strict:cpu"
    with pytest.raises(xpgrad.SpecifierError):
        xpgrad.use("@foo")
    assert str(current_device()) == "@strict:cpu"


def test_arrays_are_created_on_the_current_device() -> None:
    with xpgrad.using_device("@strict:device1") as device:
        assert xpgrad.array_api.zeros((2,)).device == device


def test_a_function_is_called_on_the_device_of_an_array() -> None:
    array = xpgrad.get_device("@strict:device1").send(xpgrad.random.uniform((2,)))
    assert str(call_on(array, current_device)) == "@strict:device1"
    assert str(current_device()) == "@numpy"


def test_the_environment_sets_the_default(strangers: Strangers) -> None:
    program = "import xpgrad; print(xpgrad.get_device(), xpgrad.array_api.zeros((1,)).device)"
    assert strangers.run(program, XPGRAD_DEVICE="@strict:device1") == "@strict:device1 @strict:device1"
    assert strangers.run(program, XPGRAD_DEVICE=" ") == "@numpy @numpy"
    assert strangers.run(program, XPGRAD_DEVICE="-1") == "@numpy @numpy"


@pytest.mark.parametrize(
    ("specifier", "error"),
    [
        ("@foo", "SpecifierError: XPGRAD_DEVICE=@foo: get_device: unknown device '@foo'"),
        ("@chx:7", "BackendUnavailable: XPGRAD_DEVICE=@chx:7: chx: disabled by XPGRAD_DISABLE_BACKENDS"),
    ],
)
def test_a_wrong_default_in_the_environment_is_an_error(strangers: Strangers, specifier: str, error: str) -> None:
    done = strangers.attempt(
        "import xpgrad; xpgrad.get_device()", XPGRAD_DEVICE=specifier, XPGRAD_DISABLE_BACKENDS="chx"
    )
    assert error in done.stderr.splitlines()[-1]
