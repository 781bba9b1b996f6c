"""Copies of Variables: `copy`, `deepcopy` and pickle."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest
from tests.building import array, place, values, variable
from tests.processes import output_of

import xpgrad
import xpgrad.functions as F
from xpgrad import GraphError, Parameter, Variable, transforms
from xpgrad.plugin import CarriesGraphs


class Tagged(Variable):
    """A subclass with additional attributes."""


class Slotted(Variable):
    __slots__ = ("__hidden", "tag")

    def hide(self, value):
        self.__hidden = value

    def hidden(self):
        return self.__hidden


shallow, deep = copy.copy, copy.deepcopy


def pickled(x):
    return pickle.loads(pickle.dumps(x))


WAYS = pytest.mark.parametrize("way", [shallow, deep, pickled])
DEEP = pytest.mark.parametrize("way", [deep, pickled])


@WAYS
def test_a_copy_of_a_captured_variable_within_a_transform_is_a_constant_there(device, way):
    w, x = variable(device, [1.0, 2.0]), array(device, [[3.0, 4.0]])
    for f in (transforms.vmap(lambda x: way(w) * x), lambda x: transforms.jvp(lambda x: way(w) * x, (x,), (x,))[1]):
        assert values(f(x)) == [[3.0, 8.0]]


@WAYS
def test_a_copy_has_everything_but_the_graph(device, way):
    required = isinstance(device.backend, CarriesGraphs)  # without, such arrays have no gradient
    x = variable(device, [1.0, 2.0], name="x", grad=array(device, [3.0, 4.0]), requires_grad=required)
    y = way(x)
    assert type(y) is Variable
    assert y is not x
    assert y.name == "x"
    assert values(y) == [1.0, 2.0]
    assert values(y.grad) == [3.0, 4.0]
    assert y.requires_grad is required
    assert place(y.array) == place(x.array)
    assert place(y.grad) == place(x.grad)
    assert y.node is not x.node
    assert y.node.get_variable() is y
    assert x.node.get_variable() is x


def test_a_shallow_copy_shares_arrays(device):
    x = variable(device, [1.0], grad=array(device, [2.0]))
    y = shallow(x)
    assert y.array is x.array
    assert y.grad is x.grad
    x.grad_var = g = variable(device, [3.0])
    assert shallow(x).grad_var is g


@DEEP
def test_a_deep_copy_shares_no_memory(device, way):
    x = variable(device, [1.0], grad=array(device, [2.0]))
    y = way(x)
    x.array[...] = 5.0
    x.grad[...] = 6.0
    assert values(y) == [1.0]
    assert values(y.grad) == [2.0]


# Inside a graph

COPIES = pytest.mark.parametrize("way", [shallow, deep])
PARTS = {
    "primitive": lambda x: x * x,
    "reduction": lambda x: x.sum(),
    "view": lambda x: x[1:],
    "complex": lambda x: x.__array_namespace__().astype(x, x.__array_namespace__().complex64) * (1 + 2j),
    "several": lambda x: F.split_axis(x * 2, 2, 0)[1],
    "old": lambda x: Doubled()(x),
}


class Doubled(xpgrad.Function):
    def forward(self, inputs):
        return (inputs[0] + inputs[0],)

    def backward(self, inputs, grad_outputs):
        return (grad_outputs[0] + grad_outputs[0],)


@COPIES
@pytest.mark.parametrize("part", PARTS)
def test_a_copy_inside_a_graph_passes_gradients_on(device, way, part):
    def through(copied):
        x = variable(device, [2.0, 3.0], "float64" if part == "complex" else "float32")
        y = copied(PARTS[part](x))
        xp = x.__array_namespace__()
        xp.sum(xp.real(y * y * 3)).backward()
        return values(y), values(x.grad)

    assert through(way) == through(lambda y: y)


@COPIES
def test_a_copy_inside_a_graph_has_a_separate_node_and_memory(device, way):
    x = variable(device, [2.0, 3.0])
    y = x * x
    y.name = "y"
    y.register_hook(lambda g: g * 100)
    z = way(y)
    assert z.node is not y.node
    assert z.node.get_variable() is z
    assert y.node.get_variable() is y
    assert (z.name, z.requires_grad, z.rank) == ("y", True, y.rank + 1)
    z.array[...] = 0.0
    assert values(y) == [4.0, 9.0]
    z.grad = array(device, [1.0, 0.0])
    z.backward()
    assert values(x.grad) == [400.0, 0.0]


@COPIES
def test_a_copy_inside_a_graph_has_derivatives_of_every_order(device, way):
    x = variable(device, [2.0])
    (g,) = xpgrad.grad([way(x * x) * x], [x], enable_double_backprop=True)
    (gg,) = xpgrad.grad([way(g)], [x])
    assert (values(g), values(gg)) == ([12.0], [12.0])


@COPIES
def test_a_copy_inside_a_graph_keeps_its_class_attributes_and_gradient(device, way):
    x = variable(device, [2.0])
    y = Tagged(array(device, [0.0]), requires_grad=False)
    y[...] = x * 3
    y.tag = ["a"]
    y.grad = array(device, [5.0])
    z = way(y)
    assert (type(z), z.tag, values(z.grad)) == (Tagged, ["a"], [5.0])
    assert (z.tag is y.tag, z.grad is y.grad) == (way is shallow, way is shallow)
    z.backward()
    assert values(x.grad) == [15.0]


@COPIES
def test_a_copy_without_recording_is_a_constant(device, way):
    y = variable(device, [2.0]) * 3
    with xpgrad.no_backprop_mode():
        z = way(y)
    assert (z.creator_node, z.requires_grad, values(z)) == (None, False, [6.0])


def test_a_deep_copy_of_a_container_copies_each_variable_of_a_graph_once(device):
    x = variable(device, [2.0])
    y = x * x
    a, (b, c) = deep([y, (y, x)])
    assert a is b
    (a * 2).backward()
    assert values(x.grad) == [8.0]
    assert c.creator_node is None


@COPIES
def test_a_recorded_gradient_is_copied_with_its_graph(device, way):
    x = variable(device, [2.0])
    (x * x * x).backward(enable_double_backprop=True)
    y = way(x)
    assert values(y.grad) == [12.0]
    x.cleargrad()
    y.grad_var.backward()
    assert values(x.grad) == [12.0]
    assert y.creator_node is None


@COPIES
def test_arguments_of_transforms_pass_gradients_on(device, way):
    a = array(device, [2.0, 3.0])
    square = lambda x: (way(x) * x).sum()  # noqa: E731 - as users write it
    assert values(transforms.grad(square)(a)) == [4.0, 6.0]
    assert values(transforms.grad(transforms.checkpoint(square))(a)) == [4.0, 6.0]
    assert values(transforms.hessian(square)(a)) == [[2.0, 0.0], [0.0, 2.0]]


@pytest.mark.parametrize("convert", [dataclasses.asdict, lambda p: {"w": dataclasses.astuple(p)[0]}])
def test_a_dataclass_that_is_taken_apart_passes_gradients_on(device, convert):
    x = variable(device, [2.0])
    (convert(Holder(x))["w"] * convert(Holder(x * 3))["w"]).backward()
    assert values(x.grad) == [12.0]


@dataclasses.dataclass
class Holder:
    w: object


def test_pickling_inside_a_graph_is_an_error(device):
    y = variable(device, [2.0]) * 3
    for inside in (y, [y], Holder(y)):
        with pytest.raises(GraphError, match=r"pickle: .*float32 \(1,\).*_ \* 3.*pickle v.array"):
            pickle.dumps(inside)
    with pytest.raises(GraphError, match="argument"):
        transforms.grad(lambda x: (pickled(x) * x).sum())(array(device, [2.0]))
    y.unchain()
    assert values(pickled(y)) == [6.0]


def test_a_recorded_gradient_is_pickled_as_an_array(device):
    x = variable(device, [2.0])
    (x * x * x).backward(enable_double_backprop=True)
    y = pickled(x)
    assert values(y.grad) == [12.0]
    assert y.grad_var.creator_node is None


@WAYS
def test_nodes_are_not_copied(device, way):
    y = variable(device, [2.0]) * 3
    for part in (y.node, y.creator_node):
        with pytest.raises(GraphError, match=r"part of a graph.*pickle v\.array"):
            way(part)


class Scaled(xpgrad.FunctionNode):
    def __init__(self, factors):
        self.factors = factors

    def forward(self, inputs):
        self.retain_inputs(())
        return (inputs[0] * self.factors[0],)

    def backward(self, target_input_indexes, grad_outputs):
        return (grad_outputs[0] * self.factors[0],)


@WAYS
def test_copies_of_functions_have_not_been_applied(device, way):
    x = variable(device, [2.0])
    f = Scaled([3.0])
    (y,) = f.apply((x,))
    g = way(f)
    assert (g.inputs, g.outputs, g.rank, g.factors) == (None, None, 0, [3.0])
    assert (g.factors is f.factors) == (way is shallow)
    (z,) = g.apply((y,))
    z.backward()
    assert values(x.grad) == [9.0]
    old = Doubled()
    y = old(x)
    assert way(old).inputs is None
    assert values(way(old)(y)) == [8.0]


# Attributes and containers


@WAYS
def test_hooks_stay_behind(device, way):
    x = variable(device, [2.0])
    seen = []
    if way is not pickled:
        x.register_hook(seen.append)
    (way(x) * 2).backward()
    assert seen == []


@WAYS
def test_uninitialised_variables(way):
    y = way(Variable(None, name="x", requires_grad=False))
    assert y.array is None
    assert y.name == "x"
    assert not y.requires_grad


@WAYS
def test_integers_0d_and_empty(device, way):
    n = way(variable(device, 3, "int64"))
    assert n.item() == 3
    assert n.shape == ()
    assert n.requires_grad
    e = way(variable(device, np.zeros((0, 2))))
    assert e.shape == (0, 2)


@WAYS
def test_attributes_of_subclasses(device, way):
    x = Tagged(array(device, [1.0]), name="x")
    x.tag = ["a"]
    y = way(x)
    assert type(y) is Tagged
    assert y.tag == ["a"]
    assert (y.tag is x.tag) == (way is shallow)
    s = Slotted(array(device, [1.0]))
    s.tag = ["b"]
    s.hide(5)
    t = way(s)
    assert type(t) is Slotted
    assert t.tag == ["b"]
    assert t.hidden() == 5
    assert not hasattr(way(Slotted(array(device, [1.0]))), "tag")


def test_a_deep_copy_of_an_object_that_holds_a_variable_twice(device):
    x = variable(device, [1.0])
    a, b = deep([x, x])
    assert a is b
    assert a is not x
    t = Tagged(array(device, [1.0]))
    t.own = t
    u = deep(t)
    assert u.own is u


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_every_protocol(device, protocol):
    x = variable(device, [1.0, 2.0], name="x")
    y = pickle.loads(pickle.dumps(x, protocol))
    assert y.name == "x"
    assert values(y) == [1.0, 2.0]
    assert y.device == device


def test_a_pickle_is_read_in_another_process(device, tmp_path):
    path = tmp_path / "x.pickle"
    path.write_bytes(pickle.dumps(variable(device, [1.0, 2.0], grad=array(device, [3.0, 4.0]))))
    code = f"import pickle; x = pickle.load(open({str(path)!r}, 'rb')); print(x.device, x, Variable(x.grad))"
    printed = output_of("-c", f"from xpgrad import Variable; {code}")
    assert printed == f"{device} variable([1. 2.]) variable([3. 4.])"


def test_devices_are_pickled_by_name(device):
    assert pickled(device) == device
    assert copy.deepcopy(device) == device


# Parameters


@WAYS
def test_an_initialised_parameter(device, way):
    p = Parameter(3.0, name="W").to_device(device)
    p.initialize((2,))
    p.grad = array(device, [1.0, 2.0])
    p.update_rule = ["rule"]
    q = way(p)
    assert type(q) is Parameter
    assert q.name == "W"
    assert q.device == device
    assert values(q) == [3.0, 3.0]
    assert values(q.grad) == [1.0, 2.0]
    assert q.initializer == 3.0
    assert q.update_rule == ["rule"]
    assert (q.update_rule is p.update_rule) == (way is shallow)
    assert (q.array is p.array) == (way is shallow)


@WAYS
def test_an_uninitialised_parameter(device, way):
    p = Parameter(3.0, name="W").to_device(device)
    q = way(p)
    assert not q.is_initialized
    assert q.device == device
    with pytest.raises(RuntimeError):
        _ = q.grad
    p.cleargrad()
    q = way(p)
    assert q.grad is None
    q.initialize((2,))
    assert values(q) == [3.0, 3.0]
    assert q.device == device
    assert q.grad is None
    assert not p.is_initialized


def test_changing_a_shallow_copy_of_a_parameter_leaves_the_original(device):
    p = Parameter(array(device, [1.0]))
    q = shallow(p)
    q.cleargrad()
    q.to_cpu()
    q.array = np.zeros(3, "f")
    assert p.shape == (1,)
    assert p.device == device


def test_a_copy_of_a_graphs_parameter_gets_no_gradient(device):
    p = Parameter(array(device, [2.0]))
    y = p * p
    q = shallow(p)
    y.backward()
    assert q.grad is None
    assert values(p.grad) == [4.0]
    assert xpgrad.grad([y], [q]) == [None]
