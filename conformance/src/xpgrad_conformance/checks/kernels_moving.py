"""Family K, functions that move elements: views as inputs, shapes, joining, gathering, scattering, ordering."""

import itertools
from typing import Any

import numpy as np

from xpgrad import Variable
from xpgrad.array_api.indexing import setitem
from xpgrad.testing.arrays import on_host
from xpgrad_conformance.check import check
from xpgrad_conformance.oracle import agrees, host, same
from xpgrad_conformance.subject import Subject

VIEWS: dict[str, Any] = {
    "x[1:, ::2]": lambda xp, x: x[1:, ::2],
    "x[:, 3:]": lambda xp, x: x[:, 3:],
    "the transpose of x": lambda xp, x: xp.permute_dims(x, (1, 0)),
    "x[::-1, ::-2]": lambda xp, x: x[::-1, ::-2],
    "a row of x, broadcast": lambda xp, x: xp.broadcast_to(x[2, :4], (3, 4)),
    "a column of x, broadcast": lambda xp, x: xp.broadcast_to(x[:, 1:2], (4, 3)),
    "rows of the transpose of x": lambda xp, x: xp.permute_dims(x, (1, 0))[::3, 1:],
    "x in another shape, transposed": lambda xp, x: xp.permute_dims(xp.reshape(x, (4, 7)), (1, 0))[:, 1:],
}
OF_VIEWS: dict[str, Any] = {
    "exp": lambda xp, v: xp.exp(v),
    "sqrt": lambda xp, v: xp.sqrt(v),
    "add": lambda xp, v: xp.add(v, v[:1, :]),
    "divide": lambda xp, v: xp.divide(v[:, :1], v),
    "less": lambda xp, v: xp.less(v, v[:1, :]),
    "where": lambda xp, v: xp.where(v > 1.0, v, -v),
    "sum": lambda xp, v: xp.sum(v),
    "sum, axis=0": lambda xp, v: xp.sum(v, axis=0),
    "max, axis=1": lambda xp, v: xp.max(v, axis=1),
    "argmax, axis=0": lambda xp, v: xp.argmax(v, axis=0),
    "var, axis=1": lambda xp, v: xp.add(xp.var(v, axis=1), 1.0),  # the variance of equal numbers is only rounding
    "cumulative_sum, axis=1": lambda xp, v: xp.cumulative_sum(v, axis=1),
    "matmul": lambda xp, v: xp.matmul(v, xp.permute_dims(v, (1, 0))),
    "matmul with a vector": lambda xp, v: xp.matmul(v, v[0, :]),
    "reshape": lambda xp, v: xp.reshape(v, (-1,)),
    "concat": lambda xp, v: xp.concat([v, v[:1, :]], axis=0),
    "stack": lambda xp, v: xp.stack([v, v + 1.0], axis=-1),
    "flip": lambda xp, v: xp.flip(v, axis=1),
    "roll": lambda xp, v: xp.roll(v, 1, axis=0),
    "sort": lambda xp, v: xp.sort(v, axis=0),
    "take": lambda xp, v: xp.take(v, xp.argsort(v[0, :2]), axis=1),
    "tril": lambda xp, v: xp.tril(v),
    "astype": lambda xp, v: xp.astype(v, xp.float32),
}


@check("K10")
def of_views(s: Subject) -> None:
    """Functions of views give what they give of copies: strides, offsets, transposes, reversed and broadcast ones."""
    x = s.values((4, 7), 0.3, 1.7, s.wide)
    array = s.array(x, s.wide)
    for view, taken in VIEWS.items():
        if "::-" in view and not s.has("negative_steps"):
            continue
        seen = taken(host, x)
        for name, call in OF_VIEWS.items():
            if not s.has(name.partition(",")[0].partition(" ")[0]):
                continue
            expected = np.asarray(call(host, seen.astype(np.float64)))
            got = call(s.xp, taken(s.backend.namespace, array))
            wanted = "float32" if name == "astype" else s.wide if expected.dtype.kind == "f" else ""
            s.expect(got, expected, f"{name} of {view}, shape (4, 7)", dtype=wanted)


