"""Debug mode: NaNs, changed arrays, and the lines of the forward computation in errors."""

import importlib

import numpy as np
import pytest
from tests.building import array, values, variable

import xpgrad
from xpgrad import Function, FunctionNode, Variable, using_config
from xpgrad.config import GUARDED, switches
from xpgrad.errors import ChangedArray, NotANumber


@pytest.fixture
def debug():
    with using_config("debug", True):
        yield


class Product(FunctionNode):
    def forward(self, inputs):
        self.retain_inputs((0, 1))
        return (inputs[0] * inputs[1],)

    def backward(self, target_input_indexes, grad_outputs):
        a, b = self.get_retained_inputs()
        return tuple(grad_outputs[0] * (b, a)[i] for i in target_input_indexes)


class NanBackward(FunctionNode):
    def __init__(self, gradient):
        self.gradient = gradient

    def forward(self, inputs):
        return (inputs[0] * 1,)

    def backward(self, target_input_indexes, grad_outputs):
        return (Variable(self.gradient, requires_grad=False),)  # without an operation that would be checked separately


class Failing(FunctionNode):
    def __init__(self, error):
        self.error = error

    def forward(self, inputs):
        return (inputs[0] * 1,)

    def backward(self, target_input_indexes, grad_outputs):
        raise self.error


class OldSquare(Function):
    def forward(self, inputs):
        return (inputs[0] * inputs[0],)

    def backward(self, inputs, grad_outputs):
        return (2 * inputs[0] * grad_outputs[0],)


def primitive(a, b):
    return a * b


def function_node(a, b):
    return Product().apply((a, b))[0]


BOTH = pytest.mark.parametrize("product", [primitive, function_node])


# Stacks


@pytest.mark.usefixtures("debug")
@BOTH
def test_functions_know_where_they_were_applied(device, product):
    x = variable(device, [2.0])
    f = product(x, x).creator_node
    assert f.stack[-1].name == product.__name__
    assert f.stack[-1].filename == __file__
    assert f.stack[-2].name == "test_functions_know_where_they_were_applied"


@BOTH
def test_functions_do_not_check_outside_debug_mode(device, product):
    x = variable(device, [2.0])
    assert product(x, x).creator_node.stack is None


@pytest.mark.usefixtures("debug")
@pytest.mark.parametrize("error", [ValueError("mine"), KeyError("mine", 2), ZeroDivisionError()])
@pytest.mark.parametrize("start", ["backward", "grad"])
def test_errors_of_backward_show_the_forward_line(device, error, start):
    x = variable(device, [1.0])
    (y,) = Failing(type(error)(*error.args)).apply((x,))
    with pytest.raises(type(error)) as caught:
        y.backward() if start == "backward" else xpgrad.grad([y], [x])
    text = str(caught.value.args[0])
    assert text.startswith("mine" if error.args else "")
    assert "Stacktrace of the function is below" in text
    assert "(y,) = Failing(type(error)(*error.args)).apply((x,))" in text
    assert caught.value.args[1:] == error.args[1:]


class Misfit(FunctionNode):
    """Its gradient has another shape than its input."""

    def forward(self, xs):
        return (xs[0] * 2,)

    def backward(self, indexes, gys):
        return (gys[0][:1],)


@pytest.mark.parametrize("kind", ["raised", "misfit", "primitive"])
def test_errors_of_backward_say_how_to_see_the_forward_line_without_debug_mode(device, kind):
    def broken(xp, gy, x):
        raise ValueError("mine")

    @xpgrad.primitive(x=broken)
    def squared(xp, x, /):
        return x * x

    x = variable(device, [1.0, 2.0])
    apply = {
        "raised": lambda: Failing(ValueError("mine")).apply((x,))[0],
        "misfit": lambda: Misfit().apply((x,))[0],
        "primitive": lambda: squared(x),
    }[kind]
    for recorded in (False, True):
        with pytest.raises(ValueError, match=r"mine|shape of gradients") as caught:
            (apply() * 3).sum().backward(enable_double_backprop=recorded)
        (note,) = [each for each in caught.value.__notes__ if "backward computation" in each]
        assert "xpgrad.set_debug(True)" in note
    with using_config("debug", True), pytest.raises(ValueError, match=r"Stacktrace(.|\n)*apply\(\)"):
        (apply() * 3).sum().backward()


# NaN


