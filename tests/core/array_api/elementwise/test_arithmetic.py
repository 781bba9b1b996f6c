"""Scalars, foreign operands and errors of the elementwise functions and operators."""

import itertools
import operator

import numpy as np
import pytest

import xpgrad
from xpgrad import Variable, array_api
from xpgrad.errors import ShapeError, UnknownArray
from xpgrad.testing.arrays import on_host, placed

OPERATORS = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow]
FUNCTIONS = [
    array_api.add, array_api.subtract, array_api.multiply, array_api.divide, array_api.floor_divide,
    array_api.remainder, array_api.pow, array_api.maximum, array_api.minimum, array_api.hypot, array_api.atan2,
    array_api.copysign, array_api.logaddexp, array_api.nextafter, array_api.clip,
]  # fmt: skip
SCALARS = [2, 0, -1.5, np.float64(1.5), np.int64(3), float("inf")]
COMPARISONS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]


def variable(device, values=(1.5, 2.5), dtype="float32", **options):
    return Variable(placed(np.asarray(values, dtype), device), **options)


def name(x):
    return x.node.spec.backend.dtype_name(x.dtype)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # division by zero is among the operations
@pytest.mark.parametrize("function", OPERATORS + FUNCTIONS, ids=lambda f: f.__name__)
def test_scalars_never_widen_an_array(device, function):
    for scalar, dtype in itertools.product(SCALARS, ("float32", "float64")):
        x = variable(device, dtype=dtype)
        for y in (
            function(x, scalar),
            function(scalar, x) if function is not array_api.clip else function(x, 0, scalar),
        ):
            assert name(y) == dtype, scalar
            if y.requires_grad:
                x.cleargrad()
                xpgrad.backward([y], [Variable(placed(np.ones(2, dtype), device))], enable_double_backprop=True)
                assert x.grad.dtype == x.dtype, scalar


@pytest.mark.parametrize("scalar", SCALARS, ids=repr)
def test_where_and_comparisons_take_scalars(device, scalar):
    x = variable(device)
    assert name(array_api.where(x > 2, x, scalar)) == "float32"
    assert name(array_api.where(x > 2, scalar, x)) == "float32"
    for compare in COMPARISONS:
        assert on_host(compare(x, scalar)).tolist() == [compare(1.5, scalar), compare(2.5, scalar)]
        assert on_host(compare(scalar, x)).tolist() == [compare(scalar, 1.5), compare(scalar, 2.5)]


def test_integer_arrays_become_floating_with_a_float(device):
    x, default = variable(device, [2, 3], "int32"), device.backend.default_dtype("float")
    for y in (x + 0.5, 0.5 * x, x**0.5, array_api.maximum(x, 2.5), array_api.where(x > 2, x, 0.5)):
        assert y.dtype == default
        assert not y.requires_grad
    assert on_host(x**0.5).tolist() == pytest.approx([2**0.5, 3**0.5])


