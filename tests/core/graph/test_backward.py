"""`Variable.backward` and `xpgrad.backward`: where a sweep starts, its order, and its results."""

import numpy as np
import pytest
from tests.building import array, place, values, variable
from tests.core.graph.nodes import Named, named

import xpgrad
from xpgrad import GraphEndWarning, Variable
from xpgrad import array_api as xp
from xpgrad.errors import DeviceMismatch, GradientError, GraphError


@pytest.fixture(autouse=True)
def _fresh_log():
    Named.log.clear()


# The start


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_sweep_from_one_element_starts_from_ones(device, shape):
    x = variable(device, np.full(shape, 3.0))
    (x * x).backward()
    assert values(x.grad) == np.full(shape, 6.0).tolist()
    assert place(x.grad) == place(x.array)


@pytest.mark.parametrize("shape", [(2,), (0,), (3, 0), (2, 2)])
def test_many_or_zero_elements_without_a_gradient_raise_immediately(device, shape):
    x = variable(device, np.ones(shape))
    y = named("f", x)
    with pytest.raises(
        GradientError,
        match=f"cannot start from {int(np.prod(shape))} elements of shape .* without a gradient; set y.grad",
    ):
        y.backward()
    assert Named.log == []
    assert x.grad is None


def test_the_gradient_of_the_output_is_the_start_and_is_used_up_unless_it_is_retained(device):
    x = variable(device, [1.0, 2.0])
    y = x * x
    g = y.grad = array(device, [10.0, 100.0])
    y.backward()
    assert values(x.grad) == [20.0, 400.0]
    assert y.grad is y.grad_var is None
    y.grad = g
    y.backward(retain_grad=True)
    assert values(y.grad) == values(g) == [10.0, 100.0]


def test_backward_from_a_root(device):
    x = variable(device, [3.0])
    x.backward()
    assert values(x.grad) == [1.0]
    x.grad = array(device, [5.0])
    x.backward()
    assert values(x.grad) == [5.0]


def unrecorded(x):
    with xpgrad.no_backprop_mode():
        return x * x


def gradient(x):
    (x * x).backward()
    g, x.grad = x.grad_var, None
    return g


CONSTANT = {
    "floor": xp.floor,
    "sum of floor": lambda x: xp.sum(xp.floor(x) * 2),
    "//": lambda x: x // 2,
    "reflected //": lambda x: 7 // x,
    "remainder of a constant": lambda x: x // 2 * 2.0,
    "sign": xp.sign,
    "comparison": lambda x: x > 1,
    "integer": lambda x: xp.astype(x, x.__array_namespace__().int32),
    "and back": lambda x: xp.astype(x > 1, x.dtype),
    "argmax": xp.argmax,
    "no_backprop_mode": unrecorded,
    "detached": lambda x: x.detach() * 2,
    "constant": lambda x: xp.zeros_like(x),
    "gradient": gradient,
    "of a gradient": lambda x: gradient(x) * 2,
}
CONSTANTS = pytest.mark.parametrize("f", CONSTANT.values(), ids=CONSTANT)


@CONSTANTS
def test_backward_behind_the_end_of_a_graph_warns_and_leaves_all_gradients(device, f):
    for options in ({}, {"retain_grad": True}, {"enable_double_backprop": True}, {"loss_scale": 8.0}):
        x = variable(device, 3.0)
        y = f(x)
        for held in (None, array(device, 5.0)):
            x.grad = held
            with pytest.warns(GraphEndWarning, match=r"backward: the Variable .*no gradient was changed") as caught:
                [y.backward(**options) for _ in range(2)]
            assert {each.filename for each in caught} == {__file__}
            assert y._grad is None
            assert (x.grad is None) if held is None else (values(x.grad) == 5.0)
        with xpgrad.using_config("warn_graph_end", False):
            y.backward(**options)


@CONSTANTS
def test_backward_of_several_outputs_passes_over_those_behind_the_end_of_a_graph(device, f):
    x, w = variable(device, 3.0), variable(device, 2.0)
    y, z = f(x), w * w
    one = xp.ones_like(y)
    with pytest.warns(GraphEndWarning, match="backward: output 1 ") as caught:
        xpgrad.backward([z, y], [xp.ones_like(z), one])
    assert len(caught) == 1
    assert values(w.grad) == 4.0
    assert x.grad is y._grad is None
    with pytest.raises(GradientError, match="grad: output 1 "):
        xpgrad.grad([z, y], [w])


