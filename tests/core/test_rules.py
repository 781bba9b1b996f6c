"""The thirteen rules that hold on every backend, by number."""

import operator
import re
import threading

import numpy as np
import pytest
from tests.building import array, place, values, variable

import xpgrad
from xpgrad import Function, FunctionHook, FunctionNode, Parameter, Variable, array_api, grad, ops, using_config
from xpgrad.errors import (
    BackendMismatch,
    ChangedArray,
    DeviceMismatch,
    GradientError,
    ShapeError,
    UnknownArray,
    XpgradError,
)
from xpgrad.testing.arrays import on_host
from xpgrad_conformance.table.comparisons import shared_memory

FLOATS = ("float32", "float64")
COMPLEX = ("complex64", "complex128")


def namespace(x):
    return x.__array_namespace__()


def functions(x, z):
    """Return results of many kinds of function of two matrices of one shape."""
    xp = namespace(x)
    return [
        x + z, x - z, x * z, x / z, x**2, x**3, -x, 2 * x, x + 1.5, 1.5 / x, x * 2.5 - 1,
        xp.exp(x), xp.tanh(x), xp.sum(x), xp.sum(x, axis=0), xp.mean(x, axis=1, keepdims=True), xp.max(x),
        xp.max(x, axis=0), x[0],
        x[:, 1], x[..., None], xp.reshape(x, (-1,)), x.T, x @ z.T, xp.broadcast_to(x, (2, *x.shape)),
        xp.where(x > z, x, z), xp.concat([x, z]), xp.stack([x, z]), xp.maximum(x, z), xp.abs(x),
    ]  # fmt: skip


def matrices(device, dtype="float32", **kwargs):
    x = variable(device, [[0.5, -1.25, 2.0], [1.75, 0.25, -0.75]], dtype, **kwargs)
    z = variable(device, [[1.5, 0.375, -2.5], [0.625, -1.0, 3.0]], dtype, **kwargs)
    return x, z


def total(ys):
    return sum(namespace(y).sum(y) for y in ys)


# 1


@pytest.mark.parametrize("dtype", FLOATS)
def test_rule_1_a_gradient_has_shape_dtype_and_device_of_its_array(device, dtype):
    x, z = matrices(device, dtype)
    for y in functions(x, z):
        assert y.device == device
        assert y.dtype == x.dtype
        namespace(y).sum(y).backward(retain_grad=True)
        for v in (x, y, z):
            assert v.grad is None or place(v.grad) == place(v.array)
    assert place(x.grad) == place(x.array)
    assert place(z.grad) == place(z.array)
    for recorded in (False, True):
        for v, g in zip((x, z), grad([total(functions(x, z))], [x, z], enable_double_backprop=recorded), strict=True):
            assert place(g.array) == place(v.array)


@pytest.mark.parametrize("scalar", [2, 2.5, np.float64(2.5), np.int64(2)])
def test_rule_1_float32_stays_float32_whatever_scalar_it_met(device, scalar):
    x = variable(device, [1.5, 2.5])
    for function in (operator.add, operator.sub, operator.mul, operator.truediv, operator.pow):
        for y in (function(x, scalar), function(scalar, x)):
            assert y.dtype == x.dtype
            namespace(y).sum(y).backward()
            assert x.grad.dtype == x.dtype


def test_rule_1_a_gradient_in_another_precision_is_cast_to_its_arrays(device):
    x = variable(device, [1.5])
    y = namespace(x).astype(x, namespace(x).float64) * 2
    y.backward(retain_grad=True)
    assert place(x.grad) == ((1,), "float32", device.name)
    assert place(y.grad) == ((1,), "float64", device.name)


# 2


@pytest.mark.parametrize("dtype", ["float32", "int32", "int64", "complex64"])
def test_rule_2_scalars_are_weak(device, dtype):
    x = variable(device, [1, 2], dtype)
    own = (2, np.int8(2), np.int64(2)) if "int" in dtype else (2, 2.5, np.float64(2.5), np.float16(2.5), np.int64(2))
    for scalar in own if dtype != "complex64" else (*own, 2j, np.complex128(2j)):
        for y in (x + scalar, scalar + x, x * scalar, scalar * x):
            assert y.dtype == x.dtype, scalar


