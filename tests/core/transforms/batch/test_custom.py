"""`custom_vmap`, and function nodes of users within `vmap`."""

import numpy as np
import pytest
from tests.building import array, assert_near, values, variable

from xpgrad import FunctionNode, Variable, compile
from xpgrad import array_api as xp
from xpgrad.errors import BatchError, ShapeError, StructureError
from xpgrad.testing.arrays import on_host, placed
from xpgrad.transforms import custom_vmap, grad, hessian, jacobian, vmap

X = np.arange(12.0).reshape(3, 4) / 5 + 0.5


@pytest.fixture
def x(device):
    return array(device, X, "float64")


class Cube(FunctionNode):
    """Written for arrays of any library."""

    def forward(self, inputs):
        self.retain_inputs((0,))
        return (inputs[0] * inputs[0] * inputs[0],)

    def backward(self, indexes, gys):
        (x,) = self.get_retained_inputs()
        return (3 * x * x * gys[0],)


class OnHost(FunctionNode):
    """Computed by NumPy, whose arrays are not batched."""

    def forward(self, inputs):
        self.retain_inputs((0,))
        (x,) = inputs
        return (placed(on_host(x) ** 3, Variable(x).device),)

    def backward(self, indexes, gys):
        (x,) = self.get_retained_inputs()
        return (3 * x * x * gys[0],)


def cubed(x):
    return OnHost().apply((x,))[0]


@custom_vmap
def cube_times(x, w):
    return cubed(x) * w


@cube_times.def_vmap
def _rule(size, in_batched, x, w):
    if in_batched[1]:
        w = xp.reshape(w, (size, *(1,) * (x.ndim - w.ndim), *w.shape[1:]))
    return cubed(x) * w, True


def test_a_function_node_gets_arrays_of_the_library_if_all_members_are_the_same(x, device):
    w = variable(device, X[0], "float64")
    y = vmap(lambda x: x * cubed(w))(x)
    np.testing.assert_allclose(on_host(y), X * X[0] ** 3)
    xp.sum(y).backward()
    np.testing.assert_allclose(on_host(w.grad), 3 * X[0] ** 2 * X.sum(0))


def test_a_function_node_without_batching_raises_and_suggests_a_rule(x):
    class Written(FunctionNode):
        def forward(self, inputs):
            y = inputs[0].copy_of_numpy() if not hasattr(inputs[0], "dtype") else np.asarray(on_host(inputs[0])) * 1
            y[0] = 0
            return (placed(y, Variable(inputs[0]).device),)

    text = r"^vmap: forward of Written failed for batched arrays, but not for one batch element; .*custom_vmap"
    with pytest.raises(BatchError, match=text) as info:
        vmap(lambda x: Written().apply((x,))[0])(x)
    assert info.value.__cause__ is not None


def test_a_function_node_that_fails_for_a_member_raises_its_own_error(x):
    class Failing(FunctionNode):
        def forward(self, inputs):
            raise ZeroDivisionError("always")

    with pytest.raises(ZeroDivisionError, match="always"):
        vmap(lambda x: Failing().apply((x,))[0])(x)


def test_a_rule_computes_all_members_in_one_call(x):
    calls = []

    @custom_vmap
    def f(x, options):
        return x["u"] * 2

    @f.def_vmap
    def rule(size, in_batched, x, options):
        calls.append((size, in_batched, x["u"].shape, options, float(x["u"][0, 0])))
        return x["u"] * 2, True

    np.testing.assert_allclose(on_host(vmap(lambda x: f({"u": x}, "fast"))(x)), 2 * X)
    assert calls == [(3, ({"u": True}, False), (3, 4), "fast", 0.5)]
    np.testing.assert_allclose(on_host(f({"u": Variable(x)}, "fast")), 2 * X)
    assert len(calls) == 1


def test_arguments_that_all_members_share_do_not_need_a_rule(x, device):
    w = array(device, X[0], "float64")
    got = vmap(lambda x: x * cube_times(w, 2.0))(x)
    np.testing.assert_allclose(on_host(got), X * X[0] ** 3 * 2)


