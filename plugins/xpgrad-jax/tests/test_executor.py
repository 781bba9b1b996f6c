"""Compiled functions of jax arrays: programs that `jax.jit` runs or rejects."""

import threading
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import xpgrad
import xpgrad.array_api as xp
import xpgrad.functions as F
from xpgrad.transforms import value_and_grad
from xpgrad_jax import executor as module
from xpgrad_jax.executor import executor

pytestmark = pytest.mark.exhaustive(2)

BOTH = "@jax:cpu:0+cpu:1"


def on(name: str, values: Any) -> Any:
    return xpgrad.get_device(name).send(np.asarray(values))


def is_jitted(compiled: Any, *args: Any) -> bool:
    return callable(executor(compiled.program(*args)))


@pytest.mark.parametrize("name", ["@jax:cpu:0", "@jax:cpu:1", BOTH])
def test_a_compiled_gradient_is_run_by_jit_on_the_device_of_its_arrays(name: str) -> None:
    rng = np.random.default_rng(0)
    big, w = on(name, rng.standard_normal((64, 64))), on(name, rng.standard_normal((64, 8)))
    x, t = on(name, rng.standard_normal((5, 64))), on(name, np.arange(5))

    def loss(w: Any, x: Any) -> Any:
        return F.softmax_cross_entropy(xp.tanh(x @ big @ w), t) + xp.sum(w[1:3, ::2] ** 2)

    eager, compiled = value_and_grad(loss)(w, x), xpgrad.compile(value_and_grad(loss))
    for _ in range(4):
        found = compiled(w, x)
    assert compiled.cache_info().hits == 2
    assert is_jitted(compiled, w, x)
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(eager), strict=True):
        assert one.dtype == other.dtype
        assert xpgrad.Variable(one).device.name == name
        np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", ["@jax:cpu:1", BOTH])
def test_what_depends_on_no_argument_is_on_the_device_of_the_program(name: str) -> None:
    with xpgrad.using_device(name):
        compiled = xpgrad.compile(lambda x: (x * 2.0, xp.ones((200, 200)), xp.arange(3)))
        x = on(name, [1.0, 2.0])
        for _ in range(3):
            found = compiled(x)
        assert is_jitted(compiled, x)
    assert [xpgrad.Variable(y).device.name for y in found] == [name] * 3


def test_jit_is_called_once_for_a_program() -> None:
    x, traced = jnp.arange(4.0), []

    def sine(x: Any) -> Any:
        traced.append(isinstance(x, jax.core.Tracer))
        return jnp.sin(x)

    @xpgrad.compile
    def f(x: Any) -> Any:
        return x * 3.0

    program = f.program(x)
    (call,) = program.calls
    run = executor(program.replaced(calls=(call.replaced(function=lambda x, _: sine(x)),)))
    for k in range(3):
        np.testing.assert_allclose(run(x + k)[0], jnp.sin(x + k))
    assert traced == [True]


@pytest.mark.parametrize(
    "f",
    [
        lambda x: F.dropout(x, 0.5),
        lambda x: x + xpgrad.random.normal(x.shape, x.dtype, x.device),
        lambda x: (xpgrad.debug_print("x is {}", x), x * 2)[1],
        lambda x: x.to_device("@jax:cpu:1") * 2,
    ],
    ids=["dropout", "random", "print", "another device"],
)
def test_what_has_effects_or_several_devices_runs_call_by_call(f: Any, capsys: Any) -> None:
    x = on("@jax:cpu:0", np.linspace(0.1, 1.0, 50))
    compiled = xpgrad.compile(f)
    with xpgrad.using_config("train", True), xpgrad.using_device("@jax:cpu:0"):
        results = []
        for _ in range(4):
            xpgrad.random.seed(1, "@jax:cpu:0")
            results.append(compiled(x))
        xpgrad.random.seed(1, "@jax:cpu:0")
        expected = f(xpgrad.Variable(x)).array
        assert compiled.cache_info().hits == 2
        assert not is_jitted(compiled, x)
    for found in results:
        assert np.asarray(found).tolist() == np.asarray(expected).tolist()


def test_what_jax_cannot_trace_and_what_is_too_long_runs_call_by_call(monkeypatch: pytest.MonkeyPatch) -> None:
    x = jnp.arange(4.0)
    program = xpgrad.compile(lambda x: x * 3.0).program(x)
    (call,) = program.calls
    looking = call.replaced(function=lambda x, _: x * float(x[1]))
    assert executor(program.replaced(calls=(looking,))) == "jax cannot trace it"
    longer = call.replaced(function=lambda x, _: jnp.concat([x, x]))
    assert executor(program.replaced(calls=(longer,))) == "jax gives other shapes or dtypes"
    monkeypatch.setattr(module, "MAX_CALLS", 0)
    assert executor(program) == "it is too long, draws, or writes to arrays"


def test_long_constant_arrays_are_no_constants_of_the_compiled_function() -> None:
    x, big = jnp.ones((100, 100)), jnp.full((100, 100), 2.0)
    program = xpgrad.compile(lambda x: x * 3.0).program(x)
    (call,) = program.calls
    program = program.replaced(calls=(call.replaced(args=(call.args[0], big), function=jnp.multiply),))
    run = executor(program)
    np.testing.assert_allclose(run(x)[0], big)
    jaxpr = jax.make_jaxpr(run)(x)  # its constants are the arguments that are given in addition
    assert [const.shape for const in jaxpr.consts] == [big.shape]


def test_threads_run_one_program_on_values_of_their_own() -> None:
    compiled = xpgrad.compile(value_and_grad(lambda x: xp.sum(xp.sin(x) * x)))
    inputs = [jnp.linspace(0.0, k + 1.0, 50) for k in range(6)]
    expected = [value_and_grad(lambda x: xp.sum(xp.sin(x) * x))(x) for x in inputs]
    found: dict[int, Any] = {}
    threads = [
        threading.Thread(target=lambda k=k, x=x: found.update({k: [compiled(x) for _ in range(5)][-1]}))
        for k, x in enumerate(inputs)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k, each in enumerate(expected):
        for one, other in zip(found[k], each, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)
