"""Scalars of libraries as operands: single scalars are 0-d arrays of their library, and weak next to Variables."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.devices import device_or_skip

import xpgrad
from xpgrad import Variable, array_api, functions, ops, special
from xpgrad import array_api as xp
from xpgrad.testing.arrays import on_host, placed

MODULES = {"": array_api, "linalg": array_api.linalg, "fft": array_api.fft, "ops": ops, "special": special}
MODULES["F"] = functions
REQUIRED = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD


def functions_of_0d_arrays() -> dict[str, tuple[Callable[..., Any], int]]:
    """Return the public functions of one 0-d array or more, with the number of these."""
    found = {}
    for chapter, module in MODULES.items():
        for name in module.__all__:
            function = getattr(module, name)
            given = inspect.signature(function).parameters.values() if callable(function) else ()
            count = sum(p.kind in REQUIRED and p.default is p.empty for p in given)
            try:
                function(*[np.asarray(0.5)] * count)
            except Exception:  # takes matrices, integers, or no arrays
                continue
            found[f"{chapter}.{name}".removeprefix(".")] = function, count
    return found


FUNCTIONS = functions_of_0d_arrays()


def test_a_single_scalar_is_a_0d_array():
    for name, (function, count) in FUNCTIONS.items():
        expected, got = (function(*[x] * count) for x in (np.asarray(0.5), np.float64(0.5)))
        assert type(got) is type(expected), name
        if isinstance(got, Variable):
            assert (got.dtype, got.shape) == (expected.dtype, expected.shape), name


MIXED: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "einsum": (lambda v: ops.einsum(",i->i", np.float64(2), v), lambda x: 2 * x),
    "einsum of a complex number": (lambda v: ops.einsum(",i->i", 2j, v), lambda x: np.complex64(2j) * x),
    "numpy.dot": (lambda v: np.dot(np.complex128(2j), v), lambda x: np.complex64(2j) * x),
    "numpy.append": (lambda v: np.append(v, 2j), lambda x: np.append(x, np.complex64(2j))),
    "stack": (
        lambda v: xp.stack([v[0], True, np.float64(3)]),
        lambda x: np.stack([x[0], np.float32(1), np.float32(3)]),
    ),
    "stack of a complex number": (lambda v: xp.stack([v[0], 1j]), lambda x: np.stack([x[0], np.complex64(1j)])),
    "kron": (lambda v: ops.kron(np.float64(2), v), lambda x: 2 * x),
    "interp": (lambda v: ops.interp(np.float64(1.5), v, v), lambda x: np.float32(1.5)),
    "apply_where": (
        lambda v: ops.apply_where(v > 1, (v, 2.0), lambda a, b: a * b, fill_value=0.0),
        lambda x: np.where(x > 1, 2 * x, np.float32(0)),
    ),
    "broadcast_arrays": (lambda v: xp.broadcast_arrays(v, 2.0)[1], lambda x: np.full_like(x, 2)),
}


@pytest.mark.parametrize("title", MIXED)
@pytest.mark.parametrize("place", ["@numpy", "native:0", "@strict:device1", "@torch:cpu", "@jax:cpu"])
def test_a_scalar_next_to_a_variable_is_weak(title, place):
    ours, reference = MIXED[title]
    x = np.asarray([1.0, 2.0], "float32")
    device = device_or_skip(place)
    y, expected = ours(Variable(placed(x, device))), reference(x)
    assert (device.backend.dtype_name(y.dtype), y.device) == (expected.dtype.name, device)
    np.testing.assert_array_equal(on_host(y), expected)


def test_sums_of_raw_arrays_go_on():
    assert xp.sqrt(np.sum(np.ones(4))).array == 2.0
    assert xp.sum(np.float32(2), dtype="float64").dtype == np.float64
    assert xp.add(np.float64(1), 2.0).array == 3.0
    with pytest.raises(xpgrad.UnknownArray, match="exp: expected at least one Variable or array, got float"):
        xp.exp(1.0)


def test_sorting_in_descending_order_by_numpys_names():
    v = Variable(np.asarray([2.0, 3.0, 1.0]))
    assert xpgrad.sort(v, descending=True).array.tolist() == [3.0, 2.0, 1.0]
    assert xpgrad.argsort(v, descending=True).array.tolist() == [1, 0, 2]
