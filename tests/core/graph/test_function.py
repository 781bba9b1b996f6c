"""Old-style `Function`: on arrays in both directions, and an end to differentiation."""

import gc
import weakref

import numpy as np
import pytest
from tests.building import array, values, variable

import xpgrad
from xpgrad import Function, FunctionAdapter, FunctionHook, Variable
from xpgrad.errors import DtypeError, GradientError, GraphError, ShapeError


class Square(Function):
    def forward(self, inputs):
        (x,) = inputs
        return (x * x,)

    def backward(self, inputs, grad_outputs):
        return (2 * inputs[0] * grad_outputs[0],)


class Giving(Function):
    def __init__(self, gradients):
        self.gradients = gradients

    def forward(self, inputs):
        return (inputs[0] * 1,)

    def backward(self, inputs, grad_outputs):
        return self.gradients


def test_a_call_returns_one_variable_or_a_tuple(device):
    class Both(Function):
        def forward(self, inputs):
            return inputs[0] * 2, inputs[0] * 3

        def backward(self, inputs, grad_outputs):
            return (2 * grad_outputs[0] + 3 * grad_outputs[1],)

    x = variable(device, [3.0])
    y = Square()(x)
    assert isinstance(y, Variable)
    y.backward()
    assert values(x.grad) == [6.0]
    a, b = Both()(x)
    x.cleargrad()
    (a * b).backward()
    assert values(x.grad) == [2 * 9 + 3 * 6]


def test_creator_is_the_function_and_creator_node_its_adapter(device):
    f = Square()
    y = f(variable(device, [3.0]))
    assert y.creator is f
    assert isinstance(y.creator_node, FunctionAdapter)
    assert y.creator_node is f.node
    assert y.creator_node.function is f
    assert y.node.creator is f
    assert f.inputs == f.node.inputs
    assert f.outputs[0]() is y.node
    assert f.rank == 0
    assert f.label == f.node.label == "Square"
    assert f.node._impl_name == "Square"
    assert f.stack is None


def test_creator_can_be_set_to_a_function(device):
    f, x = Square(), variable(device, [3.0])
    y = f(x)
    node = f.node  # the function has a weak reference to it
    y.unchain()
    y.creator = f
    assert y.creator is f
    assert y.creator_node is node
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
    class Placed(Function):
        def forward_cpu(self, inputs):
            return (inputs[0] * 1,)

        def forward_gpu(self, inputs):
            return (inputs[0] * 2,)

        def backward_cpu(self, inputs, grad_outputs):
            return (grad_outputs[0] * 10,)

        def backward_gpu(self, inputs, grad_outputs):
            return (grad_outputs[0] * 20,)

    x = variable(device, [1.0])
    y = Placed()(x)
    y.backward()
    host = device.backend.name == "numpy"
    assert values(y) == [1.0 if host else 2.0]
    assert values(x.grad) == [10.0 if host else 20.0]
    with pytest.raises(NotImplementedError, match="Function: neither forward nor"):
        Function()(x)


def test_the_default_backward_gives_none(device):
    class Opaque(Function):
        def forward(self, inputs):
            return (inputs[0] * 1,)

    x = variable(device, [1.0])
    Opaque()(x).backward()
    assert x.grad is None


def test_all_inputs_are_kept_unless_retain_inputs_is_called(device):
    seen = []

    class Looking(Function):
        def __init__(self, kept=None):
            self.kept = kept

        def forward(self, inputs):
            if self.kept is not None:
                self.retain_inputs(self.kept)
            return (inputs[0] + inputs[1],)

        def backward(self, inputs, grad_outputs):
            seen.append(tuple(None if a is None else values(a) for a in inputs))
            return grad_outputs * 2

    x = variable(device, [1.0])
    for kept in (None, (), (1,), (0, 1)):
        Looking(kept)(x, array(device, [2.0])).backward()
    assert seen == [([1.0], [2.0]), (None, None), (None, [2.0]), ([1.0], [2.0])]


def test_retained_outputs_are_read_from_output_data(device):
    class Exp(Function):
        def forward(self, inputs):
            self.retain_inputs(())
            self.retain_outputs((0,))
            return (Variable(inputs[0]).__array_namespace__().exp(inputs[0]).array,)

        def backward(self, inputs, grad_outputs):
            return (grad_outputs[0] * self.output_data[0],)

    x = variable(device, [0.5])
    f = Exp()
    y = f(x)
    y.backward()
    assert values(x.grad) == pytest.approx(np.exp([0.5]))
    assert f.output_data[0] is y.array