def test_integer_arrays_stay_integer_with_an_integer(device):
    x = variable(device, [5, 8], "int32")
    for y in (x + 1, 2 * x, x**2, x**3, 2**x, x // 2, x % 3, -x, abs(x), x & 3, 1 | x, x ^ x, ~x, x << 1, x >> 1):
        assert name(y) == "int32"
    assert on_host(x**3).tolist() == [125, 512]


def test_real_arrays_become_complex_of_the_same_width_with_a_complex_scalar(device):
    for dtype, wide in (("float32", "complex64"), ("float64", "complex128")):
        x = variable(device, dtype=dtype)
        for y in (x * 2j, 1j + x, x**1j, 1j**x, array_api.where(x > 2, x, 1j)):
            assert name(y) == wide
        xpgrad.backward([x * (3 + 2j)], [Variable(placed(np.ones(2, wide), device))])
        assert on_host(x.grad).tolist() == [3, 3]
        assert x.grad.dtype == x.dtype


def test_raw_arrays_on_either_side(device):
    x, a = variable(device), placed(np.array([2.0, 4.0], "f"), device)
    y = array_api.divide(a, x) + array_api.divide(x, a) + x * a
    assert on_host(y).tolist() == pytest.approx([2 / 1.5 + 0.75 + 3, 1.6 + 0.625 + 10])


@pytest.mark.parametrize("foreign", [None, {}, object()], ids=["None", "dict", "object"])
def test_operators_leave_foreign_operands_to_python(device, foreign):
    x = variable(device)
    for function in OPERATORS:
        for operands in ((x, foreign), (foreign, x)):
            with pytest.raises(TypeError, match="unsupported operand"):
                function(*operands)
    assert (x == foreign) is False
    assert (x != foreign) is True


@pytest.mark.parametrize("sequence", ["a", [1.0, 2.0], (1.0, 2.0)], ids=repr)
def test_sequences_are_no_operands(device, sequence):
    x = variable(device)
    for function in (operator.add, operator.sub, operator.mul, operator.pow):
        for operands in ((x, sequence), (sequence, x)):
            with pytest.raises(TypeError):  # Python then tries the sequence, and raises a different message
                function(*operands)


def test_reflected_operators_of_foreign_operands_are_called(device):
    class Foreign:
        def __radd__(self, other):
            return "asked"

    assert variable(device) + Foreign() == "asked"


def test_functions_reject_foreign_operands(device):
    x = variable(device)
    for function in FUNCTIONS:
        with pytest.raises(UnknownArray, match=r"expected a Variable, an array or a scalar, got list"):
            function(x, [1.0, 2.0])
    with pytest.raises(UnknownArray, match="add: expected at least one Variable or array, got int, float; make"):
        array_api.add(1, 2.0)


@pytest.mark.parametrize(
    "function", [operator.add, operator.pow, array_api.maximum, array_api.hypot], ids=lambda f: f.__name__
)
def test_shapes_that_do_not_broadcast_are_named(device, function):
    with pytest.raises(ShapeError, match=r"shapes do not broadcast; got float32 \(2, 3\), float32 \(4,\)"):
        function(variable(device, np.ones((2, 3))), variable(device, np.ones(4)))


def test_shapes_of_three_inputs_are_named(device):
    x, condition = variable(device, np.ones(4)), variable(device, np.ones((2, 3)) > 0, "bool")
    with pytest.raises(ShapeError, match=r"where: shapes do not broadcast; got bool \(2, 3\), float32 \(4,\), 0\.5"):
        array_api.where(condition, x, 0.5)


def test_dtypes_that_do_not_promote_are_named():
    x, n = variable(xpgrad.get_device("@strict")), variable(xpgrad.get_device("@strict"), [1, 2], "int64")
    with pytest.raises(TypeError, match=r"add: .*got float32 \(2,\), int64 \(2,\)"):
        x + n


def test_exponents_that_need_no_rule_keep_little(device):
    x = variable(device)
    assert (x**2).creator.label == "_ ** 2"
    assert (x**2.0).creator.label == "_ ** 2"
    assert (x**3).creator.label == "_ ** 3"


def test_the_gradient_of_a_complex_exponent_has_the_logarithm_of_a_negative_base(device):
    base, exponent = np.asarray([-2.0, 3.0]), np.asarray([1 + 1j, 0.5])
    x, p = variable(device, base, "float64"), variable(device, exponent, "complex128")
    _, gp = xpgrad.grad([array_api.pow(x, p)], [x, p], [variable(device, np.ones(2), "complex128")])
    np.testing.assert_allclose(on_host(gp), np.conj(base**exponent * np.log(base + 0j)), rtol=1e-14)


def test_gradients_of_powers_have_the_digits_of_the_wider_dtype(device):
    for dtypes in (("float32", "float64"), ("float64", "float32")):
        base, exponent = (np.asarray([0.3, 1.7], dtype) for dtype in dtypes)
        x, p = variable(device, base, dtypes[0]), variable(device, exponent, dtypes[1])
        y = array_api.pow(x, p)
        wide = p if dtypes[1] == "float64" else x
        (found,) = xpgrad.grad([y], [wide], [variable(device, np.ones(2), "float64")])
        base, exponent = base.astype("float64"), exponent.astype("float64")
        right = base**exponent * np.log(base) if wide is p else exponent * base ** (exponent - 1)
        np.testing.assert_allclose(on_host(found), right, rtol=1e-14)


def test_clip_has_the_signature_of_the_standard(device):
    x = variable(device, [-1.0, 0.5, 3.0])
    for y in (array_api.clip(x, 0, 1), array_api.clip(x, max=1, min=0), array_api.clip(x, min=x * 0, max=1.0)):
        assert on_host(y).tolist() == [0, 0.5, 1]
    with pytest.raises(TypeError):
        array_api.clip(x=x)


def test_operators_of_truth_values(device):
    x = variable(device, [-1.0, 0.5, 3.0])
    inside = (x > 0) & (x < 1)
    assert on_host(inside).tolist() == [False, True, False]
    assert on_host(~inside | (x > 2) ^ True).tolist() == [True, True, True]
    assert on_host(True & inside).tolist() == [False, True, False]
    assert not inside.requires_grad
