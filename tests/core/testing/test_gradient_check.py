"""Gradient checks under Chainer's names."""

import numpy as np
import pytest
from tests.devices import device_or_skip

import xpgrad
from xpgrad import FunctionNode, Variable
from xpgrad.testing import assert_allclose
from xpgrad.testing.arrays import on_host, placed
from xpgrad.testing.gradient_check import (
    NondifferentiableError,
    check_backward,
    check_double_backward,
    numerical_grad,
)

X = np.array([[0.3, -1.2, 0.7], [1.9, -0.4, 1.1]])
GY = np.array([[0.5, -1.5, 0.9], [-0.7, 1.3, 0.6]])


class Doubled(FunctionNode):
    """A function whose gradient is off by a factor that a test chooses."""

    def __init__(self, factor: float = 1.0, second: bool = True) -> None:
        self.factor, self.second = factor, second

    def forward(self, inputs):
        self.retain_inputs((0,))
        return (inputs[0] ** 2,)

    def backward(self, indexes, gys):
        (x,) = self.get_retained_inputs()
        x = x if self.second else Variable(x.array)
        return (gys[0] * x * (2 * self.factor),)


def square(x):
    return Doubled().apply((x,))[0]


def abs_like(x):
    return xpgrad.array_api.where(x > 0, x, -x)


def wrong(factor):
    return lambda x: Doubled(factor).apply((x,))[0]


def numerical(f, x, **options):
    """Return the numerical gradient of a function of one array, by default with kinks detected."""
    return numerical_grad(lambda: (f(x),), (x,), (x,), **({"detect_nondifferentiable": True} | options))[0]


# What raises, and what passes

