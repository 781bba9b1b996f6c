"""AttributeError messages of a Variable."""

import pickle
import sys

import numpy as np
import pytest

import xpgrad
from xpgrad import Variable, functions, ops
from xpgrad.interop.attributes import ADVICE, OF_FUNCTIONS, OF_OPS, table
from xpgrad.testing.arrays import placed

X = np.array([[0.3, 0.7], [1.1, 0.2]])


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("softmax", r"xpgrad\.functions\.softmax\(v\)"),
        ("relu", r"xpgrad\.functions\.relu\(v\)"),
        ("exp", r"xpgrad\.array_api\.exp\(v\)"),
        ("inv", r"xpgrad\.array_api\.linalg\.inv\(v\)"),
        ("median", r"xpgrad\.ops\.median\(v\)"),
        ("sort", r"xpgrad\.array_api\.sort\(v\), which returns a new array"),
        ("fill", r"v\[\.\.\.\] = value"),
        ("unsqueeze", r"xpgrad\.array_api\.expand_dims\(v, axis=axis\)"),
        ("strides", r"v\.array\.strides"),
    ],
)
def test_an_attribute_error_names_the_function(name, advice):
    for v in (Variable(X), xpgrad.Parameter(X.copy())):
        title = type(v).__name__
        with pytest.raises(AttributeError, match=f"^'{title}' object has no attribute '{name}'; use {advice}$"):
            getattr(v, name)
        assert not hasattr(v, name)
        assert not hasattr(type(v), name)
        assert name not in dir(v)


def test_every_function_that_is_named_exists():
    places = {"xpgrad": xpgrad, "np": np}
    for name, advice in table().items():
        if advice.endswith(f".{name}(v)"):
            assert callable(eval(advice.removesuffix("(v)"), places)), name
    assert set(OF_OPS) <= set(ops.__all__)
    assert set(OF_FUNCTIONS) <= set(functions.__all__)


CALLED = {
    name: advice.partition(",")[0] if advice.count("(") == advice.partition(",")[0].count(")") else advice
    for name, advice in ADVICE.items()
    if name not in ("cuda", "to")
    and " = " not in advice
    and advice.startswith("v.")
    and "array" not in advice
    and "dtype" not in advice
}


@pytest.mark.parametrize("name", CALLED)
def test_suggested_attributes_exist(name):
    names = {"v": Variable(X), "shape": (4,), "axes": (1, 0), "u": Variable(X)}
    eval(CALLED[name], names)


def test_python_suggests_a_method_of_nearly_that_name(capsys):
    with pytest.raises(AttributeError) as caught:
        Variable(X).reshap  # noqa: B018 - it raises
    sys.__excepthook__(caught.type, caught.value, caught.tb)
    assert "Did you mean: 'reshape'?" in capsys.readouterr().err


def test_methods_are_listed_and_uninitialised_variables_say_so():
    assert {"reshape", "cumsum", "detach", "array", "backward"} <= set(dir(Variable(X)))
    with pytest.raises(AttributeError, match="uninitialised"):
        Variable().shape  # noqa: B018 - it raises


def test_a_subclass_may_have_attributes_of_these_names(device):
    class Named(Variable):
        __slots__ = ("at",)
        softmax = "mine"

    v = Named(placed(X, device))
    v.at = 3
    assert (v.softmax, v.at) == ("mine", 3)
    assert "softmax" in dir(v)


def test_pickles_and_copies_are_as_before():
    v = pickle.loads(pickle.dumps(Variable(X)))
    assert v.array.tolist() == X.tolist()
