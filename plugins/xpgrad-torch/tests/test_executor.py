"""Compiled functions of tensors by `torch.compile`: chosen by name only, and in new memory.

Inductor takes half a minute for its first program, so it runs in one test; in others PyTorch only captures programs.
"""

import logging
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from tests.building import assert_near

import xpgrad
import xpgrad.array_api as xp
import xpgrad.functions as F
from xpgrad.errors import CompileWarning
from xpgrad.plugin import PluginWarning
from xpgrad.transforms import value_and_grad
from xpgrad.transforms.trace.executors import wait

pytestmark = pytest.mark.exhaustive(1)


@pytest.fixture
def captured(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the programs that PyTorch has captured, without inductor."""
    names: list[str] = []
    whole = torch.compile
    logging.getLogger("torch.__trace").setLevel(logging.WARNING)  # pytest would print thousands of lines

    def compile(function: Callable[..., Any], **options: Any) -> Any:
        names.append(function.__name__)
        return whole(function, backend="aot_eager", **options)

    monkeypatch.setattr(torch, "compile", compile)
    return names


def network(p: Any, x: Any, t: Any) -> Any:
    h = F.sigmoid(x @ p["w"] + p["b"])
    return F.softmax_cross_entropy(F.layer_normalization(h, p["g"], p["b"]), t) + xp.sum(p["w"][1:3, ::2] ** 2)


def arguments() -> tuple[Any, ...]:
    torch.manual_seed(0)
    p = {"w": torch.randn(7, 4), "b": torch.randn(4), "g": torch.randn(4)}
    return p, torch.randn(5, 7), torch.tensor([0, 3, 1, 1, 2])


def flat(tree: Any) -> list[torch.Tensor]:
    return list(torch.utils._pytree.tree_leaves(tree))


def run(f: Callable[..., Any], *args: Any, **options: Any) -> Any:
    compiled = xpgrad.compile(f, **options)
    with xpgrad.using_device("@torch"):
        for _ in range(5):
            found = compiled(*args)
    assert compiled.cache_info().hits > 1
    return found


def test_it_runs_what_asks_for_it_and_nothing_else(captured: list[str]) -> None:
    f, args = value_and_grad(network), arguments()
    run(f, *args)
    run(f, *args, executor="python")
    assert captured == []
    found = run(f, *args, executor="torch")
    assert len(captured) == 1
    for one, other in zip(flat(found), flat(f(*args)), strict=True):
        assert one.dtype == other.dtype
        assert torch.allclose(one, other, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("reduce", ["mean", "no"])
@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("executor", ["python", "torch"])
def test_labels_may_be_ignored_in_later_runs_only(
    executor: str, normalize: bool, reduce: str, captured: list[str]
) -> None:
    def loss(x: Any, t: Any) -> Any:
        return xp.sum(F.softmax_cross_entropy(x, t, normalize=normalize, reduce=reduce) ** 2)

    x, all_count, some_ignored = torch.randn(4, 3), torch.tensor([0, 1, 2, 0]), torch.tensor([0, -1, 2, -1])
    f = value_and_grad(loss)
    compiled = xpgrad.compile(f, executor=executor)
    for t in (all_count, all_count, all_count, some_ignored, torch.full((4,), -1), all_count):
        for one, other in zip(compiled(x, t), f(x, t), strict=True):
            assert torch.allclose(one, other, rtol=1e-5, atol=1e-7)
    chosen = torch.softmax(x, 1)[[0, 2]] - torch.eye(3)[[0, 2]]  # by hand
    if reduce == "mean":
        value = -torch.log_softmax(x, 1)[[0, 2], [0, 2]].sum() / (2 if normalize else 4)
        expected = 2 * value * chosen / (2 if normalize else 4)
        assert torch.allclose(f(x, some_ignored)[1][[0, 2]], expected, rtol=1e-4)
    assert not f(x, some_ignored)[1][[1, 3]].any()


def test_results_share_no_memory_with_others(captured: list[str]) -> None:
    x, outside = torch.randn(4, 4), torch.randn(4, 4)

    def f(x: Any) -> Any:
        y = x * 2.0
        return x, x, x[1:], y, y, y[1:], xp.matrix_transpose(y), y + outside, outside

    compiled = xpgrad.compile(f, executor="torch")
    for _ in range(4):
        found = compiled(x)
    assert len(captured) == 1
    places = [y.untyped_storage().data_ptr() for y in (x, outside, *found)]
    assert len(set(places)) == len(places)
    expected = f(xpgrad.Variable(x))
    for one, other in zip(found, expected, strict=True):
        assert torch.equal(one, xpgrad.as_array(other))
    outside += 1.0
    assert torch.equal(compiled(x)[-1], outside)


def test_what_draws_random_numbers_runs_by_another_executor(captured: list[str]) -> None:
    x = torch.ones(50)
    with pytest.warns(CompileWarning, match="'torch' does not take programs"):
        found = run(lambda x: xp.sum(F.dropout(x, 0.5)), x, executor="torch")
    assert captured == []
    assert float(found) % 2 == 0


def test_large_elementwise_calls_on_the_host_are_computed_by_c(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XPGRAD_CODEGEN", raising=False)

    def f(x: Any) -> Any:
        return xp.sum(xp.tanh(x * 1.5 + 0.25) * xp.exp(-x * x) + F.sigmoid(x))

    rows, number = torch.randn(300, 200), torch.randn(300, 200, dtype=torch.complex64)
    for x in (rows, rows.T, rows[::2, 1:], number.imag, number.conj().imag, rows[:0], rows.double()):
        compiled, expected = xpgrad.compile(value_and_grad(f)), value_and_grad(f)(x)
        for _ in range(4):
            assert_near(compiled(x), expected, rtol=1e-5, atol=1e-5)
            assert wait(60)
        assert compiled.program(x).executor == "c" or not x.numel()
    compiled = xpgrad.compile(lambda x: f(x) * 1.0)
    assert all(torch.allclose(compiled(rows), f(rows)) for _ in range(4))
    batched = torch.func.vmap(lambda x: xpgrad.as_array(compiled(x)))(rows[None])
    assert torch.allclose(batched[0], f(rows))


@pytest.mark.slow
def test_a_program_is_compiled_by_inductor() -> None:
    f, x = value_and_grad(lambda x: xp.sum(xp.tanh(x) * F.sigmoid(x))), torch.linspace(-3.0, 9.0, 101)
    with warnings.catch_warnings():
        warnings.simplefilter("error", PluginWarning)
        found = run(f, x, executor="torch")
    for one, other in zip(found, f(x), strict=True):
        assert torch.allclose(one, other, rtol=1e-5, atol=1e-6)
