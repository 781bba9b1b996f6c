"""`vmap`: position of the batch axis, chunks, and operations on members."""

import copy
import functools
import pickle
import re

import numpy as np
import pytest
from tests.building import array, values, variable

import xpgrad
from xpgrad import Variable
from xpgrad import array_api as xp
from xpgrad import functions as F
from xpgrad.errors import BatchError, EscapedArray, NotANumber, ShapeError, StructureError, UnknownArray
from xpgrad.function_hooks import TimerHook
from xpgrad.testing.arrays import on_host
from xpgrad.transforms import checkpoint, grad, vmap

X = np.arange(24.0).reshape(2, 3, 4) / 7
W = np.arange(6.0).reshape(2, 3) - 2


@pytest.fixture
def x(device):
    return array(device, X[0], "float64")


# Axes, as JAX has them


def first(x):
    return x["a"] * 2 + x["b"][0], (x["a"], x["b"][1])


SCENARIOS = {
    "one axis": (lambda x: x * 2, (X,), 0, 0),
    "last axis": (lambda x: x * 2, (X,), -1, 0),
    "middle axis": (lambda x: x[0], (X,), 1, -1),
    "out in the middle": (lambda x: x + 1, (X,), 2, 1),
    "out last": (lambda x: x + 1, (X,), 0, -2),
    "two arguments": (lambda x, w: x * w[0], (X, W), 0, 0),
    "other axes": (lambda x, w: x.sum() * w, (X, W), (1, 1), 1),
    "one is not batched": (lambda x, w: x[:, :3] * w, (X, W), (2, None), 0),
    "list of axes": (lambda x, w: x[:, :3] * w, (X, W), [2, None], 0),
    "tree of axes": (first, ({"a": X[0, 0], "b": (X, W)},), ({"a": None, "b": (1, 1)},), 0),
    "axis for a tree": (first, ({"a": W[:, :1], "b": (X, W)},), ({"a": 0, "b": 0},), (0, (1, 0))),
    "axis for all": (first, ({"a": W[:, :1], "b": (X, W)},), 0, 0),
    "tree of results": (lambda x: {"u": x, "v": (x[0], x * 2)}, (X,), 0, {"u": 1, "v": (0, -1)}),
    "result that is not batched": (lambda x: (x, W[0]), (X,), 0, (0, None)),
    "nested": (lambda x: x.sum(), (X,), 0, 0),
    "0-d members": (lambda x: x * x, (W[0],), 0, 0),
    "batch of none": (lambda x: x * 2, (X[:0],), 0, 1),
    "batch of one": (lambda x: x * 2, (X[:1],), 0, 0),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_axes_agree_with_jax(name):
    jax = pytest.importorskip("jax")
    f, args, in_axes, out_axes = SCENARIOS[name]
    with jax.enable_x64(True):
        expected = jax.tree.map(np.asarray, jax.vmap(f, in_axes, out_axes)(*args))
    got = vmap(f, in_axes, out_axes)(*args)
    jax.tree.map(np.testing.assert_allclose, got, expected)
    if name != "batch of none":
        parts = vmap(f, in_axes, out_axes, chunk_size=2)(*args)
        jax.tree.map(np.testing.assert_array_equal, parts, got)


def test_keyword_arguments_have_axis_0(x):
    got = vmap(lambda x, *, s: x * s)(x, s=x[:, 0])
    np.testing.assert_array_equal(on_host(got), X[0] * X[0][:, :1])


def test_objects_that_are_no_arrays_are_passed_on():
    got = vmap(lambda x, name, n: x * n if name == "double" else x, in_axes=(0, None, None))(W, "double", 2)
    np.testing.assert_array_equal(got, W * 2)


def test_a_function_sees_the_shape_of_a_member(x):
    seen = []
    vmap(lambda x: seen.append((x.shape, x.ndim, x.size, len(x))) or x)(x)
    assert seen == [((4,), 1, 4, 4)]


WRONG = {
    "sizes": (lambda: vmap(lambda x, w: x)(X, W[:1]), ShapeError,
              r"one size for all arguments, got 2 in argument.*\(2, 3, 4\) along axis 0, and 1 in .*\(1, 3\)"),
    "no such axis": (lambda: vmap(lambda x: x, in_axes=3)(X), ShapeError, "has no axis 3.*in_axes=None"),
    "a number": (lambda: vmap(lambda x, s: x)(X, 1.0), ShapeError, r"at \[1\] has no axis 0, its shape is \(\)"),
    "no axis": (lambda: vmap(lambda x: x, in_axes=None)(X), ValueError, "no argument has an axis of the batch"),
    "too few": (lambda: vmap(lambda x, w: x, in_axes=(0,))(X, W), ValueError, "got 1 for 2 arguments"),
    "text": (lambda: vmap(lambda x: x, in_axes="a")(X), TypeError, "integer, None or a tuple, got str"),
    "a truth value": (lambda: vmap(lambda x: x, in_axes=True)(X), TypeError, "integer, None or a tuple, got bool"),
    "another": (lambda: vmap(lambda x: x, out_axes=True)(X), StructureError, "expected an integer or None, got bool"),
    "tree": (lambda: vmap(lambda x: x, in_axes=({"a": 0},))({"a": X, "b": X}), StructureError, "'a', 'b', got 'a'"),
    "out tree": (lambda: vmap(lambda x: (x, x), out_axes=(0,))(X), StructureError, "items 0, 1, got 0"),
    "out axis": (lambda: vmap(lambda x: x, out_axes=3)(X), ShapeError, "out_axes is 3, but the result has 3 axes"),
    "out None": (lambda: vmap(lambda x: x, out_axes=None)(X), BatchError, "out_axes is None; give an axis"),
    "result": (lambda: vmap(lambda x: "a")(X), UnknownArray, "expected an array .* got str"),
    "function": (lambda: vmap(3), TypeError, "expected a function, got int"),
    "chunk": (lambda: vmap(lambda x: x, chunk_size=0), ValueError, "positive integer or None, got 0"),
    "chunks": (lambda: vmap(lambda x: x, chunk_size=True), ValueError, "positive integer or None, got True"),
    "randomness": (lambda: vmap(lambda x: x, randomness="none"), ValueError, "'different' or 'same', got 'none'"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_named(name):
    call, error, text = WRONG[name]
    with pytest.raises(error, match=f"^vmap: .*{text}"):
        call()


# Chunks


def test_chunks_bound_the_members_that_are_computed_at_a_time(device):
    sizes = []
    f = vmap(lambda x, w: sizes.append(x.array.batching.size) or xp.sum(x * w), in_axes=(0, None), chunk_size=2)
    big = variable(device, np.ones((5, 3)), "float64")
    w = variable(device, [1.0, 2.0, 3.0], "float64")
    y = f(big, w)
    assert sizes == [2, 2, 1]
    xp.sum(y * y).backward()
    assert (values(big.grad), values(w.grad)) == ([[12.0, 24.0, 36.0]] * 5, [60.0] * 3)
    assert type(w.grad) is type(w.array)


# Variables from outside


def test_a_cotangent_that_all_members_share_counts_for_each(x, device):
    w = variable(device, np.ones(4), "float64")
    vmap(lambda x: xp.sum(w * w).backward())(x)
    np.testing.assert_allclose(on_host(w.grad), np.full(4, 2.0 * len(X[0])))


def test_backward_within_gives_each_member_its_gradient(x):
    def gradient(x):
        leaf = Variable(x.array)
        xp.sum(leaf * leaf * leaf).backward()
        return leaf.grad

    np.testing.assert_allclose(on_host(vmap(gradient)(x)), 3 * X[0] ** 2)


def test_a_captured_variable_cannot_get_an_array_for_each_member(x, device):
    w = variable(device, np.zeros(4), "float64", requires_grad=False, name="w")

    def f(x):
        w.array = x.array
        return x

    with pytest.raises(BatchError, match=r"^vmap: the function assigned w an array per batch element; return it"):
        vmap(f)(x)
    assert values(w) == [0.0] * 4


# Other transformations, and functions with rules of users


def test_a_checkpoint_repeats_the_draws_of_each_member(x):
    def f(x):
        leaf = Variable(x.array, requires_grad=True)
        y = checkpoint(lambda z: F.dropout(z, ratio=0.5) * z)(leaf)
        (g,) = xpgrad.grad([xp.sum(y)], [leaf])
        return y * 2, g * leaf

    for randomness in ("different", "same"):
        y, g = vmap(f, randomness=randomness)(x + 1)
        np.testing.assert_allclose(on_host(y), on_host(g))
        kept = on_host(y) != 0
        assert (kept == kept[0]).all() == (randomness == "same")


# Python objects


def test_a_variable_may_be_assigned_to(x):
    def f(x):
        y = x * 1
        y[0] = 7.0
        y[1:3] = x[:2]
        return y

    expected = np.stack([np.full(3, 7.0), X[0][:, 0], X[0][:, 1], X[0][:, 3]], axis=1)
    np.testing.assert_array_equal(on_host(vmap(f)(x)), expected)


def test_iteration_and_copies(x):
    np.testing.assert_allclose(on_host(vmap(lambda x: sum(x))(x)), X[0].sum(1))
    np.testing.assert_array_equal(on_host(vmap(copy.copy)(x)), X[0])
    np.testing.assert_array_equal(on_host(vmap(copy.deepcopy)(x)), X[0])
    for copied in (copy.copy, copy.deepcopy):
        for transform in (vmap, xpgrad.compile):
            f = transform(functools.partial(lambda copied, x: copied(x) * x, copied))
            np.testing.assert_allclose(on_host(grad(functools.partial(lambda f, x: xp.sum(f(x)), f))(x)), 2 * X[0])
    np.testing.assert_array_equal(on_host(vmap(lambda x: Variable(copy.deepcopy(x.array)))(x)), X[0])


def test_functions_of_numpy_take_members():
    got = vmap(lambda x: np.sin(x) + np.ones(4) * x + np.add(np.ones(4), x) + np.sum(x))(X[0])
    np.testing.assert_allclose(got, np.sin(X[0]) + 2 * X[0] + 1 + X[0].sum(1, keepdims=True))
    got = vmap(lambda x: Variable(np.sin(x.array) + np.sum(x.array, axis=0)))(X[0])
    np.testing.assert_allclose(got, np.sin(X[0]) + X[0].sum(1, keepdims=True))


REFUSED = {
    "pickle a Variable": pickle.dumps,
    "pickle an array": lambda x: pickle.dumps(x.array),
    "tolist": lambda x: x.tolist(),
    "item": lambda x: x[0].item(),
    "in": lambda x: 1.0 in x,
    "to another library": lambda x: x.to_device("@strict:device1"),
    "asarray": lambda x: np.asarray(x.array),
    "library": lambda x: np.histogram(x.array),
}


@pytest.mark.parametrize("name", REFUSED)
def test_reading_values_of_members_raises(name):
    with pytest.raises(BatchError, match=r"^vmap: .*; .*(return|use|write|call)"):
        vmap(REFUSED[name])(X[0])


LOOKS = {"float(x)": lambda x: float(x), "bool(x > 0)": lambda x: bool(x > 0), "x[x > 0]": lambda x: x[x > 0]}


@pytest.mark.parametrize("text", LOOKS)
def test_errors_for_values_of_members_name_the_line(text):
    with pytest.raises(BatchError, match=rf"is needed: .*, at .*test_vmap\.py:\d+: `{re.escape(text)}`; .*use xp"):
        vmap(LOOKS[text])(X[0, :, 0])


def test_repr_shows_the_batch(x):
    texts = []
    vmap(lambda x: texts.extend([repr(x.array), repr(x), str(x), repr(xp.ones((2,)).array)]) or x)(x)
    assert texts[0] == "<float64 (4,) for each of 3 batch elements>"
    assert texts[3].endswith("(2,) for all batch elements>")
    assert all(texts)


def test_an_array_that_has_escaped_cannot_be_used(x):
    kept = []
    vmap(lambda x: kept.append(x) or x)(x)
    assert repr(kept[0].array) == "<float64 (4,) for each of 3 batch elements, of a call that has ended>"
    with pytest.raises(EscapedArray, match=r"^vmap: an array of a call that has ended.*return it from the function"):
        kept[0] + 1
    with pytest.raises(EscapedArray):
        vmap(lambda x: x + kept[0])(x)


def test_results_share_no_memory_with_arguments_or_each_other(x, device):
    a, b = vmap(lambda x: (x, x))(x)
    if device.backend.name == "numpy":
        assert not np.shares_memory(a, b)
        assert not np.shares_memory(a, x)


# Watching


@pytest.mark.filterwarnings("ignore:.*in log")
def test_debug_mode_finds_the_function_that_gave_nan(x):
    with xpgrad.using_config("debug", True):
        np.testing.assert_allclose(on_host(vmap(xp.exp)(x)), np.exp(X[0]))
        with pytest.raises(NotANumber, match="forward computation of log"):
            vmap(lambda x: xp.log(x - 1))(x)


def test_function_hooks_see_one_call_for_all_members(x):
    hook = TimerHook()
    with hook:
        vmap(lambda x: xp.sum(xp.sin(x)))(Variable(x))
    assert {name: each["occurrence"] for name, each in hook.summary().items()} == {"sin": 1, "sum": 1}
