"""Kernels along rows in C: what fusion makes of their default bodies, with NumPy's own loops and order of additions.

Results have the bits of the kernels that `compiled` decorates, which compute until the library is there and all other
arrays. So the library is compiled and loaded in a thread, at the first use of a large array.
"""

import ctypes
import functools
import math
import operator
import threading
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from xpgrad.plugin import RowFunction, RowKernel, from_executors, run_all, threads
from xpgrad.types import Array, Dtype, Kernel, Shape

LARGE = 2**15  # elements, by their weight, from which a call of C is worth it
SHARED = 2**18  # elements from which threads share the rows, and the sum of all elements is faster in C
PART = 2**12  # elements up to which a sum is not divided
LINE = 64  # columns of which a thread has a multiple
# Up to this number of classes, NumPy's loops run along the examples, the longer axis. With 10 classes that takes 0.8
# times as long for 64 examples, and half as long for 4096.
FEW_CLASSES = 64
CANCELS = 1 / 32  # below it 1 - t * t loses digits in the derivative of tanh
MAX_COLUMNS = 2**16  # of which a few rows are kept in the cache
ORDERED = 0x101  # flags of arrays whose elements are aligned, and contiguous in the order of C
LEVELS = {"p": "point", "r": "row", "f": "row", "c": "column", "s": "one"}
NUMBERS = (float, int)
POINTER, LONG = ctypes.c_void_p, ctypes.c_long


class RowEntry(NamedTuple):
    """A kernel: the levels of its arrays, its formula, and which of its arguments they are; see `RowKernel`.

    Levels are p (a number at each point), r (one for each row), c (one for each column) and s (a Python number); where
    there is an f (one for each channel, or for each channel of each image), rows are the channels of images.
    Functions `along` axes have those of the columns as an argument behind these; others are functions of elements. For
    less than `least` columns NumPy's kernel adds in another order. An element counts as `weight` elements: four where
    NumPy's kernel passes over memory many times.
    """

    levels: str
    formula: Callable[..., Any]
    arguments: tuple[int | str, ...] = (0,)
    along: bool = True
    least: int = 1
    weight: int = 1


def _of_gamma(xp: Any, gy: Any, x: Any, mean: Any, inverse: Any) -> Any:
    gamma_spec = xp.spec(x.shape[1:], x.dtype, x)
    return xp.kernel("normalized.gamma")(gy, x, gamma_spec, mean, inverse, (1,), 0.0)


def _column_sums(xp: Any, gy: Any, *xs: Any) -> Any:
    return _of_gamma(xp, gy, *xs), xp.sum(gy, axis=0)


def _gradients(xp: Any, gy: Any, x: Any, gamma: Any, *xs: Any) -> Any:
    return xp.kernel("normalized.x")(gy, x, gamma, *xs, (1,), 0.0), *_column_sums(xp, gy, x, *xs)


def _gamma_sums(xp: Any, gy: Any, x: Any, mean: Any, inverse: Any) -> Any:
    return xp.sum(gy * ((x - mean) * inverse), axis=1, keepdims=True)


def _projection_sums(xp: Any, gy: Any, x: Any, gamma: Any, mean: Any, inverse: Any) -> Any:
    g, direction = gy * gamma, (x - mean) * inverse
    return xp.sum(g * direction, axis=1, keepdims=True), xp.sum(g, axis=1, keepdims=True)


def _channel_sums(xp: Any, gy: Any, x: Any, gamma: Any, mean: Any, inverse: Any) -> Any:
    own = _gamma_sums(xp, gy, x, mean, inverse), xp.sum(gy, axis=1, keepdims=True)
    return *_projection_sums(xp, gy, x, gamma, mean, inverse), *own


def _projected(xp: Any, gy: Any, x: Any, gamma: Any, mean: Any, inverse: Any, share: Any, shift: Any) -> Any:
    g, direction = gy * gamma, (x - mean) * inverse
    return (g - direction * share - shift) * inverse


