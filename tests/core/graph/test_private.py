"""Writes of hooks and users' backward computations to their gradient arguments."""

import itertools

import pytest
from tests.building import array, values, variable
from tests.core.graph.nodes import node, square, square_backward

import xpgrad
from xpgrad import Function, FunctionHook, FunctionNode, transforms, using_config
from xpgrad import array_api as xp
from xpgrad.errors import ChangedArray


def doubled(array):
    array[...] = array * 2


def by_node(act):
    def backward(self, target_input_indexes, grad_outputs):
        act(grad_outputs[0].array)
        return grad_outputs

    return lambda x: node(backward=backward).apply((x,))[0]


def by_function(act):
    def backward(self, inputs, grad_outputs):
        act(grad_outputs[0])
        return grad_outputs

    return node(base=Function, forward=lambda self, inputs: (inputs[0] * 1,), backward=backward)


def by_custom_vjp(act):
    def backward(kept, gy):
        act(gy.array)
        return (gy,)

    function = transforms.custom_vjp(lambda x: x * 1)
    function.defvjp(lambda x: (x * 1, None), backward)
    return function


def by_hook(act):
    def apply(x):
        y = x * 1
        y.register_hook(lambda g: act(g.array))
        return y

    return apply


def by_root_hook(act):
    def apply(x):
        x.register_hook(lambda g: act(g.array))
        return x + 0

    return apply


def function_hook(method, act):
    return node(base=FunctionHook, **{method: lambda self, function, in_data, out_grad: act(out_grad[0])})


def by_function_hook(method, make):
    def place(act):
        def apply(x):
            y = make(x)
            y.creator_node.add_hook(function_hook(method, act))
            return y

        return apply

    return place


def rebinding(x):
    y = x * 1
    y.register_hook(lambda g: g.__setitem__(0, g[0] * 2))
    return y


MAKERS = {"identity": lambda x: x + 0, "gather": lambda x: x[:], "FunctionNode": lambda x: node().apply((x,))[0]}
PLACES = {
    "Variable hook": by_hook,
    "hook of a root": by_root_hook,
    "FunctionNode": by_node,
    "Function": by_function,
    "custom_vjp": by_custom_vjp,
    **{f"hook before {name}": by_function_hook("backward_preprocess", make) for name, make in MAKERS.items()},
}
"""Where users' code gets the array of a gradient: functions of what it does with that, which return a function."""
DOUBLING = {name: place(doubled) for name, place in PLACES.items()} | {"hook that assigns": rebinding}
WITHOUT_EFFECT = {
    f"hook after {name}": by_function_hook("backward_postprocess", make)(doubled) for name, make in MAKERS.items()
}


def swept(device, writer, dtype, repeat, **options):
    """Gradients of two roots with one cotangent, one of them behind a function that writes; and that cotangent."""
    a, b = (variable(device, [2.0], dtype) for _ in range(2))
    u = writer(a)
    y = u + b
    if repeat:  # the total of `u` is then a sum
        y = y + u
    y.grad = seed = array(device, [1.0], dtype)
    y.backward(**options)
    return values(a.grad), values(b.grad), values(seed)


@pytest.mark.parametrize("name", [*DOUBLING, *WITHOUT_EFFECT])
def test_a_write_changes_no_other_gradient(device, name):
    for dtype, repeat, debug in itertools.product(("float32", "float64", "complex64"), (False, True), (False, True)):
        with using_config("debug", debug):
            found = swept(device, (DOUBLING | WITHOUT_EFFECT)[name], dtype, repeat)
        factor = (2.0 if name in DOUBLING else 1.0) * (2.0 if repeat else 1.0)
        assert found == ([factor], [1.0], [1.0]), (dtype, repeat, debug)


@pytest.mark.parametrize("method", ["backward_preprocess", "backward_postprocess"])
def test_a_hook_of_the_thread_changes_no_other_gradient(device, method):
    a, b = variable(device, [2.0]), variable(device, [2.0])
    y = (a + 0) + (b + 0)
    y.grad = seed = array(device, [1.0])
    with function_hook(method, doubled):
        y.backward()
    factor = 4.0 if method == "backward_preprocess" else 1.0  # doubled at two functions on the way
    assert (values(a.grad), values(b.grad), values(seed)) == ([factor], [factor], [1.0])


