"""Gradient checks under Chainer's names."""

import numpy as np
import pytest
from tests.devices import device_or_skip

import xpgrad
from xpgrad import FunctionNode, Variable, gradient_check
from xpgrad.testing.arrays import on_host, placed

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


class TestNumericalGrad:
    def test_is_the_derivative_by_each_element(self, device) -> None:
        x, gy = placed(X, device), placed(GY, device)
        (gx,) = gradient_check.numerical_grad(lambda: (x * x,), (x,), (gy,))
        assert device.is_array_supported(gx)
        np.testing.assert_allclose(on_host(gx), 2 * X * GY, rtol=1e-6)

    def test_leaves_the_inputs_unchanged(self, device) -> None:
        x = placed(X, device)
        gradient_check.numerical_grad(lambda: (x * x,), (x,), (x,))
        np.testing.assert_array_equal(on_host(x), X)

    def test_leaves_the_inputs_unchanged_when_the_function_raises(self) -> None:
        x, calls = X.copy(), []

        def f():
            calls.append(1)
            if len(calls) == 4:
                raise ValueError("no more")
            return (x * x,)

        with pytest.raises(ValueError, match="no more"):
            gradient_check.numerical_grad(f, (x,), (GY,))
        np.testing.assert_array_equal(x, X)

    def test_dtypes_agree_with_the_inputs(self) -> None:
        x = X.astype(np.float32)
        (gx,) = gradient_check.numerical_grad(lambda: (x * x,), (x,), (GY,))
        assert gx.dtype == np.float32

    def test_accepts_several_inputs_and_outputs_including_none(self) -> None:
        x, w = X.copy(), np.array(0.8)
        gx, gw = gradient_check.numerical_grad(lambda: (x * w, None, w * w), (x, w), (GY, None, None))
        np.testing.assert_allclose(gx, GY * 0.8, rtol=1e-6)
        np.testing.assert_allclose(gw, (GY * X).sum(), rtol=1e-6)

    def test_of_a_complex_input_is_by_both_parts(self) -> None:
        x, gy = X + 1j * X[::-1], GY - 0.3j
        (gx,) = gradient_check.numerical_grad(lambda: (x * x,), (x,), (gy,))
        np.testing.assert_allclose(gx, gy * np.conj(2 * x), rtol=1e-6)

    def test_perturbs_variables_by_replacing_their_arrays(self) -> None:
        x = Variable(X.copy())
        array = x.array
        (gx,) = gradient_check.numerical_grad(lambda: (x.array * x.array,), (x,), (GY,))
        np.testing.assert_allclose(gx, 2 * X * GY, rtol=1e-6)
        assert x.array is array

    def test_rejects_integers(self) -> None:
        x = np.arange(3)
        with pytest.raises(RuntimeError, match=r"inputs\[0\] must be floating-point, got int64"):
            gradient_check.numerical_grad(lambda: (x,), (x,), (x,))

    @pytest.mark.parametrize("eps", [0, -1e-3])
    def test_rejects_an_eps_that_is_not_positive(self, eps) -> None:
        with pytest.raises(AssertionError, match="eps must be positive"):
            gradient_check.numerical_grad(lambda: (X,), (X,), (GY,), eps)

    def test_rejects_another_number_of_outputs(self) -> None:
        with pytest.raises(ValueError, match="a tuple of 2 arrays, one for each of grad_outputs; got 1 outputs"):
            gradient_check.numerical_grad(lambda: (X,), (X.copy(),), (GY, GY))

    def test_rejects_a_function_that_returns_no_tuple(self) -> None:
        with pytest.raises(ValueError, match="got ndarray"):
            gradient_check.numerical_grad(lambda: X, (X.copy(),), (GY,))


class TestNondifferentiable:
    @pytest.mark.parametrize("f", [np.abs, np.ceil, np.sign, lambda x: np.maximum(x, 0), lambda x: np.sqrt(np.abs(x))])
    def test_kinks_and_jumps_are_found(self, f) -> None:
        x = np.array([0.0, 1.0])
        with pytest.raises(gradient_check.NondifferentiableError, match="output 0 has no derivative"):
            gradient_check.numerical_grad(lambda: (f(x),), (x,), (x,), detect_nondifferentiable=True)

    def test_the_edge_of_a_domain_is_found(self) -> None:
        x = np.array([1e-4, 1.0])
        with (
            np.errstate(invalid="ignore"),
            pytest.raises(gradient_check.NondifferentiableError, match="is finite at some"),
        ):
            gradient_check.numerical_grad(lambda: (np.log(x),), (x,), (x,), detect_nondifferentiable=True)

    @pytest.mark.parametrize("f", [np.exp, np.square, np.cos, np.ones_like, lambda x: 1e6 + x, lambda x: x - x])
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_smooth_functions_pass(self, f, dtype) -> None:
        x = np.array([0.0, 1.0, -0.7], dtype)
        gradient_check.numerical_grad(lambda: (f(x),), (x,), (x,), detect_nondifferentiable=True)

    def test_tolerance_lets_small_kinks_pass(self) -> None:
        x = np.array([0.0, 1.0])
        gradient_check.numerical_grad(lambda: (np.abs(x),), (x,), (x,), detect_nondifferentiable=True, diff_atol=1e-3)

    def test_center_outputs_save_one_call_for_each_element(self) -> None:
        x, calls = X.copy(), []

        def f():
            calls.append(1)
            return (x * x,)

        gradient_check.numerical_grad(f, (x,), (GY,), detect_nondifferentiable=True, center_outputs=(X * X,))
        assert len(calls) == 4 * X.size

    def test_check_backward_passes_it_on(self) -> None:
        with pytest.raises(gradient_check.NondifferentiableError):
            gradient_check.check_backward(abs_like, np.array([0.0]), np.array([1.0]), detect_nondifferentiable=True)


