"""Loops in compiled functions: one call of the program, with the values and gradients of eager loops."""

import linecache
import warnings
from functools import partial
from typing import Any

import numpy as np
import pytest
from tests.building import array, assert_near, variable
from tests.devices import device_or_skip

import xpgrad
import xpgrad.functions as F
from xpgrad import Variable
from xpgrad import array_api as xp
from xpgrad.errors import CompileWarning
from xpgrad.testing.arrays import on_host
from xpgrad.transforms import checkpoint, fori_loop, grad, hvp, jvp, scan, value_and_grad, vmap

STEPS = 4


@pytest.fixture(params=["@numpy", "@strict:cpu"])
def data(request: Any) -> Any:
    """A carry and inputs."""
    device, rng = xpgrad.get_device(request.param), np.random.default_rng(0)
    return [array(device, rng.standard_normal(shape), "float64") for shape in ((3,), (STEPS, 3))]


assert_same = partial(assert_near, rtol=1e-11, atol=1e-13)


def assert_compiled_as_eager(f: Any, *args: Any) -> Any:
    """Check three runs with other values and random numbers; return the function, which is compiled in the third."""
    compiled = xpgrad.compile(f)
    for i in range(3):
        given = [x * (1 + 0.1 * i) for x in args]
        xpgrad.random.seed(i)
        expected, after = f(*given), xpgrad.random.get_state(Variable(args[0]).device)
        xpgrad.random.seed(i)
        assert_same(compiled(*given), expected)
        assert xpgrad.random.get_state(Variable(args[0]).device) == after
    return compiled


def names(program: Any) -> list[str]:
    return [call.name for call in program.calls]


def dropout(c: Any, xs: Any, **options: Any) -> Any:
    def f(c: Any, x: Any) -> Any:
        c = F.dropout(xp.tanh(c + x), 0.5)
        return c, xp.sum(c * x)

    c, ys = scan(f, c, xs, **options)
    return xp.sum(c) + xp.sum(ys**2)


def nested(c: Any, xs: Any) -> Any:
    def f(c: Any, x: Any) -> Any:
        last, ys = scan(lambda d, z: (F.dropout(xp.sin(d * z), 0.2), d), c, xp.stack([x, x * 2, c, c]))
        return last + x, ys

    c, ys = scan(f, c, xs, reverse=True)
    return xp.sum(c) + xp.sum(ys**2)


@pytest.mark.parametrize("options", [{}, {"checkpoints": 2}, {"checkpoints": "all"}, {"reverse": True}])
def test_a_scan_and_its_gradient_are_one_call_each(data: Any, options: Any) -> None:
    compiled = assert_compiled_as_eager(value_and_grad(lambda c, xs: dropout(c, xs, **options), (0, 1)), *data)
    found = names(compiled.program(*data))
    assert (found.count("scan"), found.count("vjp of scan"), found.count("draw_all")) == (1, 1, 1)
    text = str(compiled.program(*data))
    assert "scan(" in text
    assert f"steps={STEPS}" in text
    assert "scan(" in compiled.source(*data)


