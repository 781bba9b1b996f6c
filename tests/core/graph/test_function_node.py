"""`FunctionNode`: the author's interface, the validation in `apply`, and the use of `backward` in the sweep."""

import gc
import weakref

import numpy as np
import pytest
from tests.building import array, values, variable

import xpgrad
from xpgrad import FunctionNode, Variable
from xpgrad.errors import (
    BackendMismatch,
    DeviceMismatch,
    DtypeError,
    GradientError,
    GraphError,
    ShapeError,
    UnknownArray,
)


class Product(FunctionNode):
    def forward(self, inputs):
        self.retain_inputs((0, 1))
        a, b = inputs
        return (a * b,)

    def backward(self, target_input_indexes, grad_outputs):
        a, b = self.get_retained_inputs()
        (gy,) = grad_outputs
        return tuple(gy * (b, a)[i] for i in target_input_indexes)


class Exp(FunctionNode):
    """Keeps only its output."""

    def forward(self, inputs):
        self.retain_outputs((0,))
        (x,) = inputs
        return (Variable(x).__array_namespace__().exp(x).array,)

    def backward(self, target_input_indexes, grad_outputs):
        (y,) = self.get_retained_outputs()
        return (grad_outputs[0] * y,)


class Split(FunctionNode):
    """Two outputs: the double and the triple."""

    seen = ()

    def forward(self, inputs):
        (x,) = inputs
        return x * 2, x * 3

    def backward(self, target_input_indexes, grad_outputs):
        self.seen = grad_outputs
        ga, gb = grad_outputs
        total = None
        for g, factor in ((ga, 2), (gb, 3)):
            if g is not None:
                total = g * factor if total is None else total + g * factor
        return (total,)


class Giving(FunctionNode):
    """Identity whose backward returns a given result."""

    def __init__(self, gradients):
        self.gradients = gradients

    def forward(self, inputs):
        return (inputs[0] * 1,)

    def backward(self, target_input_indexes, grad_outputs):
        return self.gradients


# apply


def test_apply_returns_a_tuple_of_connected_variables(device):
    a, b = variable(device, [1.0, 2.0]), variable(device, [3.0, 4.0])
    f = Product()
    outputs = f.apply((a, b))
    assert isinstance(outputs, tuple)
    (y,) = outputs
    assert values(y) == [3.0, 8.0]
    assert y.creator_node is f
    assert y.creator is f
    assert y.rank == 1
    assert f.rank == 0
    assert f.inputs == (a.node, b.node)
    assert f.outputs[0]() is y.node
    y.sum().backward()
    assert values(a.grad) == [3.0, 4.0]
    assert values(b.grad) == [1.0, 2.0]


def test_only_a_bare_function_node_accepts_undeclared_arguments():
    node = xpgrad.FunctionNode()
    node.anything = 3
    node.rank = 2
    assert isinstance(node, xpgrad.FunctionNode)
    assert (node.anything, node.rank, node.label, type(node).__name__) == (3, 2, "FunctionNode", "FunctionNode")
    with pytest.raises(TypeError, match=r"FunctionNode\(\) takes no arguments"):
        xpgrad.FunctionNode(3)

    class Plain(xpgrad.FunctionNode):
        pass

    class Scaled(xpgrad.FunctionNode):
        def __init__(self, scale, *, shift=0.0):
            self.scale, self.shift = scale, shift

    assert Scaled(2.0, shift=1.0).shift == 1.0
    for made, wrong in ((Plain, (1,)), (Scaled, ())):
        with pytest.raises(TypeError):
            made(*wrong)


def test_class_attributes_before_apply():
    f = Product()
    assert f.inputs is None
    assert f.outputs is None
    assert f.rank == 0
    assert f.stack is None
    assert f.lazy_grad_sum is False
    assert f.is_elementwise is False
    assert f.chainerx_device is None
    assert f.label == "Product"
    assert f._impl_name == "Product"
    assert f.local_function_hooks == {}


