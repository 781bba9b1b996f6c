"""`xpgrad.grad`: gradients of some outputs with respect to some inputs, without side effects."""

import pytest
from tests.building import array, place, values, variable
from tests.core.graph.nodes import Named, named

import xpgrad
from xpgrad import Variable, grad
from xpgrad.errors import DeviceMismatch, GradientError


@pytest.fixture(autouse=True)
def _fresh_log():
    Named.log.clear()


def test_gradients_by_several_inputs(device):
    a, b = variable(device, [2.0, 3.0]), variable(device, [4.0, 5.0])
    result = grad([(a * b).sum()], [a, b])
    assert isinstance(result, list)
    assert [values(g) for g in result] == [[4.0, 5.0], [2.0, 3.0]]
    assert all(isinstance(g, Variable) and g.creator_node is None and not g.requires_grad for g in result)
    assert [place(g.array) for g in result] == [place(a.array), place(b.array)]
    assert a.grad is None
    assert b.grad is None


def test_gradients_of_several_outputs_are_summed(device):
    x = variable(device, [2.0])
    (g,) = grad((x * x, x * 3), (x,))
    assert values(g) == [7.0]


def test_loss_scale_multiplies_the_ones_only(device):
    x = variable(device, [2.0])
    assert values(grad([x * x], [x], loss_scale=10.0)[0]) == [40.0]
    assert values(grad([x * x], [x], [variable(device, [1.0])], loss_scale=10.0)[0]) == [4.0]


def test_grad_outputs_are_the_start(device):
    x = variable(device, [2.0, 3.0])
    y = x * x
    y.grad = array(device, [7.0, 7.0])
    (g,) = grad([y], [x], [variable(device, [10.0, 100.0])])
    assert values(g) == [40.0, 600.0]
    assert values(y.grad) == [7.0, 7.0]


def test_only_functions_between_outputs_and_inputs_run(device):
    x, w = variable(device, [2.0]), variable(device, [3.0])
    before = named("before", x)
    (g,) = grad([named("after", before * named("beside", w))], [before])
    assert values(g) == [3.0]
    assert Named.log == ["after"]


def test_a_disconnected_input_gives_none(device):
    x, other = variable(device, [2.0]), variable(device, [2.0])
    y = x * x
    later = y * y
    gx, go, gl = grad([y], [x, other, later])
    assert values(gx) == [4.0]
    assert go is None
    assert gl is None


def test_an_input_that_requires_no_gradient_raises(device):
    x, c = variable(device, [2.0]), variable(device, [3.0], requires_grad=False)
    with pytest.raises(
        GradientError, match=r"grad: input 1 \(float32 \(1,\)\) requires no gradient: it has requires_gr"
    ):
        grad([x * c], [x, c])
    with pytest.raises(GradientError, match=r"grad: input 0 is int32 \(1,\): integers and booleans have no gradient"):
        grad([x * 1], [variable(device, [3], "int32")])


