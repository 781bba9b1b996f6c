"""Function hooks of a thread and of one function, and hooks on gradients."""

import pytest
from tests.building import array, values, variable
from tests.threads import in_thread

import xpgrad
from xpgrad import FunctionHook, FunctionNode, Variable, get_function_hooks
from xpgrad.errors import DeviceMismatch, GradientError


class Noting(FunctionHook):
    """Records every call with its arguments."""

    def __init__(self, name="Noting", log=None):
        self.name = name
        self.log = [] if log is None else log

    def added(self, function):
        self.log.append((self.name, "added", function))

    def deleted(self, function):
        self.log.append((self.name, "deleted", function))

    def forward_preprocess(self, function, in_data):
        self.log.append((self.name, "forward_preprocess", function.label, in_data))

    def forward_postprocess(self, function, in_data):
        self.log.append((self.name, "forward_postprocess", function.label, in_data))

    def backward_preprocess(self, function, in_data, out_grad):
        self.log.append((self.name, "backward_preprocess", function.label, in_data, out_grad))

    def backward_postprocess(self, function, in_data, out_grad):
        self.log.append((self.name, "backward_postprocess", function.label, in_data, out_grad))

    def calls(self):
        return [(entry[1], entry[2]) for entry in self.log]


class Product(FunctionNode):
    def __init__(self, kept=(0, 1)):
        self.kept = kept

    def forward(self, inputs):
        self.retain_inputs(self.kept)
        return (inputs[0] * inputs[1],)

    def backward(self, target_input_indexes, grad_outputs):
        return grad_outputs * len(target_input_indexes)


# Hooks of a thread


def test_a_hook_is_registered_in_its_context_only():
    hook = Noting()
    assert get_function_hooks() == {}
    with hook as entered:
        assert entered is hook
        assert get_function_hooks() == {"Noting": hook}
    assert get_function_hooks() == {}
    assert hook.log == [("Noting", "added", None), ("Noting", "deleted", None)]


def test_a_name_is_registered_once():
    hook = Noting()
    with hook:
        with pytest.raises(KeyError, match="'Noting' is active already"), hook:
            pass
        with pytest.raises(KeyError), Noting():
            pass
        with Noting("another"):
            assert list(get_function_hooks()) == ["Noting", "another"]
    assert get_function_hooks() == {}


def test_a_hook_whose_added_raises_is_not_registered():
    class Failing(FunctionHook):
        def added(self, function):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), Failing():
        pass
    assert get_function_hooks() == {}
    f = Product()
    with pytest.raises(ZeroDivisionError):
        f.add_hook(Failing())
    assert f.local_function_hooks == {}


def test_hooks_are_of_one_thread(device):
    hook, x = Noting(), variable(device, [1.0])
    with hook:
        seen, _ = in_thread(lambda: (dict(get_function_hooks()), (x * x).creator_node))
    assert seen == {}
    assert hook.calls() == [("added", None), ("deleted", None)]


def test_hooks_see_primitives(device):
    x, z = variable(device, [2.0, 3.0]), variable(device, [5.0, 7.0])
    hook = Noting()
    with hook:
        y = x * z
        y.grad = g = array(device, [1.0, 10.0])
        y.backward()
    assert hook.calls()[1:-1] == [
        ("forward_preprocess", "_ * _"),
        ("forward_postprocess", "_ * _"),
        ("backward_preprocess", "_ * _"),
        ("backward_postprocess", "_ * _"),
    ]
    for entry in hook.log[1:-1]:
        assert type(entry[3]) is tuple
        assert entry[3][0] is x.array
        assert entry[3][1] is z.array
    for entry in hook.log[3:-1]:
        assert type(entry[4]) is tuple
        assert values(entry[4][0]) == [1.0, 10.0]
    assert values(g) == [1.0, 10.0]


def test_released_arrays_are_none_in_backward_hooks(device):
    x, z = variable(device, [2.0]), variable(device, [5.0])
    constant = variable(device, [3.0], requires_grad=False)
    hook = Noting()
    with hook:
        (x + z).backward()
        (x * constant).backward()
        Product((1,)).apply((x, z))[0].backward()
    forward = [entry[3] for entry in hook.log if entry[1] == "forward_preprocess"]
    backward = [entry[3] for entry in hook.log if entry[1] == "backward_preprocess"]
    assert forward == [(x.array, z.array), (x.array, constant.array), (x.array, z.array)]
    assert backward == [(None, None), (None, constant.array), (None, z.array)]


