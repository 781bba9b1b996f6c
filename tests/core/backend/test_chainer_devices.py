"""Devices as Chainer documents them: one test for each row and each sentence of its reference."""

from typing import Any

import array_api_strict
import numpy as np
import pytest
from tests.devices import device_or_skip

import xpgrad
from xpgrad import Device, Variable, backend
from xpgrad.backend.plugins import plugins
from xpgrad.errors import BackendUnavailable, UnknownArray

HOST, ONE, TWO = (xpgrad.get_device(name) for name in ("@numpy", "@strict:device1", "@strict:device2"))


def has(specifier: Any) -> bool:
    """Return whether a device is here."""
    try:
        xpgrad.get_device(specifier)
    except (BackendUnavailable, ValueError):
        return False
    return True


# Specifiers


@pytest.mark.parametrize("specifier", ["@numpy", -1, "-1", HOST])
def test_the_host(specifier: Any) -> None:
    device = backend.get_device(specifier)
    assert type(device) is backend.CpuDevice
    assert (device.name, str(device), repr(device), device.xp) == ("@numpy", "@numpy", "<CpuDevice (numpy)>", np)


@pytest.mark.gpu
def test_a_gpu_by_its_library_s_object() -> None:
    assert xpgrad.get_device(xpgrad.cuda.get_device_from_id(0)).name == "@cupy:0"


def test_missing_intel64_is_an_error() -> None:
    if has("@intel64"):
        pytest.skip("an intel64 backend is here")
    for specifier in ("@intel64", "intel64"):
        with pytest.raises(RuntimeError, match=f"^intel64: the plugin that serves '{specifier}', xpgrad-dpnp, is not"):
            backend.get_device(specifier)
    with pytest.raises(BackendUnavailable, match=r"^Intel64Device: .*xpgrad-dpnp"):
        backend.Intel64Device()
    assert not isinstance(HOST, backend.Intel64Device)


def test_classes_of_devices_are_where_chainer_has_them() -> None:
    for module, name in ((xpgrad.backends.cuda, "GpuDevice"), (xpgrad.backends.intel64, "Intel64Device")):
        found = getattr(module, name)
        assert issubclass(found, Device)
        assert found.__name__ == name
        assert not isinstance(HOST, found)
    assert backend.CpuDevice() == HOST
    assert backend.CpuDevice().send(np.ones(2)).shape == (2,)
    with pytest.raises(AttributeError, match="Intel65Device"):
        xpgrad.backends.intel64.Intel65Device  # noqa: B018 - asking raises
    if has(0):
        assert xpgrad.backends.cuda.GpuDevice(xpgrad.cuda.Device(0)) == xpgrad.get_device(0)
        return
    with pytest.raises(RuntimeError, match=r"^GpuDevice: cupy: "):
        xpgrad.backends.cuda.GpuDevice.from_device_id(0)


def test_the_class_of_chx_devices_takes_a_device_of_the_library() -> None:
    device = device_or_skip("native:1")
    made = backend.ChainerxDevice(device.handle)
    assert type(made) is type(device) is backend.ChainerxDevice
    assert (made, repr(made), made.xp) == (device, "<ChainerxDevice native:1>", device.xp)
    assert made.send(np.ones(2)).shape == (2,)
    assert backend.ChainerxDevice.from_fallback_device(HOST) == xpgrad.get_device("native:0")


def test_cuda_s_dummy_device_is_an_error() -> None:
    with pytest.raises(TypeError, match="DummyDeviceType"):
        backend.get_device(xpgrad.cuda.DummyDevice)


def test_the_name_of_a_backend_is_its_default_device() -> None:
    assert backend.get_device("@strict").name == "@strict:cpu"
    assert (ONE.name, str(ONE), repr(ONE)) == ("@strict:device1", "@strict:device1", "<Device @strict:device1>")
    assert ONE.xp is array_api_strict
    assert backend.get_device() is backend.get_device(None) is HOST
    assert backend.get_device(array_api_strict.Device("device1")) == ONE


# Device


def test_send_takes_arrays_lists_tuples_and_none() -> None:
    a, b = np.zeros(1), np.ones(2)
    sent = ONE.send([a, (b, None), a])
    assert type(sent) is list
    assert type(sent[1]) is tuple
    assert sent[0] is sent[2]
    assert sent[1][1] is None
    assert all(ONE.is_array_supported(each) for each in (sent[0], sent[1][0]))
    assert ONE.send(sent[0]) is ONE.send_array(sent[0]) is sent[0]
    assert HOST.send(HOST.send(a)) is a
    assert ONE.send([]) == []
    assert ONE.send(None) is None


def test_better_than_chainer_send_keeps_the_names_of_a_tuple() -> None:
    from collections import namedtuple

    pair = namedtuple("pair", "x t")(np.zeros(1), np.ones(1))
    sent = ONE.send(pair)
    assert type(sent) is type(pair)
    assert ONE.is_array_supported(sent.t)


@pytest.mark.parametrize("obj", [1, 1.0, "a", {"x": np.zeros(1)}, object(), {1}], ids=lambda obj: type(obj).__name__)
@pytest.mark.parametrize("device", [HOST, ONE], ids=str)
def test_send_rejects_other_objects(device: Device, obj: Any) -> None:
    with pytest.raises(TypeError, match="is not an array of an installed backend"):
        device.send(obj)
    with pytest.raises(TypeError, match=r"not an array(.|\n)*at arrays\[1\]\[0\]"):
        device.send([np.zeros(1), (obj,)])


def test_send_of_a_variable_raises_and_names_to_device() -> None:
    for device in (HOST, ONE):
        with pytest.raises(UnknownArray, match="got a Variable; move it with to_device, or copy it within the graph"):
            device.send([Variable(np.zeros(1))])


def test_a_list_that_contains_itself_is_an_error() -> None:
    endless: list[Any] = [np.zeros(1)]
    endless.append(endless)
    with pytest.raises(ValueError, match="a list that contains itself"):
        ONE.send(endless)


def test_from_array_returns_none_for_foreign_objects() -> None:
    assert Device.from_array(np.zeros(1)) == HOST
    assert ONE.from_array(ONE.send(np.zeros(1))) == ONE
    assert Device.from_array([1.0]) is Device.from_array(Variable(np.zeros(1))) is None
    for foreign in ([1.0], Variable(np.zeros(1)), ONE.send(np.zeros(1))):
        assert type(HOST).from_array(foreign) is None


# Functions of xpgrad.backend


def test_get_array_module_lets_chx_win() -> None:
    native = device_or_skip("native:0")
    arrays = [np.zeros(1), ONE.send(np.zeros(1)), native.send(np.zeros(1))]
    assert backend.get_array_module(*arrays) is backend.get_array_module(*arrays[::-1]) is native.xp


def test_get_array_module_of_several_libraries_is_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    class Other:
        """A library's array."""

    other = type("Library", (), {"default_device": type("D", (), {"xp": "other"})})()
    monkeypatch.setattr(plugins, "by_type", {**plugins.by_type, Other: other})
    a = ONE.send(np.zeros(1))
    assert backend.get_array_module(Other(), a) == "other"
    assert backend.get_array_module(a, Other()) is array_api_strict


def test_contains_nan() -> None:
    for device in (HOST, ONE):
        assert backend._contains_nan(device.send(np.asarray([1.0, np.nan])))
        assert not backend._contains_nan(device.send(np.asarray([1.0, np.inf])))
        assert not backend._contains_nan(device.send(np.asarray([1])))
