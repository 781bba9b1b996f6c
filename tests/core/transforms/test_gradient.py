"""`grad` and `value_and_grad`: trees, types of the results, nesting, errors."""

import gc
import weakref
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from tests.building import array, place, values, variable

import xpgrad
from xpgrad import Variable, transforms
from xpgrad import array_api as xp
from xpgrad.errors import DtypeError, GradientError, UnknownArray
from xpgrad.transforms import grad, value_and_grad


def cube(x):
    return xp.sum(x**3)


@dataclass
class Model:
    w: Any
    b: Any


def test_arrays_give_arrays(device):
    x = array(device, [1.0, 2.0])
    value, gradient = value_and_grad(cube)(x)
    assert place(gradient) == place(x)
    assert type(value) is type(x)
    assert (values(value), values(gradient), values(grad(cube)(x))) == (9.0, [3.0, 12.0], [3.0, 12.0])


def test_variables_give_connected_variables(device):
    x = variable(device, [1.0, 2.0])
    gradient = grad(cube)(x)
    assert isinstance(gradient, Variable)
    assert x.grad is None
    xp.sum(gradient).backward()
    assert values(x.grad) == [6.0, 12.0]


def test_variables_that_require_no_gradient_give_constants(device):
    value, gradient = value_and_grad(cube)(variable(device, [1.0], requires_grad=False))
    assert isinstance(gradient, Variable)
    assert gradient.creator is None
    assert value.creator is None


def test_without_a_graph_the_results_are_constants(device):
    with xpgrad.no_backprop_mode():
        gradient = grad(cube)(variable(device, [2.0]))
    assert values(gradient) == [12.0]
    assert not gradient.requires_grad


@pytest.mark.parametrize("x", [0.5, np.float64(0.5)])
def test_scalars_become_arrays(x):
    gradient = grad(lambda x: x**3)(x)
    assert type(gradient) is np.ndarray
    assert gradient.shape == ()
    assert gradient == 0.75


def test_the_argument_differs_from_a_captured_variable(device):
    x = variable(device, [3.0])
    assert values(grad(lambda y: xp.sum(x * y))(x)) == [3.0]
    assert values(grad(lambda y: xp.sum(grad(lambda z: xp.sum(z * z * y))(y)))(x)) == [12.0]


def test_an_outer_transform_sees_through_an_inner_one_of_plain_arrays(device):
    w = array(device, 3.0)
    outer = grad(lambda p: grad(lambda w: w * w * p)(w))
    assert values(outer(array(device, 5.0))) == 6.0


def test_one_variable_as_two_arguments(device):
    x = variable(device, [2.0])
    first, second = grad(lambda a, b: xp.sum(a * a * b), argnums=(0, 1))(x, x)
    assert (values(first), values(second)) == ([8.0], [4.0])


def test_trees(device):
    model = {"layers": [Model(array(device, [1.0, 2.0]), array(device, 0.5)), None], "count": array(device, 3, "int32")}

    def loss(model, scale=1):
        layer = model["layers"][0]
        return scale * xp.sum(layer.w * layer.w) + layer.b

    gradient = grad(loss)(model, scale=2)
    assert isinstance(gradient["layers"][0], Model)
    assert (values(gradient["layers"][0].w), values(gradient["layers"][0].b)) == ([4.0, 8.0], 1.0)
    assert gradient["layers"][1] is None
    assert gradient["count"] is None


@pytest.mark.parametrize(("argnums", "expected"), [(1, 2.0), (-1, 2.0), ((1, 0), (2.0, 5.0)), ([0], (5.0,))])
def test_argnums(device, argnums, expected):
    found = grad(xp.multiply, argnums)(array(device, 2.0), array(device, 5.0))
    assert (tuple(map(values, found)) if isinstance(found, tuple) else values(found)) == expected


def test_what_does_not_matter_gets_zeros(device):
    unused = array(device, [1.0, 2.0])
    found = grad(lambda a, b: a, 1)(array(device, 2.0), unused)
    assert values(found) == [0.0, 0.0]
    assert place(found) == place(unused)
    assert values(grad(lambda a: 3.0)(unused)) == [0.0, 0.0]


def test_aux_is_handed_through(device):
    x = array(device, [1.0, 2.0])
    gradient, aux = grad(lambda x: (cube(x), {"y": x * 2, "text": "t"}), has_aux=True)(x)
    assert values(gradient) == [3.0, 12.0]
    assert type(aux["y"]) is type(x)
    assert aux["text"] == "t"
    (value, aux), _ = value_and_grad(lambda x: (cube(x), 7), has_aux=True)(x)
    assert (values(value), aux) == (9.0, 7)


def test_gradient_leaves_no_state(device):
    x = variable(device, [1.0, 2.0])
    kept = weakref.ref(x)
    gradient = grad(cube)(x)
    assert (x.grad, x.creator) == (None, None)
    gc.disable()
    del x, gradient
    assert kept() is None
    gc.enable()


def test_the_function_runs_once_a_call(device):
    calls = []
    found = value_and_grad(lambda x: (calls.append(1), xp.sum(x))[1])(array(device, [1.0]))
    assert len(calls) == 1
    assert values(found[1]) == [1.0]


def test_gradient_has_the_name_of_the_function():
    assert grad(cube).__name__ == "cube"
    assert "cube" in grad(cube).__doc__


@pytest.mark.parametrize(
    ("f", "x", "error", "text"),
    [
        (lambda x: x, [1.0, 2.0], GradientError, r"the function must return one number, got shape \(2,\)"),
        (lambda x: x * 1j, [], DtypeError, "the function must return a real number, .* or pass holomorphic=True"),
        (lambda x: (x, x), [], TypeError, "the function must return one number, got tuple; .*has_aux"),
        (lambda x: None, [], TypeError, ".*got NoneType"),
        (lambda x: "text", [], UnknownArray, "what the function returned: expected an array"),
        (xp.sum, 3, DtypeError, "argument 0: integers and booleans have no gradient, got int64"),
        (xp.sum, "text", UnknownArray, "argument 0: expected an array"),
        (xp.sum, {"a": [1.0, "text"]}, UnknownArray, r"argument 0 at \['a'\]\[1\]: expected an array"),
        (xp.sum, Variable(), UnknownArray, "argument 0: the Variable is uninitialised"),
    ],
)
def test_wrong_results_and_arguments_are_named(device, f, x, error, text):
    given = array(device, x or 1.0, "float64") if isinstance(x, list) else x
    with pytest.raises(error, match=f"grad: {text}"):
        grad(f)(given)


def test_wrong_calls_raise():
    with pytest.raises(TypeError, match="grad: expected a function, got int"):
        grad(3)
    with pytest.raises(ValueError, match="argnums names argument 1, but 1 positional"):
        grad(cube, 1)(1.0)
    with pytest.raises(TypeError, match=r"must return \(output, aux\), got Variable"):
        grad(cube, has_aux=True)(np.ones(2))


def test_everything_is_listed():
    assert all(hasattr(transforms, name) for name in transforms.__all__)
    assert xpgrad.transforms is transforms


@pytest.mark.parametrize("argnums", ["y", 1.0, None, ("y",)])
def test_argnums_that_are_no_integers_are_named(argnums: Any) -> None:
    for transform in (grad, value_and_grad, transforms.jacobian):
        with pytest.raises(TypeError, match=r"argnums must be an integer or a sequence of integers, got"):
            transform(lambda x, y: x * y, argnums)(1.0, 2.0)


def test_argnums_may_be_numpy_integers() -> None:
    assert grad(lambda x, y: x * y, np.int64(1))(3.0, 2.0) == 3.0
