"""The thirteen rules that hold on every backend, by number, with an example of each.

The case table and the families of the conformance suite test the rules for every function, dtype and layout;
tests/conformance runs them on the devices of these examples.
"""

import operator

import numpy as np
import pytest
from tests.building import array, place, values, variable
from tests.core.graph.nodes import node, square
from tests.threads import in_thread

import xpgrad
from xpgrad import Function, FunctionHook, FunctionNode, Parameter, Variable, array_api, functions, grad, ops
from xpgrad.errors import (
    BackendMismatch,
    ChangedArray,
    DeviceMismatch,
    GradientError,
    PromotionWarning,
    ShapeError,
    UnknownArray,
    XpgradError,
)
from xpgrad.testing.arrays import on_host
from xpgrad_conformance.table.comparisons import shared_memory


def namespace(x):
    return x.__array_namespace__()


# 1


@pytest.mark.parametrize("recorded", [False, True])
def test_rule_1_a_gradient_has_shape_dtype_and_device_of_its_array(device, recorded):
    x, w = variable(device, [[0.5, -1.25, 2.0]]), variable(device, [0.5, 1.5, 2.5])
    y = namespace(x).tanh(x * np.float64(2.5)) @ w
    z = namespace(x).astype(y, namespace(x).float64) / 3
    z.backward(retain_grad=True, enable_double_backprop=recorded)
    assert place(y.grad) == ((1,), "float32", device.name)
    assert place(z.grad) == ((1,), "float64", device.name)
    assert place(x.grad) == place(x.array)
    assert place(w.grad) == place(w.array)


# 2


@pytest.mark.parametrize(
    ("dtype", "scalar"),
    [("float32", 2.5), ("float32", np.float64(2.5)), ("int32", 2), ("int32", np.int64(2)), ("complex64", 2j)],
)
def test_rule_2_scalars_are_weak(device, dtype, scalar):
    x = variable(device, [1, 2], dtype)
    for y in (x + scalar, scalar * x):
        assert y.dtype == x.dtype
    assert place((variable(device, [1.0, 2.0]) * 2j).array) == ((2,), "complex64", device.name)


def test_rule_2_arrays_promote_by_the_standard_0d_ones_too(device):
    x, z = variable(device, [1.5, 2.5]), variable(device, 2.5, "float64")
    y = x * z
    assert place(y.array) == ((2,), "float64", device.name)
    with pytest.warns(PromotionWarning):
        assert place((x * z.array).array) == place(y.array)
    namespace(y).sum(y).backward()
    assert place(x.grad) == place(x.array)
    assert place(z.grad) == place(z.array)


# 3


@pytest.mark.parametrize("dtype", ["int32", "bool"])
def test_rule_3_integers_and_booleans_have_no_gradient(device, dtype):
    n, x = variable(device, [1, 0], dtype), variable(device, [1.5, 2.5])
    xp = namespace(x)
    y = x * xp.astype(n, x.dtype)
    xp.sum(y).backward()
    assert n.grad is None
    with pytest.raises(GradientError, match=r"input 0 is .* integers and booleans have no gradient"):
        grad([y], [n, x])
    assert not xp.astype(x, n.dtype).requires_grad


def test_rule_3_an_input_that_does_not_matter_gets_none(device):
    x, other = variable(device, [1.5]), variable(device, [2.5])
    (x * 2).backward()
    assert other.grad is None
    assert grad([x * 2], [other, x])[0] is None


# 4


def test_rule_4_ties_share_equally(device):
    x, z = variable(device, [1.0, 2.0, 2.0]), variable(device, [1.0, 2.0, 5.0])
    xp = namespace(x)
    for function in (xp.maximum, xp.minimum):
        gx, gz = grad([function(x, z)], [x, z])
        assert values(gx)[:2] == values(gz)[:2] == [0.5, 0.5]
    assert values(grad([xp.max(x)], [x])[0]) == [0.0, 0.5, 0.5]


@pytest.mark.parametrize("function", [array_api.abs, functions.relu], ids=lambda f: f.__name__)
def test_rule_4_kinks_have_derivative_0_as_documented(device, function):
    x = variable(device, [0.0, -0.0])
    assert values(grad([function(x)], [x])[0]) == [0.0, 0.0]
    assert "0" in function.__doc__