def test_rule_2_a_scalar_of_a_wider_kind_takes_the_array_to_that_kind(device):
    xp = namespace(variable(device, 1.0))
    n, x = variable(device, [1, 2], "int32"), variable(device, [1.0, 2.0])
    assert (n * 2.5).dtype == xp.asarray(1.0).dtype
    assert values(n * 2.5) == [2.5, 5.0]
    assert (x * 2j).dtype == xp.complex64
    assert (variable(device, [1.0], "float64") + 2j).dtype == xp.complex128


@pytest.mark.parametrize("shape", [(), (2,)])
def test_rule_2_arrays_promote_by_the_standard(device, shape):
    x = variable(device, np.full(shape, 1.5))
    z = variable(device, np.full(shape, 2.5), "float64")
    y = x * z
    assert place(y.array) == (shape, "float64", device.name)
    namespace(y).sum(y).backward()
    assert place(x.grad) == place(x.array)
    assert place(z.grad) == place(z.array)
    constant = x * array(device, np.full((), 2.5), "float64")
    assert place(constant.array) == (shape, "float64", device.name)


# 3


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "bool"])
def test_rule_3_integers_and_booleans_have_no_gradient(device, dtype):
    n = variable(device, [1, 0], dtype)
    x = variable(device, [1.5, 2.5])
    xp = namespace(x)
    y = x * xp.astype(n, x.dtype) + xp.where(xp.astype(n, xp.bool), x, 2 * x)
    xp.sum(y).backward(retain_grad=True)
    assert n.grad is None
    with pytest.raises(GradientError, match=r"input 0 is .* integers and booleans have no gradient"):
        grad([y], [n, x])
    assert not xp.astype(x, n.dtype).requires_grad
    assert xp.astype(x, n.dtype).creator_node is None


def test_rule_3_an_input_that_does_not_matter_gets_none(device):
    x, other = variable(device, [1.5]), variable(device, [2.5])
    y = x * 2
    y.backward()
    assert other.grad is None
    assert grad([y], [other, x])[0] is None


# 4


def test_rule_4_ties_share_equally(device):
    x, z = variable(device, [1.0, 2.0, 2.0]), variable(device, [1.0, 2.0, 5.0])
    xp = namespace(x)
    for function in (xp.maximum, xp.minimum):
        gx, gz = grad([function(x, z)], [x, z])
        assert values(gx)[:2] == values(gz)[:2] == [0.5, 0.5]
    assert values(grad([xp.max(x)], [x])[0]) == [0.0, 0.5, 0.5]
    w = variable(device, [[1.0, 1.0, 2.0], [3.0, 0.0, 0.0]])
    assert values(grad([xp.sum(xp.min(w, axis=1))], [w])[0]) == [[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]]


def test_rule_4_kinks_have_derivative_0(device):
    x = variable(device, [0.0, -0.0])
    assert values(grad([namespace(x).abs(x)], [x])[0]) == [0.0, 0.0]
    assert values(grad([xpgrad.functions.relu(x)], [x])[0]) == [0.0, 0.0]
    assert "0" in xpgrad.functions.relu.__doc__
    assert "0" in namespace(x).abs.__doc__


# 5: f(x) = sum(c * x**2) holomorphic, loss = its real part; the gradient is conj(2 c x)


def real_loss(y):
    xp = namespace(y)
    return xp.sum(xp.real(y))


@pytest.mark.parametrize("dtype", COMPLEX)
def test_rule_5_gradients_are_the_direction_of_steepest_ascent(device, dtype):
    rng = np.random.default_rng(1)
    a = rng.standard_normal(3) + 1j * rng.standard_normal(3)
    x = variable(device, a, dtype)
    y = x * x * (2 - 1j)
    real_loss(y).backward(retain_grad=True)
    expected = np.conj(2 * (2 - 1j) * a)
    np.testing.assert_allclose(on_host(x.grad), expected, rtol=1e-5)
    np.testing.assert_allclose(on_host(y.grad), np.ones(3))
    (g,) = grad([real_loss(y)], [x])
    np.testing.assert_allclose(on_host(g), expected, rtol=1e-5)
    step = 1e-3 * expected
    before, after = ((v * v * (2 - 1j)).real.sum() for v in (a, a + step))
    assert after > before


