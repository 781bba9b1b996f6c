"""Creation: devices, dtypes and copies of `asarray`, values that are Variables, and DLPack."""

import numpy as np
import pytest
from tests.building import values, variable
from tests.devices import device_or_skip

import xpgrad
from xpgrad import Variable, array_api
from xpgrad.array_api.namespace import namespace
from xpgrad.errors import BackendMismatch, UnknownArray
from xpgrad.testing.arrays import on_host, placed


def test_everything_is_made_on_the_device_that_is_named(device):
    xp = namespace(device.backend)
    x = variable(device, [1.0, 2.0])
    for place in (device, device.name, device.handle):
        made = [
            xp.arange(3, device=place), xp.asarray([1.0], device=place), xp.empty(2, device=place),
            xp.eye(2, device=place), xp.full(2, 1.0, device=place), xp.linspace(0, 1, 3, device=place),
            xp.ones(2, device=place), xp.zeros((), device=place), xp.ones_like(x, device=place),
            xp.full_like(x, 2, device=place), xp.fft.rfftfreq(4, device=place),
        ]  # fmt: skip
        assert {y.device for y in made} == {device}
        assert not any(y.requires_grad for y in made)


def test_like_functions_use_the_device_of_their_argument(device):
    x = variable(device, [[1.0, 2.0]])
    for make in (array_api.empty_like, array_api.ones_like, array_api.zeros_like):
        y = make(x)
        assert (y.shape, y.dtype, y.device) == (x.shape, x.dtype, x.device)
        assert make(x, dtype=namespace(device.backend).int8).dtype == namespace(device.backend).int8
    assert values(array_api.full_like(x.array, 3)) == [[3, 3]]


def test_asarray_returns_matching_arrays_unchanged(device):
    xp = namespace(device.backend)
    x = variable(device, [1.0, 2.0])
    assert xp.asarray(x) is xp.asarray(x, dtype=xp.float32) is xp.asarray(x, device=device) is x
    assert xp.asarray(x, copy=False) is x
    raw = xp.asarray(x.array)
    assert raw.array is x.array
    assert not raw.requires_grad


def test_asarray_copies_if_necessary_and_raises_if_forbidden(device):
    xp = namespace(device.backend)
    x = variable(device, [1.0, 2.0])
    copied, cast = xp.asarray(x, copy=True), xp.asarray(x, dtype=xp.float64)
    assert copied is not x
    assert copied.array is not x.array
    assert cast.dtype == xp.float64
    (copied + cast).sum().backward()
    assert values(x.grad) == [2, 2]
    with pytest.raises(ValueError, match=r"asarray: float32 \(2,\) on .* only by a copy, and copy=False forbids it"):
        xp.asarray(x, dtype=xp.float64, copy=False)
    with pytest.raises(ValueError, match="asarray: a sequence of arrays"):
        xp.asarray([x, x], copy=False)


def test_asarray_moves_to_another_device_and_stays_connected():
    xp = namespace(device_or_skip("@strict").backend)
    x = variable(xpgrad.get_device("@strict:cpu"), [1.0, 2.0])
    y = xp.asarray(x, device="@strict:device1")
    assert y.device == xpgrad.get_device("@strict:device1")
    assert xp.asarray(x.array, device="@strict:device1").device == y.device
    (y * y).sum().backward()
    assert values(x.grad) == [2, 4]


def test_scalars_in_a_sequence_are_weak(device):
    xp = namespace(device.backend)
    x = variable(device, 3.0)
    assert xp.asarray([x, 1.0]).dtype == xp.asarray([np.float64(1), x]).dtype == xp.float32
    assert xp.asarray([x, 1j]).dtype == xp.complex64
    assert xp.asarray([variable(device, 3, "int8"), 1]).dtype == xp.int8
    assert xp.asarray([variable(device, 3, "int8"), 1.5]).dtype == device.backend.default_dtype("float")
    assert xp.asarray([x, variable(device, 1.0, "float64")]).dtype == xp.float64
    assert xp.asarray([x, 2], dtype=xp.int64).dtype == xp.int64
    assert values(xp.asarray([[x, 1], (2, x)])) == [[3, 1], [2, 3]]
    assert xp.asarray([x, 1.0]).device == device