# 5: for z = 1j * x**2 the gradient for the gradient s of z is s * conj(2j * x)


A, S = np.array([1 + 2j, 3 - 1j]), np.array([0.5 - 1j, 2 + 3j])


def test_rule_5_gradients_are_the_direction_of_steepest_ascent(device):
    x = variable(device, A, "complex128")
    y = x * x * 1j
    namespace(x).sum(namespace(x).real(y)).backward(retain_grad=True)
    np.testing.assert_allclose(on_host(x.grad), np.conj(2j * A))
    np.testing.assert_allclose(on_host(y.grad), [1, 1])
    before, after = ((v * v * 1j).real.sum() for v in (A, A + 1e-3 * on_host(x.grad)))
    assert after > before


def test_rule_5_seeds_are_gradients_as_users_see_them(device):
    x, seed, extra = (variable(device, a, "complex128") for a in (A, S, S))
    expected = S * np.conj(2j * A)
    w = x * 1j
    y = w * x
    y.grad = seed.array
    y.backward(retain_grad=True)
    np.testing.assert_allclose(on_host(x.grad), expected)
    np.testing.assert_allclose(on_host(w.grad), S * np.conj(A))
    xpgrad.backward([y], [seed])
    np.testing.assert_allclose(on_host(x.grad), 2 * expected)
    gx, gy = grad([y], [x, y], [seed], grad_inputs=[extra, None])
    np.testing.assert_allclose(on_host(gx), expected + S)
    np.testing.assert_allclose(on_host(gy), S)


def test_rule_5_hooks_get_and_replace_the_gradients_of_users(device):
    seen = []

    def note(self, function, in_data, out_grad):
        seen.append(on_host(out_grad[0]))

    x = variable(device, A, "complex128")
    y = x * 1j
    z = y * (2 + 1j)
    y.register_hook(lambda g: g * 2)
    with node(base=FunctionHook, backward_preprocess=note):
        gy, gx = grad([z], [y, x], [variable(device, S, "complex128")])
    expected = S * (2 - 1j) * 2
    np.testing.assert_allclose(on_host(gy), expected)
    np.testing.assert_allclose(on_host(gx), expected * -1j)
    np.testing.assert_allclose(seen, [S, expected])


@pytest.mark.parametrize("base", [FunctionNode, Function])
@pytest.mark.parametrize("recorded", [False, True])
def test_rule_5_functions_of_users_use_the_gradients_of_users(device, base, recorded):
    def backward(self, xs, gys):
        if base is FunctionNode:
            xs = self.get_retained_inputs()
        return (gys[0] * 2 * namespace(xs[0]).conj(xs[0]),)

    f = node(base=base, forward=square, backward=backward)
    x = variable(device, A, "complex128")
    y = (f if base is Function else lambda x: f.apply((x,))[0])(x * 1) * 1j
    y.grad = array(device, S, "complex128")
    y.backward(enable_double_backprop=recorded)
    np.testing.assert_allclose(on_host(x.grad), S * -1j * 2 * np.conj(A))


# 6


@pytest.mark.parametrize("operation", [operator.add, operator.pow, operator.eq, operator.matmul])
@pytest.mark.parametrize(("other", "error"), [("@numpy", BackendMismatch), ("@strict:device1", DeviceMismatch)])
def test_rule_6_two_libraries_or_devices_are_not_mixed(operation, other, error):
    x, z = (variable(xpgrad.get_device(each), [1.0, 1.0]) for each in ("@strict:cpu", other))
    for operands in ((x, z), (z, x), (x, z.array)):
        with pytest.raises(error) as caught:
            operation(*operands)
        for text in ("@strict:cpu", other, "to_device"):
            assert text in str(caught.value)


BESIDE = {
    "segment_sum": lambda x, other: ops.segment_sum(x, other("int64"), 4),
    "segment_max": lambda x, other: ops.segment_max(x, other("int64"), 4),
    "scatter_add": lambda x, other: ops.scatter_add(x, slice(None), other("float64")),
    "bincount": lambda x, other: ops.bincount(other("int64"), weights=x),
    "setdiff1d": lambda x, other: ops.setdiff1d(x, other("float64")),
    "clip": lambda x, other: array_api.clip(x, other("float64"), None),
    "searchsorted": lambda x, other: array_api.searchsorted(x, x, sorter=other("int64")),
    "pinv": lambda x, other: array_api.linalg.pinv(array_api.stack([x, x * x]), rtol=other("float64")),
    "matrix_rank": lambda x, other: array_api.linalg.matrix_rank(array_api.stack([x, x]), rtol=other("float64")),
}