def test_a_subclass_may_skip_the_base_constructor(device):
    class Scaled(FunctionNode):
        def __init__(self, factor):
            self.factor = factor

        def forward(self, inputs):
            return (inputs[0] * self.factor,)

        def backward(self, target_input_indexes, grad_outputs):
            return (grad_outputs[0] * self.factor,)

    x = variable(device, [1.0])
    Scaled(3.0).apply((x,))[0].backward()
    assert values(x.grad) == [3.0]


def test_arrays_are_wrapped_and_require_no_gradient(device):
    a = variable(device, [1.0, 2.0])
    f = Product()
    (y,) = f.apply((a, array(device, [3.0, 4.0])))
    assert not f.inputs[1].requires_grad
    y.sum().backward()
    assert values(a.grad) == [3.0, 4.0]


def test_without_an_input_that_requires_a_gradient_there_is_no_graph(device):
    f = Product()
    (y,) = f.apply((array(device, [1.0]), array(device, [2.0])))
    assert not y.requires_grad
    assert y.creator_node is None
    assert f.inputs is None
    assert f.get_retained_inputs() == ()


def test_no_backprop_mode_makes_no_edges(device):
    f = Product()
    with xpgrad.no_backprop_mode():
        (y,) = f.apply((variable(device, [1.0]), variable(device, [2.0])))
    assert f.inputs is None
    assert f.outputs is None
    assert y.creator_node is None
    assert not y.requires_grad


def test_ranks_follow_the_deepest_input(device):
    x = variable(device, [1.0])
    y = x * x * x
    (z,) = Product().apply((x, y))
    assert z.creator_node.rank == y.rank == 2
    assert z.rank == 3


def test_calling_raises_and_suggests_apply():
    with pytest.raises(RuntimeError, match="apply"):
        Product()(1, 2)


def test_inputs_must_be_arrays(device):
    for wrong in (1.0, [1.0], None):
        with pytest.raises(TypeError):
            Product().apply((variable(device, [1.0]), wrong))
    with pytest.raises(UnknownArray, match="Product: input 1 is uninitialised"):
        Product().apply((variable(device, [1.0]), Variable(None)))


def test_two_libraries_are_not_mixed():
    x, a = Variable(np.ones(2)), array(xpgrad.get_device("@strict"), [1.0, 1.0])
    expected = r"incompatible array types are mixed in the forward input \(Product\): numpy\.ndarray, array_api_strict"
    with pytest.raises(BackendMismatch, match=expected):
        Product().apply((x, a))
    assert issubclass(BackendMismatch, TypeError)


def test_two_devices_are_not_mixed():
    a, b = (variable(xpgrad.get_device(d), [1.0]) for d in ("@strict:cpu", "@strict:device1"))
    with pytest.raises(DeviceMismatch, match=r"@strict:cpu, @strict:device1.*to_device"):
        Product().apply((a, b))


def test_forward_runs_on_the_device_of_the_inputs(device):
    seen = []

    class Looking(FunctionNode):
        def forward(self, inputs):
            seen.append(xpgrad.get_device())
            return (inputs[0] * 1,)

        def backward(self, target_input_indexes, grad_outputs):
            seen.append(xpgrad.get_device())
            return grad_outputs

    before = xpgrad.get_device()
    Looking().apply((variable(device, [1.0]),))[0].backward()
    assert seen == [device, device]
    assert xpgrad.get_device() == before


@pytest.mark.parametrize("kind", ["cpu", "gpu"])
def test_forward_by_place(device, kind):
    class Placed(FunctionNode):
        def forward_cpu(self, inputs):
            return (inputs[0] + 1,)

        def forward_gpu(self, inputs):
            return (inputs[0] + 2,)

    class Nothing(FunctionNode):
        pass

    host = device.backend.name == "numpy"
    assert values(Placed().apply((variable(device, [1.0]),))[0]) == [2.0 if host else 3.0]
    with pytest.raises(NotImplementedError, match="Nothing: neither forward nor forward_" + ("cpu" if host else "gpu")):
        Nothing().apply((variable(device, [1.0]),))


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (lambda x: x, "forward output must be a tuple, got"),
        (lambda x: [x], "forward output must be a tuple, got list"),
        (lambda x: None, "forward output must be a tuple, got NoneType"),
        (lambda x: (x, None), "forward output must be a tuple of ndarrays, got NoneType"),
        (lambda x: (Variable(x),), "forward output must be a tuple of ndarrays, got Variable"),
        (lambda x: (1.0,), "forward output must be a tuple of ndarrays, got float"),
        (lambda x: ([1.0],), "forward output must be a tuple of ndarrays, got list"),
    ],
)
def test_result_of_forward_is_validated(device, output, text):
    class Wrong(FunctionNode):
        def forward(self, inputs):
            return output(inputs[0])

    x = variable(device, [1.0])
    with pytest.raises(TypeError, match=f"Wrong: {text}"):
        Wrong().apply((x,))


