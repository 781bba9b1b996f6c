"""ChainerX's rules of arrays that carry their own graph, one test each."""

import numpy as np
import pytest
from tests.backends.chx.arrays import array, leaf, values
from tests.core.graph.nodes import node, square, square_backward

import xpgrad
import xpgrad_chx as chx
from xpgrad import Variable


def test_require_grad_is_for_floating_dtypes():
    a = array([1.0])
    assert a.require_grad() is a.require_grad() is a
    assert a.is_grad_required()
    for dtype in (chx.int64, chx.bool):
        with pytest.raises(chx.DtypeError, match="floating-point dtype, got"):
            chx.zeros((2,), dtype=dtype).require_grad()
    assert chx.zeros((2,), dtype=chx.complex64).require_grad().is_grad_required()


def test_an_array_in_between_can_keep_its_gradient():
    a = leaf([3.0])
    b = (a * a).require_grad()
    (b * 5.0).sum().backward()
    assert values(b.grad) == [5.0]
    assert values(a.grad) == [30.0]


def test_is_backprop_required_is_propagated_and_is_grad_required_is_not():
    a = leaf()
    b = a * 2.0
    assert not b.is_grad_required()
    assert b.is_backprop_required()
    assert b.is_backprop_required(chx.anygraph)
    c = array([1.0]) * 2.0
    assert not c.is_backprop_required()
    assert not c.is_backprop_required(chx.anygraph)
    assert not (a > 0.0).is_backprop_required()


def test_grad_is_one_array_over_the_memory_of_the_gradient():
    a = leaf()
    assert a.grad is None
    (a * a).sum().backward()
    g = a.grad
    assert a.grad is g
    assert values(g) == [2.0, 4.0, 6.0]
    g *= 2.0
    assert values(a.grad) == [4.0, 8.0, 12.0]
    a.cleargrad()
    assert a.grad is None


def test_set_grad_checks_and_flags():
    a = leaf()
    b = a * 1.0
    g = array([1.0, 2.0, 3.0])
    b.set_grad(g)
    assert b.is_grad_required()
    assert b.grad is g
    for wrong in (array([1.0]), chx.zeros((3,), dtype=chx.float32), array([1.0, 2.0, 3.0], "native:1"), 1.0):
        with pytest.raises(chx.GradientError, match="set_grad: expected"):
            a.grad = wrong
    b.grad = None
    assert b.grad is None


@pytest.mark.parametrize(("use", "text"), [
    (lambda a: a.grad, "keeps no gradient"), (lambda a: (leaf() * 2.0).grad, "keeps no gradient"),
    (lambda a: a.cleargrad(), "constant"), (lambda a: setattr(a, "grad", a), "constant"),
    (lambda a: a.backward(), "no gradient"),
])  # fmt: skip
def test_gradients_of_a_constant_are_errors(use, text):
    with pytest.raises(chx.ChainerxError, match=text):
        use(array([1.0]))


def test_backward_starts_from_the_gradient_else_from_ones_of_any_shape():
    a = leaf()
    (a * 2.0).backward()
    assert values(a.grad) == [2.0, 2.0, 2.0]
    a.cleargrad()
    b = a * 2.0
    b.grad = array([1.0, 10.0, 100.0])
    b.backward(loss_scale=7.0)  # the scale is for ones
    assert values(a.grad) == [2.0, 20.0, 200.0]
    a.cleargrad()
    (a * 2.0).backward(loss_scale=7.0)
    assert values(a.grad) == [14.0, 14.0, 14.0]


def test_backward_from_several_outputs_is_one_sweep():
    a = leaf([2.0])
    calls = []

    def backward(self, targets, gys):
        calls.append(1)
        return square_backward(self, targets, gys)

    s = node(forward=square, backward=backward).apply((a,))[0].chx_array
    chx.backward([s * 3.0, s * 5.0])
    assert values(a.grad) == [32.0]
    assert len(calls) == 1
    with pytest.raises(TypeError, match="expected chx arrays"):
        chx.backward([1.0])


def test_a_failed_backward_leaves_everything():
    a = leaf([1.0])
    y = (node(backward=lambda *_: 1 / 0).apply((a,))[0] * 1.0).chx_array.require_grad()
    with pytest.raises(ZeroDivisionError):
        y.backward()
    assert y.grad is None
    assert a.grad is None


def test_graph_can_be_swept_again_unless_it_is_given_up():
    a = leaf([3.0])
    y = a * a
    y.backward()
    y.backward(retain_graph=False)
    assert values(a.grad) == [12.0]
    with pytest.raises(xpgrad.GraphError, match="retain_graph"):
        y.backward()
    with pytest.raises(ValueError, match="one output"):
        chx.backward([a * 2.0, a * 3.0], retain_graph=False)


def test_double_backprop():
    a = leaf([3.0])
    (a * a * a).backward(enable_double_backprop=True)
    g = a.grad
    assert g.is_backprop_required()
    assert a.grad is g
    a.cleargrad()
    g.backward()
    assert values(a.grad) == [18.0]
    assert not a.grad.is_backprop_required()