def test_rule_5_seeds_are_gradients_as_users_see_them(device):
    a, s = np.array([1 + 2j, 3 - 1j]), np.array([0.5 - 1j, 2 + 3j])
    x = variable(device, a, "complex128")
    y = x * x
    y.grad = array(device, s, "complex128")
    y.backward()
    expected = s * np.conj(2 * a)  # of the loss real(sum(conj(s) * y))
    np.testing.assert_allclose(on_host(x.grad), expected)
    (g,) = grad([x * x], [x], [variable(device, s, "complex128")])
    np.testing.assert_allclose(on_host(g), expected)
    xpgrad.backward([z := x * x], [variable(device, s, "complex128")])
    np.testing.assert_allclose(on_host(x.grad), 2 * expected)
    (g,) = grad([x * x], [x], [variable(device, s, "complex128")], grad_inputs=[variable(device, s, "complex128")])
    np.testing.assert_allclose(on_host(g), expected + s)
    (gy,) = grad([z], [z], [variable(device, s, "complex128")])
    np.testing.assert_allclose(on_host(gy), s)


def test_rule_5_retained_gradients_and_hooks(device):
    a, s = np.array([1 + 2j]), np.array([0.5 - 1j])
    x = variable(device, a, "complex128")
    y = x * 1j
    z = y * (2 + 1j)
    seen = {}
    y.register_hook(lambda g: seen.setdefault("y", g))
    x.register_hook(lambda g: seen.setdefault("x", g))

    class Noting(FunctionHook):
        def backward_preprocess(self, function, in_data, out_grad):
            seen.setdefault("hook", []).append(on_host(out_grad[0]))

    z.grad = array(device, s, "complex128")
    with Noting():
        z.backward(retain_grad=True)
    gy, gx = s * (2 - 1j), s * (2 - 1j) * -1j
    np.testing.assert_allclose(on_host(z.grad), s)
    np.testing.assert_allclose(on_host(y.grad), gy)
    np.testing.assert_allclose(on_host(x.grad), gx)
    np.testing.assert_allclose(on_host(seen["y"]), gy)
    np.testing.assert_allclose(on_host(seen["x"]), gx)
    np.testing.assert_allclose(seen["hook"], [s, gy])
    z.creator_node.add_hook(Noting())
    seen.clear()
    z.grad = array(device, s, "complex128")
    z.backward()
    np.testing.assert_allclose(seen["hook"], [s])


def test_rule_5_hooks_replace_what_users_see(device):
    x = variable(device, [1 + 2j], "complex128")
    y = x * 1j
    y.register_hook(lambda g: g * 0 + (3 + 4j))
    (gy, gx) = grad([y * 2], [y, x])
    np.testing.assert_allclose(on_host(gy), [3 + 4j])
    np.testing.assert_allclose(on_host(gx), [(3 + 4j) * -1j])


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("retain", [False, True])
def test_rule_5_function_nodes_see_and_return_what_users_see(device, recorded, retain):
    seen = []

    class Square(FunctionNode):
        def forward(self, inputs):
            self.retain_inputs((0,))
            return inputs[0] * inputs[0], inputs[0] * 2

        def backward(self, target_input_indexes, grad_outputs):
            seen.append(tuple(None if g is None else on_host(g) for g in grad_outputs))
            (x,) = self.get_retained_inputs()
            return (grad_outputs[0] * 2 * namespace(x).conj(x) + grad_outputs[1] * 2,)

    a, s = np.array([1 + 2j]), np.array([0.5 - 1j])
    x = variable(device, a, "complex128")
    y, w = Square().apply((x * 1,))
    z = y * 1j + w
    z.grad = array(device, s, "complex128")
    z.backward(retain_grad=retain, enable_double_backprop=recorded)
    np.testing.assert_allclose(seen, [(s * -1j, s)])
    np.testing.assert_allclose(on_host(x.grad), s * -1j * 2 * np.conj(a) + s * 2)


