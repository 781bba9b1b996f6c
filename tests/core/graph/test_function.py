"""Old-style `Function`: on arrays in both directions, and an end to differentiation."""

import gc
import weakref

import numpy as np
import pytest
from tests.building import array, values, variable
from tests.core.graph.nodes import node

import xpgrad
from xpgrad import Function, FunctionAdapter, FunctionHook, Variable
from xpgrad.errors import DtypeError, GradientError, GraphError, ShapeError
from xpgrad.utils import type_check


class Square(Function):
    def forward(self, inputs):
        (x,) = inputs
        return (x * x,)

    def backward(self, inputs, grad_outputs):
        return (2 * inputs[0] * grad_outputs[0],)


def old(name="Old", base=Square, **members):
    """Return a function of a new class `name` that has `members` and is else a square."""
    return node(name, base, **members)


def test_a_call_returns_one_variable_or_a_tuple(device):
    x = variable(device, [3.0])
    y = Square()(x)
    assert isinstance(y, Variable)
    y.backward()
    assert values(x.grad) == [6.0]
    both = old(
        forward=lambda self, xs: (xs[0] * 2, xs[0] * 3), backward=lambda self, xs, gys: (2 * gys[0] + 3 * gys[1],)
    )
    a, b = both(x)
    x.cleargrad()
    (a * b).backward()
    assert values(x.grad) == [2 * 9 + 3 * 6]


def test_creator_is_the_function_and_creator_node_its_adapter(device):
    f, x = Square(), variable(device, [3.0])
    y = f(x)
    adapter = f.node  # the function has a weak reference to it
    assert isinstance(adapter, FunctionAdapter)
    assert y.creator is y.node.creator is adapter.function is f
    assert y.creator_node is adapter
    assert f.inputs == adapter.inputs
    assert f.outputs[0]() is y.node
    assert f.label == adapter.label == adapter._impl_name == "Square"
    assert (f.rank, f.stack) == (0, None)
    y.unchain()
    y.creator = f
    assert y.creator is f
    assert y.creator_node is adapter
    y.backward()
    assert values(x.grad) == [6.0]


def test_a_second_call_makes_a_new_adapter(device):
    f, x = Square(), variable(device, [3.0])
    y, first = f(x), f.node
    z = f(y)
    assert f.node is not first
    assert y.creator is z.creator is f
    z.backward()
    assert values(x.grad) == [4 * 27.0]


def test_ownership_makes_no_cycle(device):
    gc.disable()
    try:
        f = Square()
        assert isinstance(f.node, FunctionAdapter)  # made on demand, owned by f
        seen = weakref.ref(f)
        del f
        assert seen() is None
        f = Square()
        y = f(variable(device, [3.0]))
        seen, adapter = weakref.ref(f), weakref.ref(f.node)
        del f
        assert seen() is not None  # owned by the graph
        del y
        assert seen() is None
        assert adapter() is None
    finally:
        gc.enable()


def test_forward_and_backward_by_place(device):
    factors = (("cpu", 1), ("gpu", 2))
    members = {f"forward_{p}": lambda self, xs, n=n: (xs[0] * n,) for p, n in factors}
    members |= {f"backward_{p}": lambda self, xs, gys, n=n: (gys[0] * 10 * n,) for p, n in factors}
    x = variable(device, [1.0])
    y = old(base=Function, **members)(x)
    y.backward()
    factor = 1.0 if device.backend.name == "numpy" else 2.0
    assert values(y) == [factor]
    assert values(x.grad) == [10 * factor]
    with pytest.raises(NotImplementedError, match="Function: neither forward nor"):
        Function()(x)
    x.cleargrad()
    old(base=Function, forward=Square.forward)(x).backward()  # the default backward gives None
    assert x.grad is None


@pytest.mark.parametrize("kept", [None, (), (1,), (0, 1)])
def test_all_inputs_are_kept_unless_retain_inputs_is_called(device, kept):
    seen = []

    def forward(self, inputs):
        if kept is not None:
            self.retain_inputs(kept)
        return (inputs[0] + inputs[1],)

    def backward(self, inputs, grad_outputs):
        seen.extend(None if a is None else values(a) for a in inputs)
        return grad_outputs * 2

    old(forward=forward, backward=backward)(variable(device, [1.0]), array(device, [2.0])).backward()
    assert seen == [None if kept is not None and i not in kept else [i + 1.0] for i in (0, 1)]


def test_retained_outputs_are_read_from_output_data(device):
    def forward(self, inputs):
        self.retain_inputs(())
        self.retain_outputs((0,))
        return (Variable(inputs[0]).__array_namespace__().exp(inputs[0]).array,)

    x = variable(device, [0.5])
    f = old(forward=forward, backward=lambda self, xs, gys: (gys[0] * self.output_data[0],))
    y = f(x)
    y.backward()
    assert values(x.grad) == pytest.approx(np.exp([0.5]))
    assert f.output_data[0] is y.array