def test_scalars_are_no_arrays_for_hooks(device):
    x = variable(device, [2.0])
    hook = Noting()
    with hook:
        y = (2 - x * 3.0) / 7
        y.backward()
    data = [entry[3] for entry in hook.log[1:-1]]
    assert all(len(arrays) == 1 for arrays in data)
    for which, labels in ("forward", ["_ * 3.0", "2 - _", "_ / 7"]), ("backward", ["_ / 7", "2 - _", "_ * 3.0"]):
        assert [entry[2] for entry in hook.log if entry[1] == f"{which}_preprocess"] == labels


def test_hooks_see_function_nodes_and_old_style_functions(device):
    class Square(xpgrad.Function):
        def forward(self, inputs):
            return (inputs[0] * inputs[0],)

        def backward(self, inputs, grad_outputs):
            return (2 * inputs[0] * grad_outputs[0],)

    x = variable(device, [2.0])
    hook = Noting()
    with hook:
        (y,) = Product().apply((x, Square()(x)))
        y.backward()
    assert [call for call in hook.calls() if call[0].endswith("preprocess")] == [
        ("forward_preprocess", "Square"),
        ("forward_preprocess", "Product"),
        ("backward_preprocess", "Product"),
        ("backward_preprocess", "Square"),
    ]
    functions = {type(entry[2]) for entry in hook.log[1:-1]}
    assert functions == {str}


def test_hooks_get_none_for_outputs_without_gradient(device):
    class Split(FunctionNode):
        def forward(self, inputs):
            return inputs[0] * 1, inputs[0] * 2

        def backward(self, target_input_indexes, grad_outputs):
            return (grad_outputs[1],)

    _, b = Split().apply((variable(device, [1.0]),))
    hook = Noting()
    with hook:
        b.backward()
    (seen,) = (entry[4] for entry in hook.log if entry[1] == "backward_preprocess")
    assert seen[0] is None
    assert values(seen[1]) == [1.0]


def test_hooks_are_called_in_the_order_of_registration(device):
    log = []
    with Noting("b", log), Noting("a", log):
        (variable(device, [1.0]) * 2).backward()
    assert [entry[0] for entry in log if entry[1] == "forward_preprocess"] == ["b", "a"]
    assert [entry[0] for entry in log if entry[1] == "backward_postprocess"] == ["b", "a"]


def test_hooks_run_in_grad_and_in_recorded_sweeps(device):
    x = variable(device, [2.0])
    y = x * x * x
    hook = Noting()
    with hook:
        (gx,) = xpgrad.grad([y], [x], enable_double_backprop=True)
    calls = hook.calls()
    assert calls.count(("backward_preprocess", "_ * _")) == 2
    assert calls.count(("forward_preprocess", "_ * _")) >= 2
    assert values(gx) == [12.0]
    assert values(xpgrad.grad([gx], [x])[0]) == [12.0]


def test_hooks_without_a_graph(device):
    hook = Noting()
    with hook, xpgrad.no_backprop_mode():
        y = variable(device, [2.0]) * 3
    assert y.creator_node is None
    assert ("forward_postprocess", "_ * 3") in hook.calls()


def test_results_with_a_hook_are_those_without(device):
    def compute():
        x, z = variable(device, [2.0, 3.0]), variable(device, [5.0, 7.0])
        (2 * x * z - x / z + z**2 * 3).sum().backward()
        return values(x.grad), values(z.grad)

    plain = compute()
    with Noting():
        assert compute() == plain


def test_exception_in_a_hook_propagates_without_side_effects(device):
    class Failing(FunctionHook):
        def backward_postprocess(self, function, in_data, out_grad):
            raise ZeroDivisionError("mine")

    x = variable(device, [2.0], grad=array(device, [5.0]))
    y = x * x
    with Failing(), pytest.raises(ZeroDivisionError, match=r"^mine$"):
        y.backward(retain_grad=True)
    assert values(x.grad) == [5.0]
    assert y.grad is None


def test_a_hook_may_sweep_another_graph(device):
    class Nested(FunctionHook):
        def backward_preprocess(self, function, in_data, out_grad):
            x = variable(device, [3.0])
            with xpgrad.force_backprop_mode():
                y = Product().apply((x, x))[0]
            if len(started) < 3:
                started.append(None)
                seen.append(xpgrad.grad([y], [x])[0])

    started, seen = [], []
    x = variable(device, [2.0])
    with Nested():
        (x * x).backward()
    assert values(x.grad) == [4.0]
    assert len(seen) == 3


# Hooks of one function