def test_the_end_of_a_graph_is_given_in_debug_mode_too(device):
    x = variable(device, 3.0)
    with (
        xpgrad.using_config("debug", True),
        pytest.warns(GraphEndWarning, match=r"function without derivative \(floor\)"),
    ):
        xp.floor(x).backward()
    assert x.grad is None


def test_an_optimizer_passes_over_a_loss_behind_the_end_of_a_graph():
    model = xpgrad.links.Linear(2, 1)
    before = model.W.array.copy()
    optimizer = xpgrad.optimizers.SGD().setup(model)
    with pytest.warns(GraphEndWarning) as caught:
        optimizer.update(lambda: xp.sum(xp.floor(model.W)))
    assert {each.filename for each in caught} == {__file__}
    assert (model.W.array == before).all()


def test_backward_from_the_constant_gradient_of_a_recorded_sweep_has_no_effect(device):
    x = variable(device, 3.0)
    (x * 2).backward(enable_double_backprop=True)
    gx = x.grad_var
    x.cleargrad()
    gx.backward()
    assert x.grad is None


def test_loss_scale_multiplies_the_automatic_start_and_is_noted_on_the_roots(device):
    x = variable(device, [3.0])
    y = x * x
    y.backward(loss_scale=8.0)
    assert values(x.grad) == [48.0]
    assert x._loss_scale == 8.0
    assert y._loss_scale is None
    x.cleargrad()
    y.grad = array(device, [1.0])
    y.backward(loss_scale=8.0)
    assert values(x.grad) == [6.0]


# The order


def test_functions_run_by_rank_then_in_the_order_of_discovery(device):
    x = variable(device, [1.0])
    a = named("a", x)
    b = named("b", x)
    c = named("c", a)
    d = named("d", b, c, a)
    d.backward()
    assert Named.log == ["d", "c", "b", "a"]
    Named.log.clear()
    named("end", a, b).backward()
    assert Named.log == ["end", "a", "b"]
    assert values(x.grad) == [5.0]


def test_each_function_runs_once(device):
    x = variable(device, [1.0])
    y = named("f", x)
    z = y * y + y * 3
    (z + y).backward()
    assert Named.log == ["f"]
    assert values(x.grad) == [6.0]


def test_functions_without_a_wanted_input_do_not_run(device):
    x = variable(device, [1.0])
    y = named("cut", variable(device, [1.0], requires_grad=False))
    (x * y).backward()
    assert Named.log == []


# What it leaves


def test_gradients_accumulate_over_calls_old_one_first(device):
    g = array(device, [100.0])
    x = variable(device, [2.0], grad=g)
    y = x * x
    for expected in (104.0, 108.0):
        y.backward()
        assert values(x.grad) == [expected]
    assert values(g) == [100.0]
    big = variable(device, [1.0], grad=array(device, [2.0**24]))
    (big * 1 + big * 1).backward()
    assert values(big.grad) == [2.0**24 + 2]  # the sum of the sweep is added to the previous gradient


def test_0d_gradients_stay_arrays(device):
    x = variable(device, 2.0)
    for expected in (4.0, 8.0, 12.0):
        (x * x).backward()
        assert type(x.grad) is type(x.array)
        assert values(x.grad) == expected
    (x * x + x * x * x).backward()
    assert type(x.grad) is type(x.array)


def test_gradients_of_intermediates_are_kept_only_with_retain_grad(device):
    x = variable(device, [2.0])
    y = x * x
    z = y * 3
    z.backward()
    assert y.grad is None
    assert z.grad is None
    z.backward(retain_grad=True)
    assert values(y.grad) == [3.0]
    assert values(z.grad) == [1.0]
    x.cleargrad()
    (x * x * 3).backward(retain_grad=True)  # of a Variable that is deleted
    assert values(x.grad) == [12.0]