@check("K11")
def shapes_and_orders(s: Subject) -> None:
    """Functions that change shapes or the order of elements: rank 3 and 4, negative axes, C order."""
    x = s.values((2, 3, 5))
    for wanted in ((5, 3, 2), (6, 5), (2, 15), (-1,), (3, -1, 2), (1, 30, 1)):
        same(s, "reshape", x, shape=wanted)
    for axes in itertools.permutations(range(3)):
        same(s, "permute_dims", x, axes=axes)
        agrees(
            s,
            f"reshape of permute_dims, axes={axes}",
            lambda xp, x, a=axes: xp.reshape(xp.permute_dims(x, a), (6, 5)),
            lambda x, a=axes: np.transpose(x, a).reshape(6, 5),
            x,
        )
    same(s, "permute_dims", s.values((2, 3, 4, 5)), axes=(2, 0, 3, 1))
    same(s, "matrix_transpose", x)
    for source, target in ((0, -1), (-1, 0), ((0, 1), (2, 0)), (1, 1)):
        if s.has("moveaxis"):
            agrees(
                s,
                f"moveaxis from {source} to {target}",
                lambda xp, x, i=source, j=target: xp.moveaxis(x, i, j),
                lambda x, i=source, j=target: np.moveaxis(x, i, j),
                x,
            )
    for axis in (None, 0, 1, -1, (0, 2), (-2,)):
        same(s, "flip", x, axis=axis)
    for shift, axis in ((2, None), (1, 0), (-2, -1), ((1, 2), (0, 2)), ((1, -2), (0, 2)), (7, 1), (0, 0)):
        same(s, "roll", x, shift=shift, axis=axis)
    for axis in (0, 2, 3, -1, -4):
        same(s, "expand_dims", x, axis=axis)
    thin = s.values((1, 3, 1, 5))
    for axis in (0, 2, -4, (0, 2), (-2, 0)):
        same(s, "squeeze", thin, axis=axis)
    for target_shape in ((4, 2, 3, 5), (2, 3, 5)):
        same(s, "broadcast_to", x, shape=target_shape)
    same(s, "broadcast_to", s.values((3, 1)), shape=(2, 3, 4))
    for k in (0, 1, -1, -2, -3, -7, 4, 7):
        same(s, "tril", x, k=k)
        same(s, "triu", x, k=k)
    if s.has("tile"):
        agrees(s, "tile (2, 1, 3)", lambda xp, x: xp.tile(x, (2, 1, 3)), lambda x: np.tile(x, (2, 1, 3)), x)
    if s.has("repeat"):
        for axis in (0, -1):
            agrees(
                s,
                f"repeat 3 times, axis={axis}",
                lambda xp, x, i=axis: xp.repeat(x, 3, axis=i),
                lambda x, i=axis: np.repeat(x, 3, axis=i),
                x,
            )


@check("K12")
def joining(s: Subject) -> None:
    """concat, stack and unstack along each axis, negative ones too, of members of different lengths and of one."""
    a, b, c = s.values((2, 3, 5)), s.values((2, 3, 5)), s.values((2, 3, 5))
    for axis in (0, 1, 2, -1, -2, -3):
        for count in (1, 2, 3):
            _joined(s, "concat", axis, *(a, b, c)[:count])
            _joined(s, "stack", axis, *(a, b, c)[:count])
    _joined(s, "stack", 3, a, b)
    for axis, shapes in ((0, ((2, 3), (1, 3), (4, 3))), (1, ((2, 3), (2, 1))), (-1, ((2, 1), (2, 4)))):
        _joined(s, "concat", axis, *map(s.values, shapes))
    _joined(s, "concat", None, s.values((2, 3)), s.values((4,)), s.values(()))
    if s.has("empty_arrays"):
        _joined(s, "concat", 0, s.values((2, 3)), s.values((0, 3)), s.values((1, 3)))
    for axis in (0, 1, -1) if s.has("unstack") else ():
        agrees(
            s,
            f"unstack, axis={axis}",
            lambda xp, x, i=axis: xp.unstack(x, axis=i),
            lambda x, i=axis: tuple(np.moveaxis(x, i, 0)),
            a,
        )


def _joined(s: Subject, name: str, axis: int | None, *members: Any) -> None:
    what = f"{name} of shapes {', '.join(str(m.shape) for m in members)}, axis={axis}"
    agrees(
        s,
        what,
        lambda xp, *xs: getattr(xp, name)(list(xs), axis=axis),
        lambda *xs: getattr(host, name)(list(xs), axis=axis),
        *members,
    )


