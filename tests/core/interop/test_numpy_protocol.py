"""NumPy's protocols on Variables: operators with an array on the left, and errors."""

import operator

import numpy as np
import pytest
import scipy.special

import xpgrad
from xpgrad import Variable, ops
from xpgrad import array_api as xp
from xpgrad.errors import BackendMismatch, UnknownArray
from xpgrad.interop.numpy.functions import FUNCTIONS
from xpgrad.testing.arrays import on_host, placed

A = np.array([[1.0, 2.0], [3.0, 4.0]])

ARITHMETIC = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


@pytest.mark.parametrize("name", ARITHMETIC + COMPARISONS)
@pytest.mark.parametrize("left", [A, np.float64(2.5), np.float32(2.5), np.array(2.5)], ids=["array", "f8", "f4", "0-d"])
def test_arrays_and_scalars_on_the_left(name, left):
    if name == "matmul" and not left.ndim:
        pytest.skip("a product of matrices takes no scalar")
    function, v = getattr(operator, name), Variable(A.T + 0.5)
    y = function(left, v)
    assert type(y) is Variable
    np.testing.assert_allclose(y.array, function(left, v.array), rtol=1e-15)
    assert y.dtype == (bool if name in COMPARISONS else np.float64)
    assert y.requires_grad == (name not in (*COMPARISONS, "floordiv"))


def test_integers_on_the_left():
    i, v = np.array([5, 6]), Variable(np.array([1, 2]))
    for name in ("and_", "or_", "xor", "lshift", "rshift"):
        function = getattr(operator, name)
        assert function(i, v).array.tolist() == function(i, v.array).tolist()


def test_a_numpy_scalar_keeps_the_dtype():
    v = Variable(np.ones(2, np.float32))
    for y in (np.float64(2) * v, v * np.float64(2), np.float64(2) - v, np.multiply(np.float64(2), v), v / np.int64(2)):
        assert y.dtype == np.float32
    assert (v * np.complex64(1j)).dtype == np.complex64
    assert (np.float64(0.1) == v * 0.1).array.all()  # as with Python's 0.1: compared in float32


@pytest.mark.parametrize(
    "write",
    [
        lambda a, v: operator.iadd(a, v),
        lambda a, v: np.add(a, v, out=a),
        lambda a, v: np.add(a, a, out=v),
        lambda a, v: np.sin(v, a),
        lambda a, v: np.sum(v, out=a),
        lambda a, v: np.sum(v, 0, None, a),
        lambda a, v: np.clip(v, 0, 1, a),
        lambda a, v: np.concatenate([a, a], out=v),
        lambda a, v: np.einsum("ij->i", v, out=a),
        lambda a, v: np.add.reduce(v, out=a),
    ],
)
def test_out_argument_raises(write):
    a = A.copy()
    with pytest.raises(TypeError, match=r"^numpy\.[a-z.]+: out= is not for Variables; write y = f\(x\)"):
        write(a, Variable(A.copy()))
    assert (a == A).all()


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda v: np.sum(v, where=A), "where=: expected booleans, got float64; compare, as in where=v > 0"),
        (lambda v: np.add.reduce(v, where=A), "where=: expected booleans, got float64"),
        (lambda v: np.logical_or.reduce(v, initial=True), "numpy.logical_or.reduce: initial= is not for Variables"),
        (lambda v: np.sin(v, where=A > 1), "numpy.sin: where= is not for Variables"),
        (lambda v: np.sin(v, dtype=np.int64), "numpy.sin: expected a dtype= that holds the results for float64"),
        (lambda v: np.less(v, v, dtype=np.float64), "numpy.less: dtype= is not for Variables; cast the operands or"),
        (lambda v: np.multiply(v, None), "multiply: unsupported operand type(s) for *: 'float' and 'NoneType'"),
        (lambda v: np.reshape(v, 4, order="F"), "numpy.reshape: order= is not for Variables"),
        (
            lambda v: np.add.at(v, [0], 1.0),
            "numpy.add.at has no meaning for Variables here; use xpgrad.ops.scatter_add",
        ),
        (lambda v: np.add.reduceat(v, [0]), "numpy.add.reduceat has no meaning for Variables here"),
        (lambda v: np.subtract.reduce(v), "numpy.subtract.reduce has no meaning for Variables here"),
        (lambda v: np.frexp(v), "numpy.frexp has no meaning for Variables here"),
        (lambda v: np.histogram(v), "numpy.histogram has no meaning for Variables here; use functions of xpgrad"),
        (lambda v: np.save("file", v), "numpy.save has no meaning for Variables here; save v.array"),
        (lambda v: np.putmask(v, A > 1, 0.0), "numpy.putmask has no meaning for Variables here"),
        (lambda v: np.cross(v, v), "numpy.cross has no meaning for Variables here; it takes vectors with 3"),
    ],
)
def test_unsupported_function_is_named(call, text):
    with pytest.raises(TypeError) as caught:
        call(Variable(A.copy()))
    assert str(caught.value).startswith(text)


