"""Whole gradients by xpgrad within jax's transformations."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.processes import output_of
from tests.turn import part_of

import xpgrad
import xpgrad.array_api as xp
import xpgrad.functions as F
from xpgrad import Variable
from xpgrad.errors import DeviceMismatch, GraphError
from xpgrad.transforms import grad, hvp, value_and_grad
from xpgrad_conformance.cases import CASES
from xpgrad_conformance.table.case import Case
from xpgrad_conformance.table.scenario import Scenario

pytestmark = pytest.mark.exhaustive(2)

Tree = Any


def network(name: str) -> tuple[Tree, Any, Any]:
    """Parameters, inputs and labels of a small network on a device."""
    rng, device = np.random.default_rng(0), xpgrad.get_device(name)
    shapes = {"w1": (5, 4), "b1": (4,), "w2": (4, 3), "b2": (3,)}
    parameters = {key: device.send(rng.standard_normal(shape)) for key, shape in shapes.items()}
    return parameters, device.send(rng.standard_normal((7, 5))), device.send(rng.integers(0, 3, 7))


def loss(p: Tree, x: Any, t: Any) -> Variable:
    h = xp.tanh(F.matmul(x, p["w1"]) + p["b1"])
    return F.softmax_cross_entropy(h @ p["w2"] + p["b2"], t) + 0.01 * xp.sum(p["w1"][1:3, ::2] ** 2)


def by_jax(p: Tree, x: Any, t: Any) -> Any:
    z = jnp.tanh(x @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"]
    chosen = jnp.take_along_axis(jax.nn.log_softmax(z), t[:, None], axis=1)
    return -jnp.mean(chosen) + 0.01 * jnp.sum(p["w1"][1:3, ::2] ** 2)


def assert_close(one: Tree, two: Tree) -> None:
    for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(two), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("name", ["@jax:cpu:0", "@jax:cpu:1"])
def test_the_gradient_of_a_network_is_the_same_under_jit_and_that_of_jax(name: str) -> None:
    given = network(name)
    eager = value_and_grad(loss)(*given)
    compiled = jax.jit(value_and_grad(loss))(*given)
    assert_close(compiled, eager)
    assert_close(eager, jax.value_and_grad(by_jax)(*given))
    assert {Variable(leaf).device.name for leaf in jax.tree.leaves((eager, compiled))} == {name}


def test_backward_on_variables_that_the_compiled_function_makes() -> None:
    p, x, t = network("@jax:cpu:1")

    def gradient(p: Tree) -> Tree:
        variables = {key: Variable(array) for key, array in p.items()}
        loss(variables, x, t).backward()  # x and t come from outside
        return {key: v.grad for key, v in variables.items()}

    assert_close(jax.jit(gradient)(p), gradient(p))


def test_a_second_order_sweep_under_jit() -> None:
    p, x, t = network("@jax:cpu:1")

    def product(w: Any, v: Any) -> Any:
        return hvp(lambda w: loss({**p, "w1": w}, x, t), (w,), (v,))[0]

    v = x[:5, :4] * 0 + 1.0
    assert_close(jax.jit(product)(p["w1"], v), product(p["w1"], v))


def test_vmap_gives_the_gradient_of_each_example() -> None:
    p, x, t = network("@jax:cpu:1")

    def one(x: Any, t: Any) -> Tree:
        return grad(loss)(p, x[None, :], t[None])

    each = [one(x[i], t[i]) for i in range(len(t))]
    expected = jax.tree.map(lambda *leaves: jnp.stack(leaves), *each)
    assert_close(jax.vmap(one)(x, t), expected)
    assert_close(jax.jit(jax.vmap(one))(x, t), expected)


def test_jax_differentiates_through_functions_of_xpgrad() -> None:
    p, x, t = network("@jax:cpu:1")
    found = jax.grad(lambda p: loss({key: Variable(array) for key, array in p.items()}, Variable(x), t).array)(p)
    assert_close(found, grad(loss)(p, x, t))


def test_training_in_a_compiled_loop() -> None:
    p, x, t = network("@jax:cpu:1")

    def step(p: Tree, _: Any) -> tuple[Tree, Any]:
        value, gradient = value_and_grad(loss)(p, x, t)
        return jax.tree.map(lambda a, g: a - 0.1 * g, p, gradient), value

    trained, losses = jax.lax.scan(step, p, None, length=3)
    for expected in losses:
        p, value = step(p, None)
        np.testing.assert_allclose(value, expected, rtol=1e-10)
    assert_close(trained, p)


def test_what_was_traced_leaves_no_trace_in_what_is_computed_afterwards() -> None:
    device = xpgrad.get_device("@jax:cpu:1")
    constant = Variable(device.send(np.asarray([[0.5, 1.5], [2.5, 3.5]])))

    def f(x: Any) -> Any:
        return (xp.sum(xp.exp(constant) > 2.0) + xp.sum(constant[0]) + (constant * constant)[1, 0]).array + x

    jax.jit(f)(device.send(np.asarray(1.0)))  # the plans of these functions first meet these shapes here
    for y in (xp.exp(constant), constant > 2.0, constant[0], constant * constant):
        assert str(y.device) == "@jax:cpu:1"
        assert y._node.spec.device == y.array.device
        assert y._node.spec.device is y.array.device
    with pytest.raises(DeviceMismatch):
        constant[0] + Variable(xpgrad.get_device("@jax:cpu:0").send(np.ones(2)))


def test_a_traced_array_is_wherever_it_is_moved_and_prints_its_name() -> None:
    seen = []

    def f(x: Any) -> Any:
        v = Variable(x)
        seen.append((v.device.name, repr(v)))
        return v.to_device("@jax:cpu:0").array * 2.0

    assert f"{jax.jit(f)(xpgrad.get_device('@jax:cpu:1').send(np.ones(2))).device}" == "cpu:1"
    assert seen == [("@jax:traced", "variable(JitTracer(float64[2]), device='@jax:traced')")]


def test_random_numbers_within_a_traced_function_are_refused() -> None:
    with pytest.raises(GraphError, match="would be the same ones in all of its runs; draw them outside and hand them"):
        jax.jit(lambda x: F.dropout(Variable(x)).array)(jnp.ones(3))


def test_a_decision_on_a_traced_value_is_the_error_of_jax() -> None:
    with pytest.raises(jax.errors.TracerBoolConversionError):
        jax.jit(lambda x: (Variable(x) if xp.sum(Variable(x)) > 0 else -Variable(x)).array)(jnp.ones(3))


# The case table

UNTRACEABLE = {
    *("F.dropout", "F.gaussian-eps", "F.gumbel_softmax", "F.gumbel_softmax-temperature", "F.rrelu"),
    *("F.simplified_dropconnect", "F.simplified_dropconnect-one_mask", "F.zoneout", "F.zoneout-all"),
    *("F.roi_average_align_2d", "F.roi_average_align_2d-height", "F.roi_max_align_2d", "bincount", "bincount-weights"),
}
"""Random numbers, and sizes that are the largest value; beside the cases whose shapes depend on values."""
LINALG = [case for case in CASES if case.name.startswith("linalg.")]


def with_gradients(case: Case) -> tuple[Any, list[Any]]:
    """A function of arrays that gives a case's outputs and gradients, and its arguments."""
    scenario = Scenario(case, xpgrad.get_device("@jax:cpu:0"), "float64")

    def call(*arrays: Any) -> Tree:
        variables = scenario.variables(arrays)
        outputs = scenario.call(variables)
        ends = [outputs[i] for i in scenario.differentiable(outputs)]
        roots = [variables[i] for i in scenario.floating]
        gradients = xpgrad.grad(ends, roots, [y * 0.0 + 1.5 for y in ends]) if ends and roots else []
        return [getattr(y, "array", y) for y in outputs], [None if g is None else g.array for g in gradients]

    return call, scenario.arrays()


