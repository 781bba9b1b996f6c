"""`xpgrad.ops` beyond the case table: ties, kinks, empty inputs, indices, and errors."""

import numpy as np
import pytest

import xpgrad
from xpgrad import Variable, ops
from xpgrad.errors import ShapeError
from xpgrad.testing.arrays import on_host, placed


def variable(device, values, dtype="float64"):
    return Variable(placed(np.asarray(values, dtype), device))


def constant(device, values, dtype="int64"):
    return Variable(placed(np.asarray(values, dtype), device), requires_grad=False)


def gradient(y, x):
    return on_host(xpgrad.grad([y], [x])[0]).tolist()


def test_ties_of_a_segment_share_its_gradient(device):
    x, ids = variable(device, [2.0, 2.0, 1.0, 2.0, 5.0]), constant(device, [0, 0, 0, 0, 1])
    assert gradient(ops.segment_max(x, ids, 2), x) == pytest.approx([1 / 3, 1 / 3, 0, 1 / 3, 1])
    assert on_host(ops.segment_max(x, ids, 2)).tolist() == [2.0, 5.0]
    assert gradient(ops.segment_min(x, ids, 2), x) == [0, 0, 1, 0, 1]


def test_empty_segments(device):
    x, ids = variable(device, [1.0, 2.0]), constant(device, [3, 1])
    assert on_host(ops.segment_sum(x, ids, 4)).tolist() == [0, 2, 0, 1]
    assert on_host(ops.segment_mean(x, ids, 4)).tolist() == [0, 2, 0, 1]
    assert on_host(ops.segment_max(x, ids, 4)).tolist() == [-np.inf, 2, -np.inf, 1]
    assert on_host(ops.segment_min(x, ids, 4)).tolist() == [np.inf, 2, np.inf, 1]
    nothing = variable(device, np.zeros((0, 2)))
    assert on_host(ops.segment_max(nothing, constant(device, []), 1)).tolist() == [[-np.inf, -np.inf]]
    with pytest.raises(ShapeError, match="segment_sum: expected a segment for each row"):
        ops.segment_sum(x, constant(device, [1]), 2)


def test_logistic_functions_do_not_overflow(device):
    x = variable(device, [-800.0, 0.0, 800.0])
    assert on_host(ops.expit(x)).tolist() == [0.0, 0.5, 1.0]
    assert gradient(ops.expit(x), x) == [0.0, 0.25, 0.0]
    assert on_host(ops.logsumexp(x)) == 800
    nothing = variable(device, [-np.inf, -np.inf])
    with np.errstate(divide="ignore"):
        assert on_host(ops.logsumexp(nothing)) == -np.inf
        assert gradient(ops.logsumexp(nothing), nothing) == [0.0, 0.0]  # as for logaddexp


def test_interp_beyond_its_table_and_at_its_points(device):
    x, xs, ys = (variable(device, v) for v in ([-1.0, 0.0, 1.0, 2.0, 9.0], [0.0, 1.0, 2.0], [1.0, 3.0, 2.0]))
    y = ops.interp(x, xs, ys)
    assert on_host(y).tolist() == [1, 1, 3, 2, 2]
    assert gradient(y, x) == [0, 2, -1, -1, 0]
    assert on_host(ops.interp(x, xs, ys, left=-1.0, right=-2.0)).tolist() == [-1, 1, 3, 2, -2]
    with pytest.raises(ShapeError, match="interp: expected xs and ys of one length"):
        ops.interp(x, xs, x)


def test_branches_that_are_not_taken_leave_no_trace(device):
    x = variable(device, [-1.0, 0.0, 4.0])
    y = ops.apply_where(x > 0, x, lambda v: v**0.5, fill_value=0.0)
    assert on_host(y).tolist() == [0, 0, 2]
    assert gradient(y, x) == [0, 0, 0.25]
    with pytest.raises(TypeError, match="either a second function or a fill_value"):
        ops.apply_where(x > 0, x, abs)


def test_missing_values_have_no_gradient(device):
    x = variable(device, [np.nan, 2.0, np.inf, -np.inf])
    assert on_host(ops.nan_to_num(x, posinf=7.0, neginf=-7.0)).tolist() == [0, 2, 7, -7]
    assert gradient(ops.nan_to_num(x), x) == [0, 1, 0, 0]
    assert on_host(ops.nan_to_num(x)).tolist() == np.nan_to_num(on_host(x)).tolist()
    gaps = variable(device, [np.nan, 2.0, 4.0])
    assert gradient(ops.nanmean(gaps), gaps) == [0, 0.5, 0.5]
    assert gradient(ops.nanmax(gaps), gaps) == [0, 0, 1]
    assert np.isnan(on_host(ops.nanmax(variable(device, [np.nan]))))
    assert np.isnan(on_host(ops.median(gaps)))