def test_grad_returns_gradients_and_stores_none():
    a, b, c = leaf([2.0]), leaf([3.0]), leaf([4.0])
    y = a * b
    ga, gc, gb = chx.grad([y], [a, c, b])
    assert (values(ga), gc, values(gb)) == ([3.0], None, [2.0])
    assert a.grad is None
    (g,) = chx.grad([y], [a], grad_outputs=[array([10.0])], set_grad=True)
    assert values(a.grad) == values(g) == [30.0]
    (g,) = chx.grad([y], [a], loss_scale=4.0)
    assert values(g) == [12.0]
    (g,) = chx.grad([a * a * a], [a], enable_double_backprop=True)
    assert values(chx.grad([g], [a])[0]) == [12.0]
    assert chx.grad([y], [array([1.0])]) == [None]
    with pytest.raises(chx.GradientError, match="2 grad_outputs for 1 output"):
        chx.grad([y], [a], grad_outputs=[None, None])


def test_as_grad_stopped_is_a_view_or_a_copy_in_no_graph():
    a = leaf()
    for copied in (False, True):
        s = a.as_grad_stopped(copy=copied)
        assert not s.is_backprop_required(chx.anygraph)
        with chx.no_backprop_mode():
            s[0] = 9.0 + copied
        assert values(a)[0] == 9.0


def test_view_copy_astype_and_to_device_are_differentiable():
    for move in (
        lambda a: a.view(), lambda a: a.copy(), lambda a: a.astype(chx.float32), lambda a: a.to_device("native:1"),
    ):  # fmt: skip
        a = leaf()
        b = move(a)
        assert b is not a
        assert b.is_backprop_required()
        assert not b.is_grad_required()
        (b * 2.0).backward()
        assert values(a.grad) == [2.0, 2.0, 2.0]
        assert (a.grad.dtype, a.grad.device) == (a.dtype, a.device)
    a = leaf()
    assert a.to_device("native", 0) is a
    assert a.to_device("native", 1).device is chx.get_device("native:1")
    assert np.shares_memory(chx.to_numpy(a.view(), copy=False), chx.to_numpy(a, copy=False))


@pytest.mark.parametrize("operator", ["+=", "-=", "*=", "/=", "//=", "%=", "**="])
def test_in_place_on_or_with_arrays_in_a_graph_raises(operator):
    a, b = leaf(), array([1.0, 2.0, 3.0])
    for x, y in ((a, b), (b, a), (a, 2.0), (a * 1.0, b)):
        before = values(x)
        with pytest.raises(chx.ChainerxError, match="in-place assignment to"):
            exec(f"x {operator} y", {"x": x, "y": y})
        assert values(x) == before


def test_assignment_into_arrays_in_a_graph_raises():
    a, b = leaf(), array([1.0, 2.0, 3.0])
    with pytest.raises(chx.ChainerxError, match="in-place assignment to output array requiring grad is not allowed"):
        a[0] = 1.0
    with pytest.raises(chx.ChainerxError, match="requiring grad into another"):
        b[0] = a[0]
    with pytest.raises(chx.ChainerxError):
        a.fill(1.0)
    with chx.no_backprop_mode():
        a -= 1.0
        b[...] = a
    assert values(b) == values(a) == [0.0, 1.0, 2.0]
    assert a.is_grad_required()


def test_variables_and_arrays_meet_in_one_sweep():
    a, x = leaf([2.0]), Variable(array([3.0]))
    for y in (a * x, x * a, xpgrad.functions.sum(a * x), np.multiply(x, 1.0) * a):
        assert isinstance(y, Variable)
        x.cleargrad()
        a.cleargrad()
        y.backward()
        assert values(a.grad) == [3.0]
        assert values(x.grad) == [2.0]


def test_hooks_and_labels_see_the_graph_of_arrays():
    a = leaf([2.0])
    with xpgrad.function_hooks.TimerHook() as hook:
        y = chx.tanh(a) * 3.0
    assert {"tanh", "multiply"} <= set(hook.summary())
    v = Variable(y)
    assert v.creator.label == "_ * 3.0"
    seen = []
    v.register_hook(lambda g: seen.append(g.array.tolist()))
    v.backward()
    assert seen == [[1.0]]


def test_a_graph_of_arrays_is_freed_without_the_collector():
    import gc
    import weakref

    gc.disable()
    try:
        a = leaf([2.0])
        y = chx.exp(a * a)
        y.backward()
        _ = a.grad, y.view(), Variable(a).array
        refs = [weakref.ref(a), weakref.ref(y)]
        del a, y, _
        assert [ref() for ref in refs] == [None, None]
    finally:
        gc.enable()


def test_kept_arrays_do_not_see_that_their_owner_joins_a_graph():
    x, a = Variable(array([2.0])), array([3.0])
    y = x * a * x.array
    a.require_grad()
    x.array.require_grad()
    y.backward()
    assert values(x.grad) == [6.0]
    assert not x.grad.is_backprop_required(chx.anygraph)
    assert not x.array.is_backprop_required(chx.anygraph)
