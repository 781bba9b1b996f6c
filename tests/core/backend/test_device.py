import pickle
from typing import Any

import array_api_strict
import numpy as np
import pytest
from tests.core.backend.third_party import ThirdParty

import xpgrad
from xpgrad.backend.current import get_device
from xpgrad.backend.device import Device
from xpgrad.backend.modules import get_device_from_array
from xpgrad.backend.plugins import plugins
from xpgrad.errors import BackendUnavailable, SpecifierError


class DummyDevice:
    """An object that is no device."""


@pytest.mark.parametrize(("specifier", "reason"), [
    (0, "^cupy: .*(CuPy is not installed|no CUDA driver|the CUDA driver|finds no GPU|runs no kernel)"),
    ("0", "^cupy: "), (1, "^cupy: "), ("@cupy:0", "^cupy: "), ("@cupy", "^cupy: "), ("native", "^chx: "),
    ("native:0", "^chx: "), ("cuda:0", "^chx: "),
])  # fmt: skip
def test_devices_whose_backend_may_be_missing(specifier: Any, reason: str) -> None:
    try:
        device: Any = get_device(specifier)
    except BackendUnavailable:
        device = None
    if device is not None:
        assert str(device) == (specifier if ":" in str(specifier) else str(device))
        return
    with pytest.raises(BackendUnavailable, match=reason) as caught:
        get_device(specifier)
    assert isinstance(caught.value, RuntimeError)


@pytest.mark.parametrize(("specifier", "reason"), [
    ("@numpy:", "'@numpy:' has an empty part; expected '@numpy' or '@numpy:index'"),
    ("@numpy:0", "unknown device '@numpy:0'; numpy has @numpy"),
    ("@:numpy", "unknown device '@:numpy'; installed backends: .*@numpy"),
    ("@cupy::0", "'@cupy::0' has an empty part; expected '@cupy' or '@cupy:index'"),
    ("@foo", "unknown device '@foo'; installed backends: .*@numpy"), ("@", "unknown device '@'"),
    ("", "unknown device ''; installed backends: .*@numpy"), ("foo", "unknown device 'foo'"),
    ("numpy", "unknown device 'numpy'; did you mean '@numpy'. installed backends: .*@numpy"),
    ("foo:0", "unknown device 'foo:0'"), ("numpy:0", "unknown device 'numpy:0'"),
    ("@strict:device7", "unknown device '@strict:device7'; strict has @strict:cpu, @strict:device1"),
    ("--1", "unknown device '--1'"), ("\u00b2", "unknown device"),
    (-2, "expected a GPU's number, or -1 for the host, got -2"),
    ("-2", "expected a GPU's number, or -1 for the host, got -2"),
])  # fmt: skip
def test_unknown_specifiers_raise(specifier: Any, reason: str) -> None:
    with pytest.raises(SpecifierError, match=f"get_device: {reason}") as caught:
        get_device(specifier)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("specifier", ["@mlx", "mlx:0"])
def test_a_known_plugin_that_is_not_installed_is_named(specifier: str) -> None:
    if plugins.knows("mlx"):
        pytest.skip("mlx is here")
    with pytest.raises(SpecifierError, match=rf"unknown device '{specifier}'; .*pip install xpgrad-mlx; installed"):
        get_device(specifier)
    with pytest.raises(
        BackendUnavailable, match=r"^mlx: no backend of this name is installed; pip install xpgrad-mlx;"
    ):
        plugins.backend("mlx")


@pytest.mark.parametrize("specifier", ["cuda:7", "gpu:7"])
def test_a_gpu_that_is_not_there_may_be_meant_for_another_library(specifier: str) -> None:
    try:
        get_device("@cupy:0")
    except BackendUnavailable:
        with pytest.raises(BackendUnavailable, match=r"another library begins with its name: '@torch:cuda:0'$"):
            get_device(specifier)


@pytest.mark.parametrize(
    "specifier",
    [
        True, False, (), ("@numpy",), ("native", 0), ["@numpy"], {}, 1.0, b"@numpy", DummyDevice(), DummyDevice,
        np.zeros(2), np.float64(0), np.float32, np, array_api_strict, xpgrad.Variable(np.zeros(2)),
    ],
    ids=lambda specifier: type(specifier).__name__,
)  # fmt: skip
def test_objects_that_are_no_specifiers(specifier: Any) -> None:
    name = type(specifier).__qualname__
    with pytest.raises(TypeError, match=f"get_device: expected a specifier such as '@name:0', .* got .*{name}"):
        get_device(specifier)


