"""Compiled functions of MLX's arrays."""

import mlx.core as mx
import pytest

import xpgrad
import xpgrad.array_api as xp
import xpgrad.functions as F
from xpgrad.plugin import PluginWarning
from xpgrad.transforms import value_and_grad
from xpgrad_mlx.executor import Executor, falling_back

X = mx.array([1.0, 2.0, 3.0])


def test_mlx_compiles_a_gradient_that_asks_for_it() -> None:
    gradient = value_and_grad(lambda x: xp.sum(x * x))
    compiled = xpgrad.compile(gradient, executor="mlx")
    for _ in range(4):
        value, gx = compiled(X)
    assert compiled.cache_info().hits == 2
    assert (value.item(), gx.tolist()) == (14.0, [2.0, 4.0, 6.0])


def test_programs_with_random_numbers_run_call_by_call() -> None:
    compiled = xpgrad.compile(lambda x: F.dropout(x, 0.5))
    with xpgrad.using_config("train", True):
        compiled(X)
        assert not callable(Executor()(compiled.program(X)))


def test_what_mlx_cannot_compile_runs_call_by_call_with_one_warning() -> None:
    run = falling_back(mx.compile(lambda x: (mx.array(x.item()),)), lambda x: (2 * x,), (), "f")
    with pytest.warns(PluginWarning, match="the program of f failed, so it runs call by call: ValueError"):
        assert run(X)[0].tolist() == [2.0, 4.0, 6.0]
    assert run(X)[0].tolist() == [2.0, 4.0, 6.0]
