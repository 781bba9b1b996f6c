"""New arrays of every dtype and length: constants, ranges, lists of numbers, diagonals, grids."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.operation import COMPLEX, FLOATS, INTEGERS, operation, operations
from xpgrad_conformance.generated.points import shaped
from xpgrad_conformance.generated.sample import Sample
from xpgrad_conformance.generated.values import extreme_numbers, special_numbers

ALL = "bool", *INTEGERS, *FLOATS, *COMPLEX
QUICK = "bool", "int64", "uint8", "float32", "complex64"
KIND = "any"
SHAPES = (3, 4), (2, 3, 5), (1,), (), (1, 1, 3), (0,), (0, 3), (2, 0, 3)
Make = Callable[..., Any]


def made(draw: Draw, name: str, args: tuple[Any, ...], expected: Any, dtype: str = "", **more: Any) -> Sample:
    """Return a sample of a function that makes an array on the device.

    Parameters
    ----------
    args : tuple
        Positional arguments.
    expected : host array
    dtype : str
        The requested dtype; by default no dtype is requested, and any dtype is accepted.
    more : object
        Keyword arguments; `units` and `scale` are passed to the sample.
    """
    exactness = {key: more.pop(key) for key in ("units", "scale") if key in more}
    given = dict(more)
    if dtype:
        given["dtype"] = draw.s.dtype_of(dtype)
    device = draw.s.device.handle

    def call(xp: Any) -> Any:
        return getattr(xp, name)(*args, **given, device=device)

    shown = [_shown(each) for each in args] + [f"{key}={value!r}" for key, value in more.items()]
    shown += [f"dtype=xp.{dtype}"] if dtype else []
    text = f"xp.{name}({', '.join(shown)})"
    return Sample((), lambda: expected, dtype=dtype or KIND, signs=True, call=call, text=text, **exactness)


def _shown(value: Any) -> str:
    return repr(value).replace("nan", 'float("nan")').replace("inf", 'float("inf")')


def numbers(dtype: str) -> list[Any]:
    """Return Python numbers for a dtype: both limits and special values."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return [True, False]
    if kind in "iu":
        info = np.iinfo(dtype)
        found = [0, 1, 100, info.max, info.min, info.max - 1, 2**31 - 1, 2**31 + 1, 2**53 + 1, -(2**31), -(2**53) - 1]
        return [n for n in found if info.min <= n <= info.max]
    real = {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)
    special: list[Any] = [-2.625, 0.1, *special_numbers(real)[:5], *extreme_numbers(real)[:7]]
    return special if kind == "f" else [*special, 1.5 - 2.25j, complex(0.1, 1e30), complex(np.inf, -0.5)]


def _shapes(draw: Draw) -> list[tuple[int, ...]]:
    return [shape for shape in SHAPES if 0 not in shape or draw.has("empty_arrays")]


@operations(ALL, QUICK)
def constant(draw: Draw, name: str, value: int) -> Iterator[Sample]:
    """Return the operation zeros or ones."""
    for shape in _shapes(draw):
        yield made(draw, name, (shape,), np.full(shape, value, draw.dtype), draw.dtype)
    for n in draw.lengths():
        yield made(draw, name, (n,), np.full(n, value, draw.dtype), draw.dtype)


@operation("full", ALL, QUICK)
def _full(draw: Draw) -> Iterator[Sample]:
    for number in numbers(draw.dtype):
        for shape in ((3,), (), (2, 17)):
            expected = np.full(shape, np.asarray(number).astype(draw.dtype), draw.dtype)
            yield made(draw, "full", (shape, number), expected, draw.dtype)
    for n in draw.lengths():
        yield made(draw, "full", (n, 1), np.full(n, 1, draw.dtype), draw.dtype)


