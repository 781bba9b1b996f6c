"""Family C: new arrays have the requested values, shape, dtype and device, and share no memory."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from xpgrad import Device, as_array, using_device
from xpgrad.array_api.namespace import namespace
from xpgrad.plugin import CHAPTERS
from xpgrad_conformance.check import check
from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.operation import Operation
from xpgrad_conformance.generated.sequences import assert_right
from xpgrad_conformance.subject import Subject

KINDS = {"b": "bool", "i": "integral", "f": "real floating", "c": "complex floating"}


def _shapes(s: Subject) -> list[tuple[int, ...]]:
    return [(3, 4), (2, 3, 5), (1,), (), (1, 1, 3), *([(0,), (0, 3), (2, 0, 3)] if s.has("empty_arrays") else [])]


def _of_creation(operation: Operation, dtype: str, quick: bool) -> bool:
    return operation.name in CHAPTERS["creation"]


@check("C01", scope="operation", applies=_of_creation)
def created(s: Subject) -> None:
    """Functions of creation give the standard's values in every shape and dtype, on the given device."""
    assert s.operation is not None
    draw = Draw(s, s.operation.name)
    for sample in draw.part_of(s.operation.samples(draw)):
        for whose, xp in (("the library's", s.kernels), ("the differentiable", s.xp)):
            assert_right(s, sample, sample.applied(xp, *sample.arrays(s)), f"{whose} function")


def _place(s: Subject, dtype: str = "") -> dict[str, Any]:
    return {"dtype": s.dtype_of(dtype or s.wide), "device": s.device.handle}


@check("C03")
def like_another_elsewhere(s: Subject) -> None:
    """dtype= and device= take precedence over dtype and device of the array given to zeros_like and its relatives."""
    here, there = s.pair
    xp, names = here.backend.namespace, [name for name in ("int32", "float32", "bool") if s.has(name)]
    x = s.array(s.values((2, 3)), "float32", here)
    for dtype in names:
        kind = getattr(xp, dtype)
        for name, value in (("zeros_like", 0), ("ones_like", 1)):
            made = getattr(xp, name)(x, dtype=kind, device=there.handle)
            expected = np.full((2, 3), value, dtype)
            s.expect(made, expected, f"{name}(x, dtype={dtype}, device={there})", dtype=dtype, device=there)
        full = xp.full_like(x, 1, dtype=kind, device=there.handle)
        s.expect(full, np.ones((2, 3), dtype), f"full_like(x, 1, dtype={dtype})", dtype=dtype, device=there)


@check("C04")
def current_device(s: Subject) -> None:
    """Without device=, new arrays are on the current device; with device=, on the given device."""
    here, there = s.pair
    xp = namespace(here.backend)
    default = here.backend.default_device
    with using_device(default):
        plain = here.backend.namespace.zeros((2, 3))
    _expect_default(s, plain, np.zeros((2, 3)), "zeros((2, 3)) of the library", default)
    for device, other in ((here, there), (there, here)):
        with using_device(device):
            for name, args, expected in _created():
                what = f"{name}{args} while {device} is current"
                _expect_default(s, getattr(xp, name)(*args), expected, what, device)
                made = getattr(xp, name)(*args, device=other)
                _expect_default(s, made, expected, f"{what}, with device={other}", other)


def _created() -> Iterator[tuple[str, tuple[Any, ...], Any]]:
    yield "zeros", ((2, 3),), np.zeros((2, 3))
    yield "ones", ((3,),), np.ones(3)
    yield "full", ((2,), 0.75), np.full(2, 0.75)
    yield "arange", (5,), np.arange(5)
    yield "arange", (1.5, 6.0, 1.25), np.arange(1.5, 6.0, 1.25)
    yield "linspace", (0.25, 2.0, 6), np.linspace(0.25, 2.0, 6)
    yield "eye", (2, 3), np.eye(2, 3)
    yield "asarray", ([0.5, -1.25],), np.asarray([0.5, -1.25])