def test_rule_5_old_style_functions_see_and_return_what_users_see(device):
    class Square(Function):
        def forward(self, inputs):
            return (inputs[0] * inputs[0],)

        def backward(self, inputs, grad_outputs):
            xp = xpgrad.get_array_module(inputs[0])
            return (grad_outputs[0] * 2 * xp.conj(inputs[0]),)

    a, s = np.array([1 + 2j]), np.array([0.5 - 1j])
    x = variable(device, a, "complex128")
    y = Square()(x) * 1j
    y.grad = array(device, s, "complex128")
    y.backward()
    np.testing.assert_allclose(on_host(x.grad), s * -1j * 2 * np.conj(a))


def test_rule_5_complex_functions_follow_the_convention(device):
    a = np.array([1 + 2j, -0.5 + 0.25j])
    x = variable(device, a, "complex128")
    xp = namespace(x)
    for y, expected in (
        (xp.abs(x), a / np.abs(a)),
        (xp.real(x), np.ones(2)),
        (xp.imag(x), np.full(2, 1j)),
        (xp.real(xp.conj(x)), np.ones(2)),
        (xp.imag(xp.conj(x)), np.full(2, -1j)),
    ):
        np.testing.assert_allclose(on_host(grad([xp.sum(y)], [x])[0]), expected)


def test_rule_5_a_complex_cotangent_of_a_real_input_gives_its_real_part(device):
    x = variable(device, [1.5, 2.5], "float64")
    y = x * (2 - 3j)
    y.grad = array(device, [1 + 1j, 1j], "complex128")
    y.backward()
    assert place(x.grad) == ((2,), "float64", device.name)
    np.testing.assert_allclose(on_host(x.grad), ((np.array([1 + 1j, 1j])) * (2 + 3j)).real)


def test_rule_5_second_order(device):
    x = variable(device, [1 + 2j], "complex128")
    (g,) = grad([real_loss(x * x * x)], [x], enable_double_backprop=True)
    (gg,) = grad([real_loss(g * (1 - 1j))], [x])
    # g = conj(3x²), its loss Re((1-1j)·conj(3x²)) = Re((1+1j)·3x²), whose gradient is conj((1+1j)·6x)
    np.testing.assert_allclose(on_host(gg), np.conj((1 + 1j) * 6 * np.array([1 + 2j])))


# 6


OPERATIONS = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.pow,
    operator.lt,
    operator.eq,
    operator.matmul,
]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_rule_6_two_libraries_are_not_mixed(operation):
    strict = xpgrad.get_device("@strict:device1")
    for x, z in (
        (Variable(np.ones(2, "f")), variable(strict, [1.0, 1.0])),
        (variable(strict, [1.0, 1.0]), Variable(np.ones(2, "f"))),
    ):
        with pytest.raises(BackendMismatch) as caught:
            operation(x, z)
        for text in ("@numpy", "@strict:device1", "to_device"):
            assert text in str(caught.value)
        assert x.creator_node is None


@pytest.mark.parametrize("operation", OPERATIONS)
def test_rule_6_two_devices_are_not_mixed(operation):
    first, second = map(xpgrad.get_device, ("@strict:cpu", "@strict:device1"))
    for other in (variable(second, [1.0, 1.0]), array(second, [1.0, 1.0])):
        with pytest.raises(DeviceMismatch) as caught:
            operation(variable(first, [1.0, 1.0]), other)
        for text in ("@strict:cpu", "@strict:device1", "to_device"):
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
def test_rule_6_nor_is_what_takes_part_without_a_gradient(name):
    x = variable(xpgrad.get_device("@strict:cpu"), [0.5, 1.5, 2.5], "float64")

    def other(dtype):
        return np.arange(3, dtype=dtype)

    with pytest.raises(BackendMismatch, match=f"{name.replace('bincount', 'segment_sum')}: .*two libraries"):
        BESIDE[name](x, other)