def test_rules_are_differentiated_to_every_order(x):
    def own(x):
        return xp.sum(cube_times(x, x[0]) ** 2)

    def plain(x):
        return xp.sum((x * x * x * x[0]) ** 2)

    for transform in (
        lambda f: vmap(grad(f)),
        lambda f: grad(lambda x: xp.sum(vmap(f)(x))),
        lambda f: vmap(grad(lambda x: xp.sum(grad(f)(x) ** 2))),
        lambda f: grad(lambda x: xp.sum(vmap(grad(f))(x) ** 2)),
    ):
        np.testing.assert_allclose(on_host(transform(own)(x)), on_host(transform(plain)(x)), rtol=1e-10)


def test_a_rule_for_the_innermost_batch_runs_on_those_around_it(x, device):
    @custom_vmap
    def f(a):
        return a

    numbers = array(device, np.arange(4.0), "float64")
    f.def_vmap(lambda size, in_batched, a: (Cube().apply((a,))[0] + numbers, True))
    np.testing.assert_allclose(on_host(vmap(vmap(f))(x)), X**3 + np.arange(4))
    with pytest.raises(BatchError, match="forward of OnHost failed for batched arrays"):
        vmap(vmap(lambda a: cube_times(a, 1.0)))(x)


def test_gradients_with_partly_batched_arguments(x, device):
    w = array(device, [1.0, -2.0, 0.5], "float64")

    def loss(x, w):
        return xp.sum(cube_times(x, w) ** 2)

    gx, gw = vmap(grad(loss, argnums=(0, 1)))(x, w)
    assert_near([gx, gw], [6 * X**5 * on_host(w)[:, None] ** 2, 2 * on_host(w) * (X**6).sum(1)])
    shared = variable(device, 2.0, "float64")
    xp.sum(vmap(lambda x: loss(x, shared))(x)).backward()
    np.testing.assert_allclose(on_host(shared.grad), 4 * (X**6).sum())


def test_jacobians_and_programs_with_rules(device):
    v = array(device, X[0], "float64")
    np.testing.assert_allclose(on_host(jacobian(lambda x: cube_times(x, 1.0))(v)), np.diag(3 * X[0] ** 2))
    np.testing.assert_allclose(on_host(hessian(lambda x: xp.sum(Cube().apply((x,))[0]))(v)), np.diag(6 * X[0]))

    @custom_vmap
    def double(x):
        return x + x

    double.def_vmap(lambda size, in_batched, x: (3 * x, True))  # another result, to see which is called
    program = compile(vmap(lambda x: double(x) + 1))
    for _ in range(2):
        np.testing.assert_allclose(on_host(program(array(device, X, "float64"))), 3 * X + 1)


def test_results_may_be_the_same_for_all_members(x):
    @custom_vmap
    def f(x):
        return x, xp.sum(x)

    f.def_vmap(lambda size, in_batched, x: ((x, xp.sum(x)), (True, False)))
    own, total = vmap(lambda x: f(x), out_axes=(0, None))(x)
    assert_near([own, total], [X, X.sum()])


WRONG = {
    "no rule": (None, BatchError, "f has no rule for batches yet; define it with def_vmap"),
    "no pair": (lambda n, flags, x: x, TypeError, r"must return \(result, batched\), got Variable"),
    "shape": (
        lambda n, flags, x: (x[0], True),
        ShapeError,
        r"expected 3 batch elements along axis 0, got shape \(4,\)",
    ),
    "tree": (lambda n, flags, x: ((x, x), (True,)), StructureError, "expected items 0, 1, got 0"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_rules_are_named(name):
    rule, error, text = WRONG[name]

    @custom_vmap
    def f(x):
        return x

    if rule is not None:
        f.def_vmap(rule)
    with pytest.raises(error, match=text):
        vmap(f)(X)


def test_a_rule_cannot_use_members_of_another_batch():
    def outer(x):
        @custom_vmap
        def f(a):
            return a

        f.def_vmap(lambda size, in_batched, a: (a * x, True))
        return f(x)

    with pytest.raises(BatchError, match="depends on a batched array of an outer scope; pass it as an argument of f"):
        vmap(outer)(X)


def test_keyword_arguments_and_methods():
    class Model:
        @custom_vmap
        def scaled(self, x, factor=2.0):
            return x * factor

    Model.scaled.def_vmap(lambda size, in_batched, self, x, factor: (x * factor * 10, True))
    assert values(vmap(lambda x: Model().scaled(x, factor=3.0))(X)) == (X * 3.0 * 10).tolist()
    assert values(Model().scaled(X, factor=3.0)) == (X * 3).tolist()
    with pytest.raises(TypeError, match="expected a function, got int"):
        custom_vmap(3)