def test_a_hook_on_one_function_node(device):
    x = variable(device, [2.0])
    f, hook = Product(), Noting()
    f.add_hook(hook)
    assert f.local_function_hooks == {"Noting": hook}
    f.apply((x, x))[0].backward()
    Product().apply((x, x))[0].backward()
    assert hook.calls() == [
        ("added", f),
        ("forward_preprocess", "Product"),
        ("forward_postprocess", "Product"),
        ("backward_preprocess", "Product"),
        ("backward_postprocess", "Product"),
    ]


def test_a_hook_on_one_application_of_a_primitive(device):
    x, z = variable(device, [2.0]), variable(device, [5.0])
    y, other = x * z, x * z
    hook = Noting()
    y.creator_node.add_hook(hook)
    assert y.creator_node.local_function_hooks == {"Noting": hook}
    assert other.creator_node.local_function_hooks == {}
    (y + other).backward()
    assert hook.calls() == [
        ("added", y.creator_node),
        ("backward_preprocess", "_ * _"),
        ("backward_postprocess", "_ * _"),
    ]
    assert hook.log[1][3] == (x.array, z.array)
    assert values(hook.log[1][4][0]) == [1.0]
    assert values(x.grad) == [10.0]
    (gx,) = xpgrad.grad([y], [x], enable_double_backprop=True)
    assert values(xpgrad.grad([gx], [z])[0]) == [1.0]
    assert len(hook.log) == 5
    y.creator_node.delete_hook("Noting")
    y.backward()
    assert hook.log[5:] == [("Noting", "deleted", y.creator_node)]


def test_a_primitives_own_hook_with_an_active_thread_hook(device):
    x = variable(device, [2.0])
    y = x * x
    log = []
    y.creator_node.add_hook(Noting("own", log))
    y.creator_node.add_hook(Noting("same", log))
    with Noting("thread"), Noting("same", log) as replaced:
        y.backward()
    assert [entry[0] for entry in log if entry[1] == "backward_preprocess"] == ["same", "own"]
    assert replaced.log is log


def test_a_primitive_with_a_hook_in_debug_mode(device):
    x = variable(device, [2.0])
    with xpgrad.using_config("debug", True):
        y = x * x
        hook = Noting()
        y.creator_node.add_hook(hook)
        y.backward()
    assert hook.calls()[1:] == [("backward_preprocess", "_ * _"), ("backward_postprocess", "_ * _")]


def test_local_hooks_override_the_threads_of_the_same_name(device):
    log = []
    f, x = Product(), variable(device, [2.0])
    local, active, other = Noting("name", log), Noting("name"), Noting("other", log)
    f.add_hook(local)
    with other, active:
        f.apply((x, x))
    assert [entry[0] for entry in log if entry[1] == "forward_preprocess"] == ["other", "name"]
    assert ("forward_preprocess", "Product") not in active.calls()


@pytest.mark.parametrize("made", [lambda x: Product().apply((x, x))[0], lambda x: x * x])
def test_local_hooks_are_checked(device, made):
    y = made(variable(device, [2.0]))
    f = y.creator_node
    with pytest.raises(TypeError, match="expected a FunctionHook, got str"):
        f.add_hook("hook")
    hook = Noting()
    f.add_hook(hook, name="mine")
    assert list(f.local_function_hooks) == ["mine"]
    with pytest.raises(KeyError, match="'mine'"):
        f.add_hook(hook, "mine")
    f.add_hook(hook)
    assert list(f.local_function_hooks) == ["mine", "Noting"]
    with pytest.raises(KeyError, match="no hook 'other'"):
        f.delete_hook("other")
    f.delete_hook("mine")
    assert hook.log[-1] == ("Noting", "deleted", f)


def test_a_function_that_left_the_graph_takes_no_hooks(device):
    x = variable(device, [2.0])
    y, z = x * x, x * x
    y.creator_node.add_hook(Noting())
    y.backward(retain_graph=False)
    z.node.creator_node.unchain()
    for f in (y.creator_node, z.node.creator_node):
        assert f.local_function_hooks == {}
        with pytest.raises(RuntimeError, match="no sweep passes any more"):
            f.add_hook(FunctionHook())


# Hooks on gradients


def test_a_gradient_hook_sees_the_complete_gradient_once(device):
    x = variable(device, [2.0])
    y = x * 3
    seen = []
    for v in (x, y):
        v.register_hook(lambda g, v=v: seen.append((v, values(g), type(g))))
    (y * 10 + y * 100).backward()
    assert seen == [(y, [110.0], Variable), (x, [330.0], Variable)]
    assert values(x.grad) == [330.0]