@pytest.mark.parametrize("name", sorted({*DOUBLING, *WITHOUT_EFFECT} - {"hook that assigns"}))  # that is recorded
def test_a_write_in_a_recorded_sweep_is_an_error(device, name):
    for dtype in ("float32", "complex64"):
        with pytest.raises(ChangedArray, match=r"wrote into the gradient.*return a new gradient"):
            swept(device, (DOUBLING | WITHOUT_EFFECT)[name], dtype, False, enable_double_backprop=True)


def test_an_assignment_in_a_hook_is_recorded(device):
    x = variable(device, [2.0, 3.0])
    y = x**2 * 1
    y.register_hook(lambda g: g.__setitem__(0, g[0] * x[0]))
    (g,) = xpgrad.grad([xp.sum(y)], [x], enable_double_backprop=True)
    assert values(g) == [8.0, 6.0]  # x·2x, 2x
    assert values(xpgrad.grad([xp.sum(g)], [x])[0]) == [8.0, 2.0]


def test_array_kept_by_a_hook_shares_no_memory_with_gradients(device):
    x = variable(device, [2.0])
    y = x * 1
    kept = []
    x.register_hook(kept.append)
    y.register_hook(kept.append)
    (y + 0).backward(retain_grad=True)
    for g in kept:
        doubled(g.array)
    assert (values(x.grad), values(y.grad)) == ([1.0], [1.0])


def test_several_hooks_share_their_writes(device):
    x = variable(device, [2.0])
    seen = []
    x.register_hook(lambda g: doubled(g.array))
    x.register_hook(lambda g: seen.append(values(g)))
    x.register_hook(lambda g: doubled(g.array))
    (x * 3).backward()
    assert (seen, values(x.grad)) == ([[6.0]], [12.0])


def test_retained_gradient_is_not_overwritten(device):
    x = variable(device, [2.0])
    y = x * 3
    z = DOUBLING["FunctionNode"](y)
    (z + z).backward(retain_grad=True)
    assert (values(z.grad), values(y.grad), values(x.grad)) == ([2.0], [4.0], [12.0])


@pytest.mark.parametrize("where", ["Variable hook", "function hook", "FunctionNode"])
def test_debug_mode_detects_writes_to_retained_arrays(device, where):
    def careless(self, target_input_indexes, grad_outputs):
        gx = square_backward(self, target_input_indexes, grad_outputs)
        doubled(self.get_retained_inputs()[0].array)
        return gx

    with using_config("debug", True):
        x = variable(device, [2.0])
        y = node(forward=square, backward=careless).apply((x,))[0] if where == "FunctionNode" else x * x
        if where == "function hook":
            hook = node(base=FunctionHook, backward_preprocess=lambda self, f, in_data, out_grad: doubled(in_data[0]))
            y.creator_node.add_hook(hook)
        elif where == "Variable hook":
            y.register_hook(lambda g: doubled(x.array))
        with pytest.raises(ChangedArray, match="kept was changed in place"):
            y.backward()


# Graphs inside


def cubes(device):
    """The gradient of 'the sum of cubes' at 2 and 3, from `backward`, `grad` and a transform."""
    x = variable(device, [2.0, 3.0])
    xp.sum(x**3).backward()
    z = variable(device, [2.0, 3.0])
    (gz,) = xpgrad.grad([xp.sum(z**3)], [z], enable_double_backprop=True)
    (ggz,) = xpgrad.grad([xp.sum(gz)], [z])
    by_transform = transforms.grad(lambda v: xp.sum(v**3))(array(device, [2.0, 3.0]))
    return values(x.grad), values(gz), values(ggz), values(by_transform)


CUBES = [12.0, 27.0], [12.0, 27.0], [12.0, 18.0], [12.0, 27.0]


