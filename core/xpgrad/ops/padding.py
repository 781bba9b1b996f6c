"""Padding, and leading axes."""

import operator
from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.array_api.data_types import astype
from xpgrad.array_api.elementwise.rounding import floor
from xpgrad.array_api.elementwise.rounding import round as round_
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.array_api.indexing import setitem, take
from xpgrad.array_api.manipulation import broadcast_to, concat, reshape
from xpgrad.array_api.shared.axes import checked_axes
from xpgrad.array_api.statistical import max as max_
from xpgrad.array_api.statistical import mean
from xpgrad.array_api.statistical import min as min_
from xpgrad.backend.indexing import at_axis
from xpgrad.backend.plugins import plugins
from xpgrad.errors import ShapeError
from xpgrad.graph.variable import Variable, as_variable, constant_variable
from xpgrad.ops.order import median
from xpgrad.types import AnyArray, Array, Dtype

Pair = tuple[Any, Any]
MAX_WIDTH = 2**27
"""Elements of a padding, above which a computation would not end."""

PERIODS: dict[str, Callable[[int], int]] = {
    "reflect": lambda n: 2 * (n - 1),
    "symmetric": lambda n: 2 * n,
    "wrap": lambda n: n,
}
"""The modes that continue an axis of length n by its own elements, with the length after which these repeat."""
STATISTICS: dict[str, Callable[..., Variable]] = {"maximum": max_, "mean": mean, "median": median, "minimum": min_}
MODES = ("constant", "edge", "empty", "linear_ramp", *PERIODS, *STATISTICS)
OPTIONS = {
    "constant": "constant_values", "linear_ramp": "end_values", "reflect": "reflect_type", "symmetric": "reflect_type",
    **dict.fromkeys(STATISTICS, "stat_length"),
}  # fmt: skip
"""The option that a mode takes."""
DEFAULTS: dict[str | None, Any] = {"stat_length": None, "reflect_type": "even"}


@in_single_precision
def pad(x: AnyArray, /, pad_width: Any, mode: str = "constant", **options: Any) -> Variable:
    """`x` with more elements before and after each axis; `options` depend on the mode.

    Parameters
    ----------
    x : Variable or array
    pad_width : int, pair of int, a pair for each axis, or a dict of these by axis
        Number of elements before and after.
    mode : str
        "constant" fills with `constant_values`, "empty" with zeros; "edge" repeats the last element, and "linear_ramp"
        goes from it to `end_values`. "reflect" mirrors at the last element, "symmetric" at the edge after it; "wrap"
        continues from the other end. "maximum", "mean", "median" and "minimum" fill with this statistic of the elements
        along the axis. Axes are padded one after the other. Elements that are used again get the sum of the gradients.
    constant_values, end_values : scalar, pair of scalars, or a pair for each axis
        By default 0.
    stat_length : int, pair of int, a pair for each axis, or None
        Number of elements from the edge that a statistic takes; by default all.
    reflect_type : {"even", "odd"}
        "odd" subtracts the mirrored elements from twice the element at the edge.

    Raises
    ------
    ShapeError
        `pad_width` is negative or does not fit, or there is no element to pad with.
    ValueError
        The mode or an option is unknown, or out of range.
    """
    x = as_variable(x)
    if mode not in MODES:
        raise ValueError(f"pad: expected the mode {', '.join(MODES)}, got {mode!r}")
    option = OPTIONS.get(mode)
    if unknown := sorted(options.keys() - {option}):
        raise ValueError(f"pad: expected {option or 'no option'} with the mode {mode}, got {', '.join(unknown)}")
    widths = _widths(pad_width, x.ndim)
    values = _pairs(options.get(option or "", DEFAULTS.get(option, 0)), x.ndim, option or "")
    if option == "reflect_type" and any(kind not in ("even", "odd") for pair in values for kind in pair):
        raise ValueError(f"pad: reflect_type must be 'even' or 'odd', got {options['reflect_type']!r}")
    if option == "constant_values" and len({value for pair in values for value in pair}) == 1:
        return _filled(x, widths, values[0][0])
    for axis, (width, pair) in enumerate(zip(widths, values, strict=True)):
        if not any(width):
            continue
        if not x.shape[axis] and mode not in ("constant", "empty"):
            raise ShapeError(f"pad: the mode {mode} needs elements, got shape {x.shape}")
        x = _padded(x, axis, width, mode, pair)
    return x


def _filled(x: Variable, widths: list[Pair], value: Any) -> Variable:
    """Return `x` in the middle of an array of one value."""
    spec = x.node.spec
    shape = tuple(n + before + after for n, (before, after) in zip(x.shape, widths, strict=True))
    made = spec.backend.namespace.full(shape, value, dtype=spec.dtype, device=spec.device)
    return setitem(made, x, index=tuple(slice(w[0], w[0] + n) for n, w in zip(x.shape, widths, strict=True)))


def _padded(x: Variable, axis: int, width: Pair, mode: str, values: Pair) -> Variable:
    """Return `x` padded along one axis."""
    n = x.shape[axis]
    if mode in PERIODS and n > 1 and "odd" not in values:
        return _continued(x, axis, range(-width[0], n + width[1]), mode)
    parts = [x]
    for side, numbers in (0, range(-width[0], 0)), (1, range(n, n + width[1])):
        if mode in PERIODS and n > 1 and numbers:
            parts.insert(2 * side, _continued(x, axis, numbers, mode, odd=True))
        elif numbers:
            parts.insert(2 * side, _edge(x, axis, len(numbers), side, mode, values[side]))
    return concat(parts, axis=axis)