@pytest.mark.parametrize(
    "f",
    [
        value_and_grad(nested, (0, 1)),
        value_and_grad(checkpoint(nested), (0, 1)),
        value_and_grad(checkpoint(dropout), (0, 1)),
        lambda c, xs: hvp(lambda c: dropout(c, xs), (c,), (c * 0.3,)),
        grad(lambda c, xs: xp.sum(grad(nested)(c, xs) ** 2)),
        lambda c, xs: dropout(c, xs) + nested(c, xs),
        value_and_grad(lambda c, xs: xp.sum(fori_loop(0, STEPS, lambda i, c: xp.sin(c * xs[i]) + i * 1.0, c)), (0, 1)),
        value_and_grad(lambda c, xs: scan(lambda a, x: (a + x, None), c, xs)[0][0], (0, 1)),
        value_and_grad(lambda c, xs: xp.sum(scan(lambda a, x: (a, x * x), c, xs)[1]), 1),
        value_and_grad(lambda c, xs: xp.sum(scan(lambda a, x: (a, a * x), c, xs)[1]), 0),
    ],
)  # fmt: skip
def test_values_and_gradients_agree_with_eager_calls(data: Any, f: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", CompileWarning)
        assert_compiled_as_eager(f, *data)


def test_parameters_get_their_gradients(data: Any) -> None:
    c, xs = data
    w = Variable(c * 0.7)

    def loss(c: Any, xs: Any) -> Any:
        h = w * 2
        carry, ys = scan(lambda a, x: (xp.tanh((w * 0.5) * a + x * h), a * w), c, xs)
        return xp.sum(carry) + xp.sum(ys**2)

    compiled, found = xpgrad.compile(loss), []
    for f in (loss, compiled, compiled, compiled):
        w.cleargrad()
        start = Variable(c)
        f(start, Variable(xs)).backward()
        found.append([on_host(w.grad), on_host(start.grad)])
    for each in found[1:]:
        assert_same(each, found[0])


@pytest.mark.parametrize("wrap", [lambda f: grad(f), lambda f: grad(grad(f)), value_and_grad])
@pytest.mark.parametrize("inputs", [lambda k, xs: xs, lambda k, xs: k * xs])
@pytest.mark.parametrize("checkpoints", [None, 2, "all"])
def test_the_carry_and_the_outputs_depend_on_a_captured_argument(wrap: Any, inputs: Any, checkpoints: Any) -> None:
    def f(k: Any) -> Any:
        def step(total: Any, x: Any) -> Any:
            total = total * k + x
            return total, total**2 + fori_loop(0, 3, lambda i, c: c * k, total)

        last, ys = scan(step, np.asarray(0.5), inputs(k, np.linspace(0.1, 0.9, 7)), checkpoints=checkpoints)
        return last * last + xp.sum(ys)

    assert_compiled_as_eager(wrap(f), np.asarray(0.7))
    assert_near(wrap(xpgrad.compile(f))(0.7), wrap(f)(0.7), rtol=1e-12, atol=0)


def test_integers_in_the_carry(data: Any) -> None:
    def f(c: Any, xs: Any) -> Any:
        zero = xp.astype(c[0] * 0, c.__array_namespace__().int64)
        last, count = scan(lambda a, x: ((xp.sin(a[0] * x), a[1] + 1), a[1]), (c, zero), xs)
        return xp.sum(last[0]), (last[1], count)

    assert_compiled_as_eager(value_and_grad(f, (0, 1), has_aux=True), *data)


def test_another_body_is_another_program(data: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    c, xs = data

    def f(c: Any, xs: Any) -> Any:
        function = (xp.sin, xp.cos)[linecache.turn % 2]  # no state of this module is guarded
        return xp.sum(scan(lambda a, x: (function(a * x), None), c, xs)[0])

    compiled = xpgrad.compile(f)
    for turn in range(2):
        monkeypatch.setattr(linecache, "turn", turn, raising=False)
        compiled(c, xs)
    monkeypatch.setattr(linecache, "turn", 2)
    with pytest.warns(CompileWarning, match="other arguments"):
        compiled(c, xs)


def test_a_body_that_changes_a_variable_is_unrolled_with_a_warning(data: Any) -> None:
    c, xs = data

    def make() -> Any:
        mean = Variable(c * 0)

        def f(c: Any, xs: Any) -> Any:
            def step(a: Any, x: Any) -> Any:
                mean.array = mean.array * 0.9 + x.array * 0.1
                return xp.sin(a * x), a * mean.array[0, ...]

            return xp.sum(scan(step, c, xs)[1])

        return f, mean

    (f, mean), (g, other) = make(), make()
    compiled = xpgrad.compile(g)

    def run() -> None:
        for _ in range(3):
            with xpgrad.no_backprop_mode():
                assert_same(compiled(c, xs), f(Variable(c), Variable(xs)))
            assert_same(other, mean)

    with pytest.warns(CompileWarning, match="changes a Variable from outside, so that each of its 4 steps"):
        run()


def test_a_body_that_needs_values_runs_without_a_program(data: Any) -> None:
    f = lambda c, xs: xp.sum(scan(lambda a, x: (a * x if xp.sum(a) > 0 else a - x, None), c, xs)[0])  # noqa: E731
    compiled = xpgrad.compile(f)
    with pytest.warns(CompileWarning, match="the value of a traced array"):
        assert_same(compiled(*data), f(*map(Variable, data)))
    with pytest.raises(xpgrad.TraceError, match="the value of a traced array"):
        xpgrad.compile(f, strict=True)(*data)


def test_a_program_of_jax_has_loops() -> None:
    pytest.importorskip("xpgrad_jax")
    device = device_or_skip("@jax")
    c, xs = (variable(device, x, "float32").array for x in ([0.1, 0.2], [[1.0, 2.0], [2.0, 1.0], [1.0, 1.0]]))
    f = value_and_grad(lambda c, xs: xp.sum(scan(lambda a, x: (xp.sin(a * x), None), c, xs)[0]))
    compiled = xpgrad.compile(f)
    for _ in range(3):
        assert_near(compiled(c, xs), f(c, xs), rtol=1e-5, atol=0)


def test_batches_and_forward_mode_in_a_program(data: Any) -> None:
    w = Variable(data[0] * 0.7)
    loss = lambda c, x: xp.sum(scan(lambda a, x: (xp.sin(a * w + x), None), c, x)[0])  # noqa: E731
    for f in (
        lambda c, xs: vmap(loss, in_axes=(0, None))(xs[:4, ...], xs),
        lambda c, xs: jvp(loss, (c, xs), (xs[0, ...], xs)),
        lambda c, xs: vmap(checkpoint(lambda x: xp.sum(xp.sin(x * w))))(xs),
    ):
        assert_compiled_as_eager(f, *data)