@pytest.mark.parametrize("mode", ["raw", "recorded", "no_backprop_mode"])
@pytest.mark.parametrize(
    "where", ["Variable hook", "hook before identity", "thread hook", "FunctionNode", "Function", "custom_vjp"]
)
def test_graphs_are_made_and_swept_inside_as_at_the_top(device, where, mode):
    found = []

    def look(_):
        if not found:  # a thread's hook is called in these sweeps as well
            found.append(None)
            found[0] = cubes(device)

    x = variable(device, [5.0])
    y = x * 1 if where == "thread hook" else PLACES[where](look)(x)
    with (
        using_config("enable_backprop", mode != "no_backprop_mode"),
        function_hook("backward_preprocess", look) if where == "thread hook" else using_config("train", True),
    ):
        y.backward(enable_double_backprop=mode == "recorded")
    assert found == [CUBES]
    assert values(x.grad) == [1.0]
    assert mode == "recorded" or x.grad_var.creator_node is None


def test_an_existing_graph_is_swept_inside(device):
    z = variable(device, [2.0])
    w = z**3
    x = variable(device, [5.0])
    x.register_hook(lambda g: w.backward())
    (x * 7).backward()
    assert (values(x.grad), values(z.grad)) == ([7.0], [12.0])


def test_a_raw_sweep_does_not_record_computations_with_retained_arrays(device):
    made = []

    def forward(self, inputs):
        self.retain_outputs((0,))
        return square(self, inputs)

    def backward(self, target_input_indexes, grad_outputs):
        (x,), (y,) = self.get_retained_inputs(), self.get_retained_outputs()
        made.extend([x * 2, y * 2, grad_outputs[0] * x])
        return (2 * x * grad_outputs[0],)

    x = variable(device, [3.0])
    y = node(forward=forward, backward=backward).apply((x,))[0]
    y.backward()
    assert all(v.creator_node is None and not v.requires_grad for v in made)
    made.clear()
    (g,) = xpgrad.grad([y], [x], enable_double_backprop=True)
    assert all(v.creator_node is not None for v in made)
    assert values(xpgrad.grad([g], [x])[0]) == [2.0]


# The creator of a recorded gradient


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
@pytest.mark.parametrize("start", ["backward", "grad"])
def test_the_creator_of_a_recorded_gradient_comes_from_the_users_backward(device, start, dtype):
    def backward(self, target_input_indexes, grad_outputs):
        return SquareGrad().apply((*self.get_retained_inputs(), *grad_outputs))

    class SquareGrad(FunctionNode):
        def forward(self, inputs):
            self.retain_inputs((0, 1))
            return (2 * inputs[0] * inputs[1],)

        def backward(self, target_input_indexes, grad_outputs):
            x, gy = self.get_retained_inputs()
            return 2 * gy * grad_outputs[0], 2 * x * grad_outputs[0]

    x = variable(device, [3.0], dtype)
    y = node(forward=square, backward=backward).apply((x,))[0]
    y.grad = array(device, [1.0], dtype)
    if start == "grad":
        (g,) = xpgrad.grad([y], [x], enable_double_backprop=True)
    else:
        y.backward(enable_double_backprop=True)
        g = x.grad_var
    assert type(g.creator_node) is SquareGrad
    assert g.node.get_variable_or_none() is g
    assert values(g) == [6.0]
    x.cleargrad()
    g.grad = array(device, [1.0], dtype)
    g.backward()
    assert values(x.grad) == [2.0]


def test_a_gradient_returned_for_two_roots_becomes_two_values(device):
    def backward(self, target_input_indexes, grad_outputs):
        kept.extend(node().apply(grad_outputs))
        return kept * 2

    kept = []
    a, b = variable(device, [2.0]), variable(device, [3.0])
    y = node(forward=lambda self, inputs: (inputs[0] + inputs[1],), backward=backward).apply((a, b))[0]
    y.grad_var = seed = variable(device, [5.0])
    y.backward(enable_double_backprop=True)
    assert a.grad_var.node is not b.grad_var.node
    doubled(a.grad)
    assert (values(b.grad), values(kept[0]), values(seed)) == ([5.0], [5.0], [5.0])
    with pytest.warns(DeprecationWarning, match="cleargrad"):
        a.zerograd()
    (b.grad_var * 3).backward()
    assert values(seed.grad) == [3.0]