def test_devices_with_equal_names_are_equal() -> None:
    one, two = get_device("@strict:device1"), get_device("@strict:device2")
    again = Device(one.backend, one.handle, "@strict:device1")
    assert one == again
    assert hash(one) == hash(again)
    assert one != two
    assert one != "@strict:device1"
    assert len({one, two, again}) == 2


@pytest.mark.parametrize("name", ["@numpy", "@strict:cpu", "@strict:device1"])
def test_a_device_is_pickled_by_its_name(third_party: ThirdParty, name: str) -> None:
    device = get_device(name)
    assert pickle.loads(pickle.dumps(device)) == device
    program = f"import pickle; device = pickle.loads({pickle.dumps(device)!r}); print(device, type(device).__name__)"
    assert third_party.run(program) == f"{name} {type(device).__name__}"


def test_unpickling_a_device_of_a_missing_backend_raises(third_party: ThirdParty) -> None:
    data = pickle.dumps(get_device("@strict:device1"))
    done = third_party.attempt(f"import pickle; pickle.loads({data!r})", XPGRAD_DISABLE_BACKENDS="strict")
    assert "BackendUnavailable: strict: disabled by XPGRAD_DISABLE_BACKENDS" in done.stderr


def test_a_device_is_no_context_manager() -> None:
    device = get_device("@strict:device1")
    with pytest.raises(RuntimeError, match=r"use `with xpgrad.using_device\('@strict:device1'\):`"), device:
        pass


def test_use_and_create_context_make_it_the_current_device() -> None:
    device = get_device("@strict:device1")
    with device.create_context() as entered:
        assert entered is device
        assert get_device() == device
        get_device("@strict:device2").use()
        assert str(get_device()) == "@strict:device2"
    assert str(get_device()) == "@numpy"


def test_supported_arrays() -> None:
    host, device = get_device("@numpy"), get_device("@strict:device1")
    array = device.send(np.ones(2))
    assert type(array) in device.supported_array_types
    assert device.is_array_supported(array)
    assert not get_device("@strict:cpu").is_array_supported(array)
    assert not host.is_array_supported(array)
    assert host.is_array_supported(np.ones(2))
    assert not host.is_array_supported([1.0])
    assert not host.is_array_supported(xpgrad.Variable(np.ones(2)))


def test_get_device_from_array_takes_the_first_that_is_not_on_the_host() -> None:
    one, two = (get_device(f"@strict:{name}") for name in ("device1", "device2"))
    a, b = one.send(np.ones(2)), two.send(np.ones(2))
    assert get_device_from_array() == get_device("@numpy")
    assert get_device_from_array(np.ones(2), None, 3, "text", DummyDevice()) == get_device("@numpy")
    assert get_device_from_array(np.ones(2), b, a) == two
    assert get_device_from_array(xpgrad.Variable(a), b) == two  # not through Variables
    assert get_device_from_array(xpgrad.Variable(a)) == get_device("@numpy")


def test_get_device_from_array_never_raises(third_party: ThirdParty) -> None:
    module = third_party.install("xpgrad-npu", "class Thing: ...\n1 / 0")
    third_party.write("claim", {"xpgrad.array_modules": {"things": module}})
    (third_party.folder / "things.py").write_text("class Thing: ...")
    program = """
import things, warnings, xpgrad
warnings.simplefilter("ignore")
print(xpgrad.get_device_from_array(things.Thing()), xpgrad.get_array_module(things.Thing()).__name__)
"""
    assert third_party.run(program) == "@numpy numpy"


def test_synchronize_of_an_eager_library_has_no_effect() -> None:
    assert get_device("@numpy").synchronize() is None  # type: ignore[func-returns-value]  # that is the point
    assert get_device("@strict").synchronize() is None  # type: ignore[func-returns-value]  # as above


def test_a_library_s_own_device_object_is_a_specifier(device: Device) -> None:
    if device.handle == "cpu":
        pytest.skip("NumPy calls its device by a string, which is no specifier")
    assert get_device(device.handle) == device
