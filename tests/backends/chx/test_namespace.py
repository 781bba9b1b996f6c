"""The namespace of chx arrays against array_api_compat's of NumPy: names, signatures, values."""

import inspect

import array_api_compat.numpy as reference
import array_api_strict as strict
import numpy as np
import pytest
from tests.backends.chx.arrays import leaves, tree

import xpgrad
import xpgrad_chx as chx

MODULES = [
    (chx, reference, strict),
    (chx.linalg, reference.linalg, strict.linalg),
    (chx.fft, reference.fft, strict.fft),
]
A = np.array([[0.31, -1.7, 2.3], [1.9, 0.71, -0.43]])
S = np.array([[4.1, 0.3], [0.3, 2.7]])
I = np.array([[3, 1, 2], [5, 4, 7]])

_UNARY = """abs acosh asinh atan ceil conj cos cosh exp expm1 floor imag isfinite isinf isnan log1p log2 log10 log
negative positive real reciprocal round sign signbit sin sinh sqrt square tan tanh trunc"""
_BINARY = """add atan2 copysign divide equal greater greater_equal hypot less less_equal logaddexp maximum minimum
multiply nextafter not_equal remainder floor_divide subtract vecdot"""
_BITS = "bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor"
_REDUCTIONS = "cumulative_prod cumulative_sum max mean min prod std sum var diff"
_LINALG = """cholesky det diagonal eig eigh eigvals eigvalsh inv matrix_norm matrix_rank matrix_transpose pinv qr
slogdet svd svdvals trace vector_norm"""
_FFT = "fft fftn fftshift hfft ifft ifftn ifftshift irfft irfftn"
CALLS = [
    *((name, (np.abs(A) + 1.1,), {}) for name in _UNARY.split()),
    *((name, (A / 3,), {}) for name in ("acos", "asin", "atanh")),
    *((name, (A, A[0] + 0.1), {}) for name in _BINARY.split()),
    *((name, (I, I[::-1]), {}) for name in _BITS.split()),
    *((name, (I > 2, I < 5), {}) for name in ("logical_and", "logical_or", "logical_xor")),
    ("logical_not", (I > 2,), {}), ("bitwise_invert", (I,), {}),
    ("pow", (np.abs(A), A[0]), {}),
    ("clip", (A, -1.0, 1.0), {}), ("where", (A > 0, A, -A), {}),
    ("matmul", (A, A.T), {}), ("matrix_transpose", (A,), {}), ("tensordot", (A, A), {"axes": 2}),
    ("broadcast_arrays", (A, A[0]), {}), ("broadcast_to", (A[0], (2, 3)), {}),
    ("concat", ([A, A],), {"axis": 1}), ("stack", ([A, A],), {"axis": 1}), ("unstack", (A,), {}),
    ("expand_dims", (A,), {"axis": 1}), ("flip", (A,), {}), ("meshgrid", (A[0], A[1]), {}), ("moveaxis", (A, 0, 1), {}),
    ("permute_dims", (A, (1, 0)), {}), ("repeat", (A, 2), {"axis": 0}), ("reshape", (A, (3, 2)), {}),
    ("roll", (A, 1), {}), ("tril", (A,), {}),
    ("triu", (A,), {}),
    ("argmax", (A,), {"axis": 0}), ("argmin", (A,), {}), ("count_nonzero", (I > 2,), {}), ("nonzero", (I > 2,), {}),
    ("searchsorted", (np.sort(A[0]), A[1]), {}),
    ("isin", (I, I[0]), {}), ("unique_all", (I,), {}), ("unique_counts", (I,), {}), ("unique_inverse", (I,), {}),
    ("unique_values", (I,), {}),
    ("argsort", (A,), {}), ("sort", (A,), {"descending": True}), ("take", (A, I[0] % 2), {"axis": 0}),
    ("take_along_axis", (A, I % 3), {"axis": 1}),
    *((name, (A,), {"axis": 1}) for name in _REDUCTIONS.split()),
    ("all", (A > 0,), {}), ("any", (A > 0,), {"axis": 0}),
    *((f"linalg.{name}", (S,), {}) for name in _LINALG.split()),
    ("linalg.solve", (S, S[0]), {}), ("linalg.matrix_power", (S, 3), {}), ("linalg.cross", (A[0], A[1]), {}),
    ("linalg.outer", (A[0], A[1]), {}), ("linalg.matmul", (S, S), {}), ("linalg.vecdot", (A, A), {}),
    ("linalg.tensordot", (A, A), {}),
    *((f"fft.{name}", (A + 0j,), {}) for name in _FFT.split()),
    *((f"fft.{name}", (A,), {}) for name in ["rfft", "rfftn", "ihfft"]),
]  # fmt: skip


def found(module, name):
    for part in name.split("."):
        module = getattr(module, part)
    return module


def on(device, x):
    if isinstance(x, list):
        return [on(device, item) for item in x]
    return chx.asarray(x, device=device) if isinstance(x, np.ndarray) else x


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
    called = {name for name, _, _ in CALLS}
    assert set(chx.FUNCTIONS) == {name for name in called if "." not in name}
    assert {f"linalg.{name}" for name in chx.linalg.__all__} == {name for name in called if "linalg." in name}
    made = {"fftfreq", "rfftfreq"}
    assert {f"fft.{name}" for name in set(chx.fft.__all__) - made} == {name for name in called if "fft." in name}


@pytest.mark.parametrize(("name", "args", "kwargs"), CALLS, ids=[name for name, _, _ in CALLS])
def test_values_dtypes_and_devices_are_numpys(name, args, kwargs):
    expected = found(reference, name)(*args, **kwargs)
    for device in ("native:0", "native:1"):
        got = found(chx, name)(*[on(device, x) for x in args], **kwargs)
        arrays = leaves(tree(got, lambda y: y))
        assert {(type(y), y.device) for y in arrays} == {(chx.ndarray, chx.get_device(device))}
        assert hasattr(got, "_fields") == hasattr(expected, "_fields")
        for mine, theirs in zip(map(chx.to_numpy, arrays), leaves(tree(expected, np.asarray)), strict=True):
            assert (mine.shape, mine.dtype) == (theirs.shape, theirs.dtype)
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("name", ["exp", "sum", "matmul", "concat", "linalg.inv", "fft.rfft", "where", "clip", "svd"])
def test_functions_of_arrays_in_a_graph_are_differentiable(name):
    x = chx.asarray(S).require_grad()
    operands = {"matmul": (x, x), "concat": ([x, x],), "where": (x > 1.0, x, 2.0 * x), "clip": (x, 0.5, 3.0)}
    y = found(chx, name if name != "svd" else "linalg.svd")(*operands.get(name, (x,)))
    y = y[0] if name == "svd" else y
    assert type(y) is chx.ndarray
    assert y.is_backprop_required()
    chx.sum(chx.abs(y)).backward()
    assert x.grad.shape == (2, 2)


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
