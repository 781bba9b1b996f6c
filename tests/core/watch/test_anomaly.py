"""Anomaly detection: the first NaN or Inf, with its function, its pass and its line."""

import numpy as np
import pytest
from tests.building import values, variable
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
    return variable(device, [0.0, 1.0, 4.0], "float64", name="x")


def text_of(function, **options):
    with pytest.raises(AnomalyError) as caught, anomaly_detection(**options):
        function()
    assert issubclass(AnomalyError, NotANumber)
    return str(caught.value)


class Broken(FunctionNode):
    def __init__(self, gradient):
        self.gradient = gradient

    def forward(self, inputs):
        return inputs

    def backward(self, target_input_indexes, grad_outputs):
        return (self.gradient(grad_outputs[0]),)


def summed(f):
    return lambda x: xp.sum(f(x))


def swept(f):
    return lambda x: summed(f)(x).backward()


def second(x):
    (g,) = xpgrad.grad([xp.sum(x**1.5)], [x], enable_double_backprop=True)
    xpgrad.grad([xp.sum(g)], [x])


def hooked(x):
    y = x * 2
    y.register_hook(lambda g: g.array * np.nan)
    return y


SLOPES = jacobian(grad(summed(lambda x: x**1.5)))
THIRD = grad(lambda x: jacobian(grad(summed(lambda x: x**2.5)))(x)[0, 0])
DOUBLE = "as part of the gradient of _ ** 1.5", "(double backward pass)", "(g,) = xpgrad.grad([xp.sum(x**1.5)]"
TEXTS = {
    # A computation from [0, 1, 4], the start of the text, and parts of it.
    "NaN": (lambda x: xp.log(x - 5), "log: the output has a NaN (forward pass)\n", (
        HERE, ': "NaN": (lambda x: xp.log(x - 5),', "log(where(condition, x, 1))")),
    "Inf": (lambda x: xp.log(x), "log: the output has an Inf (forward pass)", ()),
    "quotient": (lambda x: 1 / x, "1 / _: the output has an Inf", ("x1 / where(condition, x2, 1)",)),
    "operand": (lambda x: x * (x.array * np.nan) * 2, "_ * constant array: the output has a NaN", ("came in with",)),
    "input": (swept(lambda x: (x * 0 + 1) / (x + 1e-200)), "_ / _: the gradient of input x2 has an Inf", ()),
    "double backward": (second, "_ ** 0.5: the gradient of input x has an Inf", DOUBLE),
    "jacobian": (lambda x: SLOPES(x.array), "_ ** 0.5", ("(double backward pass)",)),
    "hessian": (lambda x: hessian(summed(lambda x: x**1.5))(x.array),  # the tangent of the gradient
                "_ ** 1.5: the gradient of input x has a NaN (backward pass)", ()),
    "third order": (lambda x: THIRD(x.array), "", ("(triple backward pass)",)),
    "gradient of a user": (swept(lambda x: Broken(lambda g: Variable(g.array * np.nan)).apply((x,))[0]),
                           "Broken: the gradient of input 0 has a NaN (backward pass)", ("Broken(lambda g: Variable",)),
    "function in a gradient": (swept(lambda x: Broken(lambda g: g / (g * 0)).apply((x,))[0]),
                               "_ / _: the output has an Inf (backward pass)", ("Broken(lambda g: g / (g * 0))",)),
    "output of a user": (lambda x: Broken(None).apply((Variable(x.array * np.nan),)),
                         "Broken: the output has a NaN, which came in with operand 0 (forward pass)", ()),
    "hook": (swept(hooked), "_ * 2: the gradient that arrives at its output has a NaN, made by no function", ()),
    "sum": (swept(lambda x: (x - x.array) * 1e308 + (x - x.array) * 1e308), "", ("'x'", "a sum of several")),
    "checkpoint": (swept(checkpoint(lambda a: xp.where(a > 0, xp.sqrt(a), 0.0))),
                   "sqrt: the gradient of input x has a NaN (backward pass)", ("did not choose",)),
}  # fmt: skip


@pytest.mark.parametrize("name", TEXTS)
def test_an_error_names_function_input_pass_and_line(x, name):
    compute, start, parts = TEXTS[name]
    text = text_of(lambda: compute(x))
    assert text.startswith(start)
    assert all(part in text for part in parts), text


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