def test_rule_6_a_raw_array_of_the_same_device_is_fine_everywhere(device):
    x, z = matrices(device)
    with_variables = [values(y) for y in functions(x, z)]
    assert [values(y) for y in functions(x, Variable(z.array, requires_grad=False))] == with_variables
    for function in (operator.add, operator.sub, operator.mul, operator.truediv, operator.lt):
        assert isinstance(function(x, z.array), Variable)
    assert isinstance(operator.pow(abs(x), z.array), Variable)
    xp = namespace(x)
    for result in (xp.add(x.array, z), xp.concat([x.array, z]), xp.where(x.array > 0, x, z.array), xp.sum(x.array)):
        assert isinstance(result, Variable)


def test_rule_6_numpys_asarray_of_a_variable_in_a_graph_names_array(device):
    x = variable(device, [1.0])
    for v in (x, x * 2):
        with pytest.raises(TypeError, match=r"v\.array"):
            np.asarray(v)
        with pytest.raises(TypeError, match=r"v\.array"):
            np.asarray(v, dtype="float64")
    with pytest.raises(TypeError, match=r"v\.array"):
        np.asarray(Variable(None))


def test_rule_6_numpys_asarray_of_a_constant_is_what_its_library_makes_of_it():
    a = np.array([1.0, 2.0])
    x = Variable(a, requires_grad=False)
    assert np.asarray(x) is a
    assert np.array(x) is not a
    assert np.asarray(x, "float32").dtype == np.float32
    with pytest.raises(ValueError, match="copy"):
        np.asarray(x, "float32", copy=False)
    assert np.asarray(Variable(np.array([1, 2]))).tolist() == [1, 2]
    with pytest.raises(RuntimeError, match="device1"):
        np.asarray(variable(xpgrad.get_device("@strict:device1"), [1.0], requires_grad=False))


@pytest.mark.parametrize("other", [[1.0, 2.0], (1.0,), "text", None, {}, object()])
def test_rule_6_lists_and_other_objects_are_refused(device, other):
    x = variable(device, [1.0, 2.0])
    for function in (operator.add, operator.mul):
        with pytest.raises(TypeError):
            function(x, other)
    with pytest.raises(TypeError):
        namespace(x).add(x, other)


# 7


def test_rule_7_no_two_gradients_share_memory_nor_a_gradient_with_its_seed(device):
    for recorded in (False, True):
        x, z = matrices(device)
        w = Parameter(array(device, np.ones((2, 3))))
        a, b = x + z, x - w
        c = a.T.T + b[...]
        ys = [x, z, w, a, b, c]
        seed = c.grad = array(device, np.full((2, 3), 2.0))
        c.backward(retain_grad=True, enable_double_backprop=recorded)
        gradients = [y.grad for y in ys]
        held = [seed, *(y.array for y in ys)]
        for i, g in enumerate(gradients):
            for other in [*held, *gradients[:i], *gradients[i + 1 :]]:
                assert not shared_memory(g, other)


def test_rule_7_the_results_of_grad_share_no_memory(device):
    x, z = matrices(device)
    y = x + z
    seed, extra = variable(device, np.ones((2, 3))), variable(device, np.ones((2, 3)))
    gradients = grad([y, x], [x, z, y], [seed, extra], grad_inputs=[None, extra, None], retain_grad=True)
    arrays = [g.array for g in gradients]
    for i, g in enumerate(arrays):
        for other in [seed.array, extra.array, *arrays[:i], *arrays[i + 1 :]]:
            assert not shared_memory(g, other)


def test_rule_7_accumulating_never_writes_to_what_users_hold(device):
    x = variable(device, np.ones((80, 80)))
    (x * 2).sum().backward()
    first = x.grad
    kept = values(first)
    hooked = []
    y = x * 3
    y.register_hook(hooked.append)
    (y + y * 2 + y * 3).sum().backward(retain_grad=True)
    assert values(first) == kept
    assert values(hooked[0]) == np.full((80, 80), 6.0).tolist()
    assert values(y.grad) == values(hooked[0])
    assert values(x.grad) == np.full((80, 80), 20.0).tolist()


