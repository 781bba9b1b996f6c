"""What every transform does with its function: results that end in Python's numbers, constants, integers."""

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
from xpgrad.testing.arrays import on_host
from xpgrad.transforms import checkpoint, grad, hessian, hvp, jacfwd, jacobian, jacrev, jvp, value_and_grad, vjp

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


def in_a_checkpoint(x):
    return checkpoint(lambda h: xp.asarray(math.sin(h[0])))(x)


def through_a_constant(x):
    return xp.sum(xp.ones(2) * float(xp.sum(x)))


def by_a_library(x):
    return pytest.importorskip("scipy.optimize").brentq(lambda t: t * t - x[0], 0, 9)


def by_an_integral(x):
    return pytest.importorskip("scipy.integrate").quad(lambda t: t * x[0], 0, 1)[0]


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
    "checkpoint": in_a_checkpoint,
    "constant": through_a_constant,
    "brentq": by_a_library,
    "quad": by_an_integral,
}
ENDING = pytest.mark.parametrize("f", ENDS.values(), ids=ENDS)
EVERY = pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS)
START = [1.5, 2.5]


@ENDING
@EVERY
def test_a_result_that_ends_in_a_number_is_refused(transform, f):
    with pytest.raises(GradientError, match=r"does not depend on argument \d, because a number was taken out") as error:
        transform(f, np.asarray(START))
    assert re.search(rf"\n  {re.escape(__file__)}:\d+: `", str(error.value))
    assert "allow_constant=True gives zeros" in str(error.value)


@ENDING
@EVERY
def test_zeros_come_where_they_are_asked_for(transform, f):
    (found,) = transform(f, np.asarray(START), allow_constant=True)
    assert not np.any(on_host(found))


@ENDING
def test_it_is_refused_on_every_device_and_of_variables(device, f):
    x = array(device, START, "float64")
    for given in (x, Variable(x), Variable(x) * 1):
        with pytest.raises(GradientError, match="does not depend on argument 0, because a number was taken"):
            grad(f)(given)


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
        grad(by_a_library)(np.asarray(START))


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
        lambda x: xp.sum(xp.floor(x)),
    ],
)
def test_functions_that_are_constant_by_themselves_have_zeros(device, f):
    assert values(grad(f)(array(device, START, "float64"))) == [0.0, 0.0]


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
        print(x, f"{x[0]:.2f}", "%.2f" % x[1])  # noqa: UP031 - this is what is tested
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


def test_second_derivatives_of_a_function_that_takes_numbers_are_refused():
    def f(x):
        return xp.sum(x) * float(x[0])

    x = np.asarray(START)
    with pytest.raises(GradientError, match="does not depend on argument 0, because a number was taken"):
        grad(lambda x: xp.sum(grad(f)(x)))(x)
    with (
        pytest.warns(GraphEndWarning),
        pytest.raises(GradientError, match="does not depend on argument 0, because a number was taken"),
    ):
        hessian(f)(x)
    with (
        pytest.warns(GraphEndWarning),
        pytest.raises(GradientError, match="hvp: the gradient of the function does not"),
    ):
        hvp(f, (x,), (x,))


def test_a_captured_parameter_warns_where_its_gradient_can_be_asked_for():
    w = Variable(np.asarray(2.0))
    assert values(grad(lambda x: x * float(w))(3.0)) == 2.0
    with pytest.warns(GraphEndWarning):
        assert values(grad(lambda x: x * float(w))(Variable(np.asarray(3.0)))) == 2.0


def test_the_switch_silences_the_warning_and_not_the_error():
    with xpgrad.using_config("warn_graph_end", False):
        assert values(grad(lambda x: x * float(x))(3.0)) == 3.0
        with pytest.raises(GradientError, match="because a number was taken"):
            grad(lambda x: math.sin(x))(3.0)


@EVERY
@pytest.mark.parametrize("f", [lambda x: xp.sum(xp.astype(x, xp.int64)), lambda x: xp.all(x > 1), lambda x: x[0] > 1])
def test_results_that_are_integers_or_booleans_are_refused(transform, f):
    with pytest.raises(DtypeError, match=r"the function must return floating-point numbers, got (int64|bool)"):
        transform(f, np.asarray(START))
    (found,) = transform(f, np.asarray(START), allow_constant=True)
    assert not np.any(on_host(found))


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
    assert silent > 50  # programs that took nothing


def test_numbers_of_a_variable_that_moved_are_found(device):
    with pytest.raises(GradientError, match="because a number was taken"):
        grad(lambda x: float(x.to_device("@numpy")))(variable(device, 2.0, "float64").array)