def _continued(x: Variable, axis: int, numbers: Sequence[int], mode: str, odd: bool = False) -> Variable:
    """Return the elements that `x` has at these places along an axis when it is continued."""
    n, period = x.shape[axis], PERIODS[mode](x.shape[axis])
    rounds, places = [i // period for i in numbers], [i % period for i in numbers]
    mirrored = [i >= n for i in places]
    last = period - (mode == "symmetric")
    y = take(x, _vector(x, [last - i if i >= n else i for i in places]), axis=axis)
    if not odd:
        return y
    first, end = (x[at_axis(axis, slice(i, i + 1))] for i in (0, n - 1))
    shape = (-1, *(1,) * (x.ndim - 1 - axis))
    signs, starts, ends = (
        reshape(constant_variable(_vector(x, each, x.dtype)), shape=shape)
        for each in (
            [1 - 2 * m for m in mirrored],
            [-2 * r for r in rounds],
            [2 * (r + m) for r, m in zip(rounds, mirrored, strict=True)],
        )
    )
    return signs * y + starts * first + ends * end


def _edge(x: Variable, axis: int, width: int, side: int, mode: str, value: Any) -> Variable:
    """Return the padding on one side of an axis, which depends only on the elements next to it."""
    n, spec = x.shape[axis], x.node.spec
    shape = (*x.shape[:axis], width, *x.shape[axis + 1 :])
    if mode in ("constant", "empty"):
        return constant_variable(spec.backend.namespace.full(shape, value, dtype=spec.dtype, device=spec.device))
    count = 1 if mode not in STATISTICS else n if value is None else min(n, value)
    if count < 1:
        raise ValueError(f"pad: stat_length must be at least 1, got {value!r}")
    part = x[at_axis(axis, slice(n - count, n) if side else slice(0, count))]
    if mode in ("linear_ramp", "mean", "median"):
        part = astype(part, spec.wide if spec.differentiable else spec.backend.default_dtype("float"), copy=False)
    if mode in STATISTICS:
        part = STATISTICS[mode](part, axis=axis, keepdims=True)
    elif mode == "linear_ramp":
        steps = [(width - 1 - i if side else i) / width for i in range(width)]
        factor = reshape(constant_variable(_vector(x, steps, part.dtype)), shape=(-1, *(1,) * (x.ndim - 1 - axis)))
        part = value + factor * (part - value)
    if not spec.differentiable and mode in ("linear_ramp", "mean", "median"):
        part = floor(part) if mode == "linear_ramp" else round_(part)
    return broadcast_to(astype(part, spec.dtype, copy=False), shape=shape)


def _vector(x: Variable, values: list[Any], dtype: Dtype | None = None) -> Array:
    return x.node.spec.backend.asarray(values, dtype=dtype, device=x.node.spec.device)


def _widths(pad_width: Any, ndim: int) -> list[Pair]:
    if isinstance(pad_width, dict):
        by_axis = {checked_axes(axis, ndim, "pad")[0]: width for axis, width in pad_width.items()}
        pad_width = [_pairs(by_axis.get(axis, 0), 1, "pad_width")[0] for axis in range(ndim)]
    pairs = _pairs(pad_width, ndim, "pad_width")
    if any(width < 0 for pair in pairs for width in pair):
        raise ShapeError(f"pad: expected widths of 0 or more, got {pad_width!r}")
    widths = [(operator.index(before), operator.index(after)) for before, after in pairs]
    if sum(before + after for before, after in widths) > MAX_WIDTH:
        raise ShapeError(f"pad: expected at most {MAX_WIDTH} elements on all sides, got {pad_width!r}")
    return widths


def _pairs(given: Any, ndim: int, option: str) -> list[Pair]:
    """Return an option as a pair for each axis: a value is for all, a list of one value for both sides."""
    given = given.tolist() if hasattr(given, "tolist") else given
    rows = given if isinstance(given, (tuple, list)) else [given]
    rows = [row.tolist() if hasattr(row, "tolist") else row for row in rows]
    if not any(isinstance(row, (tuple, list)) for row in rows):
        rows = [rows]
    pairs = [tuple(row) * 2 if len(row) == 1 else tuple(row) for row in rows if isinstance(row, (tuple, list))]
    pairs = pairs * ndim if len(pairs) == 1 else pairs
    if len(pairs) != ndim or len(rows) not in (1, ndim) or any(len(pair) != 2 for pair in pairs):
        raise ShapeError(f"pad: expected a number, a pair or a pair for each of {ndim} axes as {option}, got {given!r}")
    return [(plugins.plain(before), plugins.plain(after)) for before, after in pairs]


def atleast_nd(x: AnyArray, /, *, ndim: int) -> Variable:
    """`x` with leading axes of length 1, so that it has at least `ndim` axes."""
    x = as_variable(x)
    return x if x.ndim >= ndim else reshape(x, shape=(1,) * (ndim - x.ndim) + x.shape)
