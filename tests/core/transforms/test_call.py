"""The handling of functions in every transform: results that contain Python numbers, constants, integers."""

import math
import operator
import re
import warnings

import numpy as np
import pytest
from tests.building import array, values, variable

import xpgrad
from xpgrad import DtypeError, GradientError, GraphEndWarning, Variable
from xpgrad import array_api as xp
from xpgrad import functions as F
from xpgrad.testing.arrays import on_host
from xpgrad.transforms import (
    checkpoint,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    jacrev,
    jvp,
    linearize,
    stop_gradient,
    value_and_grad,
    vjp,
    vmap,
)

TRANSFORMS = {
    "grad": lambda f, x, **how: [grad(f, **how)(x)],
    "value_and_grad": lambda f, x, **how: [value_and_grad(f, **how)(x)[1]],
    "jacobian": lambda f, x, **how: [jacobian(f, **how)(x)],
    "jacobian auto": lambda f, x, **how: [jacobian(f, mode="auto", **how)(x)],
    "jacrev": lambda f, x, **how: [jacrev(f, **how)(x)],
    "jacfwd": lambda f, x, **how: [jacfwd(f, **how)(x)],
    "hessian": lambda f, x, **how: [hessian(f, **how)(x)],
    "vjp": lambda f, x, **how: vjp(f, x, **how)[1](1.0),
    "jvp": lambda f, x, **how: [jvp(f, (x,), (x,), **how)[1]],
    "linearize": lambda f, x, **how: [linearize(f, x, **how)[1](x)],
    "hvp": lambda f, x, **how: hvp(f, (x,), (x,), **how),
    "grad of grad": lambda f, x, **how: [grad(lambda x: xp.sum(grad(f, **how)(x)), **how)(x)],
    "of a dict": lambda f, x, **how: [grad(lambda p: f(p["x"]), **how)({"x": x})["x"]],
    "of a list of arguments": lambda f, x, **how: list(grad(lambda n, x: f(x), argnums=(1,), **how)(1, x)),
    "scipy": lambda f, x, **how: [
        xpgrad.scipy.value_and_grad(f, like=x, **how)(on_host(xpgrad.as_array(x)).ravel())[1]
    ],
    "scipy.jac": lambda f, x, **how: [xpgrad.scipy.jac(f, like=x, **how)(on_host(xpgrad.as_array(x)).ravel())],
    "scipy.hess": lambda f, x, **how: [xpgrad.scipy.hess(f, like=x, **how)(on_host(xpgrad.as_array(x)).ravel())],
}


def stored(x):
    out = np.zeros(2)
    for i in range(2):
        out[i] = x[i] ** 2
    return out.sum()


def filled(x):
    out = np.zeros(2)
    out.fill(x[0] * x[1])
    return out[0]


ENDS = {
    "float": lambda x: float(xp.sum(x**2)),
    "item": lambda x: xp.sum(x**2).item(),
    "tolist": lambda x: (x * x).tolist()[0],
    "complex": lambda x: complex(x[0] * x[0]).real,
    "int": lambda x: 1.0 * int(x[0]),
    "math": lambda x: math.sin(x[0]),
    "numpy scalar": lambda x: np.float64(x[0]) * np.float64(x[1]),
    "sum": lambda x: math.fsum(x),
    "stored": stored,
    "filled": filled,
    "list": lambda x: sum([float(each) for each in x]),
    "checkpoint": checkpoint(lambda h: xp.asarray(math.sin(h[0]))),
    "constant": lambda x: xp.sum(xp.ones(2) * float(xp.sum(x))),
    "brentq": lambda x: pytest.importorskip("scipy.optimize").brentq(lambda t: t * t - x[0], 0, 9),
    "quad": lambda x: pytest.importorskip("scipy.integrate").quad(lambda t: t * x[0], 0, 1)[0],
}
EVERY = pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS)
START = [1.5, 2.5]


