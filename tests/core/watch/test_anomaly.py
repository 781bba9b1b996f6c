"""Anomaly detection: the first NaN or Inf, with its function, its pass and its line."""

import numpy as np
import pytest
from tests.building import array, values, variable
from tests.threads import in_thread

import xpgrad
from xpgrad import FunctionNode, Variable, anomaly_detection
from xpgrad import array_api as xp
from xpgrad.errors import AnomalyError, NotANumber
from xpgrad.transforms import checkpoint, grad, hessian, jacobian

HERE = "test_anomaly.py"


@pytest.fixture(autouse=True)
def _quiet():
    with np.errstate(all="ignore"):
        yield


@pytest.fixture
def x(device):
    return variable(device, [0.0, 1.0, 4.0], "float64")


def text_of(function, **options):
    with pytest.raises(AnomalyError) as caught, anomaly_detection(**options):
        function()
    assert issubclass(AnomalyError, NotANumber)
    return str(caught.value)


def test_a_nan_in_forward(x):
    text = text_of(lambda: xp.log(x - 5))
    assert text.startswith("log: the output has a NaN (forward pass)\n")
    assert HERE in text
    assert ": text = text_of(lambda: xp.log(x - 5))" in text
    assert "log(where(condition, x, 1))" in text


def test_an_inf_in_forward(x):
    assert text_of(lambda: xp.log(x)).startswith("log: the output has an Inf (forward pass)")
    assert "x1 / where(condition, x2, 1)" in text_of(lambda: 1 / x)


def test_only_nan_can_be_selected(x):
    with anomaly_detection(inf=False):
        assert values(xp.log(x))[0] == -np.inf
    assert text_of(lambda: xp.log(x - 5), inf=False).startswith("log")


def test_an_inf_that_came_in_may_pass_through(device, x):
    """A mask with -inf, as in attention."""
    with anomaly_detection():
        masked = xp.where(x > 0, x, -np.inf)
        e = xp.exp(masked - xp.max(masked))
        (e[1] / xp.sum(e)).backward()
    assert np.isfinite(values(x.grad)).all()
    with anomaly_detection():
        xp.exp(variable(device, [-np.inf, 1.0], requires_grad=False))


def test_a_nan_that_came_in_is_named(device):
    bad = variable(device, [np.nan, 1.0])
    assert text_of(lambda: bad * 2).startswith(
        "_ * 2: the output has a NaN, which came in with operand 0 (forward pass)"
    )


@pytest.mark.parametrize("recorded", [False, True])
def test_the_trap_of_where(x, recorded):
    def compute():
        y = xp.where(x > 0, xp.sqrt(x), 0.0)
        xp.sum(y).backward(enable_double_backprop=recorded)

    text = text_of(compute)
    assert text.startswith("sqrt: the gradient of input x has a NaN (backward pass)\n")
    assert "y = xp.where(x > 0, xp.sqrt(x), 0.0)" in text
    assert "`where` did not choose" in text
    assert "where(condition, sqrt(where(condition, x, 1)), ...)" in text
    assert x.grad is None


def test_suggested_remedy_works(x):
    with anomaly_detection():
        y = xp.where(x > 0, xp.sqrt(xp.where(x > 0, x, 1.0)), 0.0)
        xp.sum(y).backward()
    assert values(x.grad) == [0.0, 0.5, 0.25]


@pytest.mark.parametrize("recorded", [False, True])
def test_an_inf_in_backward_is_no_trap(x, recorded):
    y = lambda: xp.sum(xp.sqrt(x))  # noqa: E731
    text = text_of(lambda: xpgrad.grad([y()], [x], enable_double_backprop=recorded))
    assert text.startswith("sqrt: the gradient of input x has an Inf (backward pass)")
    assert "y = lambda: xp.sum(xp.sqrt(x))" in text
    assert "where" not in text


def test_the_input_is_named(device, x):
    ones = variable(device, [1.0, 1.0, 1.0], "float64")
    tiny = variable(device, [1e-200, 1.0, 1.0], "float64")
    text = text_of(lambda: xp.sum(ones / tiny).backward())
    assert text.startswith("_ / _: the gradient of input x2 has an Inf (backward pass)")