def test_outputs_of_two_libraries_raise():
    class Mixing(FunctionNode):
        def forward(self, inputs):
            return inputs[0], array(xpgrad.get_device("@strict"), [1.0])

    with pytest.raises(TypeError, match="incompatible array types are mixed in the forward output"):
        Mixing().apply((Variable(np.ones(1)),))


def test_numpy_scalars_in_the_outputs_become_arrays():
    class Total(FunctionNode):
        def forward(self, inputs):
            return (inputs[0].sum(),)

        def backward(self, target_input_indexes, grad_outputs):
            return (grad_outputs[0] * Variable(np.ones(2)),)

    x = Variable(np.array([1.0, 2.0]))
    (y,) = Total().apply((x,))
    assert type(y.array) is np.ndarray
    y.backward()
    assert x.grad.tolist() == [1, 1]


def test_an_integer_output_requires_no_gradient(device):
    class Counting(FunctionNode):
        def forward(self, inputs):
            (x,) = inputs
            self.retain_outputs((0, 1))
            return array(device, [1, 2], "int64"), x * 2

        def backward(self, target_input_indexes, grad_outputs):
            assert grad_outputs[0] is None
            n, _ = self.get_retained_outputs()
            assert not n.requires_grad
            return (grad_outputs[1] * 2,)

    x = variable(device, [1.0, 1.0])
    n, y = Counting().apply((x,))
    assert not n.requires_grad
    assert y.requires_grad
    del n
    y.sum().backward()
    assert values(x.grad) == [2.0, 2.0]


def test_a_function_object_is_applied_once(device):
    f, a = Product(), variable(device, [2.0])
    (y,) = f.apply((a, a))
    with pytest.raises(GraphError, match="create a new one"):
        f.apply((y, y))
    y.backward()
    assert values(a.grad) == [4.0]
    del y
    (z,) = f.apply((a, a))  # no reference to the first result exists
    z.backward()
    assert values(a.grad) == [8.0]


def test_an_exception_in_forward_leaves_the_state_unchanged(device):
    class Failing(FunctionNode):
        def forward(self, inputs):
            self.retain_inputs((0,))
            raise ZeroDivisionError("mine")

    x = variable(device, [1.0])
    node = x.node
    f, before = Failing(), xpgrad.get_device()
    with pytest.raises(ZeroDivisionError, match="mine"):
        f.apply((x,))
    assert f.inputs is None
    assert x.node is node
    assert x.grad is None
    assert xpgrad.get_device() == before
    assert xpgrad.config.enable_backprop


# Retaining


def test_no_arrays_are_retained_by_default(device):
    f = Split()
    a, b = f.apply((variable(device, [1.0]),))
    assert f.get_retained_inputs() == ()
    assert f.get_retained_outputs() == ()
    with pytest.raises(RuntimeError, match="no output is retained"):
        _ = f.output_data
    del a, b


def test_retained_inputs_come_in_the_order_in_which_they_were_named(device):
    class Reversed(FunctionNode):
        def forward(self, inputs):
            self.retain_inputs((1, 0))
            return (inputs[0] * inputs[1],)

    a, b = variable(device, [1.0]), variable(device, [2.0])
    f = Reversed()
    (y,) = f.apply((a, b))
    assert f.get_retained_inputs() == (b, a)
    assert f.get_retained_inputs()[0] is b
    del y


def test_retained_inputs_are_the_graphs_variables(device):
    f = Product()
    a = variable(device, [1.0])
    (y,) = f.apply((a, a * 2))
    first, second = f.get_retained_inputs()
    assert first is a
    assert second.creator_node is f.inputs[1].creator_node
    assert second.requires_grad
    assert values(second) == [2.0]
    del y


