"""Casts, and copies to other devices."""

import itertools
import warnings

import numpy as np
import pytest
from tests.core.graph.nodes import node

import xpgrad
import xpgrad.functions as F
from xpgrad import Function, Variable, array_api
from xpgrad.errors import DtypeError
from xpgrad.testing.arrays import on_host, placed


def test_gradient_of_a_cast_has_the_dtype_of_the_input(device):
    x = Variable(placed(np.array([1.0, 2.0], "float32"), device))
    y = array_api.astype(x, x.__array_namespace__().float64)
    assert y.dtype != x.dtype
    xpgrad.backward([y * y], [Variable(placed(np.ones(2), device))])
    assert x.grad.dtype == x.dtype
    assert on_host(x.grad).tolist() == [2, 4]


def test_gradient_through_a_complex_cast_is_real(device):
    x = Variable(placed(np.array([1.0, 2.0], "float32"), device))
    y = array_api.astype(x, x.__array_namespace__().complex64)
    xpgrad.backward([y * (2 + 5j)], [Variable(placed(np.array([1, 1j], "complex64"), device))])
    assert on_host(x.grad).tolist() == [2, 5]
    assert x.grad.dtype == x.dtype


def test_cast_to_the_same_dtype_copies_unless_copy_is_false(device):
    x = Variable(placed(np.array([1.0, 2.0], "float32"), device))
    assert array_api.astype(x, x.dtype, copy=False) is x
    assert array_api.astype(x, x.dtype).array is not x.array


def test_copy_to_another_device_returns_the_gradient():
    there, here = xpgrad.get_device("@strict:device1"), xpgrad.get_device("@numpy")
    x = Variable(placed(np.array([1.0, 2.0], "float32"), here))
    y = F.copy(x, there)
    assert y.device == there
    (gx,) = xpgrad.grad([y * y], [x], enable_double_backprop=True)
    assert gx.device == here
    assert gx.array.tolist() == [2, 4]
    (ggx,) = xpgrad.grad([gx], [x])
    assert ggx.array.tolist() == [2, 2]


def assigned(xp, z, dtype):
    v = Variable(xp.zeros(2, dtype=dtype).array, requires_grad=False)
    v[0] = z[0]


def copied(xp, z, dtype):
    xp.zeros(2, dtype=dtype).copydata(z)


def square(xp, z):
    return xp.stack([z, z])


CASTS = {
    "astype": lambda xp, z, dtype: xp.astype(z, dtype),
    "astype of an array": lambda xp, z, dtype: xp.astype(z.array, dtype),
    "method": lambda xp, z, dtype: z.astype(dtype),
    "F.cast": lambda xp, z, dtype: F.cast(z, dtype),
    "asarray": lambda xp, z, dtype: xp.asarray(z, dtype=dtype),
    "asarray of a list": lambda xp, z, dtype: xp.asarray([z[0], z[1]], dtype=dtype),
    "full": lambda xp, z, dtype: xp.full((2,), z[0], dtype=dtype),
    "full_like": lambda xp, z, dtype: xp.full_like(xp.zeros(2, dtype=dtype), z[0]),
    "linspace": lambda xp, z, dtype: xp.linspace(z[0], z[1], 3, dtype=dtype),
    "sum": lambda xp, z, dtype: xp.sum(z, dtype=dtype),
    "sum over an axis": lambda xp, z, dtype: xp.sum(z, 0, dtype=dtype, keepdims=True),
    "sum of an array": lambda xp, z, dtype: xp.sum(z.array, dtype=dtype),
    "prod": lambda xp, z, dtype: xp.prod(z, dtype=dtype),
    "cumulative_sum": lambda xp, z, dtype: xp.cumulative_sum(z, dtype=dtype),
    "cumulative_prod": lambda xp, z, dtype: xp.cumulative_prod(z, dtype=dtype),
    "trace": lambda xp, z, dtype: xp.linalg.trace(square(xp, z), dtype=dtype),
    "setitem": assigned,
    "copydata": copied,
    "np.sum": lambda xp, z, dtype: np.sum(z, dtype=dtype),
    "np.mean": lambda xp, z, dtype: np.mean(z, dtype=dtype),
    "np.stack": lambda xp, z, dtype: np.stack([z, z], dtype=dtype),
}


@pytest.mark.parametrize("name", CASTS)
def test_complex_values_are_not_cast_to_real(device, name):
    switches = (("train", True), ("debug", True), ("enable_backprop", False))
    for dtype, to, switch in itertools.product(("complex64", "complex128"), ("float32", "float64", "int64"), switches):
        z = Variable(placed(np.array([1 + 2j, 3 - 1j], dtype), device))
        xp = z.__array_namespace__()
        with xpgrad.using_config(*switch), pytest.raises(DtypeError):
            CASTS[name](xp, z, getattr(xp, to))


def test_the_error_of_a_cast_names_the_real_part(device):
    z = Variable(placed(np.array([1 + 2j]), device))
    with pytest.raises(DtypeError, match=r"^sum: .*complex128 cannot be cast to .*float64.*take xp\.real\(x\)"):
        array_api.sum(z, dtype=z.__array_namespace__().float64)


def test_sums_with_a_dtype_and_their_gradients(device):
    z = Variable(placed(np.array([1 + 2j, 3 - 1j], "complex64"), device))
    x = Variable(placed(np.array([1.0, 2.0], "float32"), device))
    xp = z.__array_namespace__()
    for v, to in ((z, "complex128"), (x, "float64"), (x, "complex64"), (x, "float32")):
        y = xp.sum(v, dtype=getattr(xp, to))
        assert y.dtype == getattr(xp, to)
        assert xpgrad.grad([y], [v])[0].dtype == v.dtype


@pytest.mark.parametrize("recorded", [False, True])
def test_a_complex_gradient_of_a_real_input_counts_by_its_real_part(device, recorded):
    def backward(self, target_input_indexes, grad_outputs):
        xp = grad_outputs[0].__array_namespace__()
        return (xp.astype(grad_outputs[0], xp.complex64) * (2 + 1j),)

    x = Variable(placed(np.array([1.0, 2.0], "float32"), device))
    (y,) = node(backward=backward).apply((x,))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (g,) = xpgrad.grad([y], [x], enable_double_backprop=recorded)
    assert g.dtype == x.dtype
    assert on_host(g).tolist() == [2.0, 2.0]


def test_a_complex_gradient_of_an_old_style_function_is_an_error(device):
    wrong = placed(np.array([2 + 1j], "complex64"), device)
    turned = node(base=Function, forward=lambda self, xs: (xs[0] * 2,), backward=lambda self, xs, gys: (wrong,))
    x = Variable(placed(np.array([1.0], "float32"), device))
    with pytest.raises(DtypeError, match="gradient 0 must be float32"):
        turned(x).backward()