@pytest.mark.parametrize("dtype", ["float64", np.float64, np.dtype("f8"), float])
def test_a_ufunc_computes_in_the_given_dtype(dtype, device):
    x = Variable(device.send(np.asarray([1.0, 3.0], np.float32)))
    n = Variable(device.send(np.asarray([1, 2], np.int32)))
    elementwise = np.add(x, n, dtype=dtype), np.sqrt(n, dtype=dtype), *np.divmod(x, 2, dtype=dtype)
    others = np.add.accumulate(n, dtype=dtype), np.maximum.reduce(x, dtype=dtype), np.add.outer(x, n, dtype=dtype)
    for y in (*elementwise, *others):
        assert xp.is_same_dtype(y.dtype, "float64")
    y = np.multiply(x, x, dtype=dtype)
    xp.sum(y).backward()
    assert x.grad.dtype == x.dtype
    np.testing.assert_array_equal(on_host(x.grad), [2, 6])


def test_arguments_with_default_behaviour_are_accepted():
    v = Variable(A.copy())
    assert np.sum(v, axis=0, out=None, where=True).shape == (2,)
    assert np.reshape(v, (4,), order="C").shape == (4,)
    assert np.add(v, v, out=None, where=True, casting="same_kind").shape == (2, 2)
    assert np.mean(v, keepdims=np._NoValue).shape == ()
    assert np.sort(v, kind="stable").shape == (2, 2)


def test_foreign_operands_raise():
    v = Variable(A.copy())
    strict = Variable(placed(A, xpgrad.get_device("@strict")))
    with pytest.raises(BackendMismatch, match="to_device"):
        A * strict
    with pytest.raises(BackendMismatch, match="to_device"):
        np.sin(strict) + v
    with pytest.raises((TypeError, UnknownArray)):
        np.array(["text", "text"]) * v


def test_functions_of_another_librarys_variables(device):
    v = Variable(placed(A, device))
    for y in (np.sin(v), np.float64(2) * v, np.sum(v, axis=0), np.stack([v, v]), np.mean(v, dtype="float32")):
        assert y.device == device
    assert on_host(np.einsum("ij,jk", v, v)).tolist() == (A @ A).tolist()
    assert on_host(np.sum(v, dtype=np.float32)).dtype == np.float32
    assert np.zeros_like(v).device == device
    assert np.interp(v, [0.0, 4.0], [0.0, 2.0]).device == device
    with pytest.raises(BackendMismatch):
        np.concatenate([v, Variable(placed(A, other_than(device)))])