@pytest.mark.slow
def test_no_function_of_the_table_decides_on_values_unless_its_shape_does() -> None:
    lacking, refused = xpgrad.get_device("@jax").backend.capabilities.lacking, set()
    for case in CASES:
        if lacking(case.needs) or "data_dependent_shapes" in case.needs:
            continue
        call, arrays = with_gradients(case)
        try:
            jax.eval_shape(call, *arrays)  # traced, and not compiled
        except Exception:
            refused.add(case.name)
    assert refused == UNTRACEABLE


@pytest.mark.parametrize(
    "case", part_of([c for c in LINALG if "-" not in c.name or "det" in c.name], 4), ids=lambda c: c.name
)
def test_linear_algebra_and_its_gradients_are_the_same_under_jit(case: Case) -> None:
    call, arrays = with_gradients(case)
    assert_close(jax.jit(call)(*arrays), call(*arrays))


def test_higher_derivatives_of_det_are_the_same_under_jit_at_regular_and_singular_matrices() -> None:
    x = jnp.asarray(np.random.default_rng(0).standard_normal((4, 3, 3)))
    x = x.at[1, 2].set(x[1, 0]).at[2].set(0.0)  # of rank 2, and of none

    def f(x: Any) -> Variable:
        return xp.sum(xp.sin(xp.linalg.det(x)))

    def product(x: Any) -> Any:
        return hvp(f, (x,), (x + 1.0,))[0]

    eager = product(x)
    assert_close(jax.jit(product)(x), eager)
    assert bool(jnp.all(jnp.isfinite(eager)))


# jax first met within a function that it traces

FIRST_MET = """
import jax, jax.numpy as jnp, numpy as np

def step(x):
    import xpgrad, xpgrad.array_api as xp, xpgrad.functions as F
    outside = xpgrad.Variable(np.ones(2, np.float32)).to_device("@jax")  # by DLPack, which is found out here, too
    v = xpgrad.Variable(x)
    xp.sum(F.relu(v * outside) * 2.0).backward()
    return v.grad

x = jnp.asarray([1.0, -1.0])
given = {transformed}
import xpgrad
jax_cpu = xpgrad.get_device("@jax")
assert jax_cpu.backend.array_types[0] is type(x), jax_cpu.backend.array_types[0]
assert jax_cpu.backend.dlpack_device(jax_cpu) is not None
v = xpgrad.Variable(x)
assert (v * 2).device.name == "@jax:cpu:0" and type((v * 2).array) is type(x)
assert np.asarray(step(x)).tolist() == [2.0, 0.0]
"""


@pytest.mark.parametrize(
    "transformed",
    [
        "jax.jit(step)(x)",
        "jax.vmap(step)(x[None])",
        "jax.grad(lambda x: jnp.sum(step(x)))(x)",
        "jax.lax.scan(lambda carry, _: (step(carry), None), x, None, length=2)",
        "jax.eval_shape(step, x)",
        "jax.make_jaxpr(step)(x)",
    ],
)
def test_jax_may_first_be_met_within_a_function_that_it_traces(transformed: str) -> None:
    program = FIRST_MET.replace("{transformed}", transformed)
    output_of("-c", program)