@pytest.mark.usefixtures("debug")
@BOTH
def test_a_nan_in_forward_names_the_function(device, product):
    x = variable(device, [float("nan"), 1.0])
    label = r"_ \* _" if product is primitive else "Product"
    with pytest.raises(NotANumber, match=f"(?s)NaN is detected on forward computation of {label}\n.*return "):
        product(x, x)
    assert issubclass(NotANumber, RuntimeError)


@pytest.mark.usefixtures("debug")
def test_a_nan_in_forward_of_an_old_style_function(device):
    with pytest.raises(RuntimeError, match="NaN is detected on forward computation of OldSquare"):
        OldSquare()(variable(device, [float("nan")]))


@pytest.mark.usefixtures("debug")
@pytest.mark.parametrize("start", ["backward", "grad", "recorded"])
@pytest.mark.parametrize("shape", [(), (2,)])
def test_a_nan_in_backward_names_the_function(device, start, shape):
    x = variable(device, np.ones(shape))
    (y,) = NanBackward(array(device, np.full(shape, np.nan))).apply((x,))
    z = (y * 2).sum()
    with pytest.raises(
        NotANumber, match=r"(?s)NaN is detected on backward computation of NanBackward.*Stacktrace.*NanBackward"
    ):
        z.backward(enable_double_backprop=start == "recorded") if start != "grad" else xpgrad.grad([z], [x])
    assert x.grad is None


@pytest.mark.usefixtures("debug")
@pytest.mark.parametrize("shape", [(), (2,)])
def test_a_nan_in_the_rule_of_a_primitive(device, shape):
    x = variable(device, np.zeros(shape))
    y = (x**0.5 * 0).sum()  # the derivative at 0 is 0 * inf
    with (
        np.errstate(divide="ignore", invalid="ignore"),
        pytest.raises(NotANumber, match=r"backward computation of _ \*\* 0\.5"),
    ):
        y.backward()
    assert x.grad is None


def test_nans_pass_outside_debug_mode(device):
    x = variable(device, [float("nan")])
    (x * x).backward()
    assert np.isnan(values(x.grad)).all()


@pytest.mark.usefixtures("debug")
def test_integers_and_infinities_are_no_nans(device):
    n = variable(device, [1], "int32") * 2
    x = variable(device, [float("inf")]) * 2
    x.backward()
    assert values(n) == [2]


# Changed arrays: rule 8


USES = {
    "product": (lambda xp, x: x * x, "_ [*] _"),
    "scalar": (lambda xp, x: 2.0 / x, "2.0 / _"),
    "array on the left": (lambda xp, x: xp.divide(1.0, x), "1.0 / _"),
    "unary": (lambda xp, x: xp.sin(x), "sin"),
    "several": (lambda xp, x: xp.where(x > 0, x * x, x), "_ [*] _"),
    "rows": (lambda xp, x: x[:1] * x[1:], "_ [*] _"),
    "matrix": (lambda xp, x: xp.vecdot(x, x), "vecdot"),
    "parameters": (lambda xp, x: xp.prod(x), "prod"),
    "recorded": (lambda xp, x: xpgrad.grad([xp.sum(x * x * x)], [x], enable_double_backprop=True)[0], "_ [*] _"),
    "node": (lambda xp, x: Product().apply((x, x))[0], "Product"),
    "old style": (lambda xp, x: OldSquare()(x), "OldSquare"),
    "checkpoint": (lambda xp, x: xpgrad.transforms.checkpoint(lambda v: v * v)(x), "checkpoint of <lambda>"),
}


@pytest.mark.parametrize("mode", ["debug", "detect_mutation"])
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("start", ["backward", "grad", "recorded"])
def test_the_function_that_retained_a_changed_array_is_named(device, mode, use, start):
    function, label = USES[use]
    a = array(device, [2.0, 3.0])
    x = Variable(a)
    with using_config("detect_mutation", False), using_config(mode, True):
        y = function(x.__array_namespace__(), x).sum()
    a[...] = array(device, [5.0, 7.0])
    text = rf"(?s){label}: an array .*changed in place.*Stacktrace.*function\(" if mode == "debug" else label
    with using_config("debug", mode == "debug"), pytest.raises(ChangedArray, match=text):
        y.backward(enable_double_backprop=start == "recorded") if start != "grad" else xpgrad.grad([y], [x])
    assert x.grad is None
    a[...] = array(device, [2.0, 3.0])
    y.backward(enable_double_backprop=start == "recorded")
    assert x.grad is not None


