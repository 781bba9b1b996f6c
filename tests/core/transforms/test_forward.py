"""`jvp` and `hvp`: forward mode."""

import tracemalloc

import numpy as np
import pytest
from tests.building import array, assert_near, place, values, variable
from tests.core.transforms.references import T, X, outputs

import xpgrad
import xpgrad.functions as F
from xpgrad import Variable
from xpgrad import array_api as xp
from xpgrad.errors import EscapedArray, GradientError
from xpgrad.testing.arrays import on_host
from xpgrad.transforms import checkpoint, grad, hessian, hvp, jvp, linearize, stop_gradient, vmap


def test_jvp(device, primals):
    tangents = array(device, [1.0, -2.0], "float64"), {"a": array(device, [0.5, 0.25], "float64")}
    out, tangent = jvp(outputs, primals, tangents)
    x, a, t, b = np.array([0.3, 0.7]), np.array([2.0, 3.0]), np.array([1.0, -2.0]), np.array([0.5, 0.25])
    assert_near([out["y"], tangent["y"]], [np.sin(x) * a, np.cos(x) * a * t + np.sin(x) * b])
    np.testing.assert_allclose(on_host(tangent["z"]), 2 * (x * t).sum())
    assert place(tangent["y"]) == place(primals[0])


def test_jvp_of_what_does_not_matter_is_zero(device):
    x = array(device, [1.0, 2.0])
    out, tangent, aux = jvp(lambda x, n: (xp.ones_like(x), n), (x, 2.0), (x, 0.0), has_aux=True)
    assert (values(out), values(tangent)) == ([1.0, 1.0], [0.0, 0.0])
    assert aux == 2.0


def test_jvp_takes_none_for_integers(device):
    n = array(device, [1, 0], "int64")
    x = array(device, [1.0, 2.0])
    _, tangent = jvp(lambda p: xp.take(p["x"], p["n"]) * 3, ({"x": x, "n": n},), ({"x": x, "n": None},))
    assert values(tangent) == [6.0, 3.0]


def test_wrong_calls_raise(device):
    x = array(device, [1.0, 2.0])
    with pytest.raises(TypeError, match="jvp: primals must be a tuple"):
        jvp(xp.sin, x, x)
    with pytest.raises(TypeError, match="hvp: primals must be a tuple"):
        hvp(xp.sum, x, x)
    with pytest.raises(TypeError, match="jvp: expected a tuple of 1 tangents"):
        jvp(xp.sin, (x,), x)
    with pytest.raises(GradientError, match=r"jvp: tangent 0: expected float32 \(2,\)"):
        jvp(xp.sin, (x,), (array(device, [1.0]),))
    with pytest.raises(GradientError, match="hvp: the function must return one number"):
        hvp(xp.sin, (x,), (x,))


def in_loop(x):
    for _ in range(3):
        x = xp.sin(x) * x if x[0] > 0 else x
    return x


def assigned(x):
    y = xp.zeros_like(x)
    y[0] = x[1] * 2
    return y


def without_graph(x):
    with xpgrad.no_backprop_mode():
        y = x * 1
    return x * y


CONSTANTS = {
    "stop_gradient": lambda x: x * stop_gradient(x),
    "array": lambda x: x * Variable(x.array),
    "raw array": lambda x: x * x.array,
    "no_backprop_mode": without_graph,
}


@pytest.mark.parametrize("f", CONSTANTS.values(), ids=CONSTANTS)
def test_constants_in_a_graph_have_no_tangent(point, f):
    x, t = point
    assert_near([jvp(f, (x,), (t,))[1], linearize(f, x)[1](t)], [X * T, X * T])


SAME = {
    "loop": in_loop,
    "assignment": assigned,
    "checkpoint": checkpoint(lambda x: xp.sin(x) * x),
    "compiled": xpgrad.compile(lambda x: xp.sin(x) * x),
    "raw": lambda x: xp.asarray(stop_gradient(x)) * x,
    "gradient within": lambda x: grad(lambda y: xp.sum(y**3 * x))(x),
    "column times row": lambda x: xp.sin(x)[:, None] * xp.exp(x),
    "row times columns": lambda x: xp.tanh(x)[None, :] * xp.stack([xp.exp(x), x])[:, :, None],
}


@pytest.mark.parametrize("f", SAME.values(), ids=SAME)
def test_jvp_agrees_with_the_double_pullback(point, f):
    x, t = point
    np.testing.assert_allclose(on_host(jvp(f, (x,), (t,))[1]), on_host(linearize(f, x)[1](t)))


def test_a_backward_computation_within_gives_gradients_of_the_primals(device, point):
    x, t = point
    w = variable(device, [2.0, 3.0], "float64")

    def f(x):
        y = xp.sum(xp.sin(x * w))
        y.backward()
        return y

    jvp(f, (x,), (t,))
    np.testing.assert_allclose(on_host(w.grad), X * np.cos(X * [2.0, 3.0]))