def test_a_retained_input_keeps_the_array_of_the_forward_computation(device):
    a, b = variable(device, [2.0]), variable(device, [3.0])
    (y,) = Product().apply((a, b))
    a.array = array(device, [100.0])
    y.backward()
    assert values(b.grad) == [2.0]


@pytest.mark.parametrize("method", ["retain_inputs", "retain_outputs"])
def test_an_index_that_does_not_exist_raises(device, method):
    class Greedy(FunctionNode):
        def forward(self, inputs):
            getattr(self, method)((0, 1))
            return (inputs[0] * 1,)

    with pytest.raises(IndexError, match=f"Greedy: {method}: expected indexes below 1, got 1"):
        Greedy().apply((variable(device, [1.0]),))


def test_retaining_after_apply_raises(device):
    f = Product()
    (y,) = f.apply((variable(device, [1.0]), variable(device, [1.0])))
    with pytest.raises(RuntimeError, match="retain_inputs is called in forward"):
        f.retain_inputs((0,))
    del y


def test_output_data(device):
    class Second(FunctionNode):
        def forward(self, inputs):
            self.retain_outputs((1,))
            return inputs[0] * 1, inputs[0] * 2

    f = Second()
    a, b = f.apply((variable(device, [1.0]),))
    assert f.output_data == (None, b.array)
    assert f.output_data[1] is b.array
    del a


def test_a_retained_output_is_the_live_variable(device):
    f = Exp()
    (y,) = f.apply((variable(device, [0.0]),))
    assert f.get_retained_outputs()[0] is y


def test_a_retained_output_is_rebuilt_after_its_node_is_deleted(device):
    x = variable(device, [0.5])
    f = Exp()
    (y,) = f.apply((x,))
    seen = weakref.ref(y.node)
    expected = values(y)
    del y
    assert seen() is None
    (again,) = f.get_retained_outputs()
    assert values(again) == expected
    assert again.creator_node is f
    assert again.rank == 1
    assert f.outputs[0]() is again.node
    again.backward()
    assert values(x.grad) == pytest.approx(np.exp([0.5]))


def test_gradients_through_a_rebuilt_output_flow_in_double_backprop(device):
    x = variable(device, [0.5], "float64")
    y = Exp().apply((x,))[0] * 1
    y.backward(enable_double_backprop=True)
    gx = x.grad_var
    x.cleargrad()
    gx.backward()
    assert values(x.grad) == pytest.approx(np.exp([0.5]))


def test_a_function_and_its_outputs_make_no_cycle(device):
    f = Exp()
    (y,) = f.apply((variable(device, [0.5]),))
    f.get_retained_outputs()
    seen = weakref.ref(f)
    gc.disable()
    try:
        del f, y
        assert seen() is None
    finally:
        gc.enable()


# backward


def test_the_default_backward_gives_no_gradients(device):
    class Opaque(FunctionNode):
        def forward(self, inputs):
            return (inputs[0] * 1,)

    x = variable(device, [1.0])
    Opaque().apply((x,))[0].backward()
    assert x.grad is None


def test_targets_are_the_inputs_that_require_a_gradient(device):
    seen = []

    class Looking(Product):
        def backward(self, target_input_indexes, grad_outputs):
            seen.append(target_input_indexes)
            return super().backward(target_input_indexes, grad_outputs)

    a, b = variable(device, [1.0]), variable(device, [2.0])
    Looking().apply((a, b))[0].backward()
    Looking().apply((array(device, [1.0]), b))[0].backward()
    (y,) = Looking().apply((a, b))
    xpgrad.grad([y], [b])
    assert seen == [(0, 1), (1,), (1,)]
    assert values(b.grad) == [2.0]


def test_backward_may_return_a_gradient_for_every_input(device):
    class All(Product):
        def backward(self, target_input_indexes, grad_outputs):
            return super().backward((0, 1), grad_outputs)

    b = variable(device, [2.0])
    All().apply((array(device, [5.0]), b))[0].backward()
    assert values(b.grad) == [5.0]


