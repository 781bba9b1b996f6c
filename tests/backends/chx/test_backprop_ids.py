"""Backprop ids and scopes, and the modes that stop recording."""

import pytest
from tests.backends.chx.arrays import leaf, values
from tests.threads import at_once, in_thread, switching_often

import xpgrad
import xpgrad_chx as chx
from xpgrad import Variable


def test_gradients_of_two_ids_are_apart():
    with chx.backprop_scope("inner") as inner:
        a, b = leaf([2.0], None, inner), leaf([3.0])
        y = a * b
        assert y.is_backprop_required()
        assert y.is_backprop_required(inner)
        y.backward(inner)
        assert values(a.get_grad(inner)) == [3.0]
        assert a.grad is None
        assert b.grad is None
        y.backward()
        assert values(a.grad) == [3.0]
        assert values(b.grad) == [2.0]
        assert values(a.get_grad(inner)) == [3.0]


def test_an_array_of_one_id_is_constant_for_another():
    with chx.backprop_scope("inner") as inner:
        a = leaf([2.0], inner)
        y = a * a
        assert not y.is_backprop_required()
        assert y.is_backprop_required(inner)
        assert y.is_backprop_required(chx.anygraph)
        with pytest.raises(chx.ChainerxError, match="no gradient for <default>"):
            y.backward()
        with pytest.raises(chx.ChainerxError, match="keeps no gradient"):
            _ = a.grad
        with pytest.raises(chx.ChainerxError, match="constant"):
            a.cleargrad()


def test_gradients_of_one_id_accumulate_and_differentiate_again():
    with chx.backprop_scope("inner") as inner:
        a = leaf([3.0], inner)
        (a * 2.0).backward(inner)
        (a * 2.0).backward(inner)
        assert values(a.get_grad(inner)) == [4.0]
        a.cleargrad(inner)
        assert a.get_grad(inner) is None
        (a * a * a).backward(inner, enable_double_backprop=True)
        g = a.get_grad(inner)
        a.cleargrad(inner)
        g.backward(inner)
        assert values(a.get_grad(inner)) == [18.0]
        assert values(chx.grad([a * a], [a], inner)[0]) == [6.0]


def test_repr_names_the_ids():
    with chx.backprop_scope("inner") as inner:
        a = leaf([2.0], None, inner)
        assert "backprop_ids=['<default>', 'inner']" in repr(a * 1.0)
    assert "backprop_ids=['<default>']" in repr(a * 1.0)


def test_an_expired_id_raises_and_is_forgotten():
    with chx.backprop_scope("inner") as inner:
        a = leaf([2.0], None, inner)
    for use in (a.require_grad, a.get_grad, a.backward, a.is_backprop_required, a.cleargrad):
        with pytest.raises(chx.ChainerxError, match="maybe already expired"):
            use(inner)
    (a * 3.0).backward(retain_graph=False)  # the fast way is open again
    assert values(a.grad) == [3.0]


def test_an_inner_id_raises_after_an_outer_one_was_computed():
    with chx.backprop_scope("outer") as outer, chx.backprop_scope("inner") as inner:
        a = leaf([2.0], outer, inner)
        y = a * a
        y.backward(inner)
        y.backward(outer)
        with pytest.raises(chx.ChainerxError, match="'outer', which has been created earlier, has already been"):
            y.backward(inner)
    with chx.backprop_scope("outer") as outer, chx.backprop_scope("inner") as inner:
        a, b = leaf([2.0], outer), leaf([3.0], inner)
        (a * a).backward(outer)
        (b * b).backward(inner)  # not connected
        assert values(b.get_grad(inner)) == [6.0]


def test_as_grad_stopped_for_some_ids():
    with chx.backprop_scope("inner") as inner:
        a = leaf([2.0], None, inner)
        y = a.as_grad_stopped([inner]) * a
        assert y.is_backprop_required(inner)
        y.backward(inner)
        assert values(a.get_grad(inner)) == [2.0]
        y.backward()
        assert values(a.grad) == [4.0]
        assert not a.as_grad_stopped([inner]).is_backprop_required(inner)
        assert a.as_grad_stopped([inner]).is_backprop_required()
        Variable(a.as_grad_stopped([]) * 1.0).backward()


def test_a_sweep_of_variables_is_of_the_default_id():
    with chx.backprop_scope("inner") as inner:
        a = leaf([2.0], None, inner)
        (Variable(a) * 3.0).backward()
        assert values(a.grad) == [3.0]
        assert a.get_grad(inner) is None


def test_no_backprop_mode_for_everything():
    a = leaf()
    with chx.no_backprop_mode():
        assert not chx.is_backprop_required()
        assert not a.is_backprop_required()
        y = a * 2.0
        with chx.force_backprop_mode():
            z = a * 2.0
        assert in_thread(lambda: (a * 1.0).is_backprop_required())
    assert not y.is_backprop_required()
    assert z.is_backprop_required()
    assert a.is_backprop_required()
    with chx.no_backprop_mode(chx.get_default_context()):
        assert not (a * 1.0).is_backprop_required()


def test_no_backprop_mode_for_some_ids():
    with chx.backprop_scope("inner") as inner:
        a = leaf([2.0], None, inner)
        for which in (inner, [inner]):
            with chx.no_backprop_mode(which):
                assert chx.is_backprop_required()
                assert not chx.is_backprop_required(inner)
                y, z = a * 3.0, chx.sum(a)
                with chx.force_backprop_mode([inner]):
                    w = a * 3.0
            for each in (y, z):
                assert each.is_backprop_required()
                assert not each.is_backprop_required(inner)
            assert w.is_backprop_required(inner)


def test_xpgrads_mode_holds_for_arrays_but_not_the_other_way_round():
    a, x = leaf(), Variable(chx.array([1.0]))
    with xpgrad.no_backprop_mode():
        assert not chx.is_backprop_required()
        assert not (a * 2.0).is_backprop_required()
        with chx.force_backprop_mode():
            assert (a * 2.0).is_backprop_required()
    with chx.no_backprop_mode():
        assert (x * 2.0).requires_grad
        with xpgrad.no_backprop_mode():
            assert not (a * 2.0).is_backprop_required()


def test_scopes_of_one_name_are_two_ids():
    with chx.backprop_scope("same") as one, chx.backprop_scope("same") as two:
        a = leaf([2.0], one)
        assert a.is_backprop_required(one)
        assert not a.is_backprop_required(two)


def test_something_else_is_no_id():
    with pytest.raises(TypeError, match="expected a backprop id"):
        leaf().backward("inner")


@pytest.mark.parametrize("shared_graph", [False, True])
@pytest.mark.parametrize("with_id", [False, True])
def test_gradients_that_several_threads_compute_add_up(with_id, shared_graph):
    def sweeps():
        for _ in range(50):
            (y if shared_graph else (x * 2).sum()).backward(backprop_id)

    with switching_often(), chx.backprop_scope("inner") as inner:
        backprop_id = inner if with_id else None
        x = leaf([1.0, 2.0], backprop_id)
        y = (x * 2).sum()
        at_once(*[sweeps] * 4)
        assert values(x.get_grad(backprop_id)) == [400.0, 400.0]
