"""Numbers taken from a graph: which of them raise a warning, its location, and its text."""

import contextlib
import gc
import logging
import math
import re
import warnings
import weakref

import numpy as np
import pytest
from tests.building import variable

import xpgrad
from xpgrad import GraphEndWarning, Variable
from xpgrad import array_api as xp
from xpgrad.transforms import checkpoint, custom_root, grad

ADVICE = {
    "sin": (math.sin, "apply a function of arrays, such as xpgrad.array_api.sin, to the Variable"),
    "float": (float, "compute with the Variable itself"),
}


def into_an_array(v, dtype=float):
    out = np.zeros(1, dtype)
    out[0] = v
    return out


TAKINGS = {
    "float": float,
    "int": int,
    "complex": complex,
    "item": lambda v: v.item(),
    "math": lambda v: math.sin(v),
    "element": into_an_array,
    "integer element": lambda v: into_an_array(v, int),
    "numpy scalar": lambda v: np.float64(v),
    "fill": lambda v: np.zeros(2).fill(v),
    "floor": lambda v: math.floor(v),
    "sum": lambda v: math.fsum([v, v]),
}
NOT_TAKINGS = {
    "bool": bool,
    "if": lambda v: 1 if v else 2,
    "comparison": lambda v: (v > 1, v == 2, v <= 3, bool(v < 1), max([v, v + 1])),
    "membership": lambda v: 2.0 in xp.stack([v, v]),
    "f-string": lambda v: f"{v:.3f} {v} {v!r}",
    "format": lambda v: "{:8.2e} {}".format(v, v),  # noqa: UP032 - this form is tested
    "percent": lambda v: "%.3f %d %s" % (v, v, v),  # noqa: UP031 - as above
    "str": lambda v: (str(v), repr(v)),
    "print": print,
    "logging": lambda v: logging.getLogger("xpgrad.tests").warning("%.3f", v),
    "debug_print": lambda v: v.debug_print(),
    "question": lambda v: (math.isnan(v), math.isfinite(v), math.isclose(v, 2.0)),
    "shape": lambda v: list(v.shape),
    "array": lambda v: float(v.array),
    "integer": lambda v: int(v.__array_namespace__().astype(v, v.__array_namespace__().int64)),
    "truth": lambda v: float(v > 1),
    "gradient": lambda v: (v.backward(), float(v.grad_var))[0] if v.creator is None else None,
}


@pytest.mark.parametrize("take", TAKINGS.values(), ids=TAKINGS)
def test_taking_a_number_out_of_a_graph_warns(device, take):
    v = variable(device, 2.0, "float64")
    for each in (v, v * 2):
        with pytest.warns(GraphEndWarning, match="a number was taken out of a Variable that requires a gradient"):
            take(each)


@pytest.mark.parametrize("take", TAKINGS.values(), ids=TAKINGS)
def test_constants_and_gradients_that_were_not_recorded_give_numbers(device, take):
    take(variable(device, 2.0, "float64", requires_grad=False))
    x = variable(device, 2.0, "float64")
    (x * x).backward()
    take(x.grad_var)
    with xpgrad.no_backprop_mode():
        take(x)
        take(x * x)
    with xpgrad.using_config("warn_graph_end", False):
        take(x * x)


@pytest.mark.parametrize("look", NOT_TAKINGS.values(), ids=NOT_TAKINGS)
def test_looking_at_a_number_does_not_warn(device, look, caplog):
    v = variable(device, 2.0, "float64")
    look(v)
    look(v * 1)
    assert not [record for record in caplog.records if record.message != "2.000"]


def test_the_warning_comes_once_for_each_line():
    v = Variable(np.asarray(2.0))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            float(v)
            v.item()
    assert [(each.filename, each.category) for each in caught] == [(__file__, GraphEndWarning)] * 2
    assert len({each.lineno for each in caught}) == 2


def test_the_warning_suggests_a_replacement():
    v = Variable(np.asarray(2.0))
    for take, advice in ADVICE.values():
        with pytest.warns(GraphEndWarning, match=re.escape("float(v.array) says that it is meant")) as caught:
            take(v) if take is float else math.sin(v)
        assert advice in str(caught[0].message)
    out = np.zeros(2)
    with pytest.warns(
        GraphEndWarning, match=r"collect the Variables in a list and stack it \(xpgrad.array_api.stack\)"
    ):
        out[0] = v
    with pytest.warns(GraphEndWarning, match=r"array_api.stack"):
        out[0] += v.item()


def test_the_warning_points_at_the_users_line_that_called_a_library():
    optimize = pytest.importorskip("scipy.optimize")
    v = Variable(np.asarray(2.0))
    with pytest.warns(GraphEndWarning, match="custom_root") as caught:
        optimize.brentq(lambda x: v - x, 0, 5)
    assert {each.filename for each in caught} == {__file__}


def test_only_a_checkpoint_of_a_graph_warns(device):
    def f(h):
        return h * float(h)

    checkpoint(f)(variable(device, 2.0, requires_grad=False))
    with pytest.warns(GraphEndWarning):
        y = checkpoint(f)(variable(device, 2.0))
    y.backward()  # the second run does not warn again


def test_a_root_of_a_function_that_takes_its_argument_as_a_number_raises(device):
    def solve(f, x):
        return variable(device, math.pi / 2, "float64", requires_grad=False)

    start = variable(device, 1.0, "float64")
    with pytest.raises(
        xpgrad.GradientError, match=r"custom_root: what the function returned does not depend(.|\n)*`math"
    ):
        custom_root(lambda x: variable(device, math.cos(x), "float64"), start, solve, lambda g, y: y)


def test_an_error_in_the_function_leaves_no_watch_behind(device):
    def fails(x):
        raise KeyboardInterrupt

    with contextlib.suppress(KeyboardInterrupt):
        grad(fails)(1.0)
    with pytest.warns(GraphEndWarning):
        float(variable(device, 2.0))


def test_extracted_numbers_do_not_retain_the_graph(device):
    alive = []

    def f(x):
        y = x * 3
        alive.append(weakref.ref(y.node))
        float(y)
        del y
        alive.append(alive[0]())
        return x * x

    gc.disable()
    try:
        with pytest.warns(GraphEndWarning):
            grad(f)(2.0)
    finally:
        gc.enable()
    assert alive[1] is None


def test_many_takings_at_one_line_walk_the_graph_once():
    def f(x):
        y = x[0] * 1
        for _ in range(3000):
            y = y * 1.0 + 0.001
            float(y)
        return xp.sum(x * y)

    with pytest.warns(GraphEndWarning):
        grad(f)(np.ones(2))  # quadratic, this would be some ten million steps