def test_the_error_names_the_line_the_expression_and_the_remedy():
    def f(x):
        out = np.zeros(2)
        out[0] = x[0] ** 2
        return math.sin(x[1]) + out[0]

    first = f.__code__.co_firstlineno
    with pytest.raises(GradientError) as error:
        grad(f)(np.asarray(START))
    assert str(error.value).splitlines()[1:] == [
        f"  {__file__}:{first + 2}: `out[0]`; collect the Variables in a list and stack it (xpgrad.array_api.stack)",
        f"  {__file__}:{first + 3}: `math.sin(x[1])`; "
        "apply a function of arrays, such as xpgrad.array_api.sin, to the Variable",
    ]


def test_the_error_names_the_library_that_took_the_number():
    with pytest.raises(GradientError, match=r"optimize\.\"\)|brentq(.|\n)*, in .*scipy.*:\d+; differentiate a root by"):
        grad(ENDS["brentq"])(np.asarray(START))


def test_the_remedies_work(device):
    x = array(device, START, "float64")
    assert values(grad(lambda x: np.sin(x[0]))(x)) == pytest.approx([math.cos(1.5), 0])
    assert values(grad(lambda x: xp.sum(np.stack([x[i] ** 2 for i in range(2)])))(x)) == [3.0, 5.0]


@pytest.mark.parametrize(
    "f",
    [
        lambda x: 3.0,
        lambda x: 3,
        lambda x: xp.sum(xp.ones(2)),
        lambda x: 1.0 if x[0] > 1 and x[1] else 2.0,
        lambda x: float(x[0] > 1),
        lambda x: float(len(f"{x[0]:.3f}")),
        lambda x: float(x.array[0]),
        lambda x: float(Variable(np.asarray(2.0))),
        lambda x: float(np.asarray(2.0)),
        lambda x: xp.zeros(()) if xp.all(x > 0) else xp.sum(x),
        lambda x: xp.ones(int(xp.floor(x[0])))[0],
        lambda x: xp.sum(stop_gradient(x)),
        lambda x: xp.sum(x.array),
        lambda x: len(x),
    ],
)
def test_constant_functions_have_zero_gradients(device, f):
    assert values(grad(f)(array(device, START, "float64"))) == [0.0, 0.0]


def unrecorded(x):
    with xpgrad.no_backprop_mode():
        return xp.sum(x)


def switched_off(x):
    with xpgrad.using_config("enable_backprop", False):
        y = xp.sum(x)
    return y * 2