KEYS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "x[1]": (1, ()),
    "x[-1]": (-1, ()),
    "x[1, 2, 3]": ((1, 2, 3), ()),
    "x[..., 1]": ((..., 1), ()),
    "x[-1, ..., -2]": ((-1, ..., -2), ()),
    "x[:, None, 1:, ::2]": ((slice(None), None, slice(1, None), slice(None, None, 2)), ()),
    "x[1:1]": (slice(1, 1), ("empty_arrays",)),
    "x[:, -2:, 1:-1]": ((slice(None), slice(-2, None), slice(1, -1)), ()),
    "x[::-1, :, ::-2]": ((slice(None, None, -1), slice(None), slice(None, None, -2)), ("negative_steps",)),
    "x[::-2]": (slice(None, None, -2), ("negative_steps",)),
    "x[:, 2:0:-1]": ((slice(None), slice(2, 0, -1)), ("negative_steps",)),
    "x[[1, 0, 1]]": (np.asarray([1, 0, 1]), ("index_arrays",)),
    "x[[-1, 0, -2]]": (np.asarray([-1, 0, -2]), ("index_arrays", "negative_index_arrays")),
    "x[[[1, 0], [0, 0]]]": (np.asarray([[1, 0], [0, 0]]), ("index_arrays",)),
    "x[[1, 0], [2, 2], [3, 1]]": (
        (np.asarray([1, 0]), np.asarray([2, 2]), np.asarray([3, 1])), ("index_arrays",),
    ),
    "x[:, [2, 0, 2]]": ((slice(None), np.asarray([2, 0, 2])), ("index_arrays", "index_arrays_with_slices")),
    "x[[1, 0], :, [4, 2]]": (
        (np.asarray([1, 0]), slice(None), np.asarray([4, 2])), ("index_arrays", "index_arrays_with_slices"),
    ),
    "x[[1, -1], :, [-2, 0]]": (
        (np.asarray([1, -1]), slice(None), np.asarray([-2, 0])),
        ("index_arrays", "index_arrays_with_slices", "negative_index_arrays"),
    ),
    "x[mask]": (
        np.asarray([[True, False, True], [False, True, True]]), ("index_arrays", "data_dependent_shapes"),
    ),
}  # fmt: skip


def on_device(s: Subject, key: Any) -> Any:
    """Return an index with its arrays on the device."""
    if isinstance(key, tuple):
        return tuple(on_device(s, each) for each in key)
    return s.array(key) if isinstance(key, np.ndarray) else key


def assert_same_index(index: Any, key: Any, what: str) -> None:
    """Raise AssertionError unless the arrays of an index on the device still have the original values."""
    for given, array in zip(*(each if isinstance(each, tuple) else (each,) for each in (key, index)), strict=True):
        if isinstance(given, np.ndarray):
            found = on_host(array)
            assert np.array_equal(found, given), (
                f"{what} has written to its index: {found.tolist()}, was {given.tolist()}"
            )


@check("K13")
def gathering(s: Subject) -> None:
    """Indexing, take and take_along_axis: repeats, negative positions and axes, masks, nothing, any integer dtype."""
    x = s.values((2, 3, 5), dtype=s.wide)
    for title, (key, needs) in KEYS.items():
        if s.has(*needs):
            index = on_device(s, key)
            got = s.variable(x, s.wide)[index]
            s.expect(got, x[key].astype(np.float64), f"{title}, shape (2, 3, 5)", dtype=s.wide)
            assert_same_index(index, key, title)
    if s.has("index_arrays", "data_dependent_shapes", "empty_arrays", "float32"):
        got = s.variable(x, "float32")[s.array(np.zeros((2, 3), bool))]
        s.expect(got, np.zeros((0, 5)), "x[mask] with nothing chosen, shape (2, 3, 5)", dtype="float32")
    indices = [np.asarray([1, 0, 1, 1])]
    indices += [np.asarray([], np.int64)] if s.has("empty_arrays") else []
    for index, axis in itertools.product(indices, (0, 1, 2, -1, -3)):
        array = s.array(x, s.wide)
        got = s.xp.take(array, s.array(index), axis=axis)
        s.expect(got, np.take(x, index, axis=axis).astype(np.float64), f"take {index}, axis={axis}", dtype=s.wide)
    index = np.asarray([1, 0])  # as long as the first axis, so that a library which treats it as a mask raises no error
    for dtype in filter(s.has, ("int8", "int16", "int32", "uint8")):
        narrow = s.array(index, dtype)
        got = s.xp.take(s.array(x, s.wide), narrow, axis=1)
        s.expect(got, x[:, index].astype(np.float64), f"take {index} of {dtype}, axis=1", dtype=s.wide)
        if s.has("index_arrays"):
            got = s.variable(x, s.wide)[narrow]
            s.expect(got, x[index].astype(np.float64), f"x[{index.tolist()}], an index of {dtype}", dtype=s.wide)
    if s.has("take_along_axis"):
        for axis in (0, 1, -1):
            shape = tuple(4 if i == axis % 3 else n for i, n in enumerate(x.shape))
            index = s.generator().integers(0, x.shape[axis], shape)
            got = s.xp.take_along_axis(s.array(x, s.wide), s.array(index), axis=axis)
            expected = np.take_along_axis(x, index, axis=axis).astype(np.float64)
            s.expect(got, expected, f"take_along_axis, axis={axis}", dtype=s.wide)