def _expit(xp: Any, x: Any) -> Any:
    return 1 / (1 + xp.exp(-x))  # as NumPy's kernel does


def _point(name: str, *parameters: str) -> dict[str, RowEntry]:
    """Return the entries of a function of one array and numbers, and of its gradient."""
    n = len(parameters)

    def function(xp: Any, x: Any, *numbers: Any) -> Any:
        return xp.kernel(name)(x, **dict(zip(parameters, numbers, strict=True)))

    def gradient(xp: Any, *args: Any) -> Any:
        return xp.kernel(f"{name}.x")(*args)

    return {
        name: RowEntry("p" + n * "s", function, (0, *parameters), False, weight=4),
        f"{name}_x": RowEntry("pp" + n * "s", gradient, tuple(range(n + 2)), False, weight=4),
    }


def _taken(name: str, chosen: Callable[[Any, Any], Any]) -> dict[str, RowEntry]:
    """Return the entries of the gradient of an extremum, of two arrays and of an array and a number."""

    def gradient(xp: Any, gy: Any, x1: Any, x2: Any) -> Any:
        return xp.where(x1 == x2, 0.5 * gy, xp.where(chosen(x1, x2), gy, 0.0))

    return {
        f"taken_where_{name}": RowEntry("ppp", gradient, (0, 1, 2), False),
        f"taken_where_{name}_than_number": RowEntry("pps", gradient, (0, 1, 2), False),
    }


def _weighted(xp: Any, x: Any, beta: Any) -> Any:
    return x * _expit(xp, beta * x)


def _weighted_slope(xp: Any, x: Any, beta: Any) -> Any:
    scaled = beta * x
    s = _expit(xp, scaled)
    return s * (1.0 + scaled * (1.0 - s))


def _tanh_x(xp: Any, gy: Any, x: Any, t: Any) -> Any:
    slope = 1 - t * t
    return gy * xp.where(slope < CANCELS, xp.square(1 + xp.abs(t)) * xp.exp(-2 * xp.abs(x)), slope)


def _huber(xp: Any, r: Any, delta: Any) -> Any:
    near = xp.minimum(xp.maximum(r, -delta), delta)
    return xp.where(delta < 0, math.inf, near * (r - 0.5 * near))


def _huber_slope(xp: Any, gy: Any, r: Any, delta: Any) -> Any:
    return gy * xp.where(xp.abs(r) <= delta, r, delta * xp.sign(r))


