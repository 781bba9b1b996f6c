"""`FunctionNode`: the author's interface, the validation in `apply`, and the use of `backward` in the sweep."""

import gc
import weakref

import numpy as np
import pytest
from tests.building import array, values, variable
from tests.core.graph.nodes import node

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


def giving(*gradients, **members):
    """Return an identity whose backward returns `gradients`."""
    return node("Giving", backward=lambda self, targets, gys: gradients, **members)


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
    assert {f.inputs, f.outputs, f.stack, f.chainerx_device} == {None}
    assert (f.rank, f.lazy_grad_sum, f.is_elementwise, f.label, f._impl_name) == (0, False, False, "Product", "Product")
    assert f.local_function_hooks == {}


def test_arrays_are_wrapped_and_require_no_gradient(device):
    a = variable(device, [1.0, 2.0])
    f = Product()
    (y,) = f.apply((a, array(device, [3.0, 4.0])))
    assert not f.inputs[1].requires_grad
    y.sum().backward()
    assert values(a.grad) == [3.0, 4.0]


@pytest.mark.parametrize("recorded", [True, False])
def test_no_graph_is_made_without_an_input_that_requires_a_gradient_or_in_no_backprop_mode(device, recorded):
    f = Product()
    with xpgrad.using_config("enable_backprop", recorded):
        (y,) = f.apply([(array if recorded else variable)(device, [x]) for x in (1.0, 2.0)])
    assert not y.requires_grad
    assert y.creator_node is f.inputs is f.outputs is None
    assert f.get_retained_inputs() == ()


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


def test_arrays_of_two_libraries_or_devices_are_not_mixed():
    x, a = Variable(np.ones(2)), array(xpgrad.get_device("@strict"), [1.0, 1.0])
    mixed = r"incompatible array types are mixed in the forward "
    with pytest.raises(BackendMismatch, match=mixed + r"input \(Product\): numpy\.ndarray, array_api_strict"):
        Product().apply((x, a))
    with pytest.raises(TypeError, match=mixed + "output"):
        node(forward=lambda self, xs: (xs[0], a)).apply((x,))
    assert issubclass(BackendMismatch, TypeError)
    with pytest.raises(DeviceMismatch, match=r"@strict:cpu, @strict:device1.*to_device"):
        Product().apply([variable(xpgrad.get_device(d), [1.0]) for d in ("@strict:cpu", "@strict:device1")])


def test_forward_and_backward_run_on_the_device_of_the_inputs(device):
    seen = []

    def look(self, *arguments):
        seen.append(xpgrad.get_device())
        return (arguments[-1][0] * 1,)

    before = xpgrad.get_device()
    node(forward=look, backward=look).apply((variable(device, [1.0]),))[0].backward()
    assert seen == [device, device]
    assert xpgrad.get_device() == before


def test_forward_by_place(device):
    x, place = variable(device, [1.0]), "cpu" if device.backend.name == "numpy" else "gpu"
    placed = {f"forward_{p}": lambda self, xs, n=n: (xs[0] + n,) for p, n in (("cpu", 1), ("gpu", 2))}
    assert values(node(base=FunctionNode, **placed).apply((x,))[0]) == [2.0 if place == "cpu" else 3.0]
    with pytest.raises(NotImplementedError, match=f"Nothing: neither forward nor forward_{place}"):
        node("Nothing", FunctionNode).apply((x,))


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (lambda x: x, "a tuple, got"),
        (lambda x: [x], "a tuple, got list"),
        (lambda x: None, "a tuple, got NoneType"),
        (lambda x: (x, None), "a tuple of ndarrays, got NoneType"),
        (lambda x: (Variable(x),), "a tuple of ndarrays, got Variable"),
        (lambda x: (1.0,), "a tuple of ndarrays, got float"),
        (lambda x: ([1.0],), "a tuple of ndarrays, got list"),
    ],
)
def test_result_of_forward_is_validated(device, output, text):
    with pytest.raises(TypeError, match=f"Wrong: forward output must be {text}"):
        node("Wrong", forward=lambda self, xs: output(xs[0])).apply((variable(device, [1.0]),))


def test_numpy_scalars_in_the_outputs_become_arrays():
    f = node(forward=lambda self, xs: (xs[0].sum(),), backward=lambda self, targets, gys: (gys[0] * np.ones(2),))
    x = Variable(np.array([1.0, 2.0]))
    (y,) = f.apply((x,))
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
    def fail(self, inputs):
        self.retain_inputs((0,))
        raise ZeroDivisionError("mine")

    x = variable(device, [1.0])
    held, f, before = x.node, node(forward=fail), xpgrad.get_device()
    with pytest.raises(ZeroDivisionError, match="mine"):
        f.apply((x,))
    assert f.inputs is x.grad is None
    assert x.node is held
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
    def forward(self, inputs):
        self.retain_inputs((1, 0))
        return (inputs[0] * inputs[1],)

    a, b = variable(device, [1.0]), variable(device, [2.0])
    f = node(forward=forward)
    _ = f.apply((a, b))
    assert [id(x) for x in f.get_retained_inputs()] == [id(b), id(a)]


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
def test_an_index_that_does_not_exist_raises_and_so_does_retaining_after_apply(device, method):
    def forward(self, inputs):
        getattr(self, method)((0, 1))
        return (inputs[0] * 1,)

    with pytest.raises(IndexError, match=f"Greedy: {method}: expected indexes below 1, got 1"):
        node("Greedy", forward=forward).apply((variable(device, [1.0]),))
    f = node()
    _ = f.apply((variable(device, [1.0]),))
    with pytest.raises(RuntimeError, match=f"{method} is called in forward"):
        getattr(f, method)((0,))


