"""Forward and backward passes build graphs: no value is computed before it is requested."""

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import dask
import dask.array as da
import numpy as np
import pytest
from dask.tokenize import tokenize

import xpgrad
import xpgrad.array_api as xp
import xpgrad.functions as F
import xpgrad.links as L
from xpgrad_dask.creation import SMALL

RNG = np.random.default_rng(0)
X, W, T = RNG.random((6, 4)), RNG.random((4, 3)), np.asarray([0, 2, 1, 1, 0, 2])
SQUARE = RNG.random((2, 3, 3)) + 3 * np.eye(3)


def lazy(values: Any) -> Any:
    return da.from_array(values, chunks=2)


def image(x: Any) -> Any:
    return xp.reshape(x, (2, 1, 3, 4))


@pytest.fixture
def nothing_computes() -> Iterator[None]:
    def scheduler(*_: Any, **__: Any) -> NoReturn:
        raise AssertionError("something was computed")

    with dask.config.set(scheduler=scheduler):
        yield


@pytest.mark.usefixtures("nothing_computes")
def test_the_scheduler_of_these_tests_notices() -> None:
    with pytest.raises(AssertionError, match="something was computed"):
        bool(lazy(X).sum() > 0)


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "elementwise": lambda x: xp.sum(xp.tanh(x) * xp.exp(-x) / (1 + x**2)),
    "matmul": lambda x: xp.mean((x @ lazy(W)) ** 2),
    "where": lambda x: xp.sum(xp.where(x > 0.5, x, 0.0)),
    "extrema": lambda x: xp.sum(xp.max(x, axis=0) - xp.min(x, axis=0)),
    "sort": lambda x: xp.sum(xp.sort(x, axis=0)[1:] ** 2),
    "gather": lambda x: xp.sum(xp.take(x, lazy(T), axis=0) ** 2),
    "gathers": lambda x: xp.sum(x[lazy(T % 2), lazy(T)] ** 2),
    "take_along_axis": lambda x: xp.sum(xp.take_along_axis(x, xp.argsort(x, axis=1), axis=1) ** 2),
    "slices": lambda x: xp.sum(x[1::2, ::-1] ** 2),
    "mask": lambda x: xp.sum(xp.astype(x > 0.5, x.dtype) * x),
    "fft": lambda x: xp.sum(xp.abs(xp.fft.rfft(x, axis=0)) ** 2),
    "var": lambda x: xp.sum(xp.var(x, axis=0) + xp.std(x, axis=1)[:4]),
    "cumulative": lambda x: xp.sum(xp.cumulative_sum(x, axis=0) * xp.cumulative_prod(x, axis=1)),
    "cross entropy": lambda x: F.softmax_cross_entropy(x, lazy(T)),
    "concat": lambda x: xp.sum(xp.concat([x, x * 2], axis=1) ** 2),
    "special": lambda x: xp.sum(xp.special.gammaln(x + 1) * xp.special.erf(x)),
    "convolution": lambda x: xp.sum(F.convolution_2d(image(x), image(x)[:, :, :2, :2], pad=1) ** 2),
    "deconvolution": lambda x: xp.sum(F.deconvolution_2d(image(x), image(x)[:1, :, :2, :2]) ** 2),
    "pooling": lambda x: xp.sum(F.max_pooling_2d(image(x), 2) * F.average_pooling_2d(image(x), 2)),
    "dropout": lambda x: xp.sum(F.dropout(x, 0.5)),
}
MATRICES: dict[str, Callable[[Any], Any]] = {
    "det": xp.linalg.det,
    "slogdet": lambda x: xp.linalg.slogdet(x)[1],
    "inv": xp.linalg.inv,
    "solve": lambda x: xp.linalg.solve(x, lazy(SQUARE)),
    "cholesky": lambda x: xp.linalg.cholesky(x @ xp.matrix_transpose(x)),
    "eigh": lambda x: xp.linalg.eigh(x + xp.matrix_transpose(x))[0],
    "svd": lambda x: xp.linalg.svd(x, full_matrices=False)[1],
    "qr": lambda x: xp.linalg.qr(x)[1],
    "pinv": xp.linalg.pinv,
}
ALL = [(name, f, X) for name, f in PROGRAMS.items()]
ALL += [(name, lambda x, f=f: xp.sum(f(x) ** 2), SQUARE) for name, f in MATRICES.items()]  # type: ignore[misc]  # mypy cannot infer a lambda with a default