@pytest.mark.parametrize("name", BESIDE)
def test_rule_6_inputs_of_another_library_raise_without_gradient_too(name):
    x = variable(xpgrad.get_device("@strict:cpu"), [0.5, 1.5, 2.5], "float64")
    with pytest.raises(BackendMismatch, match=f"{name}: .*two libraries"):
        BESIDE[name](x, lambda dtype: np.arange(3, dtype=dtype))


def test_rule_6_a_raw_array_of_the_same_device_is_fine_everywhere(device):
    x, z = variable(device, [1.0, 2.0]), variable(device, [2.0, 1.0])
    xp = namespace(x)
    for result in (x + z.array, x < z.array, xp.add(x.array, z), xp.concat([x.array, z]), xp.sum(x.array)):
        assert isinstance(result, Variable)


def test_rule_6_numpys_asarray_of_a_variable_in_a_graph_names_array(device):
    x = variable(device, [1.0])
    for v in (x, x * 2, Variable(None)):
        with pytest.raises(TypeError, match=r"v\.array"):
            np.asarray(v, dtype="float64")


# 7


@pytest.mark.parametrize("shape", [(2, 3), (50, 100)])
@pytest.mark.parametrize("recorded", [False, True])
def test_rule_7_gradients_share_no_memory_with_each_other_or_their_seed(device, recorded, shape):
    x, z = (variable(device, np.full(shape, each)) for each in (1.5, 2.5))
    a, b = x + z, x - Parameter(array(device, np.ones(shape)))
    c = a.T.T + b[...] + a
    c.grad = array(device, np.full(shape, 2.0))
    held = [c.grad, *(y.array for y in (x, z, a, b, c))]
    c.backward(retain_grad=True, enable_double_backprop=recorded)
    assert_apart([y.grad for y in (x, z, a, b, c)], held)
    assert values(x) == np.full(shape, 1.5).tolist()
    assert values(x.grad) == np.full(shape, 6.0).tolist()
    assert values(c.grad) == np.full(shape, 2.0).tolist()


def test_rule_7_the_results_of_grad_share_no_memory(device):
    x, z, seed, extra = (variable(device, np.ones((2, 3))) for _ in range(4))
    y = x + z
    gradients = grad([y, x], [x, z, y], [seed, extra], grad_inputs=[None, extra, None], retain_grad=True)
    assert_apart([g.array for g in gradients], [seed.array, extra.array])


def assert_apart(gradients, held):
    for i, g in enumerate(gradients):
        for other in [*held, *gradients[:i]]:
            assert not shared_memory(g, other)


def test_rule_7_a_gradient_passed_to_a_hook_is_not_modified(device):
    x = variable(device, np.ones((80, 80)))
    hooked = []
    y = x * 3
    y.register_hook(hooked.append)
    (y + y * 2 + y * 3 + x).sum().backward(retain_grad=True)
    assert values(hooked[0]) == values(y.grad) == np.full((80, 80), 6.0).tolist()
    assert values(x.grad) == np.full((80, 80), 19.0).tolist()


# 8


def test_rule_8_a_kept_array_that_was_changed_is_an_error_in_debug_mode(device):
    with xpgrad.using_config("debug", True):
        a = array(device, [1.0, 2.0])
        x = Variable(a)
        y = x * x  # the forward line
        a[0] = 7.0
        with pytest.raises(ChangedArray, match=r"(?s)_ \* _.*y = x \* x  # the forward line"):
            y.sum().backward()
        assert x.grad is None


# 9