def test_a_gradient_hook_may_replace_the_gradient(device):
    x = variable(device, [2.0])
    y = x * 3
    y.register_hook(lambda g: g * 2)
    y.register_hook(lambda g: array(device, [values(g)[0] + 1]))  # an array is accepted
    z = y * 10
    z.backward(retain_grad=True)
    assert values(y.grad) == [21.0]
    assert values(x.grad) == [63.0]
    x.register_hook(lambda g: g * 0 + 5)
    (gx,) = xpgrad.grad([z], [x])
    assert values(gx) == [5.0]
    z.backward()
    assert values(x.grad) == [68.0]


def test_a_gradient_hook_is_removed(device):
    x = variable(device, [2.0])
    seen = []
    remove, keep = x.register_hook(lambda g: seen.append(1)), x.register_hook(lambda g: seen.append(2))
    (x * x).backward()
    remove()
    remove()
    (x * x).backward()
    assert seen == [1, 2, 2]
    keep()


def test_a_gradient_hook_in_a_recorded_sweep(device):
    x = variable(device, [2.0])
    y = x * x
    y.register_hook(lambda g: g * g)
    z = y * y  # dz/dy = 2y, squared 4y², so dz/dx is seen as 4x⁴·2x = 8x⁵
    (gx,) = xpgrad.grad([z], [x], enable_double_backprop=True)
    assert values(gx) == [8 * 32.0]
    assert values(xpgrad.grad([gx], [x])[0]) != [0.0]


def test_the_results_of_gradient_hooks_are_recorded(device):
    x = variable(device, [2.0])
    x.register_hook(lambda g: g * x)
    (gx,) = xpgrad.grad([x * x], [x], enable_double_backprop=True)
    assert values(gx) == [8.0]  # 2x·x
    x2 = variable(device, [2.0])
    x2.register_hook(lambda g: None)
    (gx,) = xpgrad.grad([x2 * x2 * x2], [x2], enable_double_backprop=True)
    assert values(xpgrad.grad([gx], [x2])[0]) == [12.0]


@pytest.mark.parametrize("build", [lambda x: x * 1, lambda x: Product().apply((x, x))[0], lambda x: x])
def test_result_of_a_gradient_hook_is_validated(device, build):
    x = variable(device, [2.0, 3.0])
    y = build(x)
    remove = y.register_hook(lambda g: variable(device, [1.0]))
    with pytest.raises(GradientError, match=r"register_hook: .*\(2,\), float32 returned float32 \(1,\)"):
        (y * 2).sum().backward()
    remove()
    y.register_hook(lambda g: 1.0)
    with pytest.raises(TypeError):
        (y * 2).sum().backward()
    assert x.grad is None


def test_a_gradient_hook_stays_on_its_device():
    x = variable(xpgrad.get_device("@strict:cpu"), [2.0])
    x.register_hook(lambda g: variable(xpgrad.get_device("@strict:device1"), [1.0]))
    with pytest.raises((GradientError, DeviceMismatch), match="device1"):
        (x * 2).backward()


def test_a_gradient_hook_must_be_callable(device):
    with pytest.raises(TypeError, match="expected a function, got str"):
        variable(device, [1.0]).register_hook("hook")


def test_a_gradient_hook_may_keep_its_argument(device):
    x = variable(device, [2.0, 3.0])
    y = x + 1
    kept = []
    y.register_hook(kept.append)
    x.register_hook(kept.append)
    (y * 5).sum().backward()
    (x * 7).sum().backward()
    assert [values(g) for g in kept] == [[5.0, 5.0], [5.0, 5.0], [7.0, 7.0]]
    assert values(x.grad) == [12.0, 12.0]


def test_a_gradient_hook_survives_a_move_and_a_new_array():
    first, second = xpgrad.get_device("@strict:cpu"), xpgrad.get_device("@strict:device1")
    x = variable(first, [2.0])
    seen = []
    x.register_hook(lambda g: seen.append((g.device.name, values(g))))
    x.to_device(second)
    (x * 3).backward()
    x.array = array(second, [1.0, 2.0])
    (x * 3).sum().backward()
    assert seen == [("@strict:device1", [3.0]), ("@strict:device1", [3.0, 3.0])]


def test_a_hook_gets_the_computed_arrays(device):
    class Results(FunctionHook):
        name = "Results"

        def __init__(self):
            self.seen = []

        def computed(self, function, which, results):
            self.seen.append((function.label, which, [tuple(y.shape) for y in results]))

    x = variable(device, [[1.0, 2.0, 3.0]] * 2)
    with Results() as hook:
        y = (x * 2).sum()
        y.backward()
    assert hook.seen == [
        ("_ * 2", "forward", [(2, 3)]),
        ("sum", "forward", [()]),
        ("sum", "backward", [(2, 3)]),
        ("_ * 2", "backward", [(2, 3)]),
    ]
