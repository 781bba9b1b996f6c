"""Batches as arrays."""

import numpy as np
import pytest

import xpgrad
from xpgrad.dataset import Converter, concat_examples, convert, converter, to_device


def test_tuples_and_dictionaries_become_arrays_of_their_members(device) -> None:
    batch = [(np.ones(2, np.float32) * i, np.int32(i)) for i in range(3)]
    x, t = concat_examples(batch, device)
    assert xpgrad.backend.get_device_from_array(x, t) == device
    assert (x.shape, t.shape, str(t.dtype).rpartition(".")[2]) == ((3, 2), (3,), "int32")
    found = concat_examples([{"x": [1, 2], "t": i} for i in range(3)])
    np.testing.assert_array_equal(found["t"], [0, 1, 2])
    np.testing.assert_array_equal(found["x"], [[1, 2]] * 3)


def test_arrays_of_any_library_are_stacked_on_their_device(device) -> None:
    batch = [device.send(np.full((2, 2), float(i))) for i in range(2)]
    found = concat_examples(batch)
    assert type(found) is type(batch[0])
    np.testing.assert_array_equal(xpgrad.get_device("@numpy").send(found)[1], np.full((2, 2), 1.0))


def test_padding_fills_every_axis(device) -> None:
    batch = [(device.send(np.ones((1, 2))), [1, 2, 3]), (device.send(np.ones((2, 1))), [4])]
    x, y = concat_examples(batch, padding=(0, -1))
    np.testing.assert_array_equal(xpgrad.get_device("@numpy").send(x), [[[1, 1], [0, 0]], [[1, 0], [1, 0]]])
    np.testing.assert_array_equal(y, [[1, 2, 3], [4, -1, -1]])


def test_errors_name_a_remedy() -> None:
    with pytest.raises(ValueError, match=r"^concat_examples: the batch is empty$"):
        concat_examples([])
    with pytest.raises(ValueError, match=r"expected examples of one shape, got \(1,\), \(2,\); pass padding="):
        concat_examples([np.ones(2), np.ones(1)])
    with pytest.raises(NotImplementedError, match=r"^Converter: define __call__"):
        Converter()([])
    with pytest.raises(TypeError, match=r"^converter: expected a function"):
        converter()(3)


def test_a_converter_always_gets_a_device() -> None:
    @converter()
    def device_of(batch, device):
        return device

    assert device_of([], -1) == device_of([], "@numpy") == xpgrad.get_device("@numpy")
    assert device_of([], None) is None


def test_device_none_does_not_move_an_array() -> None:
    x = np.ones(2)
    assert to_device(None, x) is x
    assert convert.to_device(-1, x) is x