def test_closeness_is_numpys(device):
    a = [1.0, np.nan, np.inf, np.inf, 0.0, 1e-9]
    b = [1.0 + 1e-6, np.nan, np.inf, -np.inf, 1e-9, 0.0]
    x, y = variable(device, a), variable(device, b)
    for equal_nan in (False, True):
        wanted = np.isclose(a, b, equal_nan=equal_nan).tolist()
        assert on_host(ops.isclose(x, y, equal_nan=equal_nan)).tolist() == wanted
    assert on_host(ops.isclose(x, 1.0)).tolist() == np.isclose(a, 1.0).tolist()
    integers = constant(device, [1, 2])
    assert on_host(ops.isclose(integers, constant(device, [1, 3]))).tolist() == [True, False]
    assert bool(ops.allclose(integers, integers))


def test_indices_of_triangles_and_diagonals(device):
    for found, wanted in (
        (ops.tril_indices(3, offset=-1, m=4, device=device), np.tril_indices(3, -1, 4)),
        (ops.triu_indices(3, offset=1, device=device), np.triu_indices(3, 1)),
        (ops.diag_indices(3, ndim=3, device=device), np.diag_indices(3, 3)),
    ):
        assert [on_host(i).tolist() for i in found] == [i.tolist() for i in wanted]
        assert all(i.device == device for i in found)


def test_long_convolutions_take_their_windows_in_parts(device, monkeypatch):
    monkeypatch.setattr("xpgrad.backend.kernels.MAX_WINDOWS", 12)
    a, v = np.linspace(-1, 1, 9), np.array([0.5, -1.0, 2.0, 0.25])
    y = ops.convolve(variable(device, a), variable(device, v))
    np.testing.assert_allclose(on_host(y), np.convolve(a, v), rtol=1e-12, atol=1e-12)


def test_default_dtypes(device):
    xp = device.backend.namespace
    assert ops.default_dtype(device=device) == xp.asarray(0.0).dtype
    assert ops.default_dtype("integral", device=device) == xp.asarray(0).dtype
    with pytest.raises(ValueError, match="default_dtype: expected a kind of"):
        ops.default_dtype("text", device=device)


def test_errors_name_the_invalid_argument(device):
    a, b = variable(device, np.ones((2, 3))), variable(device, np.ones((4, 5)))
    with pytest.raises(ShapeError, match=r"einsum: label 'j' of 'ij,jk' has the lengths 3 and 4"):
        ops.einsum("ij,jk", a, b)
    with pytest.raises(ShapeError, match="einsum: expected 3 axes for 'ijk'"):
        ops.einsum("ijk->i", a)
    with pytest.raises(ShapeError, match="einsum: a diagonal needs equal lengths"):
        ops.einsum("ii->i", a[:1])
    with pytest.raises(ShapeError, match="pad: the mode edge needs elements"):
        ops.pad(variable(device, np.ones((0,))), 1, "edge")
    with pytest.raises(ShapeError, match="convolve: expected two vectors"):
        ops.convolve(a, b)
    with pytest.raises(ValueError, match="convolve: expected the mode full, same or valid"):
        ops.convolve(a[0], b[0], "all")
    with pytest.raises(IndexError, match="partition: expected a position in an axis of 3, got 3"):
        ops.partition(a, 3)
    with pytest.raises(ValueError, match="quantile: expected fractions from 0 to 1"):
        ops.quantile(a, 2.0)
    with pytest.raises(ValueError, match="quantile: expected the method linear"):
        ops.quantile(a, 0.5, method="other")
    with pytest.raises(ShapeError, match="quantile: expected elements"):
        ops.quantile(variable(device, []), 0.5)
    with pytest.raises(ShapeError, match="create_diagonal: expected an array with at least one axis"):
        ops.create_diagonal(variable(device, 1.0))
    with pytest.raises(ShapeError, match="diag: expected a vector or a matrix"):
        ops.diag(variable(device, np.ones((1, 1, 1))))
    with pytest.raises(ShapeError, match="unravel_index: expected a shape with elements"):
        ops.unravel_index(constant(device, [0]), (2, 0))
    for function in (ops.trapezoid, lambda x, axis: ops.index_add(x, constant(device, [0]), 1.0, axis=axis)):
        with pytest.raises(IndexError, match=r"(trapezoid|index_add): expected distinct axes of an array with 2 axes"):
            function(a, axis=2)


def test_complex_nan_is_replaced_in_debug_mode(device):
    x = variable(device, [complex(np.nan, 2.0), 3.0 + 1.0j], "complex128")
    with xpgrad.using_config("debug", True):
        assert on_host(ops.nan_to_num(x, nan=5.0)).tolist() == [5.0 + 2.0j, 3.0 + 1.0j]


def test_errors_of_order_statistics_and_pad_name_the_function(device):
    number, nothing = variable(device, 1.0), variable(device, [])
    calls = {
        "median": lambda: ops.median(nothing), "nanmedian": lambda: ops.nanmedian(nothing),
        "percentile": lambda: ops.percentile(nothing, 5), "partition": lambda: ops.partition(number, 0),
        "argpartition": lambda: ops.argpartition(number, 0), "pad": lambda: ops.pad(number, {0: 1}),
        "polyval": lambda: ops.polyval(number, 2.0),
    }  # fmt: skip
    for name, call in calls.items():
        with pytest.raises(ShapeError, match=f"^{name}: expected"):
            call()
    with pytest.raises(ShapeError, match="pad: expected distinct axes of an array with 1 axes, got"):
        ops.pad(variable(device, [1.0]), {1: 1})