def test_detection_of_mutations_takes_the_call_paths_that_run_without_it(device, monkeypatch):
    def general(definition, *rest):
        raise AssertionError(definition.name)

    x, z = variable(device, [2.0, 3.0]), variable(device, [5.0, 7.0])
    xp = x.__array_namespace__()

    def compute():
        return [x * z, 2.0 * x, xp.exp(x), x[0], xp.sum(x, axis=0), xp.concat([x, z]), xp.where(x > 0, x, z)]

    compute()
    for module in ("calls", "parameterised", "n_ary", "general"):
        path = importlib.import_module(f"xpgrad.graph.{module}")
        guarded = path.apply
        monkeypatch.setattr(
            path, "apply", lambda *args, general=general, guarded=guarded: (
                guarded if switches().mode & GUARDED else general
            )(*args),
        )  # fmt: skip
    with using_config("detect_mutation", True):
        made = compute()
    assert [values(y) for y in made] == [values(y) for y in compute()]


def test_detection_of_mutations_keeps_other_errors(device):
    x = variable(device, [2.0])
    with using_config("detect_mutation", True):
        assert x.__add__(object()) is NotImplemented
        assert x.__radd__(object()) is NotImplemented
        with pytest.raises(xpgrad.ShapeError):
            variable(device, [1.0, 2.0]) * variable(device, [1.0, 2.0, 3.0])
        with xpgrad.no_backprop_mode():
            assert (x * x).creator_node is None
        assert switches().mode & GUARDED


def test_hooks_of_one_function_and_its_guards_do_not_exclude_each_other(device):
    seen = []

    class Hook(xpgrad.FunctionHook):
        def backward_preprocess(self, function, in_data, out_grad):
            seen.append(function.label)

    a = array(device, [2.0])
    x = Variable(a)
    with using_config("detect_mutation", True):
        y = x * x
    y.creator_node.add_hook(Hook())
    a[0] = 3.0
    with pytest.raises(ChangedArray):
        y.backward()
    assert seen == []
    a[0] = 2.0
    xpgrad.grad([y], [x])
    assert seen == ["_ * _"]


@pytest.mark.usefixtures("debug")
def test_a_kept_output_that_was_changed_is_detected(device):
    x = variable(device, [0.5])
    y = x.__array_namespace__().tanh(x)
    y.array[0] = 0.0
    with pytest.raises(ChangedArray, match="tanh"):
        y.backward()


@pytest.mark.usefixtures("debug")
def test_an_array_that_was_not_kept_may_be_changed(device):
    a = array(device, [2.0])
    x = Variable(a)
    y = x + 1
    a[0] = 100.0
    y.backward()
    assert values(x.grad) == [1.0]


@pytest.mark.usefixtures("debug")
def test_a_kept_nan_counts_as_unchanged(device):
    with using_config("debug", False):
        x = variable(device, [float("nan"), 1.0])
    with using_config("debug", True):
        xp = x.__array_namespace__()
        y = xp.where(xp.isnan(x), xp.zeros_like(x), x) * 2
        y.sum().backward()
    assert values(x.grad) == [0.0, 2.0]


@pytest.mark.usefixtures("debug")
def test_results_in_debug_mode_are_those_without(device):
    def compute():
        x, z = variable(device, [2.0, 3.0]), variable(device, [5.0, 7.0])
        y = (2 * x * z - x / z + z**3 - 1).sum()
        gx, gz = xpgrad.grad([y], [x, z], enable_double_backprop=True)
        (gx * gz).sum().backward()
        return values(gx), values(gz), values(x.grad), values(z.grad)

    inside = compute()
    with using_config("debug", False):
        assert compute() == inside


@pytest.mark.usefixtures("debug")
def test_retain_graph_false_in_debug_mode(device):
    x = variable(device, [2.0])
    y = x * x
    y.backward(retain_graph=False)
    assert values(x.grad) == [4.0]
    with pytest.raises(RuntimeError, match="retain_graph"):
        y.backward()


def test_a_graph_made_outside_is_swept_in_debug_mode(device):
    x = variable(device, [2.0])
    y = x * x
    with using_config("debug", True):
        y.backward()
    assert values(x.grad) == [4.0]