@pytest.mark.parametrize("recorded", [False, True], ids=["raw", "recorded"])
@pytest.mark.parametrize(("name", "f", "values"), ALL, ids=[name for name, _, _ in ALL])
def test_passes_compute_nothing(name: str, f: Callable[[Any], Any], values: Any, recorded: bool) -> None:
    def scheduler(*_: Any, **__: Any) -> NoReturn:
        raise AssertionError(f"{name} was computed")

    x = xpgrad.Variable(lazy(values))
    with dask.config.set(scheduler=scheduler):
        y = f(x)
        y.backward(enable_double_backprop=recorded)
        if recorded:
            (ggx,) = xpgrad.grad([xp.sum(x.grad_var**2 * x)], [x])
            assert isinstance(ggx.array, da.Array)
        found = x.grad
    assert isinstance(found, da.Array)
    if name != "dropout":
        expected = xpgrad.Variable(values)
        gradient_on_host(f, expected)
        np.testing.assert_allclose(found.compute(), expected.grad, rtol=1e-9, atol=1e-12)


def gradient_on_host(f: Callable[[Any], Any], x: Any) -> None:
    """Backward of the same program on NumPy: arrays that the program makes with `lazy` remain on the host."""
    held = globals()["lazy"]
    globals()["lazy"] = lambda values: values
    try:
        f(x).backward()
    finally:
        globals()["lazy"] = held


@pytest.mark.usefixtures("nothing_computes")
def test_random_numbers_are_drawn_when_they_are_computed() -> None:
    device = xpgrad.get_device("@dask")
    xpgrad.random.seed(1, device)
    one = xpgrad.random.uniform((4, 4), device=device), xpgrad.random.normal((4,), device=device)
    xpgrad.random.seed(1, device)
    two = xpgrad.random.uniform((4, 4), device=device), xpgrad.random.normal((4,), device=device)
    with dask.config.set(scheduler="synchronous"):
        for a, b in zip(one, two, strict=True):
            np.testing.assert_array_equal(a.compute(), b.compute())
        assert 0 <= one[0].min().compute() < one[0].max().compute() < 1


@pytest.mark.usefixtures("nothing_computes")
def test_a_move_to_the_device_computes_nothing() -> None:
    assert isinstance(xpgrad.Variable(X).to_device("@dask").array, da.Array)


def test_debug_mode_computes_no_function_for_those_after_it() -> None:
    def planned(steps: int, debug: bool) -> int:
        x = xpgrad.Variable(lazy(X))
        with xpgrad.using_config("debug", debug):
            y = x
            for _ in range(steps):
                y = xp.tanh(y) * 1.5
            y.grad = da.ones_like(y.array)
            y.backward()
        return len(dict(x.grad.__dask_graph__()))

    assert planned(20, debug=True) == planned(10, debug=True)
    assert planned(20, debug=False) > 1.5 * planned(10, debug=False)


@pytest.mark.usefixtures("nothing_computes")
def test_whole_numbers_are_not_computed_to_find_a_nan() -> None:
    assert not xpgrad.get_device("@dask").backend.has_nan(lazy(T) + 1)


def test_debug_mode_leaves_large_arrays_to_the_graph() -> None:
    x = da.random.default_rng(0).random((SMALL // 8 + 1,), chunks=SMALL) * 2
    layers = len(x.dask.layers)
    assert not xpgrad.get_device("@dask").backend.has_nan(x)
    assert len(x.dask.layers) == layers


def test_a_small_array_that_was_looked_at_keeps_its_values() -> None:
    x = lazy(X) * 2
    chunks, before, twin = x.chunks, x.compute(), x + 1
    assert not xpgrad.get_device("@dask").backend.has_nan(x)
    assert (len(x.dask.layers), x.chunks) == (1, chunks)
    np.testing.assert_array_equal(x.compute(), before)
    np.testing.assert_array_equal((x + 1).compute(), twin.compute())
    assert xpgrad.get_device("@dask").backend.same_values(x, lazy(X) * 2)


@pytest.mark.usefixtures("nothing_computes")
def test_tokens_of_variables_are_those_of_their_arrays() -> None:
    x, y = xpgrad.Variable(lazy(X)), xpgrad.Variable(lazy(X + 1))
    assert tokenize(x) == tokenize(xpgrad.Variable(lazy(X)))
    assert tokenize(x) != tokenize(y)
    assert tokenize(x) != tokenize(xpgrad.Variable(lazy(X), requires_grad=False))


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
def test_a_training_step_computes_parameters_states_and_averages(compiled: bool) -> None:
    model = xpgrad.Sequential(L.Linear(3, 2), L.BatchNormalization(2)).to_device("@dask")
    optimizer = xpgrad.optimizers.Adam().setup(model)
    x = da.from_array(np.arange(12.0, dtype=np.float32).reshape(4, 3), chunks=(2, 3))

    def loss(x: Any) -> Any:
        return xp.sum(model(xpgrad.as_variable(x)) ** 2)

    step = optimizer.compile(loss) if compiled else (lambda x: optimizer.update(loss, x))
    for _ in range(3):
        step(x)
    state = model[0].W.update_rule.state
    assert state is not None
    for array in (model[0].W.array, state["m"], model[1].avg_mean):
        assert len(array.__dask_graph__()) == array.npartitions