def scattered(x_shape: tuple[int, ...], dtype: Any, parts: list[tuple[Any, Any]]) -> Any:
    """Return the expected result of ``scatter_add``: zeros with every value added at its index."""
    total = np.zeros(x_shape, np.complex128 if np.dtype(dtype).kind == "c" else np.float64)
    for key, value in parts:
        np.add.at(total, key, value)
    return total


@check("K14", scope="dtype")
def scattering(s: Subject) -> None:
    """scatter_add adds every value at its index: repeats, overlaps, several parts, slices with steps, rank 3."""
    shape = (2, 3, 5)
    zero = s.array(np.zeros(shape, s.dtype))
    spec = s.backend.spec(zero)
    keys = [(title, key) for title, (key, needs) in KEYS.items() if s.has(*needs) and title != "x[mask]"]
    x = np.zeros(shape)
    groups = [[each] for each in keys]
    groups += [keys[::4], [keys[1], keys[0], keys[1]], [each for each in keys if each[0] != "x[1:1]"]]
    for group in groups:
        parts = [(key, s.values(x[key].shape)) for _, key in group]
        placed = [(on_device(s, key), s.array(value)) for key, value in parts]
        got = s.kernels.scatter_add(spec, placed)
        expected = scattered(shape, s.dtype, parts)
        s.expect(s.backend.restore(got), expected, f"scatter_add at {', '.join(t for t, _ in group)}")
        for (title, key), (_, value), (index, array) in zip(group, parts, placed, strict=True):
            assert on_host(array).tobytes() == value.tobytes(), f"scatter_add has written to its value at {title}"
            assert_same_index(index, key, f"scatter_add at {title}")
    many = np.asarray([3, 0, 3, 3, 1, 3, 0, 3])
    if s.has("index_arrays"):
        flat = s.backend.spec(s.array(np.zeros((5,), s.dtype)))
        value = s.values((8,))
        got = s.kernels.scatter_add(flat, [(s.array(many), s.array(value))])
        s.expect(
            s.backend.restore(got), scattered((5,), s.dtype, [(many, value)]), f"scatter_add at x[{many.tolist()}]"
        )


REPEATED = "x[[1, 0, 1]]", "x[[[1, 0], [0, 0]]]", "x[:, [2, 0, 2]]"


@check("K26")
def writing(s: Subject) -> None:
    """Assignment at an index: the values of another array, in their order, of one that broadcasts, and a number."""
    x = s.values((2, 3, 5), dtype=s.wide)
    for title, (key, needs) in KEYS.items():
        if (
            s.has(*needs) and title not in REPEATED
        ):  # if several values are assigned to one position, any of them may remain
            for shape in (x[key].shape, x[key].shape[1:]):
                u, expected = s.values(shape, dtype=s.wide), x.copy()
                expected[key] = u
                index = on_device(s, key)
                got = setitem(s.array(x, s.wide), s.array(u, s.wide), index=index)
                s.expect(got, expected.astype(np.float64), f"{title} = u of shape {shape}", dtype=s.wide)
                assert_same_index(index, key, f"{title} = u")
            expected = x.copy()
            expected[key] = 2.5
            got = setitem(s.array(x, s.wide), 2.5, index=on_device(s, key))
            s.expect(got, expected.astype(np.float64), f"{title} = 2.5", dtype=s.wide)


