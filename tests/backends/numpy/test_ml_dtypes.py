"""Dtypes that ml_dtypes adds to NumPy: if NumPy can compute with them, gradients have the same dtype."""

import numpy as np
import pytest

import xpgrad
import xpgrad.array_api as A
from xpgrad import Variable, grad
from xpgrad.testing.arrays import on_host
from xpgrad_conformance.cases import CASES
from xpgrad_conformance.table.scenario import Scenario, host_inputs

ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed; jax brings it")
DTYPES = [ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2]
X = np.asarray([[0.25, 0.5, 0.75], [1.0, 0.5, 0.25]])
NAMES = """operator-add-scalar operator-mul-zero operator-mul-scalar operator-rtruediv-scalar operator-pow-2
operator-pow-half arithmetic-operators exp tanh sqrt maximum sum mean-axis var std-axis max prod-axis cumulative_sum
matmul getitem-int getitem-array concat linalg.vector_norm F.logsumexp nanmean quantile special.erf F.relu F.sigmoid
F.softplus F.leaky_relu F.elu F.clipped_relu F.softmax F.softmax_cross_entropy F.linear F.layer_normalization"""
SAME = [case for case in CASES if case.name in NAMES.split()]


def test_every_name_is_that_of_a_case():
    assert sorted(case.name for case in SAME) == sorted(NAMES.split())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", SAME, ids=repr)
def test_values_and_gradients_have_the_dtype_and_are_near(case, dtype):
    scenario = Scenario(case, xpgrad.get_device("@numpy"), "float64")
    given = [x.astype(dtype) if x.dtype.kind == "f" else x for x in host_inputs(case, "float64")]
    xs = [Variable(x) for x in given]
    exact = [Variable(x.astype(float) if x.dtype == dtype else x) for x in given]
    near = 8 * float(ml_dtypes.finfo(dtype).eps)
    for y, expected in zip(scenario.call(xs), scenario.call(exact), strict=True):
        assert y.dtype == y.array.dtype == dtype
        np.testing.assert_allclose(y.array.astype("float64"), expected.array, near, near)
        for each, ones in ((y, np.ones(y.shape, dtype)), (expected, np.ones(y.shape))):
            each.grad = ones
            each.backward()
    for x, wanted in zip(xs, exact, strict=True):
        if wanted.requires_grad and wanted.grad is not None:
            assert x.grad.dtype == dtype
            np.testing.assert_allclose(x.grad.astype("float64"), wanted.grad, near, near)


def test_the_kinds_of_dtypes_and_their_limits_are_known():
    x = Variable(X.astype(ml_dtypes.bfloat16))
    assert A.isdtype(x.dtype, "real floating")
    assert not A.isdtype(x.dtype, ("integral", "complex floating"))
    assert x.requires_grad
    assert (x * np.float64(2)).dtype == x.dtype
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