def test_retain_after_backward_warns(device):
    class Warned(Square):
        def forward(self, inputs):
            self.retain_outputs((0,), retain_after_backward=True)
            return super().forward(inputs)

    with pytest.warns(DeprecationWarning, match="retain_after_backward"):
        Warned()(variable(device, [1.0]))


def test_check_type_forward_is_called(device):
    from xpgrad.utils import type_check

    class Checked(Square):
        def check_type_forward(self, in_types):
            type_check.expect(in_types[0].ndim == 2)

    with pytest.raises(type_check.InvalidType, match=r"performed in: Checked \(Forward\)"):
        Checked()(variable(device, [1.0]))


def test_an_exception_in_forward_leaves_the_function_unchanged(device):
    class Failing(Function):
        def forward(self, inputs):
            raise ZeroDivisionError

    f, hook = Failing(), FunctionHook()
    f.add_hook(hook)
    node = f.node
    with pytest.raises(ZeroDivisionError):
        f(variable(device, [1.0]))
    assert f.node is node
    assert f.local_function_hooks == {"FunctionHook": hook}


def test_hooks_that_were_added_before_the_call_are_called(device):
    calls = []

    class Noting(FunctionHook):
        def forward_preprocess(self, function, in_data):
            calls.append(("forward", function.label, len(in_data)))

        def backward_preprocess(self, function, in_data, out_grad):
            calls.append(("backward", function.label, len(out_grad)))

    f = Square()
    f.add_hook(Noting())
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
        (lambda a: [1.0], TypeError, r"gradient 0 must be an array, got float"),
        (lambda a: [a(np.ones(3), "float32")], ShapeError, r"gradient 0 must be float32 \(1,\), got float32 \(3,\)"),
        (lambda a: [a(np.ones(1), "float64")], DtypeError, r"gradient 0 must be float32 \(1,\), got float64 \(1,\)"),
        (lambda a: a(np.ones(1), "float32"), GradientError, "backward must return a tuple"),
    ],
)
def test_a_wrong_gradient_is_a_bug_of_the_function(device, made, error, text):
    x = variable(device, [1.0])
    y = Giving(made(lambda v, dtype: array(device, v, dtype)))(x)
    with pytest.raises(error, match=r"Function `Giving` \(Giving\) has a bug: " + text) as caught:
        y.backward()
    assert "Stacktrace" not in str(caught.value)
    assert x.grad is None


def test_the_bug_is_shown_with_the_forward_stack_in_debug_mode(device):
    with xpgrad.using_config("debug", True):
        y = Giving([1.0])(variable(device, [1.0]))
        with pytest.raises(TypeError, match=r"(?s)has a bug.*Stacktrace.*test_function\.py") as caught:
            y.backward()
    assert str(caught.value).count("Stacktrace") == 1


def test_a_wrong_number_of_gradients(device):
    y = Giving([None, None])(variable(device, [1.0]))
    with pytest.raises(GradientError, match="2 != expected 1; function Giving"):
        y.backward()


# Double backprop


def _grad_var(x, y):
    y.backward(enable_double_backprop=True)
    return x.grad_var


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
    text = "cannot twice-differentiate an old style Function Square"
    x = variable(device, [3.0])
    gx = _grad_var(x, build(x))
    with pytest.raises(RuntimeError, match=text):
        gx.backward()
    with pytest.raises(RuntimeError, match=text):  # also two functions away
        (gx * 2 + 1).backward()
    with pytest.raises(GraphError, match=text):
        xpgrad.grad([gx], [x])
    (gx,) = xpgrad.grad([build(x)], [x], enable_double_backprop=True)
    with pytest.raises(GraphError, match=text):
        xpgrad.grad([gx * gx], [x])
    with pytest.raises(GraphError, match=text):
        (gx * gx).backward()


def test_what_does_not_pass_through_the_old_function_is_differentiated(device):
    x, z = variable(device, [3.0]), variable(device, [2.0])
    y = Square()(x) + z * z * z
    gx, gz = xpgrad.grad([y], [x, z], enable_double_backprop=True)
    assert values(xpgrad.grad([gz], [z])[0]) == [12.0]
    assert gx is not None