def abs_like(x):
    return xpgrad.array_api.where(x > 0, x, -x)


class TestCheckBackward:
    def test_passes_a_right_gradient(self, device) -> None:
        gradient_check.check_backward(lambda x: x * x, placed(X, device), placed(GY, device))
        gradient_check.check_backward(square, placed(X, device), placed(GY, device))

    @pytest.mark.parametrize("factor", [-1.0, 0.5, 1.01])
    def test_fails_a_wrong_gradient_with_everything_it_used(self, device, factor) -> None:
        with pytest.raises(AssertionError) as caught:
            gradient_check.check_backward(
                lambda x: Doubled(factor).apply((x,))[0], placed(X, device), placed(GY, device), eps=1e-4, rtol=1e-3
            )
        for word in (
            "check_backward failed (eps=0.0001 atol=1e-05 rtol=0.001)",
            "inputs[0]",
            "grad_outputs[0]",
            "directions[0]",
        ):
            assert word in str(caught.value)

    def test_takes_several_inputs_and_outputs(self) -> None:
        gradient_check.check_backward(lambda x, w: (x * w, None, x + w), (X, GY), (GY, None, X))

    def test_an_output_without_gradient_does_not_count(self) -> None:
        gradient_check.check_backward(lambda x: (x * x, Doubled(3.0).apply((x,))[0]), X, (GY, None))

    def test_starts_from_one_for_a_single_element(self) -> None:
        gradient_check.check_backward(lambda x: x * x, np.array(0.7), None)

    @pytest.mark.parametrize("f", [lambda x: x * x, lambda x: (x, x)])
    def test_needs_gradients_for_more(self, f) -> None:
        with pytest.raises(ValueError, match="y_grad may be None only for a function with one output of one element"):
            gradient_check.check_backward(f, X, None)

    def test_integer_inputs_have_no_gradient(self) -> None:
        gradient_check.check_backward(lambda x, n: x * n, (X, np.arange(3)), GY)

    def test_an_input_that_must_not_have_a_gradient_but_has_one_is_an_error(self) -> None:
        with pytest.raises(RuntimeError, match="gradient of int variable must be None"):
            gradient_check.check_backward(lambda x, w: x * w, (X, X), GY, no_grads=[False, True])

    def test_number_of_no_grads_must_fit(self) -> None:
        with pytest.raises(ValueError, match="got 1 no_grads for 2 inputs"):
            gradient_check.check_backward(lambda x, w: x * w, (X, X), GY, no_grads=[False])

    def test_number_of_gradients_must_fit(self) -> None:
        with pytest.raises(ValueError, match="got 2 arrays in y_grad for 1 outputs"):
            gradient_check.check_backward(square, X, (GY, GY))

    def test_missing_gradient_counts_as_zero(self) -> None:
        gradient_check.check_backward(lambda x, w: x * x, (X, X), GY)
        with pytest.raises(AssertionError, match="check_backward failed"):
            gradient_check.check_backward(lambda x, w: x * Variable(w.array), (X, X), GY)

    def test_parameters_are_checked_and_unchanged(self, device) -> None:
        w = Variable(placed(GY + 2, device))
        array = w.array
        gradient_check.check_backward(lambda x: x * w * w, placed(X, device), placed(GY, device), params=w)
        assert w.array is array
        assert w.grad is None
        with pytest.raises(AssertionError):
            gradient_check.check_backward(
                lambda x: x * Variable(w.array), placed(X, device), placed(GY, device), params=(w,)
            )

    def test_float32_can_be_checked_in_float64(self) -> None:
        x, gy = X.astype(np.float32), GY.astype(np.float32)
        seen = []

        def f(x):
            seen.append(x.dtype)
            return x * x

        gradient_check.check_backward(f, x, gy, dtype=np.float64, atol=1e-6, rtol=1e-5)
        assert seen[0] == np.float32
        assert set(seen[1:]) == {np.dtype(np.float64)}

    @pytest.mark.parametrize("dtype", [np.int32, "complex64"])
    def test_dtype_must_be_real_floating(self, dtype) -> None:
        with pytest.raises(ValueError, match="dtype must be a real floating-point dtype"):
            gradient_check.check_backward(square, X, GY, dtype=dtype)

    def test_complex_inputs(self) -> None:
        gradient_check.check_backward(lambda x, w: x * x * w, (X + 0.4j * GY, X), GY - 0.3j * X)

    def test_is_the_same_at_each_call_unless_seeded_otherwise(self) -> None:
        def message(**seed):
            with pytest.raises(AssertionError) as caught:
                gradient_check.check_backward(lambda x: Doubled(2.0).apply((x,))[0], X, GY, **seed)
            return str(caught.value)

        assert message() == message(seed=0) != message(seed=1)

    def test_empty_inputs_pass(self) -> None:
        gradient_check.check_backward(lambda x: x * x, np.zeros((0, 3)), np.zeros((0, 3)))