def test_backward_may_return_a_single_variable(device):
    x = variable(device, [2.0])
    Giving(variable(device, [7.0])).apply((x,))[0].backward()
    assert values(x.grad) == [7.0]


def test_backward_may_return_none_for_an_input(device):
    a, b = variable(device, [1.0]), variable(device, [1.0])
    g = variable(device, [7.0])
    Giving((None, g)).apply((a, b))[0].backward()
    assert a.grad is None
    assert values(b.grad) == [7.0]


def test_outputs_without_a_cotangent_get_none(device):
    x = variable(device, [1.0])
    f = Split()
    a, b = f.apply((x,))
    (b * 1).backward()
    assert f.seen[0] is None
    assert values(f.seen[1]) == [1.0]
    assert values(x.grad) == [3.0]
    x.cleargrad()
    (a + b).backward()
    assert values(x.grad) == [5.0]
    x.cleargrad()
    a.backward()
    assert values(x.grad) == [2.0]
    del b
    x.cleargrad()
    a.backward(retain_grad=True)
    assert values(a.grad) == [1.0]
    assert values(x.grad) == [2.0]


def test_gradients_of_several_outputs_are_retained_for_the_right_output(device):
    x = variable(device, [1.0])
    a, b = Split().apply((x,))
    y = a * 10 + b * 100
    y.backward(retain_grad=True)
    assert values(a.grad) == [10.0]
    assert values(b.grad) == [100.0]
    assert values(x.grad) == [320.0]


def test_only_the_second_output_is_used_and_retained(device):
    x = variable(device, [1.0])
    a, b = Split().apply((x,))
    (b * 100).backward(retain_grad=True)
    assert a.grad is None
    assert values(b.grad) == [100.0]
    ga, gb = xpgrad.grad([b * 100], [a, b])
    assert ga is None
    assert values(gb) == [100.0]


@pytest.mark.parametrize("count", [0, 3])
def test_a_wrong_number_of_gradients(device, count):
    g = variable(device, [1.0])
    a, b = variable(device, [1.0], name="a"), variable(device, [1.0])
    (y,) = Giving((g,) * count).apply((a, b))
    text = (
        f"number of gradients returned from backward is incorrect: {count} != expected 2; "
        r"function Giving \(Giving\), inputs of shapes \(1,\), \(1,\)"
    )
    with pytest.raises(ValueError, match=text):
        y.backward()
    (y,) = Giving((g,) * count).apply((a, array(device, [1.0])))
    with pytest.raises(GradientError, match=f"{count} != expected 1 or 2"):
        y.backward()
    assert a.grad is None
    assert y.grad is None


@pytest.mark.parametrize("wrong", [1.0, "text", [1.0]])
def test_gradients_must_be_variables(device, wrong):
    x = variable(device, [1.0])
    (y,) = Giving((wrong,)).apply((x,))
    with pytest.raises(ValueError, match=r"Giving: type of gradients returned from backward is incorrect.*for input 0"):
        y.backward()
    (y,) = Giving((array(device, [1.0]),)).apply((x,))
    with pytest.raises(ValueError, match="expected Variable or None, got"):
        y.backward()
    assert x.grad is None


def test_gradients_of_a_wrong_shape(device):
    x = variable(device, [1.0, 2.0])
    for shape in ((3,), (1, 2), (), (1,)):
        y = Giving((variable(device, np.ones(shape)),)).apply((x,))[0].sum()
        with pytest.raises(ShapeError, match=r"Giving: shape of gradients returned from backward is incorrect.*\(2,\)"):
            y.backward()
    assert x.grad is None


def test_an_elementwise_function_may_return_gradients_before_broadcasting(device):
    class Elementwise(Giving):
        is_elementwise = True

    x = variable(device, [1.0, 2.0])
    Elementwise((variable(device, np.ones((3, 2))),)).apply((x,))[0].sum().backward()
    assert values(x.grad) == [3.0, 3.0]


def test_gradients_of_a_wrong_dtype(device):
    x = variable(device, [1.0])
    Giving((variable(device, [2.0], "float64"),)).apply((x,))[0].backward()
    assert x.grad.dtype == x.dtype  # cast, because both are real
    (y,) = Giving((variable(device, [2], "int32"),)).apply((x,))
    with pytest.raises(DtypeError, match="Giving: dtype of gradients returned from backward is incorrect"):
        y.backward()


