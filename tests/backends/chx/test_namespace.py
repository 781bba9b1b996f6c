"""The namespace of chx arrays against array_api_compat's of NumPy: names, signatures, values."""

import inspect

import array_api_compat.numpy as reference
import array_api_strict as strict
import numpy as np
import pytest
from tests.backends.chx.arrays import leaves, tree

import xpgrad
import xpgrad_chx as chx
from xpgrad_chx.sweeping import backward
from xpgrad_conformance.cases import CASES
from xpgrad_conformance.table.scenario import dtypes_of, host_inputs

MODULES = [
    (chx, reference, strict), (chx.linalg, reference.linalg, strict.linalg), (chx.fft, reference.fft, strict.fft),
]  # fmt: skip
FFT = set(chx.fft.__all__) - {"fftfreq", "rfftfreq"}
FUNCTIONS = {*chx.FUNCTIONS, *(f"linalg.{name}" for name in chx.linalg.__all__), *FFT}
CALLS = [(case, "") for case in CASES if case.area == "xp" and case.function in FUNCTIONS]
CALLS += [(case, "linalg") for case, _ in CALLS if case.name in chx.linalg.__all__]
"""Cases of the functions of the namespace, and those of functions that `linalg` has, too."""


def has_signature(function):
    """Whether a function has a signature; NumPy's ufuncs have had one since NumPy 2.4."""
    try:
        return bool(inspect.signature(function))
    except ValueError:
        return False


@pytest.mark.parametrize(("module", "other", "standard"), MODULES, ids=["chx", "linalg", "fft"])
def test_the_standards_names_and_signatures(module, other, standard):
    of_strict_alone = {"ArrayAPIStrictFlags", "Device", "get_array_api_strict_flags", "reset_array_api_strict_flags"}
    wanted = set(standard.__all__) - of_strict_alone - {n for n in standard.__all__ if "strict" in n}
    assert not wanted - set(dir(module)) - {"__version__"}
    for name in wanted - {"__version__"}:
        mine = getattr(module, name)
        if hasattr(mine, "__wrapped__") and has_signature(getattr(other, name)):
            assert inspect.signature(mine) == inspect.signature(getattr(other, name))
    assert set(module.__all__) <= set(dir(module))


def test_every_function_is_called_here():
    assert {f"{place}.{case.function}".strip(".") for case, place in CALLS} == FUNCTIONS


@pytest.mark.parametrize("required", [False, True], ids=["plain", "in a graph"])
@pytest.mark.parametrize(("case", "place"), CALLS, ids=lambda item: getattr(item, "name", item))
def test_values_dtypes_device_and_graph(case, place, required):
    xs = host_inputs(case, dtypes_of(case)[0])
    expected = case.call(getattr(reference, place, reference), *xs)
    arrays = [chx.asarray(x, device="native:1") for x in xs]
    leaf = [x.require_grad() for x in arrays if required and case.order and x.dtype.kind == "f"]
    got = case.call(getattr(chx, place, chx), *arrays)
    results = leaves(tree(got, lambda y: y))
    assert {(type(y), y.device) for y in results} == {(chx.ndarray, chx.get_device("native:1"))}
    assert hasattr(got, "_fields") == hasattr(expected, "_fields")
    for mine, theirs in zip(results, leaves(tree(expected, np.asarray)), strict=True):
        value = chx.to_numpy(mine)
        assert (value.shape, value.dtype) == (theirs.shape, theirs.dtype)
        np.testing.assert_allclose(value, theirs, rtol=1e-12 if required else 0, atol=1e-13 if required else 0)
    if leaf:
        backward([y for y in results if y.is_backprop_required()])
        gradients = [x.grad for x in leaf if x.grad is not None]  # none for the sign that copysign takes
        assert {(g.shape, g.device) for g in gradients} <= {(x.shape, x.device) for x in leaf}
        assert gradients