def _expect_default(s: Subject, made: Any, expected: Any, what: str, device: Device | None = None) -> None:
    """Expect values and a dtype of their kind, which on the default device is the default dtype."""
    device, kind = device or s.device, expected.dtype.kind
    dtype = as_array(made).dtype
    assert device.backend.is_kind(dtype, KINDS[kind]), f"{what} has dtype {dtype}, expected a {KINDS[kind]} one"
    name = device.backend.dtype_name(dtype)
    if kind in "fc" and device == device.backend.default_device:
        name = device.backend.dtype_name(device.backend.default_dtype("float" if kind == "f" else "complex"))
    s.expect(made, expected, what, dtype=name, device=device)


@check("C05")
def asarray_of_lists(s: Subject) -> None:
    """Asarray makes arrays of scalars and nested lists, in the default dtype of their kind or in another."""
    lists: list[Any] = [
        2.625, [1.5, -2.25, 0.75], [[0.5, 1.25, -3.0], [2.75, 4.5, 6.125]], [[[1.5], [2.5]], [[3.5], [4.5]]],
        5, [[1, -2, 3]], True, [True, False, False], 1.5 - 0.5j, [1.5 + 2j, -3j],
    ]  # fmt: skip
    for values in lists:
        expected = np.asarray(values)
        if expected.dtype.kind == "c" and not s.dtypes("c"):
            continue
        _expect_default(s, s.xp.asarray(values, device=s.device), expected, f"asarray({values})")
    for dtype in s.dtypes():
        values = [[3, 0, 1], [0, 2, 5]]
        made = s.xp.asarray(values, dtype=s.dtype_of(dtype), device=s.device)
        s.expect(made, np.asarray(values).astype(dtype), f"asarray({values}, dtype={dtype})", dtype=dtype)
    if s.has("empty_arrays"):
        s.expect(s.xp.asarray([], **_place(s)), np.zeros(0), "asarray([])")
        s.expect(s.xp.asarray([[], []], **_place(s)), np.zeros((2, 0)), "asarray([[], []])")


@check("C06")
def full_of_scalars(s: Subject) -> None:
    """Full without dtype= uses the default dtype for the kind of its Python scalar, for any value."""
    values: list[Any] = [True, False, 3, -4, 0, 2.5, 2.0, float("nan"), float("-inf")]
    for value in [*values, *([2.5 + 1j, 2 + 0j] if s.dtypes("c") else [])]:
        for shape in ((2, 3), ()):
            made = s.xp.full(shape, value, device=s.device)
            expected = np.full(shape, value)
            _expect_default(s, made, expected, f"full({shape}, {value!r})")
    if s.has("int64"):
        large = 2**53 + 1
        made = s.xp.full((2,), large, **_place(s, "int64"))
        s.expect(made, np.full(2, large), f"full((2,), {large}, dtype=int64)", dtype="int64")


@check("C13")
def contract(s: Subject) -> None:
    """Backend.asarray, ones and copy fulfil their contract, on the given device."""
    backend, handle = s.backend, s.device.handle
    for dtype in s.dtypes("f", "c"):
        values = s.values((2, 3), dtype=dtype)
        x, kind = s.array(values, dtype), s.dtype_of(dtype)
        s.expect(backend.asarray(2, kind, handle), np.asarray(2.0, dtype), f"asarray(2, {dtype})", dtype=dtype)
        nested = [[0.5, 1.5, 2.5], [-0.5, -1.5, -2.5]]
        made = backend.asarray(nested, kind, handle)
        s.expect(made, np.asarray(nested, dtype), f"asarray of lists, {dtype}", dtype=dtype)
        s.expect(backend.asarray(x), values, f"asarray of a {dtype} array", dtype=dtype)
        s.expect(backend.copy(x), values, f"copy of a {dtype} array", dtype=dtype)
        turned = backend.copy(s.kernels.permute_dims(x, axes=(1, 0)))
        s.expect(turned, values.T, f"copy of a transposed {dtype} array", dtype=dtype)
        for shape in _shapes(s):
            spec = backend.spec_for(shape, x.dtype, handle)
            s.expect(backend.ones(spec), np.ones(shape, dtype), f"ones of {shape}, {dtype}", dtype=dtype)