ONE, TWO, N, W = np.array([0.0]), np.array([0.0, 1.0]), np.arange(3), Variable(GY + 2)
NONE_FOR_ONE = "y_grad may be None only for a function with one output of one element"
ERRORS = {
    "integers": (RuntimeError, r"inputs\[0\] must be floating-point, got int64",
        lambda: numerical_grad(lambda: (N,), (N,), (N,))),
    "eps of 0": (AssertionError, "eps must be positive", lambda: numerical_grad(lambda: (X,), (X,), (GY,), 0)),
    "negative eps": (AssertionError, "eps must be positive", lambda: numerical_grad(lambda: (X,), (X,), (GY,), -1e-3)),
    "number of outputs": (ValueError, "a tuple of 2 arrays, one for each of grad_outputs; got 1 outputs",
        lambda: numerical_grad(lambda: (X,), (X.copy(),), (GY, GY))),
    "no tuple": (ValueError, "got ndarray", lambda: numerical_grad(lambda: X, (X.copy(),), (GY,))),
    "edge of a domain": (NondifferentiableError, "is finite at some", lambda: numerical(np.log, np.array([1e-4, 1.0]))),
    "kink in check_backward": (NondifferentiableError, "output 0 has no derivative",
        lambda: check_backward(abs_like, ONE, np.array([1.0]), detect_nondifferentiable=True)),
    "no gradient of a matrix": (ValueError, NONE_FOR_ONE, lambda: check_backward(lambda x: x * x, X, None)),
    "no gradient of two outputs": (ValueError, NONE_FOR_ONE, lambda: check_backward(lambda x: (x, x), X, None)),
    "no_grads with a gradient": (RuntimeError, "gradient of int variable must be None",
        lambda: check_backward(lambda x, w: x * w, (X, X), GY, no_grads=[False, True])),
    "number of no_grads": (ValueError, "got 1 no_grads for 2 inputs",
        lambda: check_backward(lambda x, w: x * w, (X, X), GY, no_grads=[False])),
    "number of gradients": (ValueError, "got 2 arrays in y_grad for 1 outputs",
        lambda: check_backward(square, X, (GY, GY))),
    "missing gradient": (AssertionError, "check_backward failed",
        lambda: check_backward(lambda x, w: x * Variable(w.array), (X, X), GY)),
    "missing gradient of a parameter": (AssertionError, "check_backward failed",
        lambda: check_backward(lambda x: x * Variable(W.array), X, GY, params=(W,))),
    "integer dtype": (ValueError, "dtype must be a real floating-point dtype",
        lambda: check_backward(square, X, GY, dtype=np.int32)),
    "complex dtype": (ValueError, "dtype must be a real floating-point dtype",
        lambda: check_backward(square, X, GY, dtype="complex64")),
    "no second derivative": (AssertionError, r"check_double_backward failed \(eps=0.001 atol=0.0001 rtol=0.001\)",
        lambda: check_double_backward(lambda x: Doubled(second=False).apply((x,))[0], X, GY, X[::-1])),
    "number of gradients of gradients": (ValueError, "expected one for each of 1 inputs that have a gradient and 0 par",
        lambda: check_double_backward(square, X, GY, (X, X))),
    "worst element": (AssertionError, r"2 of 6 elements are not close; the worst is at \(1, 2\)",
        lambda: assert_allclose(X, X + np.array([[0, 0.1, 0], [0, 0, 0.2]]))),
    "shapes": (AssertionError, r"shapes differ: \(2, 3\) and \(2, 1\)", lambda: assert_allclose(X, X[:, :1])),
    "atol": (AssertionError, "not close", lambda: assert_allclose([1e-6], [0], atol=1e-7)),
    "rtol": (AssertionError, "not close", lambda: assert_allclose([1.0001], [1.0], atol=0, rtol=1e-5)),
    "NaN and a number": (AssertionError, "1 of 2", lambda: assert_allclose([np.nan, 1.0], [np.nan, np.nan])),
    "booleans": (AssertionError, "1 of 1", lambda: assert_allclose([True], [False])),
}  # fmt: skip
PASSING = {
    "small kinks": lambda: numerical(np.abs, TWO, diff_atol=1e-3),
    "several inputs and outputs": lambda: check_backward(lambda x, w: (x * w, None, x + w), (X, GY), (GY, None, X)),
    "an output without gradient": lambda: check_backward(lambda x: (x * x, wrong(3.0)(x)), X, (GY, None)),
    "one element": lambda: check_backward(lambda x: x * x, np.array(0.7), None),
    "integer inputs": lambda: check_backward(lambda x, n: x * n, (X, N), GY),
    "missing gradient of zero": lambda: check_backward(lambda x, w: x * x, (X, X), GY),
    "complex inputs": lambda: check_backward(lambda x, w: x * x * w, (X + 0.4j * GY, X), GY - 0.3j * X),
    "no elements": lambda: check_backward(lambda x: x * x, np.zeros((0, 3)), np.zeros((0, 3))),
    "another device": lambda: check_backward(lambda x: x * x, *[placed(X, device_or_skip("@strict:device1"))] * 2),
    "gradients of gradients that are None":
        lambda: check_double_backward(lambda x, w: x * x * w, (X, GY), GY, (X, None)),
    "one element twice": lambda: check_double_backward(lambda x: x * x * x, np.array(0.7), None, np.array(1.3)),
    "linear": lambda: check_double_backward(lambda x: 3 * x, X, GY, X),
    "complex twice": lambda: check_double_backward(
        lambda x: x * x * x, X + 0.4j * GY, GY + 1j, (X + 0.4j * GY)[::-1]),
    "tolerances are added": lambda: assert_allclose([1e-6, 1.0001], [0, 1.0]),
    "NaN and infinity": lambda: assert_allclose([np.nan, np.inf], [np.nan, np.inf]),
    "equal booleans": lambda: assert_allclose([True], [True]),
    "scalars": lambda: assert_allclose(3.0, np.float64(3.00001)),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("name", ERRORS)
def test_errors(name) -> None:
    error, text, call = ERRORS[name]
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize("name", PASSING)
def test_right_functions_pass(name) -> None:
    PASSING[name]()


@pytest.mark.parametrize("f", [np.abs, np.ceil, np.sign, lambda x: np.maximum(x, 0), lambda x: np.sqrt(np.abs(x))])
def test_kinks_and_jumps_are_found(f) -> None:
    with pytest.raises(NondifferentiableError, match="output 0 has no derivative"):
        numerical(f, TWO)


@pytest.mark.parametrize("f", [np.exp, np.square, np.cos, np.ones_like, lambda x: 1e6 + x, lambda x: x - x])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_smooth_functions_pass(f, dtype) -> None:
    numerical(f, np.array([0.0, 1.0, -0.7], dtype))


# Numerical gradients


def test_numerical_gradient_is_the_derivative_by_each_element_and_leaves_the_inputs_unchanged(device) -> None:
    x, gy = placed(X, device), placed(GY, device)
    (gx,) = numerical_grad(lambda: (x * x,), (x,), (gy,))
    assert device.is_array_supported(gx)
    np.testing.assert_allclose(on_host(gx), 2 * X * GY, rtol=1e-6)
    np.testing.assert_array_equal(on_host(x), X)


def test_inputs_are_unchanged_when_the_function_raises() -> None:
    x, calls = X.copy(), []

    def f():
        calls.append(1)
        if len(calls) == 4:
            raise ValueError("no more")
        return (x * x,)

    with pytest.raises(ValueError, match="no more"):
        numerical_grad(f, (x,), (GY,))
    np.testing.assert_array_equal(x, X)


def test_numerical_gradient_has_the_dtype_of_the_input() -> None:
    assert numerical(np.square, X.astype(np.float32)).dtype == np.float32


def test_numerical_gradient_of_several_inputs_and_outputs_including_none() -> None:
    x, w = X.copy(), np.array(0.8)
    gx, gw = numerical_grad(lambda: (x * w, None, w * w), (x, w), (GY, None, None))
    np.testing.assert_allclose(gx, GY * 0.8, rtol=1e-6)
    np.testing.assert_allclose(gw, (GY * X).sum(), rtol=1e-6)


def test_numerical_gradient_of_a_complex_input_is_by_both_parts() -> None:
    x, gy = X + 1j * X[::-1], GY - 0.3j
    (gx,) = numerical_grad(lambda: (x * x,), (x,), (gy,))
    np.testing.assert_allclose(gx, gy * np.conj(2 * x), rtol=1e-6)


def test_variables_are_perturbed_by_replacing_their_arrays() -> None:
    x = Variable(X.copy())
    array = x.array
    (gx,) = numerical_grad(lambda: (x.array * x.array,), (x,), (GY,))
    np.testing.assert_allclose(gx, 2 * X * GY, rtol=1e-6)
    assert x.array is array


def test_center_outputs_save_one_call_for_each_element() -> None:
    x, calls = X.copy(), []

    def f():
        calls.append(1)
        return (x * x,)

    numerical_grad(f, (x,), (GY,), detect_nondifferentiable=True, center_outputs=(X * X,))
    assert len(calls) == 4 * X.size


# Gradients


def test_right_gradients_and_second_derivatives_pass(device) -> None:
    x, gy, ggx = (placed(a, device) for a in (X, GY, X[::-1]))
    for f in (lambda x: x * x * x, square):
        check_backward(f, x, gy)
        check_double_backward(f, x, gy, ggx)


@pytest.mark.parametrize("factor", [-1.0, 0.5, 1.01])
def test_fails_a_wrong_gradient_with_everything_it_used(device, factor) -> None:
    with pytest.raises(AssertionError) as caught:
        check_backward(wrong(factor), placed(X, device), placed(GY, device), eps=1e-4, rtol=1e-3)
    settings = "check_backward failed (eps=0.0001 atol=1e-05 rtol=0.001)"
    for word in (settings, "inputs[0]", "grad_outputs[0]", "directions[0]"):
        assert word in str(caught.value)


def test_parameters_are_checked_and_unchanged(device) -> None:
    w = Variable(placed(GY + 2, device))
    array = w.array
    check_backward(lambda x: x * w * w, placed(X, device), placed(GY, device), params=w)
    assert w.array is array
    assert w.grad is None


def test_float32_can_be_checked_in_float64() -> None:
    seen = []

    def f(x):
        seen.append(x.dtype)
        return x * x

    check_backward(f, X.astype(np.float32), GY.astype(np.float32), dtype=np.float64, atol=1e-6, rtol=1e-5)
    assert seen[0] == np.float32
    assert set(seen[1:]) == {np.dtype(np.float64)}


def test_is_the_same_at_each_call_unless_seeded_otherwise() -> None:
    def message(**seed):
        with pytest.raises(AssertionError) as caught:
            check_backward(wrong(2.0), X, GY, **seed)
        return str(caught.value)

    assert message() == message(seed=0) != message(seed=1)


def test_second_derivatives_of_several_inputs_outputs_and_parameters() -> None:
    w = Variable(GY + 2)
    check_double_backward(lambda x, n: (x * x * w, x * n), (X, N), (GY, X), X[::-1], w, GY[::-1])
    assert w.grad is None


def test_assert_allclose_takes_arrays_and_variables(device) -> None:
    array = placed(X, device)
    assert_allclose(array, X)
    assert_allclose(Variable(array), X.tolist())