def test_double_backward(x):
    def compute():
        y = xp.sum(x**1.5)
        (g,) = xpgrad.grad([y], [x], enable_double_backprop=True)
        xpgrad.grad([xp.sum(g)], [x])

    text = text_of(compute)
    assert text.startswith("_ ** 0.5: the gradient of input x has an Inf, as part of the gradient of _ ** 1.5")
    assert "(double backward pass)" in text
    assert "y = xp.sum(x**1.5)" in text
    text = text_of(lambda: jacobian(grad(lambda x: xp.sum(x**1.5)))(x.array))
    assert "(double backward pass)" in text
    text = text_of(lambda: hessian(lambda x: xp.sum(x**1.5))(x.array))  # the tangent of the gradient
    assert text.startswith("_ ** 1.5: the gradient of input x has a NaN (backward pass)")


def test_third_order(x):
    text = text_of(lambda: grad(lambda x: jacobian(grad(lambda x: xp.sum(x**2.5)))(x)[0, 0])(x.array))
    assert "(triple backward pass)" in text


class Broken(FunctionNode):
    def __init__(self, gradient):
        self.gradient = gradient

    def forward(self, inputs):
        return inputs

    def backward(self, target_input_indexes, grad_outputs):
        return (self.gradient(grad_outputs[0]),)


def test_functions_of_users(device, x):
    nan = array(device, [np.nan] * 3, "float64")
    text = text_of(lambda: xp.sum(Broken(lambda g: Variable(nan)).apply((x,))[0]).backward())
    assert text.startswith("Broken: the gradient of input 0 has a NaN (backward pass)")
    assert "Broken(lambda g: Variable(nan))" in text
    text = text_of(lambda: xp.sum(Broken(lambda g: g / (g * 0)).apply((x,))[0]).backward())
    assert text.startswith("_ / _: the output has an Inf (backward pass)")
    assert "Broken(lambda g: g / (g * 0))" in text
    text = text_of(lambda: Broken(None).apply((Variable(nan),)))
    assert text.startswith("Broken: the output has a NaN, which came in with operand 0 (forward pass)")


def test_value_without_a_creator(device, x):
    def hooked():
        y = x * 2
        y.register_hook(lambda g: g.array * np.nan)
        xp.sum(y).backward()

    text = text_of(hooked)
    assert text.startswith("_ * 2: the gradient that arrives at its output has a NaN, made by no function")
    small = variable(device, [1e-9], "float64", name="weight")
    text = text_of(lambda: xp.sum(small * 1e308 + small * 1e308).backward())
    assert "'weight'" in text
    assert "a sum of several" in text


def test_checkpoints(x):
    text = text_of(lambda: xp.sum(checkpoint(lambda a: xp.where(a > 0, xp.sqrt(a), 0.0))(x)).backward())
    assert text.startswith("sqrt: the gradient of input x has a NaN (backward pass)")
    assert "did not choose" in text


def test_a_graph_made_outside_has_no_line(x):
    y = xp.sum(xp.sqrt(x))
    assert "run the forward computation inside anomaly_detection" in text_of(y.backward)


def test_anomaly_detection_is_local_to_the_thread_and_ends(x):
    with anomaly_detection():
        assert xpgrad.is_debug()
        assert in_thread(xpgrad.is_debug) is False
    assert not xpgrad.is_debug()
    assert values(xp.log(x))[0] == -np.inf


def test_anomaly_detection_is_reentrant_and_a_decorator(x):
    detection = anomaly_detection()
    with detection, detection:
        pass
    assert not xpgrad.is_debug()

    @anomaly_detection(inf=False)
    def compute():
        return xpgrad.config.anomaly

    assert compute() == "nan"
    assert xpgrad.config.anomaly is None


def test_numbers_are_those_without(x):
    def compute():
        (g,) = xpgrad.grad([xp.sum(xp.sin(x) * x)], [x], enable_double_backprop=True)
        return values(g), values(xpgrad.grad([xp.sum(g * g)], [x])[0])

    plain = compute()
    with anomaly_detection():
        assert compute() == plain
