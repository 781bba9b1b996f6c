"""The operators and methods of a Variable: declarations are bound, including the forms that Chainer supports."""

import inspect

import array_api_strict
import numpy as np
import pytest

import xpgrad
from xpgrad import Variable
from xpgrad.array_api import array_object
from xpgrad.array_api.array_object import METHODS
from xpgrad.errors import ShapeError
from xpgrad.graph.methods.declared import Declared, bind
from xpgrad.testing.arrays import on_host, placed

OF_EVERY_CLASS = {"__module__", "__doc__", "__slots__", "__hash__", "__qualname__"}
OF_EVERY_CLASS |= {"__firstlineno__", "__static_attributes__"}  # from Python 3.13 on
DECLARED = {name: value for name, value in vars(Declared).items() if name not in OF_EVERY_CLASS}


def variable(device, shape=(2, 3, 4), **options):
    return Variable(placed(np.arange(float(np.prod(shape))).reshape(shape), device), **options)


def bound_names(monkeypatch):
    names = set()
    with monkeypatch.context() as patch:
        patch.setattr(array_object, "_set", lambda name, function: names.add(name))
        array_object.bind()
    return names


HOMES = "xpgrad.graph.", "xpgrad.utils.pictures"


def test_declared_operators_are_bound_once(monkeypatch):
    functions = bound_names(monkeypatch)
    elsewhere = {name for name in DECLARED if name not in functions}
    for name in DECLARED:
        assert name in vars(Variable), name
    assert {"backward", "to_device", "to_gpu", "copydata", "__deepcopy__", "__repr__"} <= elsewhere
    for name in elsewhere:  # by `bind`, which leaves the documentation of the declaration on the function
        assert vars(Variable)[name].__qualname__ == f"Variable.{name}"
        assert vars(Variable)[name].__module__.startswith(HOMES), name
        assert DECLARED[name].__doc__ is None or vars(Variable)[name].__doc__ == DECLARED[name].__doc__


def test_only_declared_operators_are_bound():
    with pytest.raises(KeyError, match="to_moon"):
        bind(Variable, {"to_moon": lambda x: x})
    assert not hasattr(Variable, "to_moon")


OTHERS = "backward", "to_device", "to_cpu", "to_gpu", "to_chx", "from_chx", "to_intel64", "summary", "debug_print"


@pytest.mark.parametrize("name", sorted({*METHODS, *OTHERS}))
def test_declared_and_bound_parameters_agree(name):
    declared, bound = DECLARED[name], METHODS.get(name) or vars(Variable)[name]
    if isinstance(declared, property):
        assert isinstance(bound, property)
        return
    wanted, given = (inspect.signature(each).parameters.values() for each in (declared, bound))
    assert [(p.name, p.kind, p.default) for p in list(wanted)[1:]] == [
        (p.name, p.kind, p.default) for p in list(given)[1:]
    ]


def test_a_variable_has_the_methods_of_the_standards_array():
    standard = type(array_api_strict.asarray(1.0))
    in_place = {f"__i{name[2:-2]}__" for name in DECLARED} | {"__imatmul__"}  # Python makes them of the plain ones
    names = [n for n in vars(standard) if not n.startswith("_") or n.startswith("__")]
    names = [n for n in names if n not in OF_EVERY_CLASS | in_place | {"__new__", "__buffer__", "__dict__"}]
    assert {"__dlpack__", "__index__", "mT", "to_device", "__rmatmul__", "__array_namespace__"} <= set(names)
    for name in names:
        given, wanted = getattr(Variable, name), getattr(standard, name)
        if inspect.isfunction(wanted) and name not in ("__repr__", "__str__", "__hash__", "__init__", "__array__"):
            parameters = [list(inspect.signature(each).parameters.values())[1:] for each in (wanted, given)]
            assert [p.name for p in parameters[0] if p.kind is p.KEYWORD_ONLY] == [
                p.name
                for p in parameters[1]
                if p.kind is p.KEYWORD_ONLY and (p.name != "stream" or name == "__dlpack__")
            ]
            assert sum(p.kind is p.POSITIONAL_ONLY for p in parameters[0]) == sum(
                p.kind is p.POSITIONAL_ONLY for p in parameters[1]
            ), name