def test_an_output_that_requires_no_gradient_raises(device):
    c, x = variable(device, [2.0], requires_grad=False), variable(device, [2.0])
    with xpgrad.no_backprop_mode():
        unrecorded = x * x
    for y in (c * 2, c, unrecorded, x // 1):
        with pytest.raises(GradientError, match=r"grad: output 1 \(float32 \(1,\)\) requires no gradient: it has"):
            grad([x, y], [x])
    for y in (variable(device, [3], "int32"), x > c):
        with pytest.raises(GradientError, match=r"grad: output 0 is .*: integers and booleans have no gradient"):
            grad([y], [x])


def test_a_gradient_that_was_not_recorded_has_none_itself(device):
    x = variable(device, [2.0])
    y = x * x * x
    y.backward()
    (gx,) = grad([y], [x])
    for unrecorded in (gx, x.grad_var, x.grad_var * 2):
        with pytest.raises(GradientError, match=r"output 0 .*enable_double_backprop=True records it"):
            grad([unrecorded], [x])


def test_the_constant_gradient_of_a_recorded_sweep_gives_none(device):
    x = variable(device, [2.0])
    (gx,) = grad([x * 3], [x], enable_double_backprop=True)
    assert not gx.requires_grad
    assert grad([gx], [x]) == [None]


def test_an_input_that_is_also_the_output_gets_its_start(device):
    x = variable(device, [2.0])
    y = x * x
    g = variable(device, [5.0])
    gy, gx = grad([y], [y, x], [g])
    assert values(gy) == [5.0]
    assert values(gx) == [20.0]
    assert gy.array is not g.array
    assert values(grad([x], [x])[0]) == [1.0]
    assert values(grad([x, x * x], [x], [g, None])[0]) == [9.0]


def test_an_output_behind_another_output(device):
    x = variable(device, [2.0])
    y = x * x
    z = y * 3
    gy, gx = grad([y, z], [y, x])
    assert values(gy) == [4.0]
    assert values(gx) == [16.0]


@pytest.mark.parametrize("recorded", [False, True])
def test_gradients_of_an_input_that_occurs_twice_share_no_memory(device, recorded):
    x = variable(device, [2.0])
    first, second = grad([x * x], [x, x], enable_double_backprop=recorded)
    if recorded:
        assert [values(grad([g], [x])[0]) for g in (first, second)] == [[2.0], [2.0]]
    if not device.backend.immutable:
        first.array[...] = 7.0
    assert values(second) == [4.0]
    assert first is not second


def test_grad_inputs_are_added_and_flow_upstream(device):
    x = variable(device, [2.0])
    y = x * 3
    z = y * 5
    extra = variable(device, [100.0])
    gy, gx = grad([z], [y, x], grad_inputs=[extra, None])
    assert values(gy) == [105.0]
    assert values(gx) == [315.0]
    assert values(extra) == [100.0]
    gy, gx = grad([z], [y, x], grad_inputs=[None, extra])
    assert values(gy) == [5.0]
    assert values(gx) == [115.0]


def test_grad_inputs_flow_upstream_from_independent_inputs(device):
    x = variable(device, [2.0])
    z, beside = x * 5, x * 3
    gb, gx = grad([z], [beside, x], grad_inputs=[variable(device, [100.0]), None])
    assert values(gb) == [100.0]
    assert values(gx) == [305.0]


def test_set_grad_stores_the_results(device):
    x, other = variable(device, [2.0]), variable(device, [2.0], grad=array(device, [1.0]))
    gx, _ = grad([x * x], [x, other], set_grad=True)
    assert x.grad_var is gx
    assert x.grad is gx.array
    assert other.grad is None


def test_retain_grad_stores_gradients_of_intermediates_and_outputs(device):
    x = variable(device, [2.0])
    y = x * 3
    z = y * 5
    grad([z], [x], retain_grad=True)
    assert values(y.grad) == [5.0]
    assert values(z.grad) == [1.0]
    y.cleargrad()
    grad([z], [y], retain_grad=True)
    assert values(y.grad) == [5.0]
    assert x.grad is None


def test_double_backprop_to_any_order(device):
    x = variable(device, [2.0], "float64")
    g = x**4
    for expected in (32.0, 48.0, 48.0, 24.0):
        (g,) = grad([g], [x], enable_double_backprop=True)
        assert values(g) == [expected]
    (g,) = grad([g], [x], enable_double_backprop=True)
    assert g is None or values(g) == [0.0]


def test_double_backprop_by_the_start(device):
    x, v = variable(device, [2.0, 3.0]), variable(device, [1.0, 10.0])
    (g,) = grad([x * x], [x], [v], enable_double_backprop=True)
    (gv,) = grad([g.sum()], [v])
    assert values(gv) == [4.0, 6.0]


def test_by_an_intermediate_and_its_root_in_double_backprop(device):
    x = variable(device, [2.0])
    y = x * x
    z = y * y * x
    gy, gx = grad([z], [y, x], enable_double_backprop=True)
    assert values(gy) == [2 * 4.0 * 2]
    assert values(gx) == [5 * 16.0]
    assert values(grad([gy], [y])[0]) == [4.0]


# Errors


@pytest.mark.parametrize("name", ["outputs", "inputs", "grad_outputs", "grad_inputs"])
def test_arguments_are_sequences_of_variables(device, name):
    x = variable(device, [1.0])
    for wrong, text in (x, " must be a tuple or a list, got Variable"), ([x.array], r"\[0\] must be a Variable, got"):
        with pytest.raises(TypeError, match=f"grad: {name}{text}"):
            grad(**{"outputs": [x * 1], "inputs": [x], name: wrong})


@pytest.mark.parametrize(("name", "of"), [("grad_outputs", "outputs"), ("grad_inputs", "inputs")])
def test_lengths_must_match(device, name, of):
    x = variable(device, [1.0])
    with pytest.raises(ValueError, match=f"grad: got 2 {name} for 1 {of}"):
        grad([x * 1], [x], **{name: [None, None]})


@pytest.mark.parametrize("name", ["grad_outputs", "grad_inputs"])
def test_shapes_dtypes_and_devices_must_match(device, name):
    x = variable(device, [1.0, 2.0])
    for wrong in (variable(device, [1.0]), variable(device, [1.0, 2.0], "float64")):
        with pytest.raises(GradientError, match=r"gradient 0 is .* but its Variable float32 \(2,\)"):
            grad([x * 1], [x], **{name: [wrong]})
    other = xpgrad.get_device("@strict:device2")
    with pytest.raises(GradientError, match=f"@strict:device2, but its Variable .* on {device}"):
        grad([x * 1], [x], **{name: [variable(other, [1.0, 2.0])]})
    assert DeviceMismatch is not GradientError


def test_uninitialised_variables(device):
    x = variable(device, [1.0])
    with pytest.raises(GradientError, match="output 0 is uninitialised"):
        grad([Variable(None)], [x])
    with pytest.raises(GradientError, match="gradient 0 is uninitialised"):
        grad([x * 1], [x], [Variable(None)])
    assert grad([x * 1], [Variable(None)]) == [None]


def test_grad_of_no_outputs_or_inputs(device):
    x = variable(device, [1.0])
    assert grad([x * 1], []) == []
    assert grad([], [x]) == [None]
    assert grad([], []) == []
