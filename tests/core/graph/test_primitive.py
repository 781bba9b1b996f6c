"""Primitives that users define."""

import array_api_strict
import numpy as np
import pytest

import xpgrad
import xpgrad.array_api as xp
from xpgrad import Variable, primitive
from xpgrad.backend.spec import Spec
from xpgrad.graph.general import plan_for
from xpgrad.transforms import jvp


def test_the_shape_of_a_result_may_depend_on_values() -> None:
    @primitive()
    def positive_ones(xp, x, /):
        return x[x > 0]

    @primitive()
    def larger_ones(xp, x1, x2, /):
        return x1[x1 > x2]

    zeros = Variable(np.zeros(3))
    for values, count in (([1.0, 2.0, 3.0], 3), ([-1.0, 2.0, -3.0], 1), ([-1.0, -2.0, -3.0], 0)):
        x = Variable(np.asarray(values))
        for y in (positive_ones(x), larger_ones(x, zeros), larger_ones(x, Variable(np.zeros((1,))))):
            assert y.shape == y.array.shape == (count,)


@pytest.mark.parametrize("function", [xp.remainder, xp.atan2])
def test_the_operators_of_a_constant_array_may_reject_a_variable(function, monkeypatch) -> None:
    kind = type(array_api_strict.asarray(0.0))

    def refusing(operator):
        def refuse(self, other):
            if isinstance(other, Variable):
                raise TypeError("no array")
            return operator(self, other)

        return refuse

    for name in ("__add__", "__mul__", "__sub__", "__truediv__"):
        monkeypatch.setattr(kind, name, refusing(getattr(kind, name)))
    constant, values = (array_api_strict.asarray([each, 7.0]) for each in (3.0, 2.0))
    gradients = []
    for recorded in (False, True):
        x = Variable(values)
        function(constant, x).sum().backward(enable_double_backprop=recorded)
        gradients.append(np.from_dlpack(x.grad))
    assert np.array_equal(*gradients)


def test_spec_of_a_result_of_another_type_is_not_cached() -> None:
    backend = xpgrad.get_device("@numpy").backend
    plan = plan_for(xp.exp.definition, np.ndarray, backend)
    stands_in = np.ones(2).view(np.memmap)  # as a tracer does for an array, in another place
    given = Spec((2,), np.dtype("float64"), "cpu", backend)
    assert plan.outcome(given, stands_in, stands_in) is backend.spec(stands_in)
    assert given not in plan.outcomes
    assert plan.outcome(given, np.ones(2), np.ones(2)) is plan.outcomes.pop(given)


@pytest.mark.parametrize("name", ["y", "x_spec"])
def test_argument_that_rules_would_misinterpret_raises(name):
    body, rule = f"lambda xp, x, {name}, /: x * {name}", f"lambda xp, gy, {name}: gy * {name}"
    with pytest.raises(
        xpgrad.PluginError, match=f"the rule of x requires {name}, an argument with the name that rules"
    ):
        primitive(x=eval(rule))(eval(body))


@pytest.mark.parametrize("linear", [("z",), ("scale",), "x", ["x"]])
def test_linear_inputs_must_be_a_tuple_of_inputs_with_rules(linear):
    with pytest.raises(xpgrad.PluginError, match="linear must be a tuple of names of inputs with rules"):

        @primitive(x=lambda xp, gy, scale: gy * scale, linear=linear)
        def scaled(xp, x, /, scale):
            return x * scale


def test_linear_function_is_applied_to_tangents():
    calls = []

    @primitive(x=lambda xp, gy, scale: gy * scale, linear=("x",))
    def scaled(xp, x, /, scale):
        calls.append(x)
        return x * scale

    x, t = np.ones(2), np.full(2, 3.0)
    assert jvp(lambda x: scaled(x, 2.0), (x,), (t,))[1].tolist() == [6.0, 6.0]
    assert calls[0] is x
    assert calls[1] is t
