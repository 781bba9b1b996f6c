import array_api_strict as xp
import numpy as np
import pytest
from tests.building import values, variable

import xpgrad
from xpgrad.errors import BackendMismatch, DeviceMismatch

CPU, DEVICE1 = "@strict:cpu", "@strict:device1"


def test_devices_agree_with_the_library() -> None:
    backend = xpgrad.get_device("@strict").backend
    named = {device.name: device.handle for device in backend.devices()}
    everything = set(xp.__array_namespace_info__().devices())
    assert set(named.values()) == everything - {xp.Device("no_x64")}
    assert named.pop("@strict:cpu") == xp.__array_namespace_info__().default_device()
    assert all(str(handle) == f"array_api_strict.Device('{name.split(':')[1]}')" for name, handle in named.items())


def test_argsort_fails_on_the_device_without_x64() -> None:
    with pytest.raises(ValueError, match=r"does not support dtype=array_api_strict.int64"):
        xp.argsort(xp.asarray([2.0, 1.0], device=xp.Device("no_x64"), dtype=xp.float32))


def test_two_devices_in_one_operation_raise() -> None:
    one, two = (variable(xpgrad.get_device(name), [1.0, 2.0]) for name in (CPU, DEVICE1))
    expected = "add: arrays of two devices, @strict:cpu and @strict:device1; move one with to_device"
    for right in (two, two.array):
        with pytest.raises(DeviceMismatch, match=expected):
            one + right
    assert values(one + two.to_device(CPU)) == [2.0, 4.0]


def test_two_libraries_in_one_operation_raise() -> None:
    one, two = variable(xpgrad.get_device(DEVICE1), [1.0, 2.0]), np.ones(2, np.float32)
    expected = "add: arrays of two libraries, strict on @strict:device1 and numpy on @numpy; move one with to_device"
    for right in (two, xpgrad.Variable(two)):
        with pytest.raises(BackendMismatch, match=expected):
            one + right
    with pytest.raises(BackendMismatch, match="numpy on @numpy and strict on @strict:device1"):
        xpgrad.Variable(two) + one


def test_using_a_device_creates_there() -> None:
    with xpgrad.using_device(DEVICE1) as device:
        assert device.is_array_supported(xpgrad.random.uniform((2,)))
        assert xpgrad.array_api.ones((2,)).device == device