def test_rule_9_0d_results_are_arrays(device):
    x, z = variable(device, 1.5), variable(device, [[1.5, 2.5], [0.5, 0.25]])
    xp = namespace(x)
    for y in (x + x, 2 * x, x**3, x // 1, x > 0, xp.exp(x), xp.sum(z), z[0, 0], z[0] @ z[1], xp.argmax(z)):
        assert type(y.array) is type(x.array)
        assert y.shape == ()
    for g in grad([x * x + x], [x]) + grad([x * x + x], [x], enable_double_backprop=True):
        assert type(g.array) is type(x.array)


# 10


def test_rule_10_errors_name_operation_shapes_and_dtypes(device):
    x, z = variable(device, np.ones((2, 3))), variable(device, np.ones((4,)))
    with pytest.raises(ShapeError, match=r"multiply: .*float32 \(2, 3\).*float32 \(4,\)"):
        x * z
    with pytest.raises(XpgradError, match=r"reshape: .*float32 \(2, 3\)"):
        namespace(x).reshape(x, (5,))
    with pytest.raises(UnknownArray, match=r"add: "):
        namespace(x).add(x, "text")


def test_rule_10_a_failed_sweep_leaves_the_state_unchanged(device):
    def fail(self, target_input_indexes, grad_outputs):
        raise ZeroDivisionError

    x, z = variable(device, [1.0]), variable(device, [2.0], grad=array(device, [5.0]))
    y = node(backward=fail).apply((x,))[0] + z
    w = y * z
    w.grad = seed = array(device, [3.0])
    held = z.grad
    for start in (
        lambda: w.backward(retain_grad=True),
        lambda: w.backward(enable_double_backprop=True),
        lambda: xpgrad.backward([w]),
        lambda: grad([w], [x, z], set_grad=True, retain_grad=True),
    ):
        with pytest.raises(ZeroDivisionError):
            start()
        assert (x.grad, y.grad) == (None, None)
        assert w.grad is seed
        assert z.grad is held
    assert (values(held), values(seed)) == ([5.0], [3.0])


# 11


def test_rule_11_comparisons_give_boolean_variables_that_select(device):
    x, z = variable(device, [1.0, 2.0, 3.0]), variable(device, [2.0, 2.0, 2.0])
    for other in (z, z.array, 2, 2.0):
        below = x < other
        assert isinstance(below, Variable)
        assert place(below.array) == ((3,), "bool", device.name)
        assert not below.requires_grad
        assert values(x == other) == [False, True, False]
    y = x[x >= 2]
    assert values(y) == [2.0, 3.0]
    (y * 10).sum().backward()
    assert values(x.grad) == [0.0, 10.0, 10.0]


def test_rule_11_a_variable_hashes_by_identity(device):
    a = array(device, [1.0])
    x, z = Variable(a), Variable(a)
    assert {x: 1, z: 2}[x] == 1
    assert len({x, z, x}) == 2


@pytest.mark.parametrize("convert", [bool, int, float, complex, Variable.item])
def test_rule_11_one_element_converts_to_a_number_and_two_raise(device, convert):
    x = variable(device, [[2.0]]) * 1.25
    with xpgrad.using_config("warn_graph_end", False):
        assert convert(x) == (2.5 if convert is Variable.item else convert(2.5))
    with pytest.raises(ValueError, match=r"expected one element, got shape \(2,\)"):
        convert(variable(device, [1.0, 2.0]))


def test_rule_11_only_a_0d_integer_is_an_index(device):
    assert [10, 20, 30][variable(device, 1, "int64")] == 20
    for wrong in (variable(device, 1.0), variable(device, [1], "int64"), variable(device, True, "bool")):
        with pytest.raises(TypeError, match="0-d integer"):
            operator.index(wrong)


# 12


def test_rule_12_configuration_is_per_thread_and_graphs_are_shared(device):
    x = variable(device, [2.0])
    with xpgrad.no_backprop_mode():
        made = in_thread(lambda: x * x * x)
        assert not (x * x).requires_grad
    made.backward(enable_double_backprop=True)
    gx = x.grad_var
    x.cleargrad()
    in_thread(gx.backward)
    assert values(x.grad) == [12.0]


# 13


def test_rule_13_only_grad_starts_from_ones_for_many_elements(device):
    one, many, none = (variable(device, np.full(shape, 2.0)) for shape in ((1, 1), (2,), (0, 3)))
    (one * one).backward()
    assert values(one.grad) == [[4.0]]
    for x, expected in ((many, [4.0, 4.0]), (none, [])):
        with pytest.raises(GradientError, match="without a gradient"):
            (x * x).backward()
        assert values(grad([x * x], [x])[0]) == expected