def test_old_gradients_of_intermediates_are_ignored_and_left(device):
    x = variable(device, [2.0])
    y = x * x
    y.grad = array(device, [77.0])
    (y * 3).backward()
    assert values(y.grad) == [77.0]
    assert values(x.grad) == [12.0]
    (y * 3).backward(retain_grad=True)
    assert values(y.grad) == [3.0]


def test_a_variable_that_requires_no_gradient_gets_none(device):
    x, c = variable(device, [2.0]), variable(device, [3.0], requires_grad=False)
    (x * c).backward()
    assert c._grad is None
    assert values(x.grad) == [3.0]


def test_retain_graph_false_lets_the_graph_go(device):
    x = variable(device, [2.0])
    y = x * x * x
    y.backward(retain_graph=False)
    assert values(x.grad) == [12.0]
    with pytest.raises(GraphError, match="retain_graph=False"):
        y.backward()
    assert values(x.grad) == [12.0]
    with pytest.raises(GraphError, match="enable_double_backprop"):
        (x * x).backward(enable_double_backprop=True, retain_graph=False)


# Recorded


def test_enable_double_backprop_records(device):
    x = variable(device, [[0.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    y = x**3
    y.grad = array(device, np.ones((2, 3)))
    y.backward(enable_double_backprop=True)
    gx = x.grad_var
    assert gx.array is x.grad
    assert gx.creator_node is not None
    assert values(gx) == [[0.0, 12.0, 27.0], [48.0, 75.0, 108.0]]
    x.cleargrad()
    gx.grad = array(device, np.ones((2, 3)))
    gx.backward()
    assert values(x.grad) == [[0.0, 12.0, 18.0], [24.0, 30.0, 36.0]]


def test_recorded_sums_over_calls_stay_connected(device):
    x = variable(device, [2.0])
    for y in (x * x * x, x * x):
        y.backward(enable_double_backprop=True)
    gx = x.grad_var
    assert values(gx) == [16.0]
    x.cleargrad()
    gx.backward()
    assert values(x.grad) == [14.0]


def test_recording_works_in_no_backprop_mode_too(device):
    x = variable(device, [2.0])
    y = x * x * x
    with xpgrad.no_backprop_mode():
        y.backward(enable_double_backprop=True)
        y.backward(enable_double_backprop=True)
        assert not xpgrad.config.enable_backprop
    gx = x.grad_var
    x.cleargrad()
    gx.backward()
    assert values(x.grad) == [24.0]


def test_a_recorded_start_is_differentiated(device):
    x = variable(device, [2.0])
    y = x * x
    v = variable(device, [3.0])
    y.grad_var = v
    y.backward(enable_double_backprop=True)
    gx = x.grad_var
    x.cleargrad()
    gx.backward()
    assert values(v.grad) == [4.0]
    assert values(x.grad) == [6.0]


# xpgrad.backward


def test_backward_from_several_outputs_runs_each_function_once(device):
    x = variable(device, [2.0])
    y = named("f", x)
    a, b = y * 3, y * 5
    a.grad, b.grad = array(device, [1.0]), array(device, [10.0])
    xpgrad.backward([a, b], enable_double_backprop=True)
    assert values(x.grad) == [53.0]
    assert Named.log == ["f"]
    assert a.grad is b.grad is None
    z = x * x
    x.cleargrad()
    xpgrad.backward([z], [variable(device, [1.0])], enable_double_backprop=True)
    gx = x.grad_var
    x.cleargrad()
    gx.backward()
    assert values(x.grad) == [2.0]


def test_given_grad_outputs_leave_the_outputs_own_gradients(device):
    x = variable(device, [2.0])
    y = x * 3
    y.grad = array(device, [7.0])
    xpgrad.backward((y,), (variable(device, [10.0]),))
    assert values(x.grad) == [30.0]
    assert values(y.grad) == [7.0]


def test_an_output_without_a_gradient_warns_and_is_passed_over(device):
    x = variable(device, [2.0])
    a, b = x * 3, x * 5
    b.grad = array(device, [1.0])
    with pytest.warns(RuntimeWarning, match="output 0 has no gradient"):
        xpgrad.backward([a, b])
    assert values(x.grad) == [5.0]
    with pytest.warns(RuntimeWarning, match="output 1 has no gradient"):
        xpgrad.backward([a, b], [variable(device, [1.0]), None])
    assert values(x.grad) == [8.0]


def test_an_output_that_occurs_twice_warns_and_counts_once(device):
    x = variable(device, [2.0])
    y = x * 3
    y.grad = array(device, [1.0])
    with pytest.warns(RuntimeWarning, match="output 1 occurs twice"):
        xpgrad.backward([y, y])
    assert values(x.grad) == [3.0]
    g = variable(device, [1.0])
    xpgrad.backward([y, y], [g, g])
    assert values(x.grad) == [9.0]


def test_backward_from_an_empty_list():
    xpgrad.backward([])
    xpgrad.backward((), ())


@pytest.mark.parametrize(
    ("outputs", "text"),
    [
        (lambda y: y, "outputs must be a tuple or a list, got Variable"),
        (lambda y: iter([y]), "outputs must be a tuple or a list, got list_iterator"),
        (lambda y: [y, y.array], r"outputs\[1\] must be a Variable, got"),
        (lambda y: [None], r"outputs\[0\] must be a Variable, got NoneType"),
    ],
)
def test_outputs_must_be_a_sequence_of_variables(device, outputs, text):
    with pytest.raises(TypeError, match=f"backward: {text}"):
        xpgrad.backward(outputs(variable(device, [1.0])))


def test_grad_outputs_are_checked(device):
    y = variable(device, [1.0, 2.0]) * 2
    with pytest.raises(TypeError, match="grad_outputs must be a tuple or a list"):
        xpgrad.backward([y], y)
    with pytest.raises(TypeError, match=r"grad_outputs\[0\] must be a Variable"):
        xpgrad.backward([y], [y.array])
    with pytest.raises(ValueError, match="got 2 grad_outputs for 1 outputs"):
        xpgrad.backward([y], [y, y])
    with pytest.raises(GradientError, match=r"gradient 0 is float32 \(1,\) .*float32 \(2,\)"):
        xpgrad.backward([y], [variable(device, [1.0])])


@pytest.mark.parametrize("name", ["retain_grad", "loss_scale"])
def test_backward_rejects_options_that_belong_to_one_output(name):
    with pytest.raises(TypeError, match=name):
        xpgrad.backward([], **{name: True})


# Moving between building and sweeping


@pytest.mark.parametrize(("first", "second"), [("@numpy", "@strict:device1"), ("@strict:cpu", "@strict:device1")])
def test_a_moved_root_gets_the_gradient_of_an_older_graph_on_its_device(first, second):
    first, second = xpgrad.get_device(first), xpgrad.get_device(second)
    x = variable(first, [2.0, 3.0])
    y = (x * x).sum()
    x.to_device(second)
    y.backward()
    assert x.device == second
    assert place(x.grad) == place(x.array)
    assert values(x.grad) == [4.0, 6.0]
    (x * x).sum().backward()
    assert values(x.grad) == [8.0, 12.0]
    x.to_device(first).to_device(second)
    y.backward(enable_double_backprop=True)
    assert values(x.grad) == [12.0, 18.0]
    assert place(x.grad) == place(x.array)
    (g,) = xpgrad.grad([y], [x])
    assert g.device == second
    assert values(g) == [4.0, 6.0]


def test_second_derivatives_reach_a_root_that_moved():
    first, second = xpgrad.get_device("@strict:cpu"), xpgrad.get_device("@strict:device1")
    x = variable(first, [2.0])
    y = x * x * x
    x.to_device(second)
    y.backward(enable_double_backprop=True)
    gx = x.grad_var
    x.cleargrad()
    gx.backward()
    assert gx.device == second
    assert x.grad_var.device == second
    assert values(x.grad) == [12.0]


def test_a_gradient_on_another_device_is_no_start():
    x = variable(xpgrad.get_device("@strict:cpu"), [2.0], grad=array(xpgrad.get_device("@strict:device1"), [1.0]))
    y = x * 1
    y._grad = x._grad
    with pytest.raises(DeviceMismatch):
        y.backward()


def test_the_gradient_of_numpys_memmap(tmp_path):
    a = np.memmap(tmp_path / "data", "float32", "w+", shape=(2,))
    a[:] = [1, 2]
    x = Variable(a)
    (x * x).sum().backward()
    assert x.grad.tolist() == [2, 4]