POINTWISE = {
    **_point("clipped_relu", "z"),
    **_point("elu", "alpha"),
    **_point("hard_sigmoid"),
    **_point("leaky_relu", "slope"),
    **_point("softplus", "beta"),
    "sigmoid_weighted": RowEntry("ps", _weighted, (0, "beta"), False, weight=4),
    "sigmoid_weighted_slope": RowEntry("ps", _weighted_slope, (0, "beta"), False, weight=4),
    "sigmoid_weighted_x": RowEntry(
        "pps", lambda xp, gy, *xs: gy * _weighted_slope(xp, *xs), (0, 1, 2), False, weight=4
    ),
    "special_huber": RowEntry("ps", _huber, (1, 0), False, weight=4),
    "special_huber_r": RowEntry("pps", _huber_slope, (0, 2, 1), False, weight=4),
}
"""Functions for which NumPy has no other kernel."""
TABLE = {
    **POINTWISE,
    **_taken("greater", operator.gt),
    **_taken("less", operator.lt),
    "relu": RowEntry("p", lambda xp, x: xp.kernel("relu")(x), along=False),
    "gate": RowEntry("pp", lambda xp, x1, x2: xp.kernel("gate")(x1, x2), (0, 1), False),
    "expit": RowEntry("p", _expit, along=False),
    "tanh_x": RowEntry("ppp", _tanh_x, (0, 1, 2), False),
    "softmax": RowEntry("p", lambda xp, x: xp.kernel("softmax")(x, axis=1), weight=4),
    "softmax_backward": RowEntry("pp", lambda xp, *xs: xp.kernel("softmax_backward")(*xs, axis=1), (0, 1), weight=4),
    "log_softmax": RowEntry("p", lambda xp, x: xp.kernel("log_softmax")(x, axis=1), least=FEW_CLASSES + 1),
    "log_softmax_backward": RowEntry("pp", lambda xp, *xs: xp.kernel("log_softmax_backward")(*xs, axis=1), (0, 1)),
    "logsumexp": RowEntry("p", lambda xp, x: xp.kernel("logsumexp")(x, axis=1, keepdims=True)),
    "moments": RowEntry("p", lambda xp, x: xp.kernel("moments")(x, axis=(1,)), weight=4),
    "standardize": RowEntry(
        "prr", lambda xp, *xs: xp.kernel("standardize")(*xs, axis=(1,), eps=0.0), (0, 1, 2), weight=4
    ),
    "standardize_backward": RowEntry(
        "ppr", lambda xp, *xs: xp.kernel("standardize_backward")(*xs, axis=(1,)), (0, 1, 2), weight=4
    ),
    "normalized": RowEntry(
        "pccrr", lambda xp, *xs: xp.kernel("normalized")(*xs, axis=(1,), eps=0.0), tuple(range(5)), weight=4
    ),
    "normalized_x": RowEntry(
        "ppcrr", lambda xp, *xs: xp.kernel("normalized.x")(*xs, (1,), 0.0), tuple(range(5)), weight=4
    ),
    "row_sums": RowEntry("p", lambda xp, x: xp.sum(x, axis=1, keepdims=True)),
    "square_sums": RowEntry("pf", lambda xp, x, mean: xp.sum(xp.square(x - mean), axis=1, keepdims=True)),
    "scale_and_shift": RowEntry("pff", lambda xp, *xs: xp.kernel("scale_and_shift")(*xs), (0, 1, 2)),
    "scaled": RowEntry("pf", lambda xp, gy, gamma: gy * gamma, (0, 1)),
    "normalized_channels": RowEntry("pffff", lambda xp, *xs: xp.kernel("normalized")(*xs, axis=(1,), eps=0.0)),
    "gamma_sums": RowEntry("ppff", _gamma_sums),
    "projection_sums": RowEntry("ppfff", _projection_sums),
    "channel_sums": RowEntry("ppfff", _channel_sums),
    "projected": RowEntry("ppfffff", _projected),
    "normalized_gamma": RowEntry("pprr", _of_gamma, (0, 1, 3, 4), weight=4),
    "normalized_sums": RowEntry("pprr", _column_sums, weight=4),
    "normalized_gradients": RowEntry("ppcrr", _gradients, weight=4),
}
"""The kernels, by the names of their functions, with rows along axis 1."""


class Ufunc(ctypes.Structure):
    """The first fields of ``PyUFuncObject``, which are public."""

    _fields_ = (
        *(("head", ctypes.c_ssize_t), ("type", POINTER)),
        *((name, ctypes.c_int) for name in ("nin", "nout", "nargs", "identity")),
        *((name, ctypes.POINTER(POINTER)) for name in ("functions", "data")),
        *(("ntypes", ctypes.c_int), ("reserved", ctypes.c_int), ("name", ctypes.c_char_p)),
    )