def test_rule_7_no_function_writes_to_its_inputs(device):
    x, z = matrices(device)
    before = values(x), values(z)
    total(functions(x, z)).backward()
    total(functions(x, z)).backward(enable_double_backprop=True)
    assert (values(x), values(z)) == before


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
    x = variable(device, 1.5)
    z = variable(device, [[1.5, 2.5, 3.5], [0.5, 0.25, 0.125]])
    kind = type(x.array)
    xp = namespace(x)
    results = [
        x + x, x * 2, 2 * x, -x, x**2, x**3, 1 / x, x // 1, x > 0, xp.exp(x), xp.sum(z), xp.max(z), xp.mean(z), z[0, 0],
        xp.sum(z[0] * z[1]), z[0] @ z[1], xp.where(x > 0, x, x), xp.abs(x), xp.reshape(z[0, :1], ()),
        xp.astype(x, xp.float64), xp.argmax(z), xp.all(z > 0), xp.tensordot(z, z, axes=2),
    ]  # fmt: skip
    for y in results:
        assert type(y.array) is kind
        assert y.shape == ()
    for y in results[:8]:
        if y.requires_grad:
            y.backward()
            assert type(x.grad) is kind
    for g in grad([x * x + x], [x]) + grad([x * x + x], [x], enable_double_backprop=True):
        assert type(g.array) is kind


def test_rule_9_another_shape_or_dtype_gives_a_fresh_node(device):
    x = variable(device, [1.0, 2.0])
    node = x.node
    x.array = array(device, [3.0, 4.0])
    assert x.node is node
    for a in (array(device, [1.0]), array(device, [1.0], "float64"), array(device, 1.0, "float64")):
        x.array = a
        assert x.node is not node
        assert (x.node.shape, x.node.dtype) == (a.shape, a.dtype)
        node = x.node


# 10


def test_rule_10_errors_name_operation_shapes_and_dtypes(device):
    x, z = variable(device, np.ones((2, 3))), variable(device, np.ones((4,)))
    with pytest.raises(ShapeError, match=r"multiply: .*float32 \(2, 3\).*float32 \(4,\)"):
        x * z
    with pytest.raises(XpgradError, match=r"matmul: .*a \(2, 3\), b \(2, 3\), float32 on "):
        x @ x
    with pytest.raises(XpgradError, match=r"reshape: .*float32 \(2, 3\)"):
        namespace(x).reshape(x, (5,))
    with pytest.raises(UnknownArray, match=r"add: "):
        namespace(x).add(x, "text")
    assert x.creator_node is None
    assert x.grad is None


def test_rule_10_a_failed_sweep_leaves_everything_as_it_was(device):
    class Failing(FunctionNode):
        def forward(self, inputs):
            return (inputs[0] * 1,)

        def backward(self, target_input_indexes, grad_outputs):
            raise ZeroDivisionError

    x, z = variable(device, [1.0]), variable(device, [2.0], grad=array(device, [5.0]))
    y = Failing().apply((x,))[0] + z
    w = y * z
    w.grad = g = array(device, [3.0])
    held = z.grad
    for start in (
        lambda: w.backward(retain_grad=True),
        lambda: w.backward(enable_double_backprop=True),
        lambda: xpgrad.backward([w]),
        lambda: grad([w], [x, z], set_grad=True, retain_grad=True),
    ):
        with pytest.raises(ZeroDivisionError):
            start()
        assert w.grad is g
        assert z.grad is held
        assert x.grad is None
        assert y.grad is None
        assert xpgrad.config.enable_backprop
    assert values(held) == [5.0]
    assert values(g) == [3.0]


# 11


def test_rule_11_comparisons_give_boolean_variables(device):
    x, z = variable(device, [1.0, 2.0, 3.0]), variable(device, [2.0, 2.0, 2.0])
    for function, expected in (
        (operator.eq, [False, True, False]),
        (operator.ne, [True, False, True]),
        (operator.lt, [True, False, False]),
        (operator.le, [True, True, False]),
        (operator.gt, [False, False, True]),
        (operator.ge, [False, True, True]),
    ):
        for right in (z, z.array, 2, 2.0):
            y = function(x, right)
            assert isinstance(y, Variable)
            assert place(y.array) == ((3,), "bool", device.name)
            assert values(y) == expected
            assert not y.requires_grad
        assert values(function(2, z)) == [function(2, 2)] * 3