def test_retain_after_backward_warns(device):
    def forward(self, inputs):
        self.retain_outputs((0,), retain_after_backward=True)
        return Square.forward(self, inputs)

    with pytest.warns(DeprecationWarning, match="retain_after_backward"):
        old(forward=forward)(variable(device, [1.0]))


def test_check_type_forward_is_called(device):
    f = old("Checked", check_type_forward=lambda self, types: type_check.expect(types[0].ndim == 2))
    with pytest.raises(type_check.InvalidType, match=r"performed in: Checked \(Forward\)"):
        f(variable(device, [1.0]))


def test_hooks_that_were_added_before_the_call_are_called(device):
    calls = []
    hook = node(
        "Noting",
        FunctionHook,
        forward_preprocess=lambda self, function, xs: calls.append(("forward", function.label, len(xs))),
        backward_preprocess=lambda self, function, xs, gys: calls.append(("backward", function.label, len(gys))),
    )
    f = Square()
    f.add_hook(hook)
    with pytest.raises(TypeError):
        f(None)  # which leaves the node and its hooks
    assert f.local_function_hooks == {"FunctionHook": hook}
    y = f(variable(device, [1.0]))
    y.backward()
    assert calls == [("forward", "Square", 1), ("backward", "Square", 1)]
    f.delete_hook("FunctionHook")
    y.backward()
    assert len(calls) == 2
    with pytest.raises(KeyError):
        f.delete_hook("FunctionHook")


def test_unchain(device):
    x = variable(device, [1.0])
    f = Square()
    y = f(x)
    f.unchain()
    assert y.creator is None
    y.backward()
    assert x.grad is None


@pytest.mark.parametrize(
    ("made", "error", "text"),
    [
        (lambda a: [1.0], TypeError, r"has a bug: gradient 0 must be an array, got float"),
        (lambda a: [a(np.ones(3), "f4")], ShapeError,
         r"has a bug: gradient 0 must be float32 \(1,\), got float32 \(3,\)"),
        (lambda a: [a(np.ones(1), "f8")], DtypeError,
         r"has a bug: gradient 0 must be float32 \(1,\), got float64 \(1,\)"),
        (lambda a: a(np.ones(1), "f4"), GradientError, "has a bug: backward must return a tuple"),
        (lambda a: [None, None], GradientError, "2 != expected 1; function Giving"),
    ],
)  # fmt: skip
def test_a_wrong_gradient_is_a_bug_of_the_function(device, made, error, text):
    x = variable(device, [1.0])
    wrong = made(lambda v, dtype: array(device, v, dtype))
    y = old("Giving", backward=lambda self, xs, gys: wrong)(x)
    with pytest.raises(error, match=text) as caught:
        y.backward()
    assert "Giving" in str(caught.value)
    assert "Stacktrace" not in str(caught.value)
    assert x.grad is None


def test_the_bug_is_shown_with_the_forward_stack_in_debug_mode(device):
    with xpgrad.using_config("debug", True):
        y = old(backward=lambda self, xs, gys: [1.0])(variable(device, [1.0]))
        with pytest.raises(TypeError, match=r"(?s)has a bug.*Stacktrace.*test_function\.py") as caught:
            y.backward()
    assert str(caught.value).count("Stacktrace") == 1


# Double backprop


@pytest.mark.parametrize(
    "build",
    [
        lambda x: Square()(x),
        lambda x: Square()(x) * 3,  # behind another function
        lambda x: Square()(x * x),  # before another function
        lambda x: Square()(x * x) * x,
    ],
)
def test_an_old_function_cannot_be_differentiated_twice(device, build):
    x = variable(device, [3.0])
    build(x).backward(enable_double_backprop=True)
    for gx in (x.grad_var, *xpgrad.grad([build(x)], [x], enable_double_backprop=True)):
        for y in (gx, gx * 2 + 1, gx * gx):  # also two functions away
            for sweep in (y.backward, lambda y=y: xpgrad.grad([y], [x])):
                with pytest.raises(GraphError, match="cannot twice-differentiate an old style Function Square"):
                    sweep()
    assert issubclass(GraphError, RuntimeError)


def test_what_does_not_pass_through_the_old_function_is_differentiated(device):
    x, z = variable(device, [3.0]), variable(device, [2.0])
    y = Square()(x) + z * z * z
    gx, gz = xpgrad.grad([y], [x, z], enable_double_backprop=True)
    assert values(xpgrad.grad([gz], [z])[0]) == [12.0]
    assert gx is not None