def test_creation_is_on_the_requested_device():
    for device in ("native:0", "native:1", chx.get_device("native:1"), xpgrad.get_device("native:1")):
        place = chx.get_device(device)
        made = [
            chx.arange(3, device=device), chx.empty((2,), device=device), chx.eye(2, device=device),
            chx.full((2,), 3.0, device=device), chx.linspace(0, 1, 3, device=device), chx.ones((2,), device=device),
            chx.zeros((2,), device=device), chx.asarray([1.0], device=device), chx.array([1.0], device=device),
            chx.fft.fftfreq(4, device=device), chx.fft.rfftfreq(4, device=device), chx.ndarray((2,), chx.int8, device),
            chx.from_dlpack(np.ones(2), device=device), chx.zeros_like(chx.ones((2,)), device=device),
            chx.ones_like(chx.ones((2,)), device=device), chx.full_like(chx.ones((2,)), 2.0, device=device),
            chx.empty_like(chx.ones((2,)), device=device), chx.astype(chx.ones((2,)), chx.int8, device=device),
        ]  # fmt: skip
        assert {y.device for y in made} == {place}
    with chx.using_device("native:1"):
        assert chx.zeros((2,)).device is chx.get_device("native:1")
        assert str(xpgrad.get_device()) == "native:1"
    with xpgrad.using_device("@numpy"):
        assert chx.zeros((2,)).device is chx.get_device("native:0")
    x = chx.ones((2,), dtype=chx.float32, device="native:1")
    assert (chx.zeros_like(x).device, chx.zeros_like(x).dtype) == (x.device, x.dtype)
    np.testing.assert_array_equal(chx.to_numpy(chx.eye(2, 3, k=1)), np.eye(2, 3, 1))
    np.testing.assert_array_equal(chx.to_numpy(chx.linspace(0, 1, 4, endpoint=False)), np.linspace(0, 1, 4, False))


def test_asarray_copies_if_necessary_or_requested():
    data = np.ones(2)
    assert np.shares_memory(chx.to_numpy(chx.asarray(data), copy=False), data)
    assert not np.shares_memory(chx.to_numpy(chx.asarray(data, copy=True), copy=False), data)
    assert not np.shares_memory(chx.to_numpy(chx.array(data), copy=False), data)
    a = chx.asarray(data)
    assert chx.asarray(a) is a
    assert chx.asarray(a, copy=True) is not a
    assert chx.asarray(a, dtype=chx.float32).dtype == chx.float32
    with pytest.raises(ValueError, match="without a copy"):
        chx.asarray(a, dtype=chx.float32, copy=False)
    with pytest.raises(xpgrad.UnknownArray, match="got a Variable"):
        chx.asarray(xpgrad.Variable(data))


def test_dtypes_and_information():
    info = chx.__array_namespace_info__()
    assert info.default_device() is chx.get_device("native:0")
    assert info.devices()[:2] == [chx.get_device("native:0"), chx.get_device("native:1")]
    assert info.dtypes(kind="real floating").keys() == {"float32", "float64"}
    assert info.default_dtypes()["real floating"] == chx.float64
    assert info.capabilities()["boolean indexing"]
    for name in ("bool", "int8", "uint64", "float32", "complex128"):
        dtype, of = getattr(chx, name), xpgrad.get_device("native:0").backend.dtype_name
        assert of(dtype) == of(chx.zeros((2,), dtype=dtype).dtype) == name
    a = chx.ones((2,), dtype=chx.float32)
    assert chx.result_type(a, chx.float64) == chx.float64
    limits = chx.finfo(a)
    assert limits.bits == 32
    assert all(type(x) is float for x in (limits.eps, limits.max, limits.min, limits.smallest_normal))
    assert chx.iinfo(chx.ones((2,), dtype=chx.int8)).max == 127
    assert chx.can_cast(a, chx.float64)
    assert chx.isdtype(a.dtype, "real floating")
    assert chx.broadcast_shapes((2, 1), (3,)) == (2, 3)
    assert a.__array_namespace__() is chx
    assert a.__array_namespace__(api_version="2024.12") is chx
    with pytest.raises(ValueError, match="a version of the standard"):
        a.__array_namespace__(api_version="1999")
