"""How Variables print."""

import numpy as np
import pytest
from tests.building import array, variable
from tests.core.graph.nodes import node

import xpgrad
from xpgrad import Parameter, Variable
from xpgrad.graph.sweep import Sweep


def place(device):
    """The device as shown by `repr`: empty for the default device."""
    return "" if device.name == "@numpy" else f", device='{device.name}'"


def test_repr_and_str(device):
    x = variable(device, [[0.0, 12.0, 27.0], [48.0, 75.0, 108.0]])
    assert repr(x) == f"variable([[  0.,  12.,  27.],\n          [ 48.,  75., 108.]]{place(device)})"
    assert str(x) == "variable([[  0.  12.  27.]\n          [ 48.  75. 108.]])"


def test_the_name_is_shown_and_lines_stay_aligned(device):
    x = variable(device, [[1, 2], [3, 4]], "int32", name="xyz")
    assert repr(x) == f"variable xyz([[1, 2],\n              [3, 4]], dtype=int32{place(device)})"
    assert str(x) == "variable xyz([[1 2]\n              [3 4]])"


def test_0d_and_empty(device):
    assert str(variable(device, 3.0)) == "variable(3.)"
    assert repr(variable(device, 3.0)) == f"variable(3.{place(device)})"
    assert repr(variable(device, np.zeros((0, 2)))) == f"variable([], shape=(0, 2){place(device)})"
    assert str(variable(device, np.zeros((0, 2)))) == "variable([])"
    assert repr(variable(device, np.zeros((0, 0)), name="e")) == f"variable e([], shape=(0, 0){place(device)})"


def test_uninitialised():
    assert repr(Variable(None)) == str(Variable(None)) == "variable(None)"
    assert repr(Parameter(name="W")) == "variable W(None)"


def test_complex_and_bool(device):
    assert repr(variable(device, [1 + 2j], "complex64")) == f"variable([1.+2.j]{place(device)})"
    assert repr(variable(device, [True, False], "bool")) == f"variable([ True, False]{place(device)})"


@pytest.mark.parametrize(
    ("dtype", "shown"), [("float64", ""), ("int64", ""), ("int8", ", dtype=int8"), ("uint64", ", dtype=uint64")]
)
def test_dtype_is_shown_unless_it_is_a_default(device, dtype, shown):
    assert repr(variable(device, [1], dtype)).endswith(f"]{shown}{place(device)})")


def test_notebooks_show_the_facts_and_the_creator_of_a_variable(device):
    x = variable(device, [1.0], name="<x>")
    y = x * 2
    y.sum().backward()
    assert "&lt;x&gt;" in x._repr_html_()
    assert ">gradient</th>" in x._repr_html_()
    for fact in ("(1,)", "float32", device.name, "_ * 2"):
        assert f">{fact}</td>" in y._repr_html_()
    assert ">variable(None)</pre>" in Variable(None)._repr_html_()


def test_summary(device):
    x = variable(device, [1.0])
    assert x.summary() == f"<variable at 0x{id(x):x}>"
    x.name = "x"
    assert x.summary() == "<variable x>"


def test_debug_print(device):
    x = variable(device, [[1.0, 1.0], [7.0, 7.0]], name="x")
    lines = x.debug_print().splitlines()
    assert lines == [
        "<variable x>",
        f"- device: {'CPU' if device.backend.name == 'numpy' else device.name}",
        f"- backend: {type(x.array)}",
        "- shape: (2, 2)",
        "- dtype: float32",
        "- statistics: mean=4.00000000, std=3.00000000",
        "- grad: None",
    ]
    x.grad = array(device, np.zeros((2, 2)))
    assert x.debug_print().splitlines()[-1] == "- grad: 0"
    x.grad = array(device, [[1.0, 1.0], [2.0, 2.0]])
    assert x.debug_print().splitlines()[-1] == "- grad: mean=1.50000000, std=0.50000000"


@pytest.mark.parametrize(
    ("data", "dtype", "statistics"),
    [
        ([1, 3], "int32", "mean=2.00000000, std=1.00000000"),
        ([True, False], "bool", "mean=0.50000000, std=0.50000000"),
        ([3 + 4j, 0], "complex64", "mean=2.50000000, std=2.50000000"),
        (2.0, "float64", "mean=2.00000000, std=0.00000000"),
        ([], "float32", "no elements"),
    ],
)
def test_statistics_of_every_kind(device, data, dtype, statistics):
    assert f"- statistics: {statistics}" in variable(device, data, dtype).debug_print()


def test_debug_print_of_an_uninitialised_variable():
    for x in (Variable(None, name="x"), Parameter(name="x")):
        names = ("device", "backend", "shape", "dtype", "statistics", "grad")
        assert x.debug_print().splitlines() == ["<variable x>", *(f"- {name}: None" for name in names)]


def test_labels_of_functions(device):
    x, z = variable(device, [2.0]), variable(device, [3.0])
    labels = {
        "_ + _": x + z,
        "_ + 2": x + 2,
        "_ + (-2)": x + (-2),
        "_ * _": x * z,
        "_ - _": x - z,
        "2 - _": 2 - x,
        "_ / _": x / z,
        "_ ** _": x**z,
        "_ ** 3": x**3,
        "__neg__": -x,
        "|_|": abs(x),
        "_ @ _": x @ z,
        "_ * constant array": x * array(device, [5.0]),
        "2.5 / _": 2.5 / x,
    }
    assert {y.creator_node.label for y in labels.values()} == labels.keys()
    y = x * z
    f = y.creator_node
    assert f._impl_name == "multiply"
    y.backward(retain_graph=False)
    assert f.label == "a released function"
    f.unchain()
    assert f.label == "an unchained function"


def test_repr_of_nodes_functions_sweeps_hooks_and_backends(device) -> None:
    def label(self):
        raise RuntimeError

    x = variable(device, [1.0, 2.0], name="x")
    y = x * 2 + x
    assert repr(y.creator_node) == "<Application '_ + _': (2,), float32, (2,), float32; rank 1>"
    assert repr(y.node) == "<VariableNode: (2,), float32, rank 2, made by _ + _>"
    assert repr(x.node) == "<VariableNode x: (2,), float32>"
    assert repr(node("Untitled", label=property(label))) == "<Untitled 'Untitled': not applied>"
    assert repr(xpgrad.FunctionNode()) == "<FunctionNode 'FunctionNode': not applied>"
    assert repr(xpgrad.Function()) == "<Function 'Function'>"
    assert repr(object.__new__(type(y.creator_node))).startswith("<Application ")
    sweep = Sweep([(y.node, y.array)])
    assert repr(sweep) == "<Sweep: raw, from (2,), float32; 0 totals>"
    assert repr(sweep.run()).endswith("; 1 totals>")
    hook = node("Silent", xpgrad.FunctionHook)
    hook.name = "silent"
    with hook:
        assert repr(hook) == "<Silent 'silent', active>"
    assert repr(hook) == "<Silent 'silent'>"
    y.creator_node.unchain()
    assert repr(y.node) == "<VariableNode: (2,), float32>"
    assert repr(device.backend).startswith(f"<{type(device.backend).__name__} {device.backend.name}, ")
    assert repr(xpgrad.array_api.exp.definition) == "<Definition exp(x, /)>"