@operations(ALL, QUICK)
def like(draw: Draw, name: str, value: int) -> Iterator[Sample]:
    """Yield samples of zeros_like or ones_like."""
    for n in (1, 7, 257, 4097):
        x = draw.array((n,), axes=("n",))
        yield Sample((x,), lambda host: np.full(host.shape, value, host.dtype))
    for layout in draw.layouts():
        x = draw.array((3, 5), axes=("n", "m"), layout=layout)
        yield Sample((x,), lambda host: np.full(host.shape, value, host.dtype))


@operation("full_like", ALL, QUICK)
def _full_like(draw: Draw) -> Iterator[Sample]:
    for number in numbers(draw.dtype):
        x = draw.array((3, 5), axes=("n", "m"), layout=draw.pick(draw.layouts()))
        parameters = {"fill_value": number}
        yield Sample(
            (x,),
            lambda host, fill_value, d=draw.dtype: np.full(host.shape, np.asarray(fill_value).astype(d)),
            parameters,
            call=lambda xp, a, fill_value: xp.full_like(a, fill_value),
            text=f"xp.full_like(x0, {_shown(number)})",
        )


@operation("asarray", ALL, (*QUICK, "float64"))
def _asarray(draw: Draw) -> Iterator[Sample]:
    found = numbers(draw.dtype)
    host = np.asarray(found, draw.dtype)
    listed: list[Any] = found if np.dtype(draw.dtype).kind != "c" else [complex(each) for each in host]
    yield made(draw, "asarray", (listed,), host, draw.dtype)
    yield made(draw, "asarray", ([listed, listed[::-1]],), np.stack([host, host[::-1]]), draw.dtype)
    for number in listed:
        yield made(draw, "asarray", (number,), np.asarray(number, draw.dtype), draw.dtype)
        yield made(draw, "asarray", ([[number]],), np.asarray([[number]], draw.dtype), draw.dtype)
    for n in (0, 1, 7, 33, 257, 4097) if draw.has("empty_arrays") else (1, 7, 33, 257, 4097):
        values = draw.array((n,)).host
        yield made(draw, "asarray", (values.tolist(),), values, draw.dtype)
    if draw.dtype in ("int64", "uint64"):  # lists that fit no narrower dtype, without dtype=
        large = [[2**31, 1], [2**40, -1], [2**53 + 1, 2**62], [-(2**31) - 1], [1, 2**31], [0, -1, 2**62 + 1]]
        large += [[*range(n - 1), 2**53 + 1] for n in (33, 257, 4097)]
        for given in large if draw.dtype == "int64" else []:
            yield made(draw, "asarray", (given,), np.asarray(given, np.int64))
    for layout in draw.layouts():
        x = draw.array((33, 3), axes=("n", "m"), layout=layout)
        for copy in (None, True):
            yield Sample((x,), lambda host, copy=None: host, {"copy": copy}, signs=True)


@operation("arange", (*INTEGERS, *FLOATS), ("int32", "int64", "uint8", *FLOATS))
def _arange(draw: Draw) -> Iterator[Sample]:
    dtype = draw.dtype
    info = np.iinfo(dtype) if dtype in INTEGERS else None
    for n in draw.lengths():
        if info is None or n - 1 <= info.max:
            yield made(draw, "arange", (n,), np.arange(n).astype(dtype), dtype)
            if n > 1:
                yield made(draw, "arange", (1, n, 3), np.arange(1, n, 3).astype(dtype), dtype)
    if info is None:
        steps: list[tuple[Any, ...]] = [(0.5, 3.25, 0.75), (3.0, -1.5, -0.5), (-2, 3), (0.0, 1.0, 0.125), (9, 2, -3)]
        steps += [(-3, 90, 0.25), (2.0**20, 2.0**20 + 5)]
        for args in steps:
            yield made(draw, "arange", args, np.arange(*args).astype(dtype), dtype)
        for n, step in (5000, 0.1), (20_011, 0.3):
            stop = step * (n - 0.5)
            expected = np.arange(n) * np.longdouble(step)
            yield made(draw, "arange", (0.0, stop, step), expected, dtype, units=32, scale=lambda stop=stop: stop)
        return
    ends = [(info.max - 5, info.max), (info.max - 9, info.max, 2), (9, 2, -3)]
    ends += [(info.min, info.min + 4), (-7, 8, 5), (5, -6, -1)] if info.min else []
    ends += [(3, 3), (5, 2), (2, 5, -1)] if draw.has("empty_arrays") and info.min else []
    ends += [(2**53, 2**53 + 5), (2**31 - 2, 2**31 + 3)] if info.max > 2**53 else []
    for args in ends:
        yield made(draw, "arange", args, np.asarray(list(range(*args)), dtype), dtype)