@check("K15")
def ordering(s: Subject) -> None:
    """sort, argsort, searchsorted, argmax and argmin: each axis, descending, equal elements in their order."""
    x = s.values((3, 4, 5), dtype=s.wide)
    for axis, descending in itertools.product((0, 1, -1), (False, True)):
        for name in ("sort", "argsort"):
            same(s, name, x, axis=axis, descending=descending, dtype=s.wide if name == "sort" else "")
    ties = np.asarray([[2.0, 1.0, 2.0, 1.0, 2.0, 3.0], [0.5, 0.5, 0.5, -1.0, 0.5, -1.0]])
    array = s.array(ties, s.wide)
    for descending in (False, True):
        got = on_host(s.xp.argsort(array, axis=1, descending=descending))
        key = -ties if descending else ties
        expected = np.argsort(key, axis=1, kind="stable")
        assert (got == expected).all(), (
            f"argsort of {ties.tolist()}, descending={descending}: got {got.tolist()}, expected {expected.tolist()}: "
            "equal elements keep their order"
        )
    for name, first in (("argmax", [5, 0]), ("argmin", [1, 3])):
        got = on_host(getattr(s.xp, name)(array, axis=1))
        assert list(got) == first, f"{name} of {ties.tolist()} is {got.tolist()}, expected {first}: the first one"
    infinite = s.array([[2.0, -np.inf, 0.3, np.inf]], s.wide)
    got = on_host(s.xp.sort(infinite, axis=1))
    assert list(got[0]) == [-np.inf, np.float64(got[0][1]), 2.0, np.inf], f"sort of [2, -inf, 0.3, inf] is {got}"
    if s.has("searchsorted"):
        table, wanted = np.asarray([-1.0, 0.5, 0.5, 2.0]), np.asarray([-2.0, -1.0, 0.5, 0.7, 2.0, 3.0])
        same(s, "searchsorted", table, wanted, side="left")
        same(s, "searchsorted", table, wanted, side="right")
        same(s, "searchsorted", table, wanted.reshape(3, 2))
        same(s, "searchsorted", table, wanted[2].reshape(()), side="right")
        order = np.asarray([1, 3, 0, 2])
        for side in ("left", "right"):
            agrees(
                s,
                f"searchsorted with a sorter, side={side}",
                lambda xp, x, v, i, side=side: xp.searchsorted(x, v, side=side, sorter=i),
                lambda x, v, i, side=side: host.searchsorted(x, v, side=side, sorter=i),
                table[np.argsort(order)],
                wanted,
                order,
            )


@check("K16")
def running_totals(s: Subject) -> None:
    """cumulative_sum and cumulative_prod along each axis, with the initial element, of long rows."""
    x = s.values((2, 3, 5), 0.5, 1.5)
    for name in ("cumulative_sum", "cumulative_prod"):
        if s.has(name):
            for axis, initial in itertools.product((0, 1, 2, -1, -2), (False, True)):
                same(s, name, x, axis=axis, include_initial=initial)
            same(s, name, s.values((67,), 0.9, 1.1))
    if s.has("diff"):
        for axis in (0, -1):
            agrees(
                s,
                f"diff, axis={axis}",
                lambda xp, x, i=axis: xp.diff(x, axis=i),
                lambda x, i=axis: np.diff(x, axis=i),
                x,
            )


