"""Padding: all modes and forms of NumPy on integers and small arrays, and errors."""

import numpy as np
import pytest

from xpgrad import ops
from xpgrad.errors import ShapeError
from xpgrad.testing.arrays import on_host

STATISTICS = ("maximum", "mean", "median", "minimum")
OPTIONS = (
    ("constant", {"constant_values": ((1, 2), (3, 4))}),
    ("constant", {"constant_values": np.asarray([1, 2])}),
    ("edge", {}),
    ("linear_ramp", {"end_values": ((1, 2), (3, -4))}),
    *((mode, {"stat_length": length}) for mode in STATISTICS for length in (None, 2, ((2, 1), (3, 9)))),
    *((mode, {"reflect_type": kind}) for mode in ("reflect", "symmetric") for kind in ("even", "odd")),
    ("wrap", {}),
)
WIDTHS = (1, (1, 2), ((2, 1), (0, 5)), [(1,), (2,)], (3,), ((1, 2),), ((0, 0), (2, 0)), np.asarray([[1, 2], [3, 0]]))


@pytest.mark.parametrize("dtype", ["int64", "float32"])
@pytest.mark.parametrize(("mode", "options"), OPTIONS)
def test_every_form_of_the_options_agrees_with_numpy(device, dtype, mode, options):
    x = np.random.default_rng(0).uniform(-20, 20, (3, 4)).astype(dtype)
    for width in WIDTHS:
        y = ops.pad(device.send(x), width, mode, **options)
        expected = np.pad(x, width, mode, **options)
        assert on_host(y).dtype == dtype
        np.testing.assert_allclose(on_host(y), expected, rtol=1e-6, atol=1e-4, err_msg=str(width))


@pytest.mark.parametrize("mode", ["reflect", "symmetric"])
def test_reflections_go_on_where_the_axis_is_shorter_than_the_padding(device, mode):
    """On a straight line odd reflections continue it; even ones go back and forth."""
    ends = mode == "symmetric"
    line = np.asarray([1.0, 2.0, 3.0])
    even = [2, 3, 3, 2, 1, 1, 2, 3, 3, 2, 1, 1, 2] if ends else [1, 2, 3, 2, 1, 2, 3, 2, 1, 2, 3]
    width = (len(even) - 3) // 2
    np.testing.assert_array_equal(on_host(ops.pad(device.send(line), width, mode)), even)
    odd = on_host(ops.pad(device.send(line), 7, mode, reflect_type="odd"))
    straight = [-3, -3, -2, -1, -1, 0, 1, 1, 2, 3, 3, 4, 5, 5, 6, 7, 7] if ends else np.arange(-6.0, 11)
    np.testing.assert_array_equal(odd, straight)
    np.testing.assert_array_equal(on_host(ops.pad(device.send(line[:1]), 3, mode, reflect_type="odd")), np.ones(7))


def test_widths_by_axis(device):
    x = np.arange(6.0).reshape(2, 3)
    y = ops.pad(device.send(x), {0: 2, -1: (1, 3)}, "edge")
    np.testing.assert_array_equal(on_host(y), np.pad(x, ((2, 2), (1, 3)), "edge"))


def test_padding_of_empty_arrays(device):
    x = device.send(np.zeros((0, 2)))
    np.testing.assert_array_equal(on_host(ops.pad(x, ((1, 0), (0, 0)), constant_values=2)), [[2, 2]])
    assert ops.pad(x, ((0, 0), (1, 0)), "reflect").shape == (0, 3)
    with pytest.raises(ShapeError, match=r"pad: the mode mean needs elements, got shape \(0, 2\)"):
        ops.pad(x, 1, "mean")
    assert ops.pad(device.send(np.asarray(2.0)), 1, "edge").shape == ()


def test_invalid_arguments_raise():
    x = np.ones((2, 3))
    with pytest.raises(ValueError, match=r"pad: expected the mode constant, edge.*got 'mirror'"):
        ops.pad(x, 1, "mirror")
    with pytest.raises(ValueError, match="pad: expected constant_values with the mode constant, got end_values"):
        ops.pad(x, 1, end_values=1)
    with pytest.raises(ValueError, match="pad: expected no option with the mode wrap, got stat_length"):
        ops.pad(x, 1, "wrap", stat_length=1)
    with pytest.raises(ValueError, match="reflect_type must be 'even' or 'odd', got 'strange'"):
        ops.pad(x, 1, "reflect", reflect_type="strange")
    with pytest.raises(ValueError, match="stat_length must be at least 1, got 0"):
        ops.pad(x, 1, "maximum", stat_length=0)
    with pytest.raises(ShapeError, match="expected widths of 0 or more, got -1"):
        ops.pad(x, -1)
    for width in ((1, 2, 3), ((1, 2), (3, 4), (5, 6)), ((1, 2, 3), (1, 2, 3))):
        with pytest.raises(ShapeError, match="a number, a pair or a pair for each of 2 axes as pad_width"):
            ops.pad(x, width)
