"""How Variables print."""

import numpy as np
import pytest
from tests.building import array, variable

from xpgrad import Parameter, Variable


def test_repr_and_str(device):
    x = variable(device, [[0.0, 12.0, 27.0], [48.0, 75.0, 108.0]])
    assert repr(x) == "variable([[  0.,  12.,  27.],\n          [ 48.,  75., 108.]])"
    assert str(x) == "variable([[  0.  12.  27.]\n          [ 48.  75. 108.]])"


def test_the_name_is_shown_and_lines_stay_aligned(device):
    x = variable(device, [[1, 2], [3, 4]], "int32", name="xyz")
    assert repr(x) == "variable xyz([[1, 2],\n              [3, 4]])"
    assert str(x) == "variable xyz([[1 2]\n              [3 4]])"


def test_0d_and_empty(device):
    assert repr(variable(device, 3.0)) == str(variable(device, 3.0)) == "variable(3.)"
    assert repr(variable(device, np.zeros((0, 2)))) == "variable([], shape=(0, 2))"
    assert str(variable(device, np.zeros((0, 2)))) == "variable([])"
    assert repr(variable(device, np.zeros((0, 0)), name="e")) == "variable e([], shape=(0, 0))"


def test_uninitialised():
    assert repr(Variable(None)) == str(Variable(None)) == "variable(None)"
    assert repr(Parameter(name="W")) == "variable W(None)"


def test_complex_and_bool(device):
    assert repr(variable(device, [1 + 2j], "complex64")) == "variable([1.+2.j])"
    assert repr(variable(device, [True, False], "bool")) == "variable([ True, False])"


def test_printing_a_variable_in_a_graph_is_harmless(device):
    x = variable(device, [1.0])
    assert repr(x * 2) == "variable([2.])"


def test_labels(device):
    assert variable(device, [[1.0]]).label == "(1, 1), float32"
    assert variable(device, 1.0, "float64").label == "float64"
    assert variable(device, [1.0]).node.label == "(1,), float32"
    assert Variable(None).label == "uninitialised"


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
