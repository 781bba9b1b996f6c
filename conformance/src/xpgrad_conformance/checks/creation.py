"""Family C: new arrays have the requested values, shape, dtype and device, and share no memory."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from xpgrad import Device, as_array, using_device
from xpgrad.array_api.namespace import namespace
from xpgrad.plugin import CHAPTERS
from xpgrad.testing.arrays import placed
from xpgrad_conformance.check import check
from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.operation import Operation
from xpgrad_conformance.generated.sequences import assert_right
from xpgrad_conformance.generated.writing import overwrite
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


@check("C10")
def from_the_host(s: Subject) -> None:
    """Arrays come from the host with every bit: extremes, NaN, -0.0, any strides, 0-d and empty, in every dtype."""
    for dtype in s.dtypes():
        for what, host in _hosts(dtype, s.has("empty_arrays")):
            array = placed(host, s.device)
            s.expect(array, host, f"{what} of {dtype} from the host", dtype=dtype)
            back = s.host(array)
            if host.dtype.kind in "fc":
                same = np.array_equal(np.signbit(back.real), np.signbit(host.real))
                assert same, f"{what} of {dtype} from the host and back: a sign changed: {back}"
            elif back.dtype == host.dtype:
                assert np.array_equal(back, host), f"{what} of {dtype} came back as {back}, not {host}"


def _hosts(dtype: str, empty: bool) -> Iterator[tuple[str, Any]]:
    kind = np.dtype(dtype).kind
    grid = np.arange(24).reshape(2, 3, 4) * (1 if kind in "biu" else 0.37)
    if kind in "iu":
        limits = np.iinfo(dtype)
        yield "extremes", np.asarray([limits.min, limits.max, limits.max - 1, limits.max // 2], dtype)
    if kind in "fc":
        tiny = np.finfo(dtype).tiny
        yield "extremes", np.asarray([np.inf, -np.inf, np.nan, -0.0, 0.0, tiny, np.finfo(dtype).max], dtype)
    values = (grid % 2 == 0) if kind == "b" else grid.astype(dtype) * (1 - 0.5j if kind == "c" else 1)
    values = values.astype(dtype)
    yield "a cube", values
    yield "a transposed cube", values.transpose(2, 0, 1)
    yield "a reversed slice", values[::-1, 1:, ::-2]
    yield "a broadcast array", np.broadcast_to(values[0, :1], (5, 4))
    yield "a 0-d array", values[1, 2, 3, ...]
    yield "a Fortran-ordered array", np.asfortranarray(values[0])
    if empty:
        yield "an empty array", values[:0]
        yield "an empty array of shape (2, 0, 4)", values[:, :0]


@check("C11")
def zero_dimensional(s: Subject) -> None:
    """Results without axes have the shape (), and are arrays."""
    values = s.values((3, 4))
    x = s.variable(values)
    point = s.variable(values[1, 2])
    truth = s.variable(values > 0, "bool")
    results: list[tuple[str, Any, Any]] = [
        ("sum(x)", s.xp.sum(x), values.sum()),
        ("max(x)", s.xp.max(x), values.max()),
        ("mean(x)", s.xp.mean(x), values.mean()),
        ("prod(x)", s.xp.prod(x), values.prod()),
        ("x[1, 2]", x[1, 2], values[1, 2]),
        ("any(x > 0)", s.xp.any(truth), (values > 0).any()),
        ("point + 1", point + 1, values[1, 2] + 1),
        ("exp(point)", s.xp.exp(point), np.exp(values[1, 2])),
        ("point * point", point * point, values[1, 2] ** 2),
        ("-point", -point, -values[1, 2]),
        ("point > 0", point > 0, values[1, 2] > 0),
        ("vecdot(x[0], x[1])", s.xp.vecdot(x[0, :], x[1, :]), values[0] @ values[1]),
        ("matmul of vectors", s.xp.matmul(x[0, :], x[1, :]), values[0] @ values[1]),
        ("reshape(x[:1, :1], ())", s.xp.reshape(x[:1, :1], ()), values[0, 0]),
        ("squeeze", s.xp.squeeze(x[:1, :1], axis=(0, 1)), values[0, 0]),
        ("argmax(x)", s.xp.argmax(x), values.argmax()),
        ("copy of a 0-d array", s.backend.copy(point.array), values[1, 2]),
        ("zeros(())", s.xp.zeros((), **_place(s)), np.zeros(())),
        ("asarray(2.5)", s.xp.asarray(2.5, **_place(s)), np.asarray(2.5)),
    ]
    for what, got, expected in results:
        wanted = np.asarray(expected)
        s.expect(got, wanted, what, dtype="bool" if wanted.dtype.kind == "b" else "")


@check("C12", needs=("in_place_update",))
def memory_of_their_own(s: Subject) -> None:
    """Copies and new arrays do not share memory: a write to one array changes no other array."""
    values = s.values((3, 4))
    xp, backend, kind = s.backend.namespace, s.backend, s.dtype_of(s.wide)
    host = values.copy()
    x = s.array(host)
    host[...] = 77.0
    s.expect(x, values, "an array from the host, after writing to the host's")
    copies = {
        "Backend.copy(x)": backend.copy(x),
        "asarray(x, copy=True)": s.xp.asarray(x, copy=True).array,
        "astype(x, its own dtype)": xp.astype(x, kind),
        "reshape(x, its own shape, copy=True)": s.xp.reshape(x, (3, 4), copy=True).array,
    }
    for what, made in copies.items():
        s.expect(made, values, what)
        made[...] = made * 3.0
        s.expect(x, values, f"x, after writing to {what}")
    new: dict[str, tuple[Callable[[], Any], Any]] = {
        "zeros((2, 3))": (lambda: xp.zeros((2, 3), dtype=kind, device=s.device.handle), np.zeros((2, 3))),
        "ones((2, 3))": (lambda: xp.ones((2, 3), dtype=kind, device=s.device.handle), np.ones((2, 3))),
        "full((2, 3), 2.5)": (lambda: xp.full((2, 3), 2.5, dtype=kind, device=s.device.handle), np.full((2, 3), 2.5)),
        "eye(2, 3)": (lambda: xp.eye(2, 3, dtype=kind, device=s.device.handle), np.eye(2, 3)),
        "arange(4.0)": (lambda: xp.arange(4.0, dtype=kind, device=s.device.handle), np.arange(4.0)),
        "zeros_like(x)": (lambda: xp.zeros_like(x), np.zeros((3, 4))),
        "ones_like(x)": (lambda: xp.ones_like(x), np.ones((3, 4))),
        "Backend.ones": (lambda: backend.ones(backend.spec(x)), np.ones((3, 4))),
        "Backend.asarray of a list": (
            lambda: backend.asarray([0.5, 1.5], kind, s.device.handle),
            np.asarray([0.5, 1.5]),
        ),
    }
    for what, (make, expected) in new.items():
        first = make()
        s.expect(first, expected, what)
        overwrite(first, 41.0)
        s.expect(make(), expected, f"{what}, after writing to an earlier result of the same call")


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