def test_random_numbers_and_averages_agree_with_a_call_without_tangents(device):
    ones = array(device, np.ones((4, 3)), "float64")
    xpgrad.random.seed(3)
    expected = values(F.dropout(Variable(ones), 0.5))
    xpgrad.random.seed(3)
    y, tangent = jvp(lambda x: F.dropout(x, 0.5), (ones,), (ones,))
    assert values(y) == values(tangent) == expected
    given = [array(device, each, "float64") for each in (np.arange(12.0).reshape(4, 3) ** 2, np.ones(3), np.zeros(3))]
    averages = [variable(device, each, "float64", requires_grad=False) for each in (np.zeros(3), np.ones(3))]
    again = [variable(device, each, "float64", requires_grad=False) for each in (np.zeros(3), np.ones(3))]
    normalized = lambda x, mean, var: F.batch_normalization(  # noqa: E731
        x, given[1], given[2], running_mean=mean, running_var=var
    )
    x, t = given[0], array(device, np.arange(12.0).reshape(4, 3) % 5, "float64")
    _, tangent = jvp(lambda x: normalized(x, *averages), (x,), (t,))
    np.testing.assert_allclose(on_host(tangent), on_host(linearize(lambda x: normalized(x, *again), x)[1](t)))
    assert [values(each) for each in averages] == [values(each) for each in again] != [[0.0] * 3, [1.0] * 3]


def test_results_share_no_memory_with_arguments_or_each_other(point):
    x, t = point
    y, tangent = jvp(lambda x: (x, x, x[:1]), (x,), (t,))
    found = [*y, *tangent]
    if isinstance(x, np.ndarray):
        assert not any(np.shares_memory(each, given) for each in found for given in (x, t))
        assert not any(np.shares_memory(a, b) for i, a in enumerate(found) for b in found[:i])
    assert [values(each) for each in tangent] == [T.tolist(), T.tolist(), [1.0]]


def test_a_loop_needs_the_memory_of_one_step():
    def loop(x):
        for _ in range(500):
            x = xp.sin(x) * 1.01
        return x

    x = np.ones(10_000)
    jvp(loop, (x,), (x,))
    tracemalloc.start()
    try:
        jvp(loop, (x,), (x,))
        assert tracemalloc.get_traced_memory()[1] < 12 * x.nbytes
    finally:
        tracemalloc.stop()


def test_auxiliary_results_leave_as_their_primals(point):
    x, t = point
    _, _, aux = jvp(lambda x: (x * 2, {"v": x * 3, "a": (x * 4).array, "s": "kept"}), (x,), (t,), has_aux=True)
    np.testing.assert_allclose([on_host(aux["v"]), on_host(aux["a"])], [X * 3, X * 4])
    assert aux["s"] == "kept"


def test_arrays_that_escape_raise(point):
    x, t = point
    kept = []
    jvp(lambda x: kept.append(x) or x * 1, (x,), (t,))
    for use in (lambda y: y * 2, lambda y: y._array * 2, lambda y: jvp(lambda x: x * y, (x,), (t,))):
        with pytest.raises(EscapedArray, match="jvp: an array of a call that has ended was used"):
            use(kept[0])
    assert "of a call that has ended" in repr(kept[0]._array)


def test_arrays_in_forward_mode_are_read_only(point):
    x, t = point
    with pytest.raises(TypeError, match="jvp: an array in forward mode cannot be written to"):
        jvp(lambda x: x.array.__setitem__(0, 1.0), (x,), (t,))


def test_a_number_that_does_not_end_the_derivative_is_a_warning(point):
    x, t = point
    with pytest.warns(xpgrad.GraphEndWarning, match="a number was taken out of a Variable"):
        _, tangent = jvp(lambda x: x * float(x[0]), (x,), (t,))
    np.testing.assert_allclose(on_host(tangent), 0.3 * T)
    jvp(lambda x: x * float(x.array[0]), (x,), (t,))


@pytest.mark.parametrize("cut", ["unchain", "unchain_backward"])
def test_a_cut_of_the_graph_raises_in_forward_mode_and_applies_in_reverse_mode(device, cut):
    x = array(device, [1.0, 2.0])

    def f(x):
        y = xp.sum(x * x)
        getattr(y, cut)()
        return y * xp.sum(x)

    for function in (f, vmap(f)):
        with pytest.raises(GradientError, match="jvp: unchain cannot cut the graph of float32"):
            jvp(function, (xp.stack([x, x]),), (xp.stack([x, x]),))
    assert (values(grad(f)(x)), values(hessian(f)(x))) == ([5.0, 5.0], [[0.0, 0.0], [0.0, 0.0]])


def test_an_array_among_the_parameters_may_be_an_argument(device):
    x, rtol = array(device, [[2.0, 0.0], [0.0, 1.0], [0.0, 0.0]]), array(device, 0.6)
    y, tangent = jvp(lambda x, r: xp.linalg.pinv(x, rtol=r), (x, rtol), (x, rtol))
    assert values(y) == [[0.5, 0.0, 0.0], [0.0, 0.0, 0.0]]
    assert values(tangent) == [[-0.5, 0.0, 0.0], [0.0, 0.0, 0.0]]


@pytest.mark.parametrize("function", [xp.linalg.eigh, xp.linalg.svd])
def test_decompositions_of_matrices_without_elements_have_tangents(device, function):
    x = array(device, np.zeros((0, 0)))
    assert all(y.shape == (0, 0)[: y.ndim] for y in jvp(lambda x: tuple(function(x)), (x,), (x,))[1])