@functools.cache
def loop(name: str, dtype: Dtype) -> tuple[int, int | None] | None:
    """Return the addresses of the loop of a ufunc and of its data; None unless it computes what the ufunc does."""
    ufunc: Any = getattr(np, name, None)
    types: list[str] = list(ufunc.types) if type(ufunc) is np.ufunc else []
    if f"{dtype.char}->{dtype.char}" not in types:
        return None
    fields, number = Ufunc.from_address(id(ufunc)), types.index(f"{dtype.char}->{dtype.char}")
    if (fields.nin, fields.nout, fields.ntypes) != (1, 1, len(types)) or fields.name != name.encode():
        return None
    address, data = fields.functions[number], fields.data[number]
    x = np.linspace(0.1, 0.9, 37, dtype=dtype)
    y = np.empty_like(x)
    run = ctypes.CFUNCTYPE(None, *[POINTER] * 4)(address)
    run((POINTER * 2)(x.ctypes.data, y.ctypes.data), (LONG * 1)(37), (LONG * 2)(x.itemsize, x.itemsize), data)
    return (address, data) if np.array_equal(y, ufunc(x)) else None


FIRST = object.__basicsize__
"""Where in an array's structure the address of the first element is; `ctypes.data` takes six times as long."""
_address = POINTER.from_address


def address(x: Array) -> Any:
    """Return the address of the first element."""
    return _address(id(x) + FIRST).value


