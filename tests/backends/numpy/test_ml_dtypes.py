"""Dtypes that ml_dtypes adds to NumPy: if NumPy can compute with them, gradients have the same dtype."""

import numpy as np
import pytest

import xpgrad
import xpgrad.array_api as A
import xpgrad.functions as F
import xpgrad.ops as O
from xpgrad import Variable, grad
from xpgrad.testing.arrays import on_host

ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed; jax brings it")
DTYPES = [ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2]
X = np.asarray([[0.25, 0.5, 0.75], [1.0, 0.5, 0.25]])
SAME = {
    "+ 1": lambda x: x + 1,
    "0.0 *": lambda x: 0.0 * x,
    "* 2.5": lambda x: x * 2.5,
    "1 /": lambda x: 1 / x,
    "** 2": lambda x: x**2,
    "** 0.5": lambda x: x**0.5,
    "- x": lambda x: x - x,
    "* float64": lambda x: x * np.float64(2),
    "exp": A.exp,
    "tanh": A.tanh,
    "sqrt": A.sqrt,
    "maximum": lambda x: A.maximum(x, 0.5),
    "sum": A.sum,
    "mean": lambda x: A.mean(x, axis=0),
    "var": A.var,
    "std": lambda x: A.std(x, axis=1),
    "max": A.max,
    "prod": lambda x: A.prod(x, axis=1),
    "cumulative_sum": lambda x: A.cumulative_sum(x, axis=1),
    "matmul": lambda x: A.matmul(x, A.matrix_transpose(x)),
    "x[0]": lambda x: x[0],
    "x[[0, 0]]": lambda x: x[[0, 0]],
    "concat": lambda x: A.concat([x, x]),
    "vector_norm": lambda x: A.linalg.vector_norm(x),
    "logsumexp": lambda x: O.logsumexp(x),
    "nanmean": lambda x: O.nanmean(x),
    "quantile": lambda x: O.quantile(x, 0.3),
    "erf": lambda x: A.special.erf(x),
    "relu": F.relu,
    "sigmoid": F.sigmoid,
    "softplus": F.softplus,
    "leaky_relu": F.leaky_relu,
    "elu": F.elu,
    "clipped_relu": F.clipped_relu,
    "softmax": F.softmax,
    "softmax_cross_entropy": lambda x: F.softmax_cross_entropy(x, np.asarray([0, 1])),
    "linear": lambda x: F.linear(x, x),
    "layer_normalization": lambda x: F.layer_normalization(x, x[0], x[1]),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", SAME)
def test_values_and_gradients_have_the_dtype_and_are_near(name, dtype):
    x, exact = Variable(X.astype(dtype)), Variable(X.copy())
    y, expected = SAME[name](x), SAME[name](exact)
    assert y.dtype == y.array.dtype == dtype
    for each, ones in ((y, np.ones(y.shape, dtype)), (expected, np.ones(y.shape))):
        each.grad = ones
        each.backward()
    assert x.grad.dtype == dtype
    near = 8 * float(ml_dtypes.finfo(dtype).eps)
    np.testing.assert_allclose(y.array.astype("float64"), expected.array, near, near)
    np.testing.assert_allclose(x.grad.astype("float64"), exact.grad, near, near)


def test_the_kinds_of_dtypes_and_their_limits_are_known():
    x = Variable(X.astype(ml_dtypes.bfloat16))
    assert A.isdtype(x.dtype, "real floating")
    assert not A.isdtype(x.dtype, ("integral", "complex floating"))
    assert x.requires_grad
    assert A.finfo(x).bits == 16
    assert A.finfo(x.dtype).eps == 2.0**-7
    assert A.finfo(np.dtype(ml_dtypes.float8_e5m2)).max == 57344.0
    assert repr(x)
    with pytest.raises(TypeError, match="int4 cannot be differentiated"):
        Variable(np.ones(3, ml_dtypes.int4))


def test_gradients_of_gradients_have_the_dtype():
    x = Variable(X.astype(ml_dtypes.bfloat16))
    (gx,) = grad([A.sum(x * x * x)], [x], enable_double_backprop=True)
    (ggx,) = grad([A.sum(gx)], [x])
    assert ggx.dtype == ml_dtypes.bfloat16
    np.testing.assert_allclose(on_host(ggx).astype("float64"), 6 * X, 1e-2)


@pytest.mark.parametrize("dtype", DTYPES)
def test_many_elements_are_counted_and_summed(dtype):
    x = Variable(np.full((3000, 2), 0.0625, dtype))
    y = A.mean(x, axis=0)
    assert y.array.astype("float64").tolist() == [0.0625, 0.0625]
    y.grad = np.full(2, 48.0, dtype)
    y.backward()
    np.testing.assert_allclose(x.grad.astype("float64"), np.full((3000, 2), 48 / 3000), 0.07)
    top = Variable(np.ones(3000, dtype))
    A.max(top).backward()
    expected = np.asarray(1 / 3000, dtype)
    assert (top.grad == expected).all()


def test_unsupported_functions_of_ml_dtypes_raise():
    x = Variable(X.astype(ml_dtypes.bfloat16))
    with pytest.raises(xpgrad.XpgradError, match="bfloat16"):
        A.bitwise_and(x, x)


def test_an_array_of_jax_comes_to_the_host_in_its_dtype():
    jnp = pytest.importorskip("jax.numpy", reason="jax is not installed")
    x = Variable(jnp.asarray(X, dtype=jnp.bfloat16))
    x.to_device("@numpy")
    assert type(x.array) is np.ndarray
    assert x.dtype == ml_dtypes.bfloat16
    A.sum(x * x).backward()
    assert x.grad.dtype == ml_dtypes.bfloat16
