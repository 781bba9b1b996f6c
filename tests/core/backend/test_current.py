from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.core.backend.third_party import ThirdParty
from tests.devices import lacking
from tests.faults.seeded.current import with_current_device
from tests.faults.testbed import Testbed
from tests.threads import in_thread
from tests.turn import half_of

import xpgrad
import xpgrad.functions as F
from xpgrad.backend.current import call_on, current_device, set_current_device
from xpgrad.backend.plugins import plugins
from xpgrad.backend.transfer import copyto
from xpgrad.dataset import concat_examples
from xpgrad.testing.arrays import on_host
from xpgrad_conformance.cases import CASES
from xpgrad_conformance.table.scenario import Scenario
from xpgrad_conformance.table.table import verify


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    before = plugins.default_device
    yield
    plugins.default_device = before
    set_current_device(None)


def test_the_host_is_current_by_default() -> None:
    assert str(current_device()) == "@numpy"


def test_using_device_is_undone_also_after_an_error() -> None:
    with xpgrad.using_device("@strict:device1") as outer:
        with pytest.raises(KeyError), xpgrad.using_device("@strict:device2"):
            raise KeyError
        assert current_device() == outer
    assert str(current_device()) == "@numpy"


def test_an_active_context_is_reentrant() -> None:
    context = xpgrad.using_device("@strict:device1")
    with context, xpgrad.using_device(-1) as host, context:
        assert str(host) == "@numpy"
        assert str(current_device()) == "@strict:device1"
    assert str(current_device()) == "@numpy"


def test_a_thread_starts_from_the_default_of_the_process() -> None:
    with xpgrad.using_device("@strict:device1"):
        assert str(in_thread(current_device)) == "@numpy"
    xpgrad.use("@strict:device2")
    assert str(in_thread(current_device)) == "@strict:device2"


def test_the_choice_of_a_thread_stays_there() -> None:
    def choose() -> xpgrad.Device:
        xpgrad.get_device("@strict:device1").use()
        return current_device()

    assert str(in_thread(choose)) == "@strict:device1"
    assert str(current_device()) == "@numpy"


def test_use_returns_the_device_and_raises_for_other_objects() -> None:
    assert str(xpgrad.use("@strict")) == "@strict:cpu"
    for choose in (xpgrad.use, xpgrad.using_device):
        with pytest.raises(xpgrad.SpecifierError):
            choose("@foo")
    assert str(current_device()) == "@strict:cpu"


def test_arrays_are_created_on_the_current_device() -> None:
    with xpgrad.using_device("@strict:device1") as device:
        assert xpgrad.array_api.zeros((2,)).device == device


def test_a_function_is_called_on_the_device_of_an_array() -> None:
    array = xpgrad.get_device("@strict:device1").send(xpgrad.random.uniform((2,)))
    assert str(call_on(array, current_device)) == "@strict:device1"
    assert str(current_device()) == "@numpy"


def test_the_environment_sets_the_default(third_party: ThirdParty) -> None:
    program = "import xpgrad; print(xpgrad.get_device(), xpgrad.array_api.zeros((1,)).device)"
    assert third_party.run(program, XPGRAD_DEVICE="@strict:device1") == "@strict:device1 @strict:device1"
    assert third_party.run(program, XPGRAD_DEVICE=" ") == "@numpy @numpy"
    assert third_party.run(program, XPGRAD_DEVICE="-1") == "@numpy @numpy"


@pytest.mark.parametrize(
    ("specifier", "error"),
    [
        ("@foo", "SpecifierError: XPGRAD_DEVICE=@foo: get_device: unknown device '@foo'"),
        ("@chx:7", "BackendUnavailable: XPGRAD_DEVICE=@chx:7: chx: disabled by XPGRAD_DISABLE_BACKENDS"),
    ],
)
def test_a_wrong_default_in_the_environment_is_an_error(third_party: ThirdParty, specifier: str, error: str) -> None:
    done = third_party.attempt(
        "import xpgrad; xpgrad.get_device()", XPGRAD_DEVICE=specifier, XPGRAD_DISABLE_BACKENDS="chx"
    )
    assert error in done.stderr.splitlines()[-1]


@pytest.fixture
def second() -> xpgrad.Device:
    """The second device of a library with a current device; the first device is current."""
    bed = Testbed()
    with_current_device(bed)
    return bed.devices()[1]


def test_gradients_accumulate_on_the_device_of_their_array(second: xpgrad.Device) -> None:
    x = xpgrad.Variable(second.send(np.asarray([1.0, 2.0])))
    for _ in range(2):
        F.sum(x * x).backward()
    assert second.is_array_supported(x.grad)
    assert on_host(x.grad).tolist() == [4.0, 8.0]


@pytest.mark.parametrize("area", ["F", "ops"])
def test_functions_compute_on_the_device_of_their_arguments(second: xpgrad.Device, area: str) -> None:
    cases = [case for case in CASES if case.area == area and lacking(second.backend.name, case.needs) is None]
    chosen = [case.name for case in half_of(cases)]
    for case in cases:  # a gradient needs the value, too
        verify("gradient" if case.name in chosen else "value", Scenario(case, second, "float64"))


@pytest.mark.parametrize("padding", [None, 0.0])
def test_batches_are_stacked_and_padded_on_the_device_of_the_examples(second: xpgrad.Device, padding: Any) -> None:
    rows = [second.send(np.asarray([1.0, 2.0])[: None if padding is None else n]) for n in (2, 1)]
    batch = concat_examples(rows, padding=padding)
    assert second.is_array_supported(batch)
    assert on_host(batch).tolist() == [[1.0, 2.0], [1.0, 2.0 if padding is None else 0.0]]


def test_dropout_draws_and_scales_on_the_device_of_its_input(second: xpgrad.Device) -> None:
    x = xpgrad.Variable(second.send(np.ones(100)))
    with xpgrad.using_config("train", True):
        y = F.dropout(x, 0.5)
    assert y.device == second
    assert set(on_host(y).tolist()) == {0.0, 2.0}


def test_copies_into_memory_broadcast_and_cast_on_its_device(second: xpgrad.Device) -> None:
    dst = second.send(np.zeros((2, 3), np.float32))
    copyto(dst, second.send(np.asarray([1.0, 2.0, 3.0])))
    assert on_host(dst).tolist() == [[1.0, 2.0, 3.0]] * 2
    x = xpgrad.Variable(second.send(np.zeros(3, np.float32)))
    x.copydata(xpgrad.Variable(np.asarray([1.0, 2.0, 3.0])))
    assert on_host(x).tolist() == [1.0, 2.0, 3.0]
    assert x.device == second
