"""`VariableNode`: the graph's information about a value."""

import gc
import weakref

import pytest
from tests.building import array, values, variable
from tests.core.graph.nodes import node as made

import xpgrad
from xpgrad import Function, Variable, VariableNode


def test_a_node_stores_shape_dtype_and_device_without_the_array(device):
    x = variable(device, [[1.0, 2.0]], name="x")
    node = x.node
    assert isinstance(node, VariableNode)
    assert node.shape == (1, 2)
    assert node.dtype == x.dtype
    assert node.device == device
    assert node.name == "x"
    assert node.label == "(1, 2), float32"
    assert node.rank == 0
    assert node.requires_grad
    assert node.creator is None
    assert node.creator_node is None
    assert node.data is None


def test_constructor(device):
    x = variable(device, [1.0], requires_grad=False)
    node = VariableNode(x, "named")
    assert node.name == "named"
    assert not node.requires_grad
    assert node.shape == (1,)
    with pytest.raises(ValueError, match="gradients belong to the Variable"):
        VariableNode(x, "named", grad=None)
    with pytest.raises(TypeError, match="'other'"):
        VariableNode(x, "named", other=1)


def test_the_variable_is_held_weakly(device):
    x = variable(device, [1.0])
    node = x.node
    assert node.get_variable() is x
    assert node.get_variable_or_none() is x
    seen = weakref.ref(x)
    gc.disable()
    try:
        del x
        assert seen() is None
    finally:
        gc.enable()
    assert node.get_variable_or_none() is None
    assert node.grad is None
    assert node.grad_var is None


def test_node_equals_only_itself_after_its_variable_is_deleted(device):
    x = variable(device, [1.0])
    first, second = x.node, VariableNode(x)
    found = {first: 1, second: 2}
    for _ in range(2):
        assert first == first
        assert first != second
        assert first != weakref.ref(first)
        assert (found[first], found[second]) == (1, 2)
        with pytest.raises(TypeError, match="not supported between"):
            first < second  # noqa: B015 - as above
        x = None
    assert first.get_variable_or_none() is None


def test_a_fresh_variable_over_a_node(device):
    x = variable(device, [2.0])
    y = x * x
    y.name = "y"
    y.retain_data()
    node, a = y.node, y.array
    del y
    again = node.get_variable()
    assert again.node is node
    assert again.array is a
    assert again.name == "y"
    assert again.requires_grad
    assert node.get_variable() is again
    again.backward()
    assert values(x.grad) == [4.0]


def test_a_fresh_variable_over_a_node_without_data(device):
    x = variable(device, [1.0], requires_grad=False)
    node = x.node
    del x
    again = node.get_variable()
    assert again.array is None
    assert not again.requires_grad


def test_gradients_are_the_live_variables(device):
    x = variable(device, [1.0], grad=array(device, [2.0]))
    assert x.node.grad is x.grad
    assert x.node.grad_var is x.grad_var


def test_retained_data(device):
    x = variable(device, [1.0])
    node = x.node
    node.retain_data()
    assert node.data is x.array
    node.data = array(device, [1.0, 2.0, 3.0], "float64")
    assert node.shape == (3,)
    assert node.label == "(3,), float64"
    node.data = None
    assert node.data is None
    del x
    with pytest.raises(RuntimeError, match="deleted"):
        node.retain_data()


def test_a_node_whose_variable_got_a_new_node(device):
    x = variable(device, [1.0])
    node = x.node
    x.array = array(device, [1.0, 2.0])
    assert node.get_variable_or_none() is None


def test_creators(device):
    x = variable(device, [2.0])
    y = x * x
    old = made(
        base=Function,
        forward=lambda self, inputs: (inputs[0] * inputs[0],),
        backward=lambda self, inputs, grad_outputs: (2 * inputs[0] * grad_outputs[0],),
    )
    z = old(y)
    assert z.node.creator is old
    assert z.node.creator_node is old.node
    assert y.node.creator is y.node.creator_node is y.creator_node
    f = z.creator_node
    z.node.unchain()
    assert z.creator is None
    assert z.node.rank == 2
    for setter in (z.node.set_creator, z.node.set_creator_node):
        setter(None)
        setter(f)
        assert z.node.creator_node is f
    z.node.creator = old
    assert z.creator is old
    z.backward()
    assert values(x.grad) == [32.0]


def test_nodes_of_an_uninitialised_variable():
    node = Variable(None).node
    assert node.shape is None
    assert node.dtype is None
    assert node.device is None
    assert node.label == "uninitialised"


def test_a_root_that_moves_gets_a_new_node_and_the_old_one_still_finds_it():
    x = variable(xpgrad.get_device("@strict:cpu"), [1.0], name="x")
    y = x * x
    old = x.node
    x.to_device("@strict:device1")
    assert x.node is not old
    assert old.device == xpgrad.get_device("@strict:cpu")
    assert x.node.device == xpgrad.get_device("@strict:device1")
    assert old.get_variable_or_none() is x
    assert x.node.lineage() == [x.node, old]
    x.to_device("@strict:device2")
    assert old.get_variable_or_none() is x
    assert x.node.lineage() == [x.node, old]  # no reference to the node in between existed
    del old, y
    assert x.node.lineage() == [x.node]


def test_moving_back_and_forth_leaves_no_state_behind():
    x = variable(xpgrad.get_device("@strict:cpu"), [1.0])
    y = x * x
    for _ in range(1000):
        x.to_device("@strict:device1").to_device("@strict:cpu")
    assert len(x.node.lineage()) == 2
    y.backward()
    assert values(x.grad) == [2.0]