class RowLibrary:
    """The functions of kernels for one dtype, by name; none until they are compiled and loaded."""

    def __init__(self, dtype: Dtype, kernels: Callable[[], Sequence[RowKernel]]) -> None:
        self.dtype, self.kernels = dtype, kernels
        self.functions: Mapping[str, RowFunction] = {}
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Prepare the functions in a thread, unless that has been begun."""
        if self._thread is None:
            self._thread = threading.Thread(target=self.prepare, name="xpgrad-rows", daemon=True)
            self._thread.start()

    def wait(self) -> None:
        """Wait until the functions are there."""
        self.start()
        if self._thread is not None:
            self._thread.join()

    def prepare(self) -> bool:
        """Compile what is not on the disk, and load it; return whether that was possible."""
        import xpgrad

        backend = xpgrad.get_device("@numpy").backend
        compiler = from_executors(backend, "row_functions")
        if compiler is not None:
            import xpgrad.functions  # loads the transforms: not at the import of the backend

            self.functions = compiler(backend, self.kernels(), self.dtype, loop)
        return bool(self.functions)


def row_kernels() -> list[RowKernel]:
    """Return the kernels of `TABLE` as executors compile them."""
    return [RowKernel(name, tuple(map(LEVELS.__getitem__, each.levels)), each.formula) for name, each in TABLE.items()]


@functools.cache
def library(dtype: Dtype) -> RowLibrary:
    """Return the functions of `TABLE` for a dtype."""
    return RowLibrary(dtype, row_kernels)


def build() -> bool:
    """Compile the functions of all dtypes; return whether that was possible."""
    done = [library(np.dtype(char)).prepare() for char in "fd"]
    return all(done)


def _split(shape: Shape, axis: Any) -> int | None:
    """Return the number of leading axes where `axis` are all others, but not all; else None."""
    ndim = len(shape)
    axes = sorted({a % ndim for a in ((axis,) if isinstance(axis, int) else axis)}) if axis is not None and ndim else []
    return axes[0] if axes and axes[0] and axes == list(range(axes[0], ndim)) else None


class _Layout(NamedTuple):
    """Rows and columns of arrays of some shapes, the shapes of results by levels, and whether images share an array."""

    rows: int
    columns: int
    shapes: Mapping[str, Shape]
    shared: bool


@functools.lru_cache(4096)
def _layout(levels: str, axis: Any, shapes: tuple[Shape, ...]) -> _Layout | None:
    """Return the layout of a call on arrays of these levels and shapes, None if they do not fit."""
    shape = shapes[0]
    ndim, split = len(shape), 0 if axis == () else _split(shape, axis)
    if split is None:
        return None
    row, shared = shape[:split] + (1,) * (ndim - split), False
    for level, own in zip(levels, shapes, strict=True):
        wanted = shape if level == "p" else row if level == "r" else ()
        if level == "f":
            wanted = (shape[0] if own[:1] == shape[:1] else 1, shape[1]) + (1,) * (ndim - 2)
            shared |= wanted[0] < shape[0]
        elif level == "c":
            wanted = ((1,) * split + shape[split:])[min(ndim - len(own), split) :]
        if own != wanted:
            return None
    results = {"point": shape, "row": row, "column": shape[split:]}
    return _Layout(math.prod(shape[:split]), math.prod(shape[split:]), results, shared)


def run(name: str, arrays: Sequence[Any], axis: Any, out: Array | None = None) -> Any:
    """Return the results of a kernel in C along trailing axes, or `NotImplemented`; `axis` is () for one without.

    The only result may be written to `out`, which may be one of the arrays.
    """
    x = arrays[0]
    shape, dtype = x.shape, x.dtype
    entry = TABLE[name]
    if entry.weight * x.size < LARGE or dtype.char not in "fd":
        return NotImplemented
    found = library(dtype)
    function = found.functions.get(name)
    if function is None:
        found.start()
        return NotImplemented
    arrays = [a if isinstance(a, np.ndarray) else np.asarray(a, dtype if type(a) in NUMBERS else None) for a in arrays]
    along = axis if axis is None or isinstance(axis, int) else tuple(axis)
    layout = _layout(entry.levels, along, tuple([a.shape for a in arrays]))
    if layout is None or layout.columns < entry.least:
        return NotImplemented
    rows, columns = layout.rows, layout.columns
    if columns > MAX_COLUMNS and not function.by_column:
        return NotImplemented
    for number, a in enumerate(arrays):
        if a.flags.num & ORDERED != ORDERED:
            if 0 not in a.strides or a.shape != shape or name == "gate":  # whose other kernel is as fast for them
                return NotImplemented
            arrays[number] = np.ascontiguousarray(a)
        if a.dtype is not dtype and a.dtype != dtype:
            return NotImplemented
    if out is not None and (out.shape != shape or out.dtype != dtype or out.flags.num & ORDERED != ORDERED):
        return NotImplemented
    results = [out] if out is not None else [np.empty(layout.shapes[level], dtype) for level in function.levels]
    used = [*arrays, *results]
    addresses = (POINTER * len(used))(*[_address(id(a) + FIRST).value for a in used])
    if x.size < SHARED and not layout.shared:
        if not function.call(addresses, rows, columns, 0, columns if function.by_column else rows):
            raise MemoryError(f"{name}: no memory for a row")
    else:
        _in_threads(name, function, layout, shape, used, addresses)
    return results[0] if len(results) == 1 else tuple(results)


def _in_threads(
    name: str, function: RowFunction, layout: _Layout, shape: Shape, used: Sequence[Array], addresses: Any
) -> None:
    """Call a kernel for parts of the rows, the columns or the images."""
    rows, columns = layout.rows, layout.columns
    count = columns if function.by_column else rows

    def task(first: int, last: int) -> None:
        if not function.call(addresses, rows, columns, first, last):
            raise MemoryError(f"{name}: no memory for a row")

    def of_images(first: int, last: int) -> None:
        for image in range(first, last):
            places = (POINTER * len(used))(*(start + image * step for start, step in steps))
            if not function.call(places, channels, columns, 0, channels):
                raise MemoryError(f"{name}: no memory for a row")

    if layout.shared:
        task, count, channels = of_images, shape[0], shape[1]
        steps = [(a, x.strides[0] if len(x) > 1 else 0) for a, x in zip(addresses, used, strict=True)]
    if math.prod(shape) < SHARED or function.whole:
        task(0, count)
    else:
        run_all(task, count, -(-count // threads() // LINE) * LINE if function.by_column else None)


def reshaped(x: Array, shape: Shape) -> Array:
    """Return a new array in another shape: not as a view, of which compiled functions and gradients make a copy."""
    x.resize(shape, refcheck=False)
    return x


def sums(x: Array, axis: Any, keepdims: bool) -> Any:
    """Return sums of a large array along trailing axes, all, or all but the channels, with NumPy's bits.

    `NotImplemented` for other axes and arrays.
    """
    if axis == ():  # which means a kernel without an axis in `run`
        return NotImplemented
    of_channels = x.ndim > 2 and axis == (0, *range(2, x.ndim)) and x.shape[1] > 1
    along = tuple(range(2, x.ndim)) if of_channels else axis
    y = _total(x) if axis is None and not keepdims else run("row_sums", (x,), along)
    if of_channels and y is not NotImplemented:
        y = np.add.reduce(y, 0, keepdims=True)  # image by image, as NumPy does
    if y is NotImplemented or not np.isfinite(y).all():  # NumPy warns
        return NotImplemented
    if keepdims or axis is None:
        return y
    return reshaped(y, x.shape[1:2] if of_channels else x.shape[: _split(x.shape, axis)])


def _total(x: Array) -> Any:
    """Return the sum of all elements, or `NotImplemented`.

    NumPy adds the sums of two halves, and each half likewise; threads share the halves.
    """
    dtype = x.dtype
    if dtype.char not in "fd" or x.flags.num & ORDERED != ORDERED:
        return NotImplemented
    found = library(dtype)
    function = found.functions.get("row_sums")
    if function is None:
        found.start()
        return NotImplemented
    lengths = [x.size]
    while len(lengths) < 2 * threads() and lengths[0] > PART:
        lengths = [part for n in lengths for part in (n // 16 * 8, n - n // 16 * 8)]
    parts, starts = np.empty(len(lengths), dtype), [0, *accumulate(lengths)]

    def task(first: int, last: int) -> None:
        for i in range(first, last):
            addresses = x.ctypes.data + starts[i] * x.itemsize, parts.ctypes.data + i * x.itemsize
            if not function.call((POINTER * 2)(*addresses), 1, lengths[i], 0, 1):
                raise MemoryError("sum: no memory for a row")

    run_all(task, len(lengths))
    while len(parts) > 1:
        with np.errstate(all="ignore"):
            parts = parts[::2] + parts[1::2]
    return parts[0]


def compiled(kernel: Kernel, name: str = "") -> Kernel:
    """Return a kernel in `TABLE`, which is computed in C where arrays are large and in order."""
    name = name or kernel.__name__
    entry = TABLE[name]
    weight, first = entry.weight, entry.arguments[0]
    place = first if isinstance(first, int) else 0

    @functools.wraps(kernel)
    def of_one(x: Array, /) -> Any:
        result = NotImplemented if x.size < LARGE else run(name, (x,), ())
        return kernel(x) if result is NotImplemented else result

    @functools.wraps(kernel)
    def of_two(x1: Array, x2: Array, /) -> Any:
        result = NotImplemented if x1.size < LARGE else run(name, (x1, x2), ())
        return kernel(x1, x2) if result is NotImplemented else result

    if not entry.along and entry.arguments in ((0,), (0, 1)):  # most calls are on small arrays
        return of_one if entry.arguments == (0,) else of_two

    @functools.wraps(kernel)
    def by_rows(*args: Any, **parameters: Any) -> Any:
        if weight * args[place].size >= LARGE:
            arrays = [parameters[i] if isinstance(i, str) else args[i] for i in entry.arguments]
            axis = parameters["axis"] if "axis" in parameters else args[len(arrays)] if entry.along else ()
            result = run(name, arrays, axis)
            if result is not NotImplemented:
                return result
        return kernel(*args, **parameters)

    return by_rows


def pointwise(name: str, xp: Any) -> Kernel | None:
    """Return a kernel of `POINTWISE`, or None; other arrays are left to the default body, or to the rule."""
    own = name.replace(".", "_")
    if own not in POINTWISE:
        return None
    default = xp.default(name)

    def otherwise(*args: Any, **parameters: Any) -> Any:
        return NotImplemented if default is None else default(*args, **parameters)

    return compiled(otherwise, own)