def test_sequences_of_mixed_arrays_raise(device):
    xp = namespace(device.backend)
    x = variable(device, 3.0)
    with pytest.raises(UnknownArray, match="asarray: expected arrays and scalars in the sequence, got str"):
        xp.asarray([x, "1"])
    other = "@numpy" if device.backend.name == "strict" else "@strict"
    stranger = variable(device_or_skip(other), 1.0)
    with pytest.raises(BackendMismatch, match=f"asarray: expected Variables of {device.backend.name}, got"):
        xp.asarray([x, stranger])


def test_an_array_of_any_library_stays_where_it_is_unless_a_device_is_named(device):
    other = "@numpy" if device.backend.name == "strict" else "@strict"
    stranger = variable(device_or_skip(other), 1.0)
    for xp in (namespace(device.backend), array_api):
        assert xp.asarray(stranger.array).array is stranger.array
        assert xp.asarray(stranger.array, device=device).device == device
        assert xp.asarray([stranger, 1.0]).device == stranger.device
        assert xp.full((2,), stranger.array).device == stranger.device


def test_a_value_that_is_a_variable_fills_and_gets_the_gradient(device):
    xp = namespace(device.backend)
    v = variable(device, 2.0)
    y = xp.full((2, 3), v, dtype=xp.float64)
    assert (y.shape, y.dtype, y.device) == ((2, 3), xp.float64, device)
    (y.sum() + xp.full_like(xp.ones(4, device=device), v).sum() + xp.full(5, v).sum()).backward()
    assert values(v.grad) == 15
    assert xp.full(3, v.array).shape == (3,)


def test_linspace_from_variable_to_variable_reaches_both(device):
    xp = namespace(device.backend)
    a, b = variable(device, 1.0), variable(device, 3.0)
    y = xp.linspace(a, b, 5)
    assert values(y) == [1, 1.5, 2, 2.5, 3]
    assert (y.dtype, y.device) == (xp.float32, device)
    assert xp.linspace(a, b, 3, dtype=xp.float64).dtype == xp.float64
    y[1].backward()
    assert (values(a.grad), values(b.grad)) == (0.75, 0.25)


def test_arrays_of_an_unsupported_library_or_class_raise(device):
    class Stranger:
        def __dlpack__(self):
            raise AssertionError("nobody asks")

    xp = namespace(device.backend)
    with pytest.raises(UnknownArray, match="Stranger is not an array of an installed backend"):
        xp.asarray(Stranger())
    if device.backend.name == "numpy":
        with pytest.raises(UnknownArray, match=r"MaskedArray is a subclass of numpy\.ndarray that no backend lists"):
            xp.asarray(np.ma.masked_array([1.0]))
        assert xp.asarray(np.float32(2)).dtype == xp.float32
        assert values(xp.asarray(memoryview(b"ab"))) == [97, 98]


# DLPack


def test_dlpack_goes_both_ways_without_a_copy():
    x = Variable(np.arange(3.0), requires_grad=False)
    y = namespace(x.device.backend).from_dlpack(x)
    assert isinstance(y, Variable)
    assert not y.requires_grad
    assert np.shares_memory(x.array, y.array)
    assert np.shares_memory(np.from_dlpack(x), x.array)
    assert x.__dlpack_device__() == (1, 0)
    copied = namespace(x.device.backend).from_dlpack(x, device="cpu", copy=True)
    assert copied.array.tolist() == [0, 1, 2]
    assert not np.shares_memory(x.array, copied.array)


def test_dlpack_brings_arrays_of_other_libraries(device):
    y = namespace(device.backend).from_dlpack(np.arange(3.0))
    assert type(y.array) in device.backend.array_types
    assert on_host(y).tolist() == [0, 1, 2]


def test_dlpack_export_that_would_lose_a_gradient_raises(device):
    x = Variable(placed(np.arange(3.0), device))
    for give in (x.__dlpack__, lambda: array_api.from_dlpack(x), lambda: np.from_dlpack(x)):
        with pytest.raises(
            BufferError, match=r"__dlpack__: .*its gradient would be lost; use v.array \(v: float64 \(3,\)"
        ):
            give()
    with pytest.raises(BufferError, match="uninitialised"):
        Variable().__dlpack_device__()


@pytest.mark.parametrize("place", ["@strict:device1", "Device"])
def test_a_device_decides_the_library_in_the_namespace_of_another(place):
    device = device_or_skip("@strict:device1")
    made = namespace(xpgrad.get_device("@numpy").backend).eye(2, device=device if place == "Device" else place)
    assert made.device == device
