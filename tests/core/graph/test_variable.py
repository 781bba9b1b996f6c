"""`Variable`: an array, its gradient and its node, on every device."""

import gc
import weakref

import numpy as np
import pytest
from tests.building import array, place, values, variable

import xpgrad
from xpgrad import Variable
from xpgrad.errors import BackendMismatch, DeviceMismatch, DtypeError, GradientError, ShapeError, UnknownArray
from xpgrad.plugin import CarriesGraphs

# The constructor


def test_a_variable_holds_the_very_array(device):
    a = array(device, [1.0, 2.0])
    x = Variable(a)
    assert x.array is x.data is x.raw_array is a
    assert x.requires_grad
    assert x.rank == 0
    for name in ("grad", "grad_var", "name", "creator", "creator_node", "layout"):
        assert getattr(x, name) is None


def test_constructor_takes_name_gradient_and_requires_grad(device):
    g = array(device, [3.0, 4.0])
    required = isinstance(device.backend, CarriesGraphs)  # without, such arrays have no gradient
    x = Variable(array(device, [1.0, 2.0]), name="x", grad=g, requires_grad=required)
    assert x.name == "x"
    assert x.grad is g
    assert x.requires_grad is required


@pytest.mark.parametrize("value", [1, 0, None, "yes", np.True_])
def test_requires_grad_must_be_a_bool(value):
    with pytest.raises(TypeError, match="requires_grad must be a bool"):
        Variable(np.ones(2), requires_grad=value)


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda a: Variable(a, "x"), TypeError, "positional argument"),
        (lambda a: Variable(a, volatile=True), ValueError, "no_backprop_mode"),
        (lambda a: Variable(a, nmae="x"), TypeError, "'nmae'"),
        (lambda a: Variable(a, grad=[1.0, 2.0]), TypeError, "grad"),
        (lambda a: Variable(np.array([None, 1])), TypeError, "object"),
        (lambda a: len(Variable(a[0, ...])), TypeError, "0-d"),
        (lambda a: list(Variable(a[0, ...])), TypeError, "0-d"),
        (lambda a: Variable(a).item(), ValueError, "(2,)"),
        (lambda a: Variable(a[:0]).item(), ValueError, "(0,)"),
        (lambda a: Variable(a).chx_array, ValueError, "to_chx"),
        (lambda a: Variable(a).set_creator("sin"), TypeError, "FunctionNode"),
        (lambda a: Variable(a).set_creator_node("sin"), TypeError, "FunctionNode"),
        (lambda a: f"{Variable(a):.1f}", ValueError, "format"),
    ],
)
def test_what_a_variable_cannot_do_raises(make, error, text):
    with pytest.raises(error) as caught:
        make(np.ones(2))
    assert text in str(caught.value)


WRONG = [1, 1.5, True, 2j, [1.0, 2.0], (1.0,), "text", object(), {}]
WRONG += [np.float32(1), np.float64(1), np.int32(1), np.bool_(True), np.complex64(1)]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: type(wrong).__name__)
def test_data_and_gradients_that_are_not_arrays_raise(device, wrong):
    x, a = variable(device, 1.0), array(device, 2.0)
    for name in ("array", "grad"):
        setattr(x, name, a)
        with pytest.raises(TypeError, match=rf"Variable\.{name}: expected an array"):
            setattr(x, name, wrong)
        assert getattr(x, name) is a
    with pytest.raises(TypeError, match=r"numpy\.ndarray.*got .*" + type(wrong).__name__):
        Variable(wrong)


def test_a_gradient_that_does_not_fit_is_met_where_it_is_used(device):
    g = array(device, [1.0, 2.0, 3.0])
    x = variable(device, [1.0], grad=g)
    assert x.grad is g
    for y in (x * 2, x):
        with pytest.raises(ShapeError):
            y.backward()
    assert x.grad is g


# Uninitialised


def test_an_uninitialised_variable():
    x = Variable(None, name="later")
    assert x.array is None
    assert x.device == xpgrad.get_device(-1) == xpgrad.get_device(np.int64(-1))
    assert x.xp is np
    assert x.name == "later"
    assert x.requires_grad
    assert x.node.shape is None
    assert x.node.dtype is None
    for attribute in ("shape", "ndim", "size", "dtype"):
        with pytest.raises(AttributeError, match=f"{attribute}: the Variable is uninitialised"):
            getattr(x, attribute)
    with pytest.raises(AttributeError):
        x.item()
    with pytest.raises(GradientError, match="uninitialised"):
        x.backward()
    with pytest.raises(TypeError, match="uninitialised"):
        x + 1


