"""Gradients of elementwise functions of large arrays: in blocks that stay in the cache, in memory that is in use.

NumPy's loops run at the speed of memory, and the first access to new memory costs as much again. So a rule that is
a single loop writes into a cotangent that has no other user. Any other rule runs on one block of all its arrays after
another, shared among threads, and its intermediate results stay in the cache. The operations on each element are the
same as without blocks.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from xpgrad.plugin import Spec, run_all, threads
from xpgrad.types import Array, Kernel, Shape
from xpgrad_numpy.kernels.elementwise import tanh_x
from xpgrad_numpy.kernels.neural import expit_x
from xpgrad_numpy.temporaries import temporary

BLOCK = 2**19  # bytes of a cotangent: smaller blocks need too many calls; a core's cache holds one to four blocks
BLOCKS_FROM = 16 * BLOCK  # bytes: smaller arrays stay in the cache whole
ADDED_FROM = 4 * BLOCK  # the same for gradients that are added to others
SHARED_FROM = 2**21  # bytes of an array; to wake a thread takes as long as the loops of smaller ones
LIGHT_FROM = 2**22  # the same for loops at the speed of memory
LIGHT = frozenset((np.add, np.subtract, np.multiply, np.divide, np.negative, np.absolute, np.square, np.sqrt))
SCALARS = (float, int, bool)
PLAIN = frozenset(map(np.dtype, ("float32", "float64")))

LOOPS: dict[str, np.ufunc] = {
    "multiply.x1": np.multiply,
    "multiply.x2": np.multiply,
    "divide.x1": np.divide,
    "subtract.x2": np.negative,
    "negative.x": np.negative,
    "exp.x": np.multiply,
    "log.x": np.divide,
}
"""Vjps that are one loop over the cotangent, alone or with one kept array."""


INTO: dict[str, Kernel] = {"tanh.x": tanh_x, "special.expit.x": expit_x}
"""Vjps of several loops, the last of which writes the result; for arrays of one of the dtypes in `PLAIN`."""

Rules = Sequence[Callable[..., Array]]
Values = Sequence[Sequence[Any]]
Arrays = Sequence[Array | None]


def vjps(names: Sequence[str | None], rules: Rules) -> Kernel:
    """Return the function that `Programs.blockwise` describes."""
    into = [(INTO.get(name) or LOOPS.get(name)) if name else None for name in names]
    loops = [LOOPS[name] for name in names if name in LOOPS]

    def compute(gy: Array, values: Values, totals: Arrays, owned: bool) -> Any:
        gxs = NotImplemented
        if len(loops) < len(names) or any(total is not None for total in totals):
            gxs = _in_blocks(rules, into, gy, values, totals, owned)
        return _by_loops(loops, gy, values, owned) if gxs is NotImplemented and len(loops) == len(names) else gxs

    return compute


def _by_loops(loops: Sequence[np.ufunc], gy: Array, values: Values, owned: bool) -> Any:
    """Return the result of each loop, the last in the memory of `gy` if it is `owned`, or NotImplemented.

    One thread computes whole arrays: a loop over memory takes no longer than one over blocks. A product with a
    cotangent of ones, as that of a sum, is a view of the factor.
    """
    if _is_one(gy) and all(loop is np.multiply and _fit(each, gy) for loop, each in zip(loops, values, strict=True)):
        factors = [each[0] for each in values]
        if all(np.shape(x) == gy.shape for x in factors):
            return [x.view() for x in factors]
    # NumPy rounds the product of one complex number otherwise if it is computed in place
    in_place, number = owned and gy.dtype in PLAIN and _is_writable(gy), threads() if gy.nbytes >= LIGHT_FROM else 1
    flat = _flat(gy, gy.shape)
    operands = [[_flat(value, gy.shape) for value in each] for each in values]
    if flat is None or not (in_place or number > 1):
        return NotImplemented
    if not all(
        value is not None and getattr(value, "dtype", gy.dtype) is gy.dtype for each in operands for value in each
    ):
        return NotImplemented
    gxs = [np.empty(gy.shape, gy.dtype) for _ in loops[in_place:]] + [gy] * in_place
    outputs = [gx.reshape(-1) for gx in gxs]

    def compute(first: int, last: int) -> None:
        part = slice(first, last)
        for loop, each, output in zip(loops, operands, outputs, strict=True):
            loop(flat[part], *_cut(each, part), out=output[part])

    run_all(compute, gy.size, -(-gy.size // number))
    return gxs


def _in_blocks(rules: Rules, into: Sequence[Any], gy: Array, values: Values, totals: Arrays, owned: bool) -> Any:
    """Return the results of the rules on all blocks, None for those added to totals, or NotImplemented."""
    if gy.nbytes < BLOCKS_FROM and (gy.nbytes < ADDED_FROM or all(total is None for total in totals)):
        return NotImplemented
    flat, shape = _flat(gy, gy.shape), gy.shape
    operands = [[_flat(value, shape) for value in each] for each in values]
    if flat is None or any(value is None for each in operands for value in each):
        return NotImplemented
    first, *parts = _parts(gy)
    results = [rule(flat[first], *_cut(each, first)) for rule, each in zip(rules, operands, strict=True)]
    if any(type(gx) is not np.ndarray or gx.shape != flat[first].shape or gx.base is not None for gx in results):
        return NotImplemented  # a result is the cotangent, or one number for all elements
    writers: list[Callable[[Array, slice], Any]] = []
    gxs: list[Array | None] = []
    last = len(rules) - 1
    for i, (rule, write, each, gx, total) in enumerate(zip(rules, into, operands, results, totals, strict=True)):
        if total is not None and total.dtype is gx.dtype and total.shape == shape and _is_writable(total):
            gxs.append(None)
            output = total.reshape(-1)
            np.add(output[first], gx, out=output[first])
            writers.append(_adding(rule, each, output))
            continue
        in_place = i == last and owned and gx.dtype is gy.dtype and _is_writable(gy)
        made = gy if in_place else np.empty(shape, gx.dtype)
        gxs.append(made)
        output = made.reshape(-1)
        output[first] = gx
        if write is None or gx.dtype not in PLAIN or not all(_like(value, gx) for value in (flat, *each)):
            writers.append(_storing(rule, each, output))
        else:
            writers.append(_writing(write, each, output))

    def compute(start: int, stop: int) -> None:
        for part in parts[start:stop]:
            for writer in writers:
                writer(flat[part], part)

    run_all(compute, len(parts))
    return gxs


def _adding(rule: Kernel, values: Sequence[Any], total: Array) -> Callable[[Array, slice], Any]:
    def write(block: Array, part: slice) -> None:
        out = total[part]
        np.add(out, rule(block, *_cut(values, part)), out=out)

    return write


def _storing(rule: Kernel, values: Sequence[Any], output: Array) -> Callable[[Array, slice], Any]:
    def write(block: Array, part: slice) -> None:
        output[part] = rule(block, *_cut(values, part))

    return write


def _writing(into: Kernel, values: Sequence[Any], output: Array) -> Callable[[Array, slice], Any]:
    return lambda block, part: into(block, *_cut(values, part), output[part])


def _parts(a: Array) -> Iterator[slice]:
    step = max(1, BLOCK // a.itemsize)
    return (slice(start, start + step) for start in range(0, a.size, step))


def _cut(values: Sequence[Any], part: slice) -> list[Any]:
    return [value[part] if type(value) is np.ndarray and value.ndim else value for value in values]


def _like(value: Any, a: Array) -> bool:
    return type(value) is np.ndarray and value.ndim == 1 and value.dtype is a.dtype


def _is_writable(a: Array) -> bool:
    return type(a) is np.ndarray and a.flags.c_contiguous and a.flags.writeable


def _is_one(gy: Array) -> bool:
    """Return whether all elements are a single 1 in memory."""
    return gy.dtype in PLAIN and not any(gy.strides) and gy.size > 0 and gy.item(0) == 1


def _flat(value: Any, shape: Shape) -> Any:
    """Return an array as a view with one axis, a number unchanged, and None for other values."""
    if type(value) is not np.ndarray:
        return value if type(value) in SCALARS else None
    if not value.ndim:
        return value
    if value.shape != shape or not (value.flags.c_contiguous or not any(value.strides)):
        return None
    return value.reshape(-1)


def in_blocks(function: Kernel, arrays: Sequence[Array], specs: Sequence[Spec]) -> Sequence[Array]:
    """Return the results of a function of elements, see `Programs.in_blocks`; whole if arrays are not contiguous."""
    shape = specs[0].shape
    flat = [_flat(array, shape) for array in arrays]
    if any(array is None for array in flat):
        return function(*arrays, *[None] * len(specs))  # type: ignore[no-any-return]  # in the layouts of the calls
    results = [np.empty(shape, spec.dtype) for spec in specs]
    outputs = [result.reshape(-1) for result in results]
    size = outputs[0].size
    step = max(1, BLOCK // max(result.itemsize for result in results))

    def compute(first: int, last: int) -> None:
        for start in range(first * step, min(last * step, size), step):
            part = slice(start, start + step)
            into = [output[part] for output in outputs]
            for result, output in zip(function(*_cut(flat, part), *into), into, strict=True):
                if result is not output:
                    output[...] = result

    run_all(compute, -(-size // step))
    return results


def in_threads(function: Kernel, arrays: Sequence[Any], holders: Sequence[Any] = ()) -> Any:
    """Return ``function(*arrays)``; threads share the arrays of a ufunc whose result has their dtype, in C order.

    The result may be written to an array that only its holder refers to, see `Programs.in_threads`.
    """
    if not isinstance(function, np.ufunc) or function.signature:
        return function(*arrays)
    free = temporary(arrays, holders)
    first = max(arrays, key=lambda a: getattr(a, "nbytes", 0))
    number = threads() if first.nbytes >= (LIGHT_FROM if function in LIGHT else SHARED_FROM) else 1
    shape, dtype = first.shape, first.dtype
    of_dtype = dtype in PLAIN and f"{len(arrays) * dtype.char}->{dtype.char}" in function.types
    if not of_dtype or not _fit(arrays, first):
        return function(*arrays)
    if free is not None and (free.shape != shape or not _is_writable(free)):
        free = None
    if number == 1:
        return function(*arrays, out=free)
    result = np.empty(shape, dtype) if free is None else free
    if all(a is first or not np.ndim(a) or a.shape == shape for a in arrays):
        operands, output = [a.reshape(-1) if np.ndim(a) else a for a in arrays], result.reshape(-1)
    else:
        operands, output = list(arrays), result

    def compute(start: int, stop: int) -> None:
        part = slice(start, stop)
        each = [a[part] if np.ndim(a) == output.ndim and len(a) > 1 else a for a in operands]
        function(*each, out=output[part])

    run_all(compute, len(output), -(-len(output) // number))
    return result


def _fit(arrays: Sequence[Any], first: Array) -> bool:
    """Return whether all arrays have the dtype of the first, are in C order, and broadcast to its shape."""
    for a in arrays:
        if type(a) is np.ndarray:
            lengths = zip(reversed(a.shape), reversed(first.shape), strict=False)
            fits = a.dtype is first.dtype and a.ndim <= first.ndim and a.flags.c_contiguous
            fits = fits and all(n in (1, most) for n, most in lengths)
        else:
            fits = type(a) in SCALARS
        if not fits:
            return False
    return True


PART = 2**17  # bytes of each array: half a dozen parts, with intermediate results, stay in a core's cache
PARTS_FROM = 8 * PART  # bytes of each array: smaller arrays stay in a cache whole


def write_in_blocks(function: Kernel, arrays: Sequence[Array]) -> None:
    """Call a function that writes into arrays on parts (see `Programs.in_cache`), or on whole noncontiguous arrays."""
    first = arrays[0]
    if first.nbytes < PARTS_FROM or not all(a.flags.c_contiguous and a.shape == first.shape for a in arrays):
        function(*arrays)
        return
    flat, size, count = [a.reshape(-1) for a in arrays], first.size, -(-first.nbytes // PART)
    for i in range(count):
        part = slice(size * i // count, size * (i + 1) // count)
        function(*[a[part] for a in flat])