def test_output_data(device):
    def forward(self, inputs):
        self.retain_outputs((1,))
        return inputs[0] * 1, inputs[0] * 2

    f = node(forward=forward)
    _, b = f.apply((variable(device, [1.0]),))
    assert f.output_data[0] is None
    assert f.output_data[1] is b.array


def test_a_retained_output_is_rebuilt_after_its_node_is_deleted(device):
    x = variable(device, [0.5])
    f = Exp()
    (y,) = f.apply((x,))
    assert f.get_retained_outputs()[0] is y
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


def test_targets_are_the_inputs_that_require_a_gradient(device):
    seen = []

    def backward(self, targets, gys):
        seen.append(targets)
        return Product.backward(self, (0, 1), gys)  # a gradient for every input is one too

    a, b = variable(device, [1.0]), variable(device, [2.0])
    (y,) = node(base=Product, backward=backward).apply((a, b))
    y.backward()
    node(base=Product, backward=backward).apply((array(device, [1.0]), b))[0].backward()
    xpgrad.grad([node(base=Product, backward=backward).apply((a, b))[0]], [b])
    assert seen == [(0, 1), (1,), (1,)]
    assert values(b.grad) == [2.0]


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


def test_backward_may_return_a_single_variable_or_none(device):
    a, b, g = (variable(device, [x]) for x in (1.0, 2.0, 7.0))
    for backward, inputs in ((lambda *_: g, (b,)), (lambda *_: (None, g), (a, b)), (FunctionNode.backward, (a,))):
        node(backward=backward).apply(inputs)[0].backward()
        assert a.grad is None
    assert values(b.grad) == [14.0]


def test_wrong_gradients_raise(device):
    a, b, g = (variable(device, [1.0, 2.0]) for _ in range(3))

    def refused(kind, text, *gradients, inputs=(a, b)):
        y = giving(*gradients).apply(inputs)[0].sum()
        with pytest.raises(kind, match=text):
            y.backward()

    wrong = "of gradients returned from backward is incorrect"
    for count in (0, 3):
        shapes = r"inputs of shapes \(2,\), \(2,\)"
        refused(
            ValueError, rf"number {wrong}: {count} != expected 2; function Giving \(Giving\), {shapes}", *[g] * count
        )
        refused(GradientError, f"{count} != expected 1 or 2", *[g] * count, inputs=(a, b.array))
    for other in (1.0, "text", [1.0], g.array):
        refused(ValueError, rf"(?s)Giving: type {wrong}.*expected Variable or None, got.*for input 0", other, g)
    for shape in ((3,), (1, 2), (), (1,)):
        refused(ShapeError, rf"Giving: shape {wrong}.*\(2,\)", variable(device, np.ones(shape)), g)
    refused(DtypeError, f"Giving: dtype {wrong}", variable(device, [2, 2], "int32"), g)
    assert a.grad is b.grad is None


def test_an_elementwise_function_may_return_gradients_before_broadcasting(device):
    x = variable(device, [1.0, 2.0])
    giving(variable(device, np.ones((3, 2))), is_elementwise=True).apply((x,))[0].sum().backward()
    assert values(x.grad) == [3.0, 3.0]


def test_gradients_of_another_real_dtype_are_cast(device):
    x = variable(device, [1.0])
    giving(variable(device, [2.0], "float64")).apply((x,))[0].backward()
    assert x.grad.dtype == x.dtype


def test_gradients_on_a_wrong_device():
    x = variable(xpgrad.get_device("@strict:cpu"), [1.0])
    g = variable(xpgrad.get_device("@strict:device1"), [1.0])
    for gradient, kind, name in (
        (g, DeviceMismatch, "@strict:device1"),
        (Variable(np.ones(1)), BackendMismatch, "@numpy"),
    ):
        with pytest.raises(kind, match=f"Giving: .*{name}.*@strict:cpu"):
            giving(gradient).apply((x,))[0].backward()


def test_an_instances_backward_can_be_replaced(device):
    x = variable(device, [1.0])
    f = node()
    (y,) = f.apply((x,))
    f.backward = lambda targets, gys: (gys[0] * 9,)
    y.backward()
    assert values(x.grad) == [9.0]


# backward_accumulate


def accumulate(self, target_input_indexes, grad_outputs, grad_inputs):
    """`backward_accumulate` of a product."""
    gxs = Product.backward(self, target_input_indexes, grad_outputs)
    return tuple(g if held is None else held + g for g, held in zip(gxs, grad_inputs, strict=True))


def test_backward_accumulate_is_used_where_it_is_overridden(device):
    a, b = variable(device, [2.0]), variable(device, [3.0])
    y = node(base=Product, backward=None, backward_accumulate=accumulate).apply((a, b))[0] + a * 10
    y.backward()
    assert values(a.grad) == [13.0]
    assert values(b.grad) == [2.0]
    node(base=Product, backward=None, backward_accumulate=accumulate).apply((a, a))[0].backward()
    assert values(a.grad) == [17.0]


def test_backward_accumulate_returns_one_gradient_for_each_target(device):
    f = node(base=Product, backward_accumulate=lambda self, *arguments: (*accumulate(self, *arguments), None))
    with pytest.raises(GradientError, match="3 != expected 2"):
        f.apply((variable(device, [2.0]), variable(device, [2.0])))[0].backward()


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