def test_transpose_takes_axes_in_every_form(device):
    x = variable(device)
    assert x.T.shape == x.transpose().shape == x.transpose(None).shape == (4, 3, 2)
    assert x.transpose(1, 2, 0).shape == x.transpose((1, 2, 0)).shape == x.transpose([1, -1, 0]).shape == (3, 4, 2)
    assert x.mT.shape == (2, 4, 3)
    assert variable(device, (2, 3)).T.shape == (3, 2)
    assert variable(device, (3,)).T.shape == (3,)


def test_reshape_takes_lengths_in_every_form(device):
    x = variable(device)
    assert x.reshape(6, -1).shape == x.reshape((6, 4)).shape == x.reshape([-1, 4]).shape == (6, 4)
    assert x.reshape(24).shape == x.flatten().shape == (24,)
    assert variable(device, (1,)).reshape(()).shape == variable(device, (1, 1)).squeeze().shape == ()
    assert variable(device, (1, 3, 1)).squeeze(-1).shape == (1, 3)
    with pytest.raises(ShapeError, match="reshape"):
        x.reshape(5, 5)


def test_reductions_take_the_axis_by_position(device):
    x = variable(device)
    for name in ("sum", "mean", "max", "min", "prod", "var", "std"):
        method, function = getattr(x, name), getattr(xpgrad.array_api, name)
        assert method().shape == ()
        assert method(1).shape == method(axis=1).shape == function(x, 1).shape == (2, 4)
        assert method((0, -1), keepdims=True).shape == (1, 3, 1)


def test_mean_takes_weights(device):
    x, w = variable(device, (2, 3)), variable(device, (3,), requires_grad=False)
    y = x.mean(1, weights=w)
    assert on_host(y).tolist() == [5 / 3, 14 / 3]
    y.sum().backward()
    np.testing.assert_allclose(on_host(x.grad), [[0, 1 / 3, 2 / 3]] * 2)
    with pytest.raises(ShapeError, match=r"average: expected weights of shape \(2, 3\) or \(2,\), got \(3,\)"):
        x.mean(0, weights=w)


def test_methods_work_on_parameters(device):
    p = xpgrad.Parameter(placed(np.ones((2, 3)), device))
    (p[0] @ p.T).sum().backward()
    assert on_host(p.grad).tolist() == [[3, 3, 3], [1, 1, 1]]


def test_raw_array_on_either_side_of_a_product(device):
    x = variable(device, (2, 3))
    raw = placed(np.ones((3, 2)), device)
    assert (x @ raw).shape == (2, 2)
    if device.backend.name == "numpy":
        assert isinstance(raw @ x, Variable)


def test_matmul_of_shapes_that_do_not_fit_raises_a_clear_error(device):
    x = variable(device, (2, 4))
    expected = r"matmul: a has 4 columns but b has 3 rows; got a \(2, 4\), b \(3, 5\), float64 on"
    with pytest.raises(ShapeError, match=expected):
        x @ variable(device, (3, 5))
    with pytest.raises((ShapeError, TypeError)):
        x @ 2.0


def test_unknown_parameter_is_a_type_error_of_the_function(device):
    x = variable(device)
    with pytest.raises(TypeError, match=r"sum\(x, /, axis=None, \*, dtype=None, keepdims=False\)"):
        xpgrad.array_api.sum(x, axes=1)
    with pytest.raises(TypeError, match="sum"):
        xpgrad.array_api.sum()
    with pytest.raises(TypeError, match="sum"):
        xpgrad.array_api.sum(x, 1, None)
    with pytest.raises(TypeError, match="sum"):
        xpgrad.array_api.sum(x, 1, axis=1)
    with pytest.raises(TypeError, match="reshape"):
        xpgrad.array_api.reshape(x)
    with pytest.raises(TypeError, match="concat"):
        xpgrad.array_api.concat([x], 0)


def test_wrong_axis_is_an_error_that_names_the_function(device):
    x = variable(device)
    for call in (lambda: x.sum(3), lambda: xpgrad.array_api.flip(x, axis=5), lambda: x.transpose(0, 1)):
        with pytest.raises((ValueError, IndexError), match=r"sum|flip|transpose"):
            call()