@operation("linspace")
def _linspace(draw: Draw) -> Iterator[Sample]:
    def sample(start: float, stop: float, count: int, endpoint: bool = True) -> Sample:
        size = max(abs(start), abs(stop))
        expected = np.linspace(np.longdouble(start), np.longdouble(stop), count, endpoint=endpoint)
        bounds = {"units": 4, "scale": lambda: size}
        return made(draw, "linspace", (start, stop, count), expected, draw.dtype, endpoint=endpoint, **bounds)

    for n in draw.lengths(most=70_000):
        yield sample(-1.0, 2.0, n)
    for start, stop in ((0.25, 2.75), (3.5, -1.25), (-2, 5), (0.0, 1e30), (7.0, 7.0)):
        for count in (1, 2, 3, 5, 9, 33):
            for endpoint in (True, False):
                yield sample(start, stop, count, endpoint)


@operation("eye", ALL, QUICK)
def _eye(draw: Draw) -> Iterator[Sample]:
    for rows, columns in ((3, 4), (4, 3), (2, None), (1, 5), (33, 31), (129, None), (65, 257)):
        for k in (-2, -1, 0, 1, 3, 30):
            yield made(draw, "eye", (rows, columns), np.eye(rows, columns, k, draw.dtype), draw.dtype, k=k)


@operations(ALL, QUICK)
def triangle(draw: Draw, name: str, reference: Callable[..., Any]) -> Iterator[Sample]:
    """Yield samples of tril or triu."""
    for n in (1, 2, 3, 7, 8, 31, 33, 64, 65, 129, *(() if draw.quick else (257, 513, 1025))):
        for axes in (("n", "n"), ("n", "m"), ("m", "n")):
            x = draw.array(shaped(axes, n), axes=axes)
            k = draw.pick((0, 0, 0, -3, -2, -1, 1, 2, 3))
            yield Sample((x,), reference, {"k": k}, signs=True, smooth=True)
    kinds = ("ordinary", "specials", "extremes")
    for row in draw.combinations(n=(5, 17), k=(-20, -2, -1, 0, 1, 3, 20), kind=kinds, layout=draw.layouts()):
        x = draw.array((2, row["n"], 9), row["kind"], axes=("k", "n", "m"), layout=row["layout"])
        yield Sample((x,), reference, {"k": row["k"]}, smooth=True)


@operation("meshgrid", ALL, QUICK)
def _meshgrid(draw: Draw) -> Iterator[Sample]:
    for lengths in ((3,), (3, 4), (4, 1), (33, 65), (3, 4, 2), (17, 1, 9), (2, 3, 4, 5)):
        for indexing in ("xy", "ij"):
            xs = tuple(draw.array((n,), axes=(f"n{i}",)) for i, n in enumerate(lengths))
            yield Sample(xs, _grid, {"indexing": indexing}, smooth=True)
    x = draw.array((5,), layout="strided")
    y = draw.array((3,), layout="reversed" if draw.has("flip") else "contiguous")
    yield Sample((x, y), np.meshgrid, smooth=True)


def _grid(*hosts: Any, indexing: Any) -> Any:
    return np.meshgrid(*hosts, indexing=indexing)


CREATION = (
    constant("zeros", 0),
    constant("ones", 1),
    like("zeros_like", 0),
    like("ones_like", 1),
    triangle("tril", np.tril),
    triangle("triu", np.triu),
)
