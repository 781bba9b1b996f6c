"""Python floats among the arguments of compiled functions: inputs where they only meet arrays, else constants."""

import gc
import math
import warnings
import weakref

import numpy as np
import pytest
from tests.building import assert_near
from tests.devices import device_or_skip

import xpgrad
from xpgrad import CompileWarning, Variable
from xpgrad import array_api as xp
from xpgrad.transforms import grad, value_and_grad, vmap
from xpgrad.transforms.trees import flatten

X = np.linspace(-1.0, 1.0, 6, dtype=np.float32).reshape(2, 3)


def descent(p, x, rate, decay):
    loss, g = value_and_grad(lambda p: xp.sum((p * x) ** 2))(p)
    return loss, p - rate * (g + decay * p) * (1 - rate) / (1 - 0.9**2)


INPUTS = {
    "a learning rate": (lambda x, rate: x - rate * x, lambda i: (X, 0.1 * (i + 1))),
    "a step of descent": (descent, lambda i: (X, X + 1, 0.1 / (i + 1), 0.01)),
    "a temperature": (lambda x, t: grad(lambda x: xp.sum(xp.exp(x / t)))(x), lambda i: (X, 1.0 + i)),
    "an item of a dictionary": (lambda x, c: x * c["rate"] + (-c["rate"]), lambda i: (X, {"rate": 0.3 + i})),
    "a row of a batch": (lambda x, c: vmap(lambda row: row * c)(x), lambda i: (X, 0.3 + i)),
    "a threshold": (lambda x, c: x * (x > c), lambda i: (X, 0.3 * i)),
    "a factor of a sum": (lambda x, c: sum([x, x * 2]) * c, lambda i: (X, 0.3 + i)),
    "beside an equal constant": (lambda x, c: (x * c, x * 0.5), lambda i: (X, 0.25 * (i + 1))),
}
CONSTANTS = {
    "a decision": (lambda x, c: x * c if c > 0.35 else x, lambda i: (X, 0.1 * (i + 1))),
    "a truth": (lambda x, c: x * c if c else x, lambda i: (X, 0.1 * i)),
    "a function of numbers": (lambda x, c: x * math.exp(c), lambda i: (X, 0.1 * i)),
    "a function of numbers in a list": (lambda x, c: x * max([c, 0.25]), lambda i: (X, 0.1 * i)),
    "a function of the library": (lambda x, c: xp.clip(x, -1, c), lambda i: (X, 0.1 * i)),
    "an exponent": (lambda x, c: (x + 2) ** c, lambda i: (X, 0.5 * (i + 1))),
    "a text": (lambda x, c: x * {"0.1": 2, "0.2": 3}.get(f"{c:.1f}", 4), lambda i: (X, 0.1 * (i + 1))),
    "a size": (lambda x, n: xp.reshape(x, (-1,))[:n], lambda i: (X, 1 + i)),
}


def run(case, executor, device, calls=6):
    """Call a function compiled and eagerly, and return information on its programs, and the warnings."""
    (function, arguments), send = case, xpgrad.get_device(device).send
    compiled = xpgrad.compile(function, executor=executor)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for i in range(calls):
            args = [send(x) if isinstance(x, np.ndarray) else x for x in arguments(i)]
            eager = function(*(x if isinstance(x, (int, float, dict)) else Variable(x) for x in args))
            assert_near(flatten(compiled(*args))[0], flatten(eager)[0], rtol=1e-5, atol=1e-6)
    return compiled.cache_info(), [str(each.message) for each in caught if issubclass(each.category, CompileWarning)]


@pytest.mark.parametrize(("executor", "device"), [("python", "@numpy"), ("python", "@torch:cpu")])
@pytest.mark.parametrize("case", INPUTS)
def test_a_float_that_only_meets_arrays_is_an_input(case, executor, device):
    device_or_skip(device)
    info, texts = run(INPUTS[case], executor, device)
    assert (info.size, info.hits, texts) == (1, 4, [])


@pytest.mark.parametrize("case", CONSTANTS)
def test_any_other_number_is_a_constant_and_named_after_four_programs(case):
    info, (text,) = run(CONSTANTS[case], "python", "@numpy")
    assert (info.size, info.hits) == (6, 0)
    assert (
        f"4 values of the {'int' if case == 'a size' else 'float'} argument at [1] have needed a program each" in text
    )