def test_gradients_on_a_wrong_device():
    x = variable(xpgrad.get_device("@strict:cpu"), [1.0])
    (y,) = Giving((variable(xpgrad.get_device("@strict:device1"), [1.0]),)).apply((x,))
    with pytest.raises(DeviceMismatch, match=r"Giving: .*@strict:device1.*@strict:cpu"):
        y.backward()
    (y,) = Giving((Variable(np.ones(1, "f")),)).apply((x,))
    with pytest.raises(BackendMismatch, match=r"Giving: .*@numpy.*@strict:cpu"):
        y.backward()


@pytest.mark.parametrize("start", ["backward", "grad"])
def test_an_exception_in_backward_leaves_the_state_unchanged(device, start):
    class Failing(FunctionNode):
        def forward(self, inputs):
            return (inputs[0] * 1,)

        def backward(self, target_input_indexes, grad_outputs):
            raise ZeroDivisionError("mine")

    w, x = variable(device, [1.0]), variable(device, [1.0])
    z = w * Failing().apply((x,))[0]
    z.grad = array(device, [5.0])
    w.grad = array(device, [6.0])
    with pytest.raises(ZeroDivisionError, match=r"^mine(\nThis was|$)"):
        z.backward(retain_grad=True) if start == "backward" else xpgrad.grad(
            [z], [w, x], set_grad=True, retain_grad=True
        )
    assert x.grad is None
    assert values(w.grad) == [6.0]
    assert values(z.grad) == [5.0]
    assert xpgrad.config.enable_backprop


def test_an_instances_backward_can_be_replaced(device):
    x = variable(device, [1.0])
    f = Giving((None,))
    (y,) = f.apply((x,))
    f.backward = lambda targets, gys: (gys[0] * 9,)
    y.backward()
    assert values(x.grad) == [9.0]


# backward_accumulate


class Accumulating(FunctionNode):
    def forward(self, inputs):
        self.retain_inputs((0, 1))
        return (inputs[0] * inputs[1],)

    def backward_accumulate(self, target_input_indexes, grad_outputs, grad_inputs):
        assert len(grad_inputs) == len(target_input_indexes)
        a, b = self.get_retained_inputs()
        gxs = [grad_outputs[0] * (b, a)[i] for i in target_input_indexes]
        return tuple(g if held is None else held + g for g, held in zip(gxs, grad_inputs, strict=True))


def test_backward_accumulate_is_used_where_it_is_overridden(device):
    a, b = variable(device, [2.0]), variable(device, [3.0])
    y = Accumulating().apply((a, b))[0] + a * 10
    y.backward()
    assert values(a.grad) == [13.0]
    assert values(b.grad) == [2.0]
    Accumulating().apply((a, a))[0].backward()
    assert values(a.grad) == [17.0]


def test_backward_accumulate_returns_one_gradient_for_each_target(device):
    class Wrong(Accumulating):
        def backward_accumulate(self, target_input_indexes, grad_outputs, grad_inputs):
            return (*super().backward_accumulate(target_input_indexes, grad_outputs, grad_inputs), None)

    with pytest.raises(GradientError, match="3 != expected 2"):
        Wrong().apply((variable(device, [2.0]), variable(device, [2.0])))[0].backward()


def test_the_default_backward_accumulate_adds(device):
    f = Product()
    a = variable(device, [2.0])
    (y,) = f.apply((a, variable(device, [3.0])))
    g = variable(device, [1.0])
    first, second = f.backward_accumulate((0, 1), (g,), (g, None))
    assert values(first) == [4.0]
    assert values(second) == [2.0]
    del y


# Higher order, unchain


def test_unchain_cuts_the_outputs_and_forgets_the_inputs(device):
    x = variable(device, [1.0])
    f = Split()
    a, b = f.apply((x,))
    f.unchain()
    assert f.inputs is None
    assert f.outputs is None
    assert a.creator_node is None
    assert b.creator_node is None
    (a * b).backward()
    assert x.grad is None
    assert values(a.grad) == [3.0]
