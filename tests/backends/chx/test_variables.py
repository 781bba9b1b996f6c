"""Variables over chx arrays: ownership of the graph and shared state."""

import pickle

import numpy as np
import pytest
from tests.backends.chx.arrays import array, values
from tests.core.graph.nodes import node

import xpgrad
import xpgrad_chx as chx
from xpgrad import Parameter, Variable


def shares(a, b):
    return np.shares_memory(*(chx.to_numpy(x, copy=False) if isinstance(x, chx.ndarray) else x for x in (a, b)))


def test_a_variable_over_a_plain_array_leaves_the_array_out_of_the_graph():
    a = array([1.0, 2.0])
    x = Variable(a)
    assert x.array is a
    (x * x).sum().backward()
    assert not a.is_backprop_required(chx.anygraph)
    assert not a.is_grad_required()
    assert values(x.grad) == [2.0, 4.0]


def test_a_variable_over_an_array_in_a_graph_has_its_node_and_gradient():
    a = array([2.0]).require_grad()
    x = Variable(a, name="a")
    assert x.requires_grad
    assert x.name == "a"
    (x * 3.0).backward()
    assert values(x.grad) == values(a.grad) == [3.0]
    assert shares(x.grad, a.grad)
    (a * 1.0).backward()
    assert values(x.grad) == [4.0]
    b = a * 5.0
    y = Variable(b)
    assert y.creator.label == "_ * 5.0"
    assert y.rank == 1
    y.backward()
    assert values(a.grad) == [9.0]


def test_a_second_variable_over_it_is_a_recorded_view():
    a = array([2.0]).require_grad()
    x, z = Variable(a), Variable(a)
    assert z.creator.label == "view"
    (z * 3.0).backward()
    assert values(a.grad) == values(x.grad) == [3.0]


def test_requires_grad_false_over_an_array_in_a_graph_raises():
    a = array([2.0]).require_grad()
    with pytest.raises(ValueError, match="as_grad_stopped") as caught:
        Variable(a, requires_grad=False)
    assert isinstance(caught.value, xpgrad.GraphError)
    assert not Variable(a.as_grad_stopped(), requires_grad=False).requires_grad


def test_array_is_disconnected_and_always_the_same():
    x = Variable(array([2.0]))
    y = x * 3.0
    for each in (x, y):
        assert each.array is each.array
        assert not each.array.is_backprop_required(chx.anygraph)
    x.array.require_grad()
    assert not x.array.is_backprop_required(chx.anygraph)


def test_chx_array_is_a_connected_view_with_a_separate_gradient():
    x = Variable(array([2.0]))
    y = x * 3.0
    for variable, factor in ((x, 1.0), (y, 3.0)):
        x.cleargrad()
        c = variable.chx_array
        assert c is not variable.chx_array
        assert shares(c, variable.array)
        assert c.is_backprop_required()
        assert not c.is_grad_required()
        c.require_grad()
        (c * c).backward()
        assert values(c.grad) == [4.0 * factor]
        assert values(x.grad) == [4.0 * factor * factor]
    plain = Variable(array([1.0]), requires_grad=False).chx_array
    assert not plain.is_backprop_required(chx.anygraph)


def test_chx_array_of_other_arrays_raises():
    for other in (Variable(np.ones(2)), Variable(None)):
        with pytest.raises(ValueError, match="to_chx"):
            _ = other.chx_array


def test_setting_an_array_that_is_in_a_graph_raises():
    x = Variable(array([1.0]))
    with pytest.raises(ValueError, match=r"Variable\.array: the array is in a graph") as caught:
        x.array = array([2.0]).require_grad()
    assert isinstance(caught.value, xpgrad.GraphError)
    x.array = b = array([2.0])
    assert x.array is b


@pytest.mark.parametrize("made", ["given", "computed"])
def test_grad_of_a_variable_that_requires_none_is_an_error(made):
    x = Variable(array([1.0]), requires_grad=False)
    (x * Variable(array([3.0]))).backward()
    x = {"given": x, "computed": x * 2.0}[made]
    with pytest.raises(xpgrad.GraphError, match=r"Variable\.grad: expected a Variable that requires a gradient"):
        x.grad  # noqa: B018 - reading it is an error
    with pytest.raises(RuntimeError, match=r"Variable\.grad_var: expected .* chx with requires_grad=False"):
        x.grad_var  # noqa: B018 - as above
    with pytest.raises(xpgrad.GraphError, match=r"Variable\.grad: "):
        x.grad = x.array
    with pytest.raises(xpgrad.GraphError, match=r"Variable\.grad_var: "):
        x.grad_var = x
    x.grad = None
    x.cleargrad()
    assert "- grad: None" in x.debug_print()
    target = Variable(array([1.0]))
    target.addgrad(x)
    assert target.grad is None


def test_a_gradient_given_with_requires_grad_false_is_an_error():
    with pytest.raises(ValueError, match="Variable: expected no grad= with requires_grad=False"):
        Variable(array([1.0]), grad=array([2.0]), requires_grad=False)