@pytest.mark.parametrize("c", [math.inf, math.nan])
def test_infinity_and_nan_are_no_inputs(c):
    f = xpgrad.compile(lambda x, c: x * c * 2, verify="always")
    for value in 1.0, 2.0, 3.0, c, 4.0:
        np.testing.assert_array_equal(f(X, value), X * np.float32(value) * 2)
    assert f.cache_info()[:3] == (2, 3, 2)


def test_gradients_through_a_program_depend_on_the_number():
    f = xpgrad.compile(lambda x, rate: x * x * rate)
    for rate in (0.5, 0.25, 0.125, 2.0):
        x = Variable(X)
        xp.sum(f(x, rate)).backward()
        np.testing.assert_allclose(x.grad, 2 * X * rate, rtol=1e-6)
    assert f.cache_info()[:3] == (2, 2, 1)


def test_an_error_of_the_numbers_is_raised():
    f = xpgrad.compile(lambda x, c: x * (1 / c))
    for c in (1.0, 2.0, 3.0):
        f(X, c)
    with pytest.raises(ZeroDivisionError):
        f(X, 0.0)
    np.testing.assert_allclose(f(X, 4.0), X / 4, rtol=1e-6)


class Held:
    def __init__(self, c):
        self.c = c

    def is_large(self):
        return self.c > 0.5


def generated(c):
    yield c
    if c > 0.5:
        yield 1.0


def matched(x, c):
    match c:
        case 0.9:
            return x * 2
        case v if v > 1:
            return x * 3
    return x * c


def stored(x, c):
    box = []
    box.append(c)
    return x * box[0] if box[0] > 0.5 else x


def inverted(x, c):
    try:
        return x * (1 / c)
    except ZeroDivisionError:
        return x


DECISIONS = {
    "and": lambda x, c: x * ((c > 0.5 and 2.0) or c),
    "a match": matched,
    "min": lambda x, c: x * min(c, 0.5),
    "round": lambda x, c: x * round(c, 1),
    "isclose": lambda x, c: x * (2.0 if math.isclose(c, 0.9) else c),
    "a text": lambda x, c: x * len(f"{c}"),
    "membership": lambda x, c: x * (2.0 if c in {0.9, 1.5} else c),
    "a key": lambda x, c: x * {0.9: 2.0}.get(c, c),
    "an object": lambda x, c: x * c if Held(c).is_large() else x + c,
    "a comprehension": lambda x, c: x * sum([v for v in [c, 0.5] if v > 0.45]),
    "a filter": lambda x, c: x * sum(filter(lambda v: v > 0.45, [c, 0.5])),
    "a generator": lambda x, c: x * sum(generated(c)),
    "not": lambda x, c: x if not c else x * c + 1,
    "a computed number": lambda x, c: x * c if 1 - c < 0.5 else x,
    "a remainder": lambda x, c: x * (c % 0.5),
    "a method": lambda x, c: x * c if c.is_integer() else x,
    "a tuple": lambda x, c: x * c if (c, 1) > (0.5, 0) else x,
    "a list": lambda x, c: x * c if [c] > [0.5] else x,
    "a default": lambda x, c: (lambda y, d=c: y * d if d > 0.5 else y)(x),
    "a list that is filled": stored,
    "an exception": inverted,
}


@pytest.mark.parametrize("decision", DECISIONS)
def test_decisions_on_numbers_are_never_reused_for_other_numbers(decision):
    f = DECISIONS[decision]
    compiled = xpgrad.compile(f, executor="python", verify=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        for c in (0.1, 0.1, 0.1, 0.2, 0.3, 0.9, 1.5, -0.5, 0.0, 2.0):
            np.testing.assert_allclose(compiled(X, c), f(Variable(X), c).array, rtol=1e-6)


def test_programs_for_any_numbers_keep_no_arrays_of_recorded_calls():
    f = xpgrad.compile(lambda x, c: xp.sin(x) * c)
    found = []
    for c in (0.1, 0.2, 0.3):
        x = X.copy()
        found += [weakref.ref(x), weakref.ref(f(x, c))]
        del x
    gc.collect()
    assert [each() for each in found] == [None] * 6
    assert f.cache_info().hits == 1