CUTS = {
    "floor": lambda x: xp.sum(xp.floor(x)),
    "ceil": lambda x: xp.ceil(x[0]) + 1.0,
    "round": lambda x: np.round(x[0]),
    "trunc": lambda x: xp.trunc(x)[0],
    "sign": lambda x: xp.sum(xp.sign(x)),
    "//": lambda x: xp.sum(x // 2),
    "reflected //": lambda x: xp.sum(7 // x),
    "// of two": lambda x: x[0] // x[1],
    "F.floor": lambda x: F.sum(F.floor(x)),
    "argmax": lambda x: xp.argmax(x) * 1.0,
    "accuracy": lambda x: F.accuracy(xp.reshape(x, (1, 2)), xp.argmax(xp.reshape(x, (1, 2)), axis=1)),
    "integer": lambda x: xp.astype(xp.astype(xp.sum(x), x.__array_namespace__().int32), x.dtype),
    "no_backprop_mode": unrecorded,
    "using_config": switched_off,
    "loop": lambda x: [xp.floor(each) for each in (Variable(np.ones(())), x[0])][1],
    "checkpoint": checkpoint(lambda x: xp.sum(xp.floor(x))),
    "vmap": lambda x: xp.sum(vmap(xp.floor)(x)),
}
BOOLEANS = {
    "allclose": lambda x: np.allclose(x, x),
    "array_equal": lambda x: np.array_equal(x, x),
    "isclose": lambda x: np.isclose(x[0], 2.0),
    "any": lambda x: np.any(x),
    "comparison": lambda x: xp.sum(x) > 1,
    "bool": lambda x: bool(xp.sum(x) > 1),
    "in": lambda x: 1.5 in x,
    "boolean of a library": lambda x: np.bool_(True),
    "argmax": xp.argmax,
    "count_nonzero": xp.count_nonzero,
    "integer": lambda x: xp.sum(xp.astype(x, xp.int64)),
    "searchsorted": lambda x: xp.searchsorted(x, xp.sum(x)),
}


LOST = r"does not depend on argument \d, because a number was taken out"
ENDED = "the result of the function depends on no argument, because the graph ends before it"
NO_NUMBER = r"the function must return floating-point numbers, got (bool|int64)"
RESULTS = [
    pytest.param(f, error, text, id=name)
    for functions, error, text in (
        (ENDS, GradientError, LOST), (CUTS, GradientError, ENDED), (BOOLEANS, DtypeError, NO_NUMBER),
    )
    for name, f in functions.items()
]  # fmt: skip


@pytest.mark.parametrize(("f", "error", "text"), RESULTS)
@EVERY
def test_a_result_without_a_derivative_raises_or_gives_zeros_on_request(transform, f, error, text):
    with pytest.raises(error, match=text) as caught:
        transform(f, np.asarray(START))
    assert error is DtypeError or re.search(rf"\n  {re.escape(__file__)}:\d+: `", str(caught.value))
    assert text != LOST or "allow_constant=True gives zeros" in str(caught.value)
    (found,) = transform(f, np.asarray(START), allow_constant=True)
    assert not np.any(on_host(found))


@pytest.mark.parametrize(("f", "error", "text"), [row for row in RESULTS if row.values[1] is GradientError])
def test_a_result_without_a_derivative_raises_on_every_device_and_for_variables(device, f, error, text):
    x = array(device, START, "float64")
    for given in (x, Variable(x), Variable(x) * 1):
        with pytest.raises(error, match=text):
            grad(f)(given)
        with xpgrad.using_config("debug", True), pytest.raises(error, match=text):
            value_and_grad(f)(given)


def test_the_error_names_the_operation_that_ended_the_graph():
    def f(x):
        with xpgrad.no_backprop_mode():
            y = xp.sum(x)
        return xp.floor(xp.sum(x)) + y

    first = f.__code__.co_firstlineno
    for transform in (lambda: grad(f)(np.asarray(START)), lambda: jvp(f, (np.asarray(START),), (np.asarray(START),))):
        with pytest.raises(GradientError) as error:
            transform()
        lines = str(error.value).splitlines()[1:]
        assert lines[-1] == f"  {__file__}:{first + 3}: `xp.floor(xp.sum(x))`; floor has no derivative"
        assert lines[0].endswith("no graph is recorded from here on")


@pytest.mark.parametrize("f", CUTS.values(), ids=CUTS)
def test_extracted_numbers_are_allowed_with_another_dependency(f):
    x = np.asarray(START)
    assert values(grad(lambda x: xp.sum(x) + f(x))(x)) == [1.0, 1.0]
    assert values(jvp(lambda x: xp.sum(x) + f(x), (x,), (x,))[1]) == 4.0


def test_a_result_that_a_mask_selects_has_the_zeros_of_a_constant():
    x = np.asarray(START)
    for f in (lambda x: xp.mean(xp.astype(x > 2, xp.float64)), lambda x: xp.sum(xp.where(x > 2, xp.ones_like(x), 2.0))):
        assert (values(grad(f)(x)), values(jvp(f, (x,), (x,))[1])) == ([0.0, 0.0], 0.0)


KINKED = {
    "abs": lambda x: xp.sum(xp.abs(x)),
    "maximum": lambda x: xp.sum(xp.maximum(x, 2.0)),
    "max": xp.max,
    "where": lambda x: xp.sum(xp.where(x > 2, x, 2 * x)),
    "clip": lambda x: xp.sum(xp.clip(x, 0, 2)),
    "sort": lambda x: xp.sort(x)[0],
    "median": np.median,
    "relu": lambda x: xp.sum(F.relu(x)),
    "remainder": lambda x: xp.sum(x % 2),
    "times floor": lambda x: xp.sum(xp.floor(stop_gradient(x)) * x),
    "checkpoint": checkpoint(lambda x: xp.sum(xp.abs(x))),
    "vmap": lambda x: xp.sum(vmap(xp.abs)(x)),
}
SECOND = {
    "hessian": lambda f, x: hessian(f)(x),
    "hvp": lambda f, x: hvp(f, (x,), (x,))[0],
    "jacfwd": lambda f, x: jacfwd(grad(f))(x),
    "jacrev": lambda f, x: jacrev(grad(f))(x),
    "grad": lambda f, x: grad(lambda x: xp.sum(grad(f)(x)))(x),
    "jvp": lambda f, x: jvp(grad(f), (x,), (x,))[1],
    "of jvp": lambda f, x: grad(lambda x: jvp(f, (x,), (x.array,))[1])(x),
    "jvp of jvp": lambda f, x: jvp(lambda x: jvp(f, (x,), (np.asarray(START),))[1], (x,), (x,))[1],
    "vjp": lambda f, x: vjp(grad(f), x)[1](x)[0],
}


@pytest.mark.parametrize("f", KINKED.values(), ids=KINKED)
@pytest.mark.parametrize("second", SECOND.values(), ids=SECOND)
def test_second_derivatives_of_piecewise_linear_functions_are_zeros(second, f):
    assert not np.any(on_host(xpgrad.as_array(second(f, np.asarray(START)))))


def test_the_end_of_the_graph_of_the_outer_argument_matters_to_the_outer_transform():
    with pytest.raises(
        GradientError, match=r"grad: the result of the function depends on no argument(.|\n)*floor\(x\)"
    ):
        grad(lambda x: grad(lambda y: y * xp.floor(x))(2.0))(3.0)
    with pytest.raises(GradientError, match="jvp: the result of the function depends on no argument"):
        jvp(lambda x: jvp(lambda y: y * xp.floor(x), (2.0,), (1.0,))[1], (3.0,), (1.0,))


@pytest.mark.parametrize("outer", [np.asarray, Variable], ids=["array", "Variable"])
def test_a_result_that_depends_and_takes_numbers_warns(outer):
    x = outer(np.asarray(START))
    for f, expected in (
        (lambda x: xp.sum(x) * float(x[0]), [1.5, 1.5]),
        (lambda x: xp.sum(x**2) + math.sin(x[0]), [3.0, 5.0]),
        (lambda x: (float(xp.sum(x)), xp.sum(x**2))[1], [3.0, 5.0]),
    ):
        with pytest.warns(GraphEndWarning, match="a number was taken out") as caught:
            found = grad(f)(x)
        assert values(found) == expected
        assert {(each.filename, each.lineno) for each in caught} == {(__file__, f.__code__.co_firstlineno)}


def test_looking_at_the_argument_does_not_warn(device, capsys):
    def f(x):
        print(x, f"{x[0]:.2f}", "%.2f" % x[1])  # noqa: UP031 - this form is tested
        return xp.sum(x**2) if x[0] > 1 and not math.isnan(x[1]) else xp.sum(x)

    assert values(grad(f)(array(device, START, "float64"))) == [3.0, 5.0]


def test_each_argument_counts_and_leaves_of_one_only_warn():
    def f(x, s):
        return xp.sum(x**2) * float(s)

    with pytest.raises(GradientError, match="does not depend on argument 1, because a number was taken"):
        grad(f, (0, 1))(np.asarray(START), 2.0)
    assert values(grad(f)(np.asarray(START), 2.0)) == [6.0, 10.0]
    assert values(grad(f)(np.asarray(START), Variable(np.asarray(2.0), requires_grad=False))) == [6.0, 10.0]
    with pytest.warns(GraphEndWarning):
        found = grad(lambda p: f(p["x"], p["s"]))({"x": np.asarray(START), "s": np.asarray(2.0)})
    assert values(found["s"]) == 0.0


def test_a_number_of_the_outer_argument_matters_to_the_outer_transform():
    with pytest.raises(GradientError, match=r"grad: what the function returned does not depend(.|\n)*`float\(x\)`"):
        grad(lambda x: grad(lambda y: y * float(x))(2.0))(3.0)
    with pytest.warns(GraphEndWarning):
        assert values(grad(lambda x: x * grad(lambda y: y * float(x))(2.0))(3.0)) == 3.0


def test_a_number_of_the_inner_argument_matters_to_the_inner_transform():
    with pytest.raises(GradientError, match=r"grad: what the function returned does not depend(.|\n)*`math.sin\(y\)`"):
        grad(lambda x: x * grad(lambda y: math.sin(y))(2.0))(3.0)
    with pytest.warns(GraphEndWarning):
        assert values(grad(lambda x: x * grad(lambda y: y * y + float(y))(2.0))(3.0)) == 4.0


def test_second_derivatives_of_a_function_that_takes_numbers_raise():
    def f(x):
        return xp.sum(x) * float(x[0])

    x, lost = np.asarray(START), "does not depend on argument 0, because a number was taken"
    with pytest.raises(GradientError, match=lost):
        grad(lambda x: xp.sum(grad(f)(x)))(x)
    for call, text in (
        (hessian(f), lost),
        (lambda x: hvp(f, (x,), (x,)), "hvp: the gradient of the function does not"),
    ):
        with pytest.warns(GraphEndWarning), pytest.raises(GradientError, match=text):
            call(x)


def test_a_captured_parameter_warns_if_its_gradient_may_be_requested():
    w = Variable(np.asarray(2.0))
    assert values(grad(lambda x: x * float(w))(3.0)) == 2.0
    with pytest.warns(GraphEndWarning):
        assert values(grad(lambda x: x * float(w))(Variable(np.asarray(3.0)))) == 2.0


def test_the_switch_silences_the_warning_and_not_the_error():
    with xpgrad.using_config("warn_graph_end", False):
        assert values(grad(lambda x: x * float(x))(3.0)) == 3.0
        with pytest.raises(GradientError, match="because a number was taken"):
            grad(lambda x: math.sin(x))(3.0)


def test_random_programs_with_numbers_taken_out_are_never_silently_wrong():
    generator = np.random.default_rng(5)
    operations = operator.add, operator.mul, operator.sub
    silent = 0
    for _ in range(300):
        plan = [(generator.integers(3), *generator.integers(0, 3 + i, 2), generator.random() < 0.15) for i in range(6)]

        def program(x, plan=plan, cut=True):
            pool = [x[0], x[1], x[0] * x[1]]
            for which, i, j, takes in plan:
                made = operations[which](pool[i], pool[j])
                pool.append(float(made) if takes and cut and isinstance(made, Variable) else made)
            return pool[-1]

        x = generator.standard_normal(2)
        true = values(grad(lambda x, program=program: program(x, cut=False))(x))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                found = values(grad(program)(x))
            except GradientError:
                continue
        wrong = not np.allclose(found, true)
        assert not (wrong and not caught), plan
        silent += not caught
    assert silent > 50  # programs that used no number


def test_numbers_of_a_variable_that_moved_are_found(device):
    with pytest.raises(GradientError, match="because a number was taken"):
        grad(lambda x: float(x.to_device("@numpy")))(variable(device, 2.0, "float64").array)


def test_the_end_of_the_graph_in_a_program_raises_at_each_run():
    program, start = xpgrad.compile(lambda x: xp.sum(xp.floor(x))), np.asarray(START)
    for _ in range(3):
        with pytest.raises(GradientError, match=r"the graph ends before it.*\n.*floor has no derivative"):
            grad(program)(start)
    assert grad(lambda x: program(x) + xp.sum(x))(start).tolist() == [1.0] * len(START)
    assert grad(lambda x: program(Variable(start)) + 0 * xp.sum(x))(start).tolist() == [0.0] * len(START)