def test_grad_of_a_numpy_variable_without_requires_grad_is_none():
    x = Variable(np.ones(1), requires_grad=False)
    assert x.grad is None
    x.grad = np.ones(1)
    assert x.grad_var is not None


def test_setting_a_gradient_shares_the_callers_array_without_changes():
    x, g = Variable(array([1.0])), array([5.0])
    x.grad = g
    assert x.grad is g
    y = x.grad_var * x.grad_var
    y.backward()
    assert values(x.grad_var.grad) == [10.0]
    assert not g.is_backprop_required(chx.anygraph)


def test_setting_a_gradient_that_is_in_a_graph_keeps_it_connected():
    a, x = array([3.0]).require_grad(), Variable(array([1.0]))
    x.grad = a * 2.0
    (x.grad_var * 5.0).backward()
    assert values(a.grad) == [10.0]


def test_to_chx_and_from_chx_share_data_and_gradient():
    data, grad = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    x = Variable(data, grad=grad)
    assert x.to_chx() is x
    assert str(x.device) == "native:0"
    data[0], grad[0] = 10.0, 30.0
    assert values(x.array) == [10.0, 2.0]
    assert values(x.grad) == [30.0, 4.0]
    x.array[1], x.grad[1] = 20.0, 40.0
    assert (data[1], grad[1]) == (20.0, 40.0)
    assert x.to_chx().array is x.array
    assert x.from_chx() is x
    assert x.array is data
    assert x.grad is grad
    assert x.from_chx().array is data


def test_sharing_inside_a_graph_is_recorded():
    x = Variable(np.array([2.0]))
    y = x * 3.0
    data = y.array
    y.to_chx()
    assert shares(y.array, data)
    assert y.creator.label == "to_chx"
    assert y.rank == 2
    z = y * y
    z.from_chx()
    (z * 2.0).backward(enable_double_backprop=True)
    assert values(x.grad) == [72.0]
    assert isinstance(x.grad, np.ndarray)
    g = x.grad_var
    x.cleargrad()
    g.backward()
    assert values(x.grad) == [36.0]


def test_to_chx_of_a_library_without_shared_memory_raises():
    x = Variable(np.ones(2)).to_device("@strict:cpu")
    before = x.array
    with pytest.raises(ValueError, match="to_chx: expected a NumPy, CuPy or chx array"):
        x.to_chx()
    assert x.array is before


def test_arrays_are_shared_by_the_functions_of_the_module_too():
    from xpgrad.backend import from_chx, to_chx

    a = np.ones(2)
    (b, (c,)) = to_chx([a, (a,)])
    assert b is c
    assert shares(a, b)
    assert from_chx([b])[0] is a
    assert to_chx([b, None]) == [b, None]
    with pytest.raises(xpgrad.GraphError, match="as_grad_stopped"):
        from_chx(chx.ones((2,)).require_grad())


def test_to_device_between_native_devices_and_numpy_keeps_the_graph():
    x = Variable(np.array([2.0]))
    y = (x * 3.0).to_device("native:1")
    z = (y * y).to_device("native:0").to_cpu()
    z.backward()
    assert values(x.grad) == [36.0]


def test_parameters_live_on_chx_devices():
    p = Parameter(1.5, (2,)).to_device("native:1")
    assert str(p.device) == "native:1"
    p.cleargrad()
    (p * p).sum().backward()
    assert values(p.grad) == [3.0, 3.0]
    q = Parameter(1.5).to_device("native:1")
    q.initialize((2,))
    assert str(q.device) == "native:1"
    same = pickle.loads(pickle.dumps(p))
    assert str(same.device) == "native:1"
    assert values(same.grad) == [3.0, 3.0]


def test_parameters_remember_where_they_are_shared():
    p = Parameter(1.5)
    assert str(p.to_chx().device) == "native:0"
    assert p.to_chx() is p
    p.initialize((2,))
    assert isinstance(p.array, chx.ndarray)
    data = p.array
    assert p.from_chx() is p
    assert shares(p.array, data)
    q = Parameter(1.5).to_chx().from_chx()
    assert q.device == xpgrad.get_device("@numpy")
    with pytest.raises(ValueError, match="expected @numpy or @cupy:N, got @strict:cpu"):
        Parameter(1.5).to_device("@strict:cpu").to_chx()


def test_function_nodes_get_plain_arrays_of_the_same_memory():
    a, seen = array([2.0]).require_grad(), []

    def forward(self, inputs):
        seen.extend(inputs)
        return (inputs[0] * 2,)

    node(forward=forward, backward=lambda self, targets, gys: (gys[0] * 2,)).apply((a,))[0].backward()
    assert isinstance(seen[0], chx.ndarray)
    assert not seen[0].is_backprop_required(chx.anygraph)
    assert shares(seen[0], a)
    assert values(a.grad) == [2.0]