class TestCheckDoubleBackward:
    def test_passes_right_second_derivatives(self, device) -> None:
        x, gy, ggx = (placed(a, device) for a in (X, GY, X[::-1]))
        gradient_check.check_double_backward(lambda x: x * x * x, x, gy, ggx)
        gradient_check.check_double_backward(square, x, gy, ggx)

    def test_fails_a_gradient_that_cannot_be_differentiated(self, device) -> None:
        x, gy, ggx = (placed(a, device) for a in (X, GY, X[::-1]))
        with pytest.raises(AssertionError, match=r"check_double_backward failed \(eps=0.001 atol=0.0001 rtol=0.001\)"):
            gradient_check.check_double_backward(lambda x: Doubled(second=False).apply((x,))[0], x, gy, ggx)

    def test_takes_several_inputs_outputs_and_parameters(self) -> None:
        w = Variable(GY + 2)
        gradient_check.check_double_backward(
            lambda x, n: (x * x * w, x * n), (X, np.arange(3)), (GY, X), X[::-1], w, GY[::-1]
        )
        assert w.grad is None

    def test_gradients_of_gradients_can_be_none(self) -> None:
        gradient_check.check_double_backward(lambda x, w: x * x * w, (X, GY), GY, (X, None))

    def test_starts_from_one_for_a_single_element(self) -> None:
        gradient_check.check_double_backward(lambda x: x * x * x, np.array(0.7), None, np.array(1.3))

    def test_number_of_gradients_of_gradients_must_fit(self) -> None:
        with pytest.raises(ValueError, match="expected one for each of 1 inputs that have a gradient and 0 params"):
            gradient_check.check_double_backward(square, X, GY, (X, X))

    def test_linear_functions_pass(self) -> None:
        gradient_check.check_double_backward(lambda x: 3 * x, X, GY, X)

    def test_complex_inputs(self) -> None:
        x = X + 0.4j * GY
        gradient_check.check_double_backward(lambda x: x * x * x, x, GY + 1j, x[::-1])


class TestAssertAllclose:
    def test_takes_arrays_variables_scalars_and_lists(self, device) -> None:
        array = placed(X, device)
        xpgrad.testing.assert_allclose(array, X)
        xpgrad.testing.assert_allclose(Variable(array), X.tolist())
        xpgrad.testing.assert_allclose(3.0, np.float64(3.00001))

    def test_names_the_worst_element(self) -> None:
        with pytest.raises(AssertionError, match=r"2 of 6 elements are not close; the worst is at \(1, 2\)"):
            xpgrad.testing.assert_allclose(X, X + np.array([[0, 0.1, 0], [0, 0, 0.2]]))

    def test_rejects_other_shapes(self) -> None:
        with pytest.raises(AssertionError, match=r"shapes differ: \(2, 3\) and \(2, 1\)"):
            xpgrad.testing.assert_allclose(X, X[:, :1])

    def test_tolerances_are_absolute_plus_relative(self) -> None:
        xpgrad.testing.assert_allclose([1e-6, 1.0001], [0, 1.0])
        with pytest.raises(AssertionError, match="not close"):
            xpgrad.testing.assert_allclose([1e-6], [0], atol=1e-7)
        with pytest.raises(AssertionError, match="not close"):
            xpgrad.testing.assert_allclose([1.0001], [1.0], atol=0, rtol=1e-5)

    def test_nan_is_close_to_nan_only(self) -> None:
        xpgrad.testing.assert_allclose([np.nan, np.inf], [np.nan, np.inf])
        with pytest.raises(AssertionError, match="1 of 2"):
            xpgrad.testing.assert_allclose([np.nan, 1.0], [np.nan, np.nan])

    def test_compares_booleans(self) -> None:
        xpgrad.testing.assert_allclose([True], [True])
        with pytest.raises(AssertionError, match="1 of 1"):
            xpgrad.testing.assert_allclose([True], [False])


def test_default_device_is_not_used() -> None:
    x = placed(X, device_or_skip("@strict:device1"))
    gradient_check.check_backward(lambda x: x * x, x, x)