@check("K17")
def choosing(s: Subject) -> None:
    """where, clip, maximum and minimum: arrays that broadcast in either direction, Python numbers on either side."""
    x, row, column = s.values((3, 4)), s.values((4,)), s.values((3, 1))
    for a, b in itertools.product((x, row, column), repeat=2):
        for name in ("maximum", "minimum", "subtract", "divide"):
            same(s, name, a, b)
        agrees(
            s,
            f"where of shapes {a.shape} and {b.shape}",
            lambda xp, a, b: xp.where(xp.greater(a, 0.1), a, b),
            lambda a, b: np.where(a > 0.1, a, b),
            a,
            b,
        )
    agrees(s, "where(x > 0.1, 2.5, x)", lambda xp, x: xp.where(x > 0.1, 2.5, x), lambda x: np.where(x > 0.1, 2.5, x), x)
    agrees(s, "where(x > 0.1, x, 2.5)", lambda xp, x: xp.where(x > 0.1, x, 2.5), lambda x: np.where(x > 0.1, x, 2.5), x)
    for shapes in (((2, 3, 5), (2, 1, 5)), ((1, 3, 1), (2, 1, 5)), ((2, 3, 5), (3, 1)), ((), (2, 3, 5))):
        for name in ("add", "multiply"):
            same(s, name, *map(s.values, shapes))
    bad, mask = np.asarray([np.inf, 0.3, np.nan]), np.asarray([False, True, False])
    for other in (2.5, x[0, :3]):
        got = s.xp.where(s.array(mask), s.array(bad), other if isinstance(other, float) else s.array(other))
        s.expect(got, np.where(mask, bad, other), "where(mask, [inf, 0.3, nan], x), with nothing infinite chosen")
    for low, high in ((None, 0.5), (-0.5, None), (-0.5, 0.5)):
        agrees(
            s,
            f"clip to {low}, {high}",
            lambda xp, x, a=low, b=high: xp.clip(x, a, b),
            lambda x, a=low, b=high: np.clip(x, a, b),
            x,
        )
    agrees(
        s,
        "clip to arrays that broadcast",
        lambda xp, x, a, b: xp.clip(x, a, b),
        lambda x, a, b: np.minimum(np.maximum(x, a), b),
        x,
        row - 2.0,
        column + 1.0,
    )
    for title, call in {
        "2.5 - x": lambda x: 2.5 - x,
        "x - 2.5": lambda x: x - 2.5,
        "2.5 / x": lambda x: 2.5 / x,
        "x / 2.5": lambda x: x / 2.5,
        "x * 2.5": lambda x: x * 2.5,
        "2.5 * x": lambda x: 2.5 * x,
        "x + 2.5": lambda x: x + 2.5,
        "2.5 + x": lambda x: 2.5 + x,
        "x ** 2": lambda x: x**2,
        "x ** 3": lambda x: x**3,
        "x ** 1": lambda x: x**1,
        "2.5 ** x": lambda x: 2.5**x,
        "x // 0.7": lambda x: x // 0.7,
        "x % 0.7": lambda x: x % 0.7,
        "2.5 % x": lambda x: 2.5 % x,
        "x < 0.1": lambda x: x < 0.1,
        "x > 0.1": lambda x: x > 0.1,
        "x >= 0.1": lambda x: x >= 0.1,
    }.items():
        agrees(s, title, lambda xp, x, f=call: f(Variable(x)), call, x)


@check("K18")
def sets_and_positions(s: Subject) -> None:
    """unique_values and its kin, nonzero and isin find what is there, and how often."""
    x = np.asarray([[3, 1, 3], [2, 1, 3]])
    array = s.array(x)
    if s.has("data_dependent_shapes", "unique_values"):
        got = on_host(s.xp.unique_values(array))
        assert sorted(got.tolist()) == [1, 2, 3], f"unique_values of {x.tolist()} is {got.tolist()}"
    if s.has("data_dependent_shapes", "unique_counts"):
        values, counts = map(on_host, s.xp.unique_counts(array))
        found = dict(zip(values.tolist(), counts.tolist(), strict=True))
        assert found == {1: 2, 2: 1, 3: 3}, f"unique_counts of {x.tolist()} says {found}"
    if s.has("data_dependent_shapes", "unique_inverse"):
        values, inverse = map(on_host, s.xp.unique_inverse(array))
        assert inverse.shape == x.shape, f"unique_inverse: the inverse has shape {inverse.shape}, expected {x.shape}"
        assert (values[inverse] == x).all(), f"unique_inverse of {x.tolist()}: values[inverse] is {values[inverse]}"
    if s.has("data_dependent_shapes", "unique_all"):
        values, first, inverse, counts = map(on_host, s.xp.unique_all(array))
        found = {v: (i, n) for v, i, n in zip(values.tolist(), first.tolist(), counts.tolist(), strict=True)}
        wanted = {1: (1, 2), 2: (3, 1), 3: (0, 3)}
        assert found == wanted, f"unique_all of {x.tolist()}: first positions and counts {found}, expected {wanted}"
        assert (values[inverse] == x).all(), f"unique_all of {x.tolist()}: values[inverse] is {values[inverse]}"
    if s.has("data_dependent_shapes", "nonzero"):
        rows, columns = map(on_host, s.xp.nonzero(s.array(x == 3)))
        places = sorted(zip(rows.tolist(), columns.tolist(), strict=True))
        assert places == [(0, 0), (0, 2), (1, 2)], f"nonzero of {(x == 3).tolist()} gives {places}"