def test_an_uninitialised_variable_gets_its_array_later(device):
    x = Variable(None, name="later", requires_grad=False)
    x.array = array(device, [1.0, 2.0])
    assert x.shape == (2,)
    assert x.device == device
    assert x.name == "later"
    assert not x.requires_grad


# Attributes of the array


def test_attributes_of_the_array(device):
    x = variable(device, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    assert x.shape == (2, 3)
    assert x.ndim == 2
    assert x.size == 6
    assert x.dtype == x.array.dtype
    assert x.device == device
    assert x.xp is device.xp
    assert len(x) == 2
    assert x.label == "(2, 3), float32"
    assert variable(device, 1.0).label == "float32"
    assert variable(device, [1], "int32").label == "(1,), int32"


def test_name_lives_on_the_node(device):
    x = variable(device, [1.0], name="x")
    x.name = "y"
    assert x.node.name == "y"
    x.name = None
    assert x.name is None


# The setter of the array


def test_an_array_of_the_same_shape_and_dtype_keeps_node_and_gradient(device):
    x = variable(device, [1.0, 2.0])
    y = x * x
    node, a = x.node, array(device, [3.0, 4.0])
    x.grad = array(device, [5.0, 6.0])
    x.array = a
    assert x.array is a
    assert x.node is node
    assert values(x.grad) == [5.0, 6.0]
    y.grad = array(device, [1.0, 1.0])
    y.backward()
    assert values(x.grad) == [7.0, 10.0]


@pytest.mark.parametrize(("data", "dtype"), [([1.0, 2.0, 3.0], "float32"), ([1.0, 2.0], "float64"), ([1, 2], "int32")])
def test_an_array_of_another_shape_or_dtype_gives_a_fresh_node(device, data, dtype):
    x = variable(device, [1.0, 2.0], name="x", grad=array(device, [1.0, 1.0]))
    y = x * x
    node = x.node
    x.array = array(device, data, dtype)
    assert x.node is not node
    assert x.name == "x"
    assert x.grad is None
    assert x.requires_grad
    assert x.shape == x.node.shape == (len(data),)
    assert x.dtype == x.node.dtype == x.array.dtype
    y.grad = array(device, [1.0, 1.0])
    y.backward()
    assert x.grad is None


def test_the_setter_of_the_array_takes_none_but_no_variable(device):
    x, a = variable(device, [1.0]), array(device, [2.0])
    with pytest.raises(TypeError, match=r"Variable\.array"):
        x.array = variable(device, [1.0])
    x.data = a
    assert x.array is a
    x.array = None
    assert x.array is None
    assert repr(x) == "variable(None)"
    x.grad = a  # of anything
    assert x.grad is a


# The gradient's setters


def test_the_checks_of_grad_come_in_order(device):
    x = variable(device, [1.0, 2.0])
    other = xpgrad.get_device("@strict" if device.backend.name == "numpy" else "@numpy")
    with pytest.raises(UnknownArray):
        x.grad = [1]
    with pytest.raises(BackendMismatch, match=f"array of {device.backend.name}, got an array of {other.backend.name}"):
        x.grad = array(other, [1.0, 2.0, 3.0], "float64")  # dtype and shape are wrong as well
    with pytest.raises(DtypeError, match=r"expected dtype .*float32.*float64"):
        x.grad = array(device, [1.0, 2.0, 3.0], "float64")  # the shape is wrong as well
    with pytest.raises(ShapeError, match=r"expected shape \(2,\).*\(3,\)"):
        x.grad = array(device, [1.0, 2.0, 3.0])
    assert x.grad is None
    assert issubclass(BackendMismatch, TypeError)
    assert issubclass(DtypeError, TypeError)
    assert issubclass(ShapeError, ValueError)


def test_grad_rejects_another_device_of_the_same_backend():
    x = variable(xpgrad.get_device("@strict:cpu"), [1.0])
    with pytest.raises(DeviceMismatch, match="@strict:cpu"):
        x.grad = array(xpgrad.get_device("@strict:device1"), [1.0])


def test_grad_var_is_made_lazily_and_once(device):
    x, g = variable(device, [1.0]), array(device, [2.0])
    x.grad = g
    made = x.grad_var
    assert made.array is g
    assert made.requires_grad
    assert x.grad_var is made
    assert x.grad is g


def test_setting_grad_or_grad_var_resets_the_other(device):
    x, g = variable(device, [1.0]), variable(device, [2.0])
    x.grad_var = g
    assert x.grad_var is g
    assert x.grad is g.array
    a = array(device, [3.0])
    x.grad = a
    assert x.grad_var.array is a
    x.grad_var = None
    assert x.grad is None
    x.grad = a
    x.grad = None
    assert x.grad_var is None


def test_grad_var_is_checked_like_grad(device):
    x = variable(device, [1.0, 2.0])
    with pytest.raises(TypeError, match="expected a Variable"):
        x.grad_var = array(device, [1.0, 2.0])
    with pytest.raises(DtypeError):
        x.grad_var = variable(device, [1.0, 2.0], "float64")
    with pytest.raises(ShapeError):
        x.grad_var = variable(device, [1.0])
    assert x.grad_var is None


# cleargrad, zerograd


def test_zerograd_is_deprecated_and_fills_in_place_or_creates_zeros(device):
    g = array(device, [2.0, 3.0])
    for x in (variable(device, [1.0, 2.0], grad=g), variable(device, [1.0, 2.0])):
        with pytest.warns(DeprecationWarning, match="cleargrad"):
            x.zerograd()
        assert values(x.grad) == [0.0, 0.0]
        assert place(x.grad) == place(x.array)
    assert values(g) == [0.0, 0.0]
    later = Variable(None)
    with pytest.warns(DeprecationWarning, match="cleargrad"):
        later.zerograd()
    assert later.grad is None


def test_zerograd_cuts_the_gradient_from_its_graph(device):
    x = variable(device, [3.0])
    (x * x * x).backward(enable_double_backprop=True)
    g = x.grad_var
    assert g.creator_node is not None
    with pytest.warns(DeprecationWarning, match="cleargrad"):
        x.zerograd()
    assert g.creator_node is x.grad_var.creator_node is None
    assert values(x.grad) == [0.0]


# Array behaviour


def test_iteration_gives_connected_rows(device):
    x = variable(device, [[1.0, 2.0], [3.0, 4.0]])
    rows = list(x)
    assert [values(row) for row in rows] == [[1.0, 2.0], [3.0, 4.0]]
    (rows[0] * rows[1]).sum().backward()
    assert values(x.grad) == [[3.0, 4.0], [1.0, 2.0]]


def test_item_is_a_python_scalar(device):
    assert type(variable(device, [[1.5]], requires_grad=False).item()) is float
    assert type(variable(device, 3, "int64").item()) is int
    assert type(variable(device, True, "bool").item()) is bool
    assert type(variable(device, 1 + 2j, "complex64", requires_grad=False).item()) is complex
    assert variable(device, [[1.5]], requires_grad=False).item() == 1.5


def test_all_elements_as_lists_of_python_scalars(device):
    x = variable(device, [[1.5, 2.5], [0.5, -1.0]])
    with pytest.warns(xpgrad.GraphEndWarning):
        assert x.tolist() == (x * 1).tolist() == [[1.5, 2.5], [0.5, -1.0]]
    assert type(variable(device, [1.5], requires_grad=False).tolist()[0]) is float
    assert variable(device, 3, "int64").tolist() == 3
    assert type(variable(device, [3], "int64").tolist()[0]) is int
    assert variable(device, np.ones((2, 0)), requires_grad=False).tolist() == [[], []]
    with pytest.raises(ValueError, match="tolist: the Variable is uninitialised; give it an array first"):
        Variable().tolist()


def test_numpy_gives_the_array_of_a_variable_in_no_graph_only():
    x = Variable(np.asarray([1.0, 2.0]))
    for each in (x, x * 2):
        with pytest.raises(TypeError, match=r"a Variable is not converted silently.*use v\.array"):
            each.numpy()
    assert type(x.detach().numpy()) is np.ndarray
    assert np.shares_memory(x.detach().numpy(), x.array)


def test_plus_equals_rebinds(device):
    x = y = variable(device, [1.0])
    y += 1
    assert values(x) == [1.0]
    assert values(y) == [2.0]


# The graph


def test_unchain_cuts_here_only(device):
    x = variable(device, [2.0])
    y = x * x
    z = y * y
    y.unchain()
    assert y.creator_node is None
    z.backward()
    assert x.grad is None
    assert values(y.grad) == [8.0]


def test_creator_node_can_be_set_to_none_and_back(device):
    x = variable(device, [2.0])
    y = x * x
    f = y.creator_node
    y.creator_node = None
    assert y.creator_node is None
    assert y.rank == 1
    y.creator_node = f
    assert y.creator is f
    assert y.rank == 1
    y.backward()
    assert values(x.grad) == [4.0]


def test_a_creator_sets_rank_and_requires_grad(device):
    x = variable(device, [2.0])
    f = (x * x * x).creator_node
    z = variable(device, [8.0], requires_grad=False)
    for setter in (z.set_creator, z.set_creator_node):
        z.unchain()
        setter(f)
        assert z.creator is f
        assert z.creator_node is f
        assert z.rank == f.rank + 1 == 2
        assert z.requires_grad
    z.backward()
    assert values(x.grad) == [12.0]


def test_unchaining_a_function_with_two_consumers(device):
    x = variable(device, [2.0])
    y = x * x
    z = y * y + y
    y.node.creator_node.unchain()
    z.backward()
    assert values(y.grad) == [9.0]
    assert x.grad is None
    (g,) = xpgrad.grad([z], [y])
    assert values(g) == [9.0]


def test_unchain_backward_cuts_everything_behind(device):
    x = variable(device, [2.0])
    y = x * x
    z = y * x
    w = z + y
    inner = weakref.ref(z.creator_node)
    w.unchain_backward()
    assert w.creator_node is None
    assert y.creator_node is None
    assert z.creator_node is None
    gc.disable()
    try:
        del z
        assert inner() is None  # freed by reference counting, without garbage collection
    finally:
        gc.enable()
    w.backward()
    assert x.grad is None


def test_retain_data_lets_the_node_keep_the_array(device):
    x = variable(device, [1.0, 2.0])
    assert x.node.data is None
    x.retain_data()
    assert x.node.data is x.array
    x.array = array(device, [3.0, 4.0])
    assert x.node.data is x.array
    x.array = array(device, [3.0, 4.0, 5.0])
    assert x.node.data is x.array


def test_results_under_no_backprop_mode_require_no_gradient(device):
    x = variable(device, [1.0])
    with xpgrad.no_backprop_mode():
        y = x * x
        with xpgrad.force_backprop_mode():
            z = x * x
    assert y.creator_node is None
    assert not y.requires_grad
    assert z.creator_node is not None


# Integers


def test_integer_data_may_declare_that_it_requires_a_gradient(device):
    x = variable(device, [1, 2], "int32")
    assert x.requires_grad
    y = x * 2
    assert y.dtype == x.dtype
    assert not y.requires_grad
    assert y.creator_node is None
    assert not variable(device, [1], "int32", requires_grad=False).requires_grad


# Freeing


def test_a_graph_is_freed_by_reference_counting(device):
    x = variable(device, [1.0])
    y = x * x
    seen = weakref.ref(y), weakref.ref(y.node), weakref.ref(y.creator_node)
    z = y + x
    gc.disable()
    try:
        del y
        assert seen[0]() is None
        assert seen[1]() is not None
        del z
        assert [ref() for ref in seen] == [None] * 3
    finally:
        gc.enable()


# Parameters behave like Variables in operations


def test_a_value_is_in_a_variable_if_an_element_equals_it(device):
    x = variable(device, [[1.0, 2.0], [3.0, 4.5]])
    assert 3.0 in x
    assert 3.5 not in x
    assert x[1, 1] in x


def test_one_element_is_formatted_as_a_number(device):
    x = variable(device, [1.25])
    assert f"{x:.1f} {x[0]:>6.2f}" == "1.2   1.25"
    assert f"{x}" == str(x)
