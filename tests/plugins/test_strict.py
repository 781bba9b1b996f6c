import copy
import pickle

import array_api_strict as xp
import numpy as np
import pytest
from tests.building import array, values, variable

import xpgrad
from xpgrad.errors import BackendMismatch, DeviceMismatch
from xpgrad.testing.arrays import on_host

CPU, DEVICE1 = "@strict:cpu", "@strict:device1"


def cubed(x: xpgrad.Variable) -> xpgrad.Variable:
    y = x * x * x
    y.grad = xp.ones_like(y.array)
    return y


@pytest.mark.parametrize("name", [CPU, DEVICE1, "@strict:device2", "@strict:no_float64"])
def test_first_and_second_order_on_each_device(name: str) -> None:
    device = xpgrad.get_device(name)
    x = variable(device, [1.0, 2.0, 3.0])
    cubed(x).backward(enable_double_backprop=True)
    assert values(x.grad) == [3.0, 12.0, 27.0]
    gx = x.grad_var
    assert gx is not None
    x.cleargrad()
    gx.grad = xp.ones_like(gx.array)
    gx.backward()
    assert values(x.grad) == [6.0, 12.0, 18.0]
    assert device.is_array_supported(x.grad)
    assert x.grad.dtype == xp.float32


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


def test_moving_takes_data_and_gradient_along() -> None:
    x = xpgrad.Variable(np.asarray([1.0, 2.0]))
    x.grad = np.asarray([3.0, 4.0])
    for name in (CPU, DEVICE1, "@numpy", "@strict:device2", CPU):
        assert x.to_device(name) is x
        device = xpgrad.get_device(name)
        assert x.device == device
        assert device.is_array_supported(x.array)
        assert device.is_array_supported(x.grad)
        assert values(x) == [1.0, 2.0]
        assert values(x.grad) == [3.0, 4.0]


def test_a_gradient_returns_to_the_device_where_the_graph_came_from() -> None:
    x = xpgrad.Variable(np.asarray([1.0, 2.0]))
    h = xpgrad.functions.copy(x * x, DEVICE1)
    y = xpgrad.functions.copy(h * h, CPU)
    y.grad = xp.ones_like(y.array)
    y.backward()
    assert type(x.grad) is np.ndarray
    assert x.grad.tolist() == [4.0, 32.0]


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


def test_text() -> None:
    x = variable(xpgrad.get_device(DEVICE1), [[1.0, 2.0]])
    assert repr(x) == "variable([[1., 2.]], device='@strict:device1')"
    assert str(x) == "variable([[1. 2.]])"


def test_pickles_and_copies_keep_the_device() -> None:
    x = variable(xpgrad.get_device(DEVICE1), [1.0, 2.0], name="x")
    x.grad = array(x.device, [3.0, 4.0])
    for other in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        assert other.device == x.device
        assert other.device.is_array_supported(other.grad)
        assert (values(other), values(other.grad), other.name) == ([1.0, 2.0], [3.0, 4.0], "x")


def test_copydata_and_addgrad_across_devices() -> None:
    host, other = xpgrad.Variable(np.zeros(2, np.float32)), variable(xpgrad.get_device(DEVICE1), [1.0, 2.0])
    host.copydata(other)
    assert host.array.tolist() == [1.0, 2.0]
    host.grad, other.grad = np.ones(2, np.float32), array(other.device, [5.0, 6.0])
    host.addgrad(other)
    assert host.grad.tolist() == [6.0, 7.0]
    other.addgrad(host)
    assert values(other.grad) == [11.0, 13.0]
    assert other.device.is_array_supported(other.grad)


def test_gathers_accumulate_where_positions_repeat() -> None:
    x = variable(xpgrad.get_device(DEVICE1), [1.0, 2.0, 3.0])
    index = xp.asarray([2, 0, 2], device=x.device.handle)
    y = x[index]
    y.grad = array(x.device, [1.0, 10.0, 100.0])
    y.backward()
    assert values(x.grad) == [10.0, 0.0, 101.0]


def test_using_a_device_creates_there() -> None:
    with xpgrad.using_device(DEVICE1) as device:
        assert device.is_array_supported(xpgrad.random.uniform((2,)))
        assert xpgrad.array_api.ones((2,)).device == device


def test_an_array_on_a_pretend_device_reaches_the_host() -> None:
    x = array(xpgrad.get_device(DEVICE1), [1.0])
    with pytest.raises(RuntimeError):
        np.asarray(x)
    assert on_host(x).tolist() == [1.0]