def test_rule_11_a_mask_selects(device):
    x = variable(device, [1.0, -2.0, 3.0])
    y = x[x > 0]
    assert values(y) == [1.0, 3.0]
    (y * 10).sum().backward()
    assert values(x.grad) == [10.0, 0.0, 10.0]


def test_rule_11_a_variable_hashes_by_identity(device):
    a = array(device, [1.0])
    x, z = Variable(a), Variable(a)
    assert hash(x) != hash(z) or x is z
    assert {x: 1, z: 2}[x] == 1
    assert len({x, z, x}) == 2
    assert x in {x}


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_rule_11_scalars_of_one_element_in_a_graph_too(device, shape):
    x = variable(device, np.full(shape, 2.0)) * 1.25
    assert x.creator_node is not None
    assert bool(x) is True
    with using_config("warn_graph_end", False):
        assert int(x) == 2
        assert float(x) == 2.5
        assert complex(x) == 2.5
        assert x.item() == 2.5
    assert bool(x > 3) is False
    if x > 2:
        pass
    else:
        raise AssertionError


@pytest.mark.parametrize("shape", [(2,), (0,), (2, 2)])
def test_rule_11_scalars_need_one_element(device, shape):
    x = variable(device, np.ones(shape))
    for convert in (bool, int, float, complex, Variable.item):
        with pytest.raises(ValueError, match=re.escape(f"expected one element, got shape {shape}")):
            convert(x)


def test_rule_11_only_a_0d_integer_is_an_index(device):
    n = variable(device, 1, "int64")
    assert [10, 20, 30][n] == 20
    assert operator.index(n) == 1
    assert list(range(variable(device, 2, "int32"))) == [0, 1]
    for wrong in (variable(device, 1.0), variable(device, [1], "int64"), variable(device, True, "bool")):
        with pytest.raises(TypeError, match="0-d integer"):
            operator.index(wrong)
    with pytest.raises((TypeError, ValueError)):
        float(variable(device, 1 + 2j, "complex64"))


# 12


def test_rule_12_configuration_is_per_thread_and_graphs_are_not(device):
    x = variable(device, [2.0])
    with xpgrad.no_backprop_mode():
        made = []
        thread = threading.Thread(target=lambda: made.append(x * x * x))
        thread.start()
        thread.join()
        assert not (x * x).requires_grad
    (y,) = made
    y.backward(enable_double_backprop=True)
    gx = x.grad_var
    x.cleargrad()
    thread = threading.Thread(target=gx.backward)
    thread.start()
    thread.join()
    assert values(x.grad) == [12.0]


def test_rule_12_one_graph_is_swept_by_many_threads(device):
    x = variable(device, np.ones(8))
    y = x
    for _ in range(30):
        y = y * 1.5 + x
    results = []
    threads = [threading.Thread(target=lambda: results.append(values(grad([y], [x])[0]))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert all(result == results[0] for result in results)


# 13


@pytest.mark.parametrize("shape", [(), (1,), (1, 1, 1)])
def test_rule_13_one_element_starts_from_ones(device, shape):
    x = variable(device, np.full(shape, 2.0))
    (x * x).backward()
    assert values(x.grad) == np.full(shape, 4.0).tolist()


@pytest.mark.parametrize("shape", [(2,), (0,), (0, 3), (2, 2)])
def test_rule_13_many_or_none_refuse_and_grad_starts_from_ones(device, shape):
    x = variable(device, np.full(shape, 2.0))
    y = x * x
    with pytest.raises(GradientError, match="without a gradient"):
        y.backward()
    assert values(grad([y], [x])[0]) == np.full(shape, 4.0).tolist()
    y.grad = array(device, np.ones(shape))
    y.backward()
    assert values(x.grad) == np.full(shape, 4.0).tolist()
