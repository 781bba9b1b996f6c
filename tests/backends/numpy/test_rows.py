"""Kernels of rows in C, which have the bits of NumPy's kernels."""

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.backends.c_executor.groups_to_compile import needs_compiler

import xpgrad
from xpgrad import array_api as xp
from xpgrad import functions as F
from xpgrad.backend.kernels import table
from xpgrad.transforms import grad
from xpgrad_c.toolchain import toolchain
from xpgrad_numpy.kernels import channels, neural, normalization, rows, scans
from xpgrad_numpy.kernels.elementwise import ELEMENTWISE

pytestmark = needs_compiler
BACKEND = xpgrad.get_device("@numpy").backend


@pytest.fixture
def _compiled(folder: str, codegen: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The kernels, for arrays of any size."""
    monkeypatch.setenv("XPGRAD_CACHE_DIR", folder)
    assert rows.build(), toolchain().failures
    monkeypatch.setattr(rows, "LARGE", 1)
    monkeypatch.setattr(rows, "SHARED", 1)
    monkeypatch.setattr(channels, "LARGE", 1)
    monkeypatch.setattr(channels, "SHORTEST", 1)
    yield
    rows.library.cache_clear()


def without(function: Any, rule: str, *args: Any, **parameters: Any) -> Any:
    """Return the result of NumPy's kernel, or of the rule that replaces it."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (rows, channels, neural, normalization):
            patch.setattr(module, "run", lambda *args: NotImplemented)
        result = function(*args, **parameters)
        if result is NotImplemented:
            declaration = table.find(rule)
            assert declaration is not None
            assert declaration.rule is not None
            result = declaration.rule(BACKEND.xp, *args, **parameters)
    return result


def assert_same(function: Any, *args: Any, rule: str = "", **parameters: Any) -> Any:
    """Compare a kernel in C with NumPy, to the bit, and return its result, which is a view only if NumPy's is."""
    result, expected = function(*args, **parameters), without(function, rule, *args, **parameters)
    assert result is not NotImplemented
    pairs = zip(result, expected, strict=True) if isinstance(result, tuple) else [(result, expected)]
    for y, wanted in pairs:
        text = f"{rule or function.__name__} {np.shape(args[0])}"
        np.testing.assert_array_equal(y, wanted, strict=True, err_msg=text)
        assert BACKEND.is_view(wanted) or not BACKEND.is_view(y), text  # sweeps and programs copy views
    return result


def shape_of(rng: np.random.Generator, turn: int) -> tuple[int, ...]:
    if turn % 8 == 0:
        return int(rng.integers(1, 300)), int(rng.integers(64, 2500))
    return tuple(int(n) for n in rng.integers(1, 40, rng.integers(2, 4)))


@pytest.mark.exhaustive(1)
@pytest.mark.usefixtures("_compiled")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_kernels_agree_with_numpy_to_the_bit(rng: np.random.Generator, dtype: str) -> None:
    rows.library(np.dtype(dtype)).wait()
    assert set(rows.library(np.dtype(dtype)).functions) == set(rows.TABLE)
    for turn in range(40):
        shape = shape_of(rng, turn)
        split = int(rng.integers(1, len(shape)))
        axes = tuple(range(split, len(shape)))
        axis = axes[0] if len(axes) == 1 and rng.integers(2) else axes
        x, gy = (rng.standard_normal(shape).astype(dtype) for _ in range(2))
        x *= np.asarray(rng.choice([1, 10, 100]), dtype)
        if turn % 5 == 0:
            x.ravel()[rng.integers(x.size)] = rng.choice([np.inf, -np.inf, np.nan, -0.0])
        gamma, beta = (rng.standard_normal(shape[split:]).astype(dtype) for _ in range(2))
        if rng.integers(2):
            gamma = gamma.reshape((1,) * split + gamma.shape)
        channels = (0, *range(2, len(shape)))
        for along, keepdims in ((None, False), (axis, False), (axis, True), (channels, False), (channels, True)):
            if along is channels and (len(shape) < 3 or shape[1] == 1):
                continue
            y, wanted = rows.sums(x, along, keepdims), np.add.reduce(x, along, keepdims=keepdims)
            if np.isfinite(wanted).all():
                np.testing.assert_array_equal(y, wanted, strict=True)
                assert not BACKEND.is_view(y)
            else:
                assert y is NotImplemented
        assert_same(neural.relu, x)
        assert_same(neural.gate, gy, x)
        assert_same(neural.expit, x)
        assert_same(BACKEND.xp.hard_sigmoid, x, rule="hard_sigmoid")
        assert_same(getattr(BACKEND.xp, "hard_sigmoid.x"), gy, x, rule="hard_sigmoid.x")
        for name in ("maximum.x1", "maximum.x2", "minimum.x1", "minimum.x2"):
            for other in (np.where(gy > 0, x, gy), np.asarray(rng.choice([0.0, np.nan, x.ravel()[0]]), dtype)):
                assert_same(ELEMENTWISE[name], gy, x, other, rule=name)
        one = np.broadcast_to(gy[:1], gy.shape)
        assert_same(ELEMENTWISE["maximum.x1"], one, x, gy)
        for name, parameter in (("clipped_relu", "z"), ("elu", "alpha"), ("leaky_relu", "slope"), ("softplus", "beta")):
            value = float(rng.uniform(0.1, 2.0))
            y = assert_same(functools.partial(getattr(BACKEND.xp, name), **{parameter: value}), x, rule=name)
            rule = f"{name}.x"
            assert_same(getattr(BACKEND.xp, rule), gy, y if name == "softplus" else x, value, rule=rule)
        weighted = [getattr(BACKEND.xp, f"sigmoid_weighted{end}") for end in ("", "_slope", ".x")]
        assert_same(functools.partial(weighted[0], beta=value), x, rule="sigmoid_weighted")
        assert_same(functools.partial(weighted[1], beta=value), x, rule="sigmoid_weighted_slope")
        assert_same(weighted[2], gy, x, value, rule="sigmoid_weighted.x")
        delta: Any = rng.choice([value, 0.0, -1.0, np.inf])
        assert_same(getattr(BACKEND.xp, "special.huber"), delta, x, rule="special.huber")
        assert_same(getattr(BACKEND.xp, "special.huber.r"), gy, float(delta), x, rule="special.huber.r")
        assert_same(neural.softmax_backward, gy, assert_same(neural.softmax, x, axis=axis), axis=axis)
        assert_same(neural.log_softmax_backward, gy, assert_same(neural.log_softmax, x, axis=axis), axis=axis)
        assert_same(neural.logsumexp, x, axis=axis, keepdims=bool(rng.integers(2)))
        mean, var = assert_same(normalization.moments, x, axis=axes)
        inverse = 1 / np.sqrt(var + np.asarray(1e-5, dtype))
        direction = assert_same(normalization.standardize, x, mean, inverse, axis=axes, eps=1e-5)
        assert_same(normalization.standardize_backward, gy, direction, inverse, axis=axes)
        assert_same(normalization.normalized, x, gamma, beta, mean, inverse, axis=axes, eps=1e-5)
        assert_same(normalization.normalized_x, gy, x, gamma, mean, inverse, axes, 1e-5, rule="normalized.x")
        given = gy, x, BACKEND.spec(gamma), mean, inverse, axes, 1e-5
        assert_same(normalization.normalized_gamma, *given, rule="normalized.gamma")
        assert_together(gy, x, gamma, mean, inverse, axes)


def assert_together(gy: Any, x: Any, gamma: Any, mean: Any, inverse: Any, axes: tuple[int, ...]) -> None:
    """Compare the gradients of `normalized` in fewer passes with those one by one, of NumPy's kernels."""
    gy[..., 0] = -0.0
    spec = BACKEND.spec(gamma)
    given = gy, x, gamma, mean, inverse, spec, spec, axes, 1e-5
    found = normalization.normalized_together(*given)
    if x.ndim == 2:
        assert (found is NotImplemented) == (gamma.shape != x.shape[1:])
    if found is not NotImplemented:
        expected = without(lambda *args: NotImplemented, "normalized.together", *given)
        for each, wanted in zip(found, expected, strict=True):
            np.testing.assert_array_equal(each, wanted, strict=True)
            np.testing.assert_array_equal(np.signbit(each), np.signbit(wanted))
            assert not BACKEND.is_view(each)


@pytest.mark.usefixtures("_compiled")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_kernels_of_channels_agree_with_numpy_to_the_bit(rng: np.random.Generator, dtype: str) -> None:
    rows.library(np.dtype(dtype)).wait()
    for turn in range(25):
        shape = (40, 6, 41, 30) if turn == 0 else tuple(int(n) for n in rng.integers(2, 16, rng.integers(3, 5)))
        axes, features = (0, *range(2, len(shape))), (1, shape[1]) + (1,) * (len(shape) - 2)
        if len(shape) == 4 and turn % 3:  # groups of channels
            shape = (shape[1], *shape[1:]) if turn % 2 else shape
            axes, features = (2, 3), (1, *shape[1:3], 1)
        x, gy = (rng.standard_normal(shape).astype(dtype) for _ in range(2))
        gamma, beta = (rng.standard_normal(features).astype(dtype) for _ in range(2))
        mean, var = assert_same(normalization.moments, x, axis=axes)
        assert axes == (2, 3) or channels.moments(x, axes) is not NotImplemented
        given = mean, 1 / np.sqrt(var + np.asarray(1e-5, dtype))
        assert_same(normalization.scale_and_shift, x, gamma, beta)
        assert_same(normalization.scale_and_shift_x, gy, gamma)
        if turn % 5 == 0:
            x.ravel()[rng.integers(x.size)] = rng.choice([np.inf, -np.inf, np.nan, -0.0])
        assert channels.normalized(x, gamma, beta, *given, axes) is not NotImplemented
        assert_same(normalization.normalized, x, gamma, beta, *given, axis=axes, eps=1e-5)
        assert channels.normalized_x(gy, x, gamma, *given, axes) is not NotImplemented
        assert_same(normalization.normalized_x, gy, x, gamma, *given, axes, 1e-5, rule="normalized.x")
        spec = BACKEND.spec(gamma)
        assert_same(normalization.normalized_gamma, gy, x, spec, *given, axes, 1e-5, rule="normalized.gamma")
        assert_together(gy, x, gamma, *given, axes)


@pytest.mark.usefixtures("_compiled")
def test_bits_do_not_depend_on_the_number_of_threads(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    x = rng.standard_normal((37, 700), np.float32)
    gamma = rng.standard_normal(700, np.float32)
    rows.library(x.dtype).wait()
    found = set()
    for number in range(1, 5):
        monkeypatch.setenv("XPGRAD_NUM_THREADS", str(number))
        leaves = [xpgrad.Variable(a) for a in (x, gamma)]
        y = F.softmax(F.relu(F.layer_normalization(leaves[0], leaves[1], gamma)))
        grads = xpgrad.grad([y], leaves, [xpgrad.Variable(x)])
        found.add(
            b"".join(v.array.tobytes() for v in (y, *grads) if v is not None) + rows.sums(x, None, False).tobytes()
        )
    assert len(found) == 1


@pytest.mark.usefixtures("_compiled")
@pytest.mark.parametrize(
    "function",
    [
        *(F.softmax, F.log_softmax, lambda x: F.layer_normalization(x, x[0], x[0])),
        lambda x: xp.reshape(F.group_normalization(xp.reshape(x, (9, 10, 13)), 5, x[0, :10], x[1, :10]), x.shape),
    ],
)
def test_raw_and_recorded_gradients_have_the_same_bits(rng: np.random.Generator, function: Any) -> None:
    x = rng.standard_normal((9, 130), np.float32)
    rows.library(x.dtype).wait()

    def gradient(recorded: bool) -> Any:
        leaf = xpgrad.Variable(x)
        (gx,) = xpgrad.grad([function(leaf)], [leaf], [xpgrad.Variable(x)], enable_double_backprop=recorded)
        return gx.array if gx is not None else None

    np.testing.assert_array_equal(gradient(False), gradient(True), strict=True)


@pytest.mark.usefixtures("_compiled")
def test_programs_are_the_same_before_and_after_kernels_are_compiled(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, rows_of = rng.standard_normal((4, 6, 2, 2), np.float32), (np.ones(6, np.float32), np.zeros(6, np.float32))
    functions = [
        *(F.elu, F.leaky_relu, F.softplus, F.hard_sigmoid, F.clipped_relu, lambda x: F.swish(x, 0.5)),
        *(lambda x: F.huber_loss(x, 0.5 * x, 1.0), lambda x: F.batch_normalization(x, *rows_of)),
        *(lambda x: F.group_normalization(x, 2, *rows_of), lambda x: F.layer_normalization(x[:, :, 0, 0], *rows_of)),
        *(lambda x: xp.prod(x, axis=-1), lambda x: xp.cumulative_prod(x, axis=-1)),
    ]

    def calls() -> list[list[str]]:
        steps = [grad(lambda x, f=f: xp.sum(f(x))) for f in functions]
        return [[call.name for call in xpgrad.compile(step, executor="python").program(x).calls] for step in steps]

    monkeypatch.setattr(scans, "LEAST", 1)
    scans.build()
    rows.library(x.dtype).wait()
    ready = calls()
    for module in (rows, channels, neural, normalization):
        monkeypatch.setattr(module, "run", lambda *args: NotImplemented)
    monkeypatch.setattr(scans, "loops", lambda dtype: None)
    assert calls() == ready


@pytest.mark.usefixtures("_compiled")
def test_other_arrays_are_left_to_numpy(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    x = rng.standard_normal((8, 12), np.float32)
    rows.library(x.dtype).wait()
    assert rows.run("softmax", (x,), 1) is not NotImplemented
    for array, axis in ((x.T, 1), (x[:, ::2], 1), (x, 0), (x, None), (x, (0, 1)), (x.astype("f2"), 1), (x[0], 0)):
        assert rows.run("softmax", (array,), axis) is NotImplemented
    assert rows.sums(x, (), False) is NotImplemented
    for array in (x.T, x[:, ::2], x.astype("f2"), x.astype("f8")[::2]):
        assert rows.sums(array, None, False) is rows.sums(array, -1, True) is NotImplemented
    assert rows.run("gate", (x, x.astype(float)), ()) is NotImplemented
    assert rows.run("gate", (x, x[:1]), ()) is NotImplemented
    monkeypatch.setattr(rows, "MAX_COLUMNS", 11)
    assert rows.run("softmax", (x,), 1) is NotImplemented
    assert rows.run("relu", (x,), ()) is not NotImplemented


def test_kernels_without_compiled_code_use_numpy(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XPGRAD_CODEGEN", "0")
    monkeypatch.setattr(rows, "LARGE", 1)
    rows.library.cache_clear()
    x = rng.standard_normal((8, 12), np.float32)
    assert rows.run("softmax", (x,), 1) is NotImplemented
    rows.library(x.dtype).wait()
    assert not rows.library(x.dtype).functions


@pytest.mark.usefixtures("_compiled")
def test_a_failure_leaves_all_to_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "loop", lambda *args: 1 / 0)
    found = rows.RowLibrary(np.dtype("f"), rows.row_kernels)
    assert not found.prepare()
    assert "division by zero" in toolchain().failures[-1]