@pytest.mark.parametrize(
    ("call", "title"),
    [
        (lambda v, w: np.einsum("ij,jk", v, w), "numpy.einsum"),
        (lambda v, w: np.dot(v, w), "numpy.dot"),
        (lambda v, w: np.inner(v, w), "numpy.inner"),
        (lambda v, w: np.repeat(v, w.array, axis=0), "numpy.repeat"),
        (lambda v, w: xpgrad.array_api.repeat(v, w.array, axis=0), "repeat"),
        (lambda v, w: ops.einsum("ij,jk", v, w), "einsum"),
        (lambda v, w: xpgrad.functions.linear(v, w), "linear"),
    ],
)
def test_mixed_libraries_name_the_function_that_was_called(call, title, device):
    v, w = (Variable(placed(A, each)) for each in (device, other_than(device)))
    with pytest.raises(BackendMismatch, match=rf"^{title}: arrays of two libraries"):
        call(v, w)


def other_than(device):
    return xpgrad.get_device("@strict:cpu" if device.backend.name == "numpy" else "@numpy")


@pytest.mark.parametrize("convert", [np.asarray, np.array, np.asanyarray, np.ascontiguousarray, np.float64])
def test_a_variable_in_a_graph_is_not_converted(convert):
    v = Variable(A.copy())
    for each in (v, v * 2):
        with pytest.raises(TypeError, match=r"v\.array"):
            convert(each)
        with pytest.raises(TypeError, match=r"v\.array"):
            convert([each, each])
    if convert is not np.float64:
        assert type(convert(Variable(A, requires_grad=False))) is np.ndarray


def test_a_variable_has_no_buffer():
    with pytest.raises(TypeError, match="bytes-like"):
        memoryview(Variable(A.copy()))


def test_assigning_a_variable_of_a_graph_to_an_array_raises():
    a = A.copy()
    with pytest.raises((TypeError, ValueError)):
        a[0] = Variable(A[0])
    assert (a == A).all()


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.2.0", reason="some came with NumPy 2.1 and 2.2")
def test_names_of_the_table_are_numpys():
    for name in FUNCTIONS:
        found = np
        for part in name.split("."):
            found = getattr(found, part)
        assert callable(found)


def test_protocols_work_to_higher_order():
    x = Variable(np.array([0.3, 0.7]))
    y = np.sum(np.sin(x) * np.exp(x))
    (gx,) = xpgrad.grad([y], [x], enable_double_backprop=True)
    (ggx,) = xpgrad.grad([np.sum(gx)], [x])
    np.testing.assert_allclose(ggx.array, 2 * np.cos(x.array) * np.exp(x.array), rtol=1e-12)
    assert ops.einsum("i,i", x, x).array == np.einsum("i,i", x, x).array


def test_ufuncs_of_scipy_are_our_special_functions():
    x = Variable(np.array([0.3, 0.7]))
    y = scipy.special.erf(x)  # ufunc of SciPy, which only needs a ufunc's protocol
    (gx,) = xpgrad.grad([np.sum(y)], [x])
    np.testing.assert_allclose(gx.array, 2 / np.sqrt(np.pi) * np.exp(-(x.array**2)), rtol=1e-12)
    np.testing.assert_array_equal(scipy.special.xlogy(A[0], x).array, scipy.special.xlogy(A[0], x.array))
    with pytest.raises(TypeError, match=r"scipy\.special\.airye has no meaning for Variables"):
        scipy.special.airye(x)


def test_asarray_of_a_constant_uses_its_library():
    a = np.array([1.0, 2.0])
    x = Variable(a, requires_grad=False)
    assert np.asarray(x) is a
    assert np.array(x) is not a
    assert np.asarray(x, "float32").dtype == np.float32
    with pytest.raises(ValueError, match="copy"):
        np.asarray(x, "float32", copy=False)
    assert np.asarray(Variable(np.array([1, 2]))).tolist() == [1, 2]
    with pytest.raises(RuntimeError, match="device1"):
        np.asarray(Variable(placed(np.ones(1), xpgrad.get_device("@strict:device1")), requires_grad=False))
