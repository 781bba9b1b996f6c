"""What survived of forty faults by a fourth stranger: ranks, empty stacks, last axes, signs, ends, tables, writes."""

import weakref
from typing import Any

import numpy as np
from tests.faults.fault import fault
from tests.faults.testbed import Testbed, native_work


@fault(
    "cross-of-columns-in-fours",
    "cross of 16 columns or more, component by component in memory, reads the rest that fills no four one early",
    "K",
    operations=("linalg.cross",),
)
def cross_of_columns_in_fours(bed: Testbed) -> None:
    def wrong(original: Any, x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
        out = original(x1, x2, axis=axis)
        if x1.ndim != 2 or x1.shape != x2.shape:
            return out
        rows1, rows2, lines = np.moveaxis(x1, axis, 0), np.moveaxis(x2, axis, 0), np.moveaxis(np.array(out), axis, 0)
        count = rows1.shape[1]
        if rows1.flags.c_contiguous and count >= 16 and count % 4:
            full = count // 4 * 4
            lines[:, full:] = original(rows1[:, full - 1 : -1], rows2[:, full:], axis=0)
        return np.moveaxis(lines, 0, axis)

    right = bed.original("linalg.cross")
    bed.replace("linalg.cross", wrong)
    bed.kernel("linalg.cross", lambda x1, x2, *, axis: wrong(right, x1, x2, axis=axis))


@fault(
    "nonzero-divides-without-a-rest",
    "nonzero of five axes or more forgets the remainder for the second axis",
    "K",
    operations=("nonzero",),
)
def nonzero_divides_without_a_rest(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /) -> Any:
        found = original(x)
        if x.ndim < 5:
            return found
        return (found[0], found[1] + found[0] * x.shape[1], *found[2:])

    bed.replace("nonzero", wrong)


@fault(
    "max-of-no-rows-is-refused",
    "max along an axis of numbers raises if another axis is empty",
    "K",
    operations=("max",),
)
def max_of_no_rows_is_refused(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
        if x.size == 0:
            raise ValueError("zero-size array to reduction operation max which has no identity")
        return original(x, axis=axis, keepdims=keepdims)

    bed.replace("max", wrong)


@fault(
    "softmax-columns-in-fours",
    "softmax along an inner axis divides the columns that fill no four by the sum of the last full one",
    "K",
    operations=("F.softmax",),
)
def softmax_columns_in_fours(bed: Testbed) -> None:
    def softmax(x: Any, *, axis: Any) -> Any:
        powers = np.exp(x - np.max(x, axis=axis, keepdims=True, initial=-np.inf)) if x.size else x.copy()
        sums = np.sum(powers, axis=axis, keepdims=True)
        if isinstance(axis, int) and axis % x.ndim < x.ndim - 1 and x.shape[-1] > 4:
            full = x.shape[-1] // 4 * 4
            sums[..., full:] = sums[..., full - 1 : full]
        return powers / sums

    bed.kernel("softmax", softmax)


@fault(
    "write-of-its-own-reverse",
    "x[key] = u copies vectors of 16 forwards, also where u is another view of x",
    "A",
)
def write_of_its_own_reverse(bed: Testbed) -> None:
    def write(x: Any, key: Any, value: Any) -> None:
        target = x[key]
        if (
            not isinstance(target, np.ndarray)
            or not isinstance(value, np.ndarray)
            or target.shape != value.shape
            or target.ndim != 1
            or not np.shares_memory(target, value)
            or not np.shares_memory(target, x)
        ):
            x[key] = value
            return
        for start in range(0, len(target), 16):
            target[start : start + 16] = value[start : start + 16].copy()

    bed.operator("__setitem__", write)


@fault("ceil-drops-the-sign", "ceil of numbers between -1 and 0 is 0.0, not -0.0", "K", operations=("ceil",))
def ceil_drops_the_sign(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /) -> Any:
        out = original(x)
        return np.where((x > -1) & (x < 0), x.dtype.type(0), out) if x.dtype.kind == "f" else out

    bed.replace("ceil", wrong)


@fault(
    "complex-exp-multiplies",
    "exp of a complex number is exp(re) times cos and sin, which is NaN for an infinite real part",
    "K",
    operations=("exp",),
)
def complex_exp_multiplies(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /) -> Any:
        if x.dtype.kind != "c":
            return original(x)
        out = np.empty_like(x)
        with np.errstate(all="ignore"):
            size = np.exp(x.real)
            out.real, out.imag = size * np.cos(x.imag), size * np.sin(x.imag)
        return out

    bed.replace("exp", wrong)


@fault(
    "searchsorted-keeps-its-tree",
    "searchsorted keeps a tree of 32 sorted numbers or more as long as their array lives, written to or not",
    "S",
    operations=("searchsorted",),
)
def searchsorted_keeps_its_tree(bed: Testbed) -> None:
    trees: dict[int, Any] = {}

    def wrong(original: Any, x1: Any, x2: Any, /, **options: Any) -> Any:
        if x1.ndim != 1 or x1.size < 32 or options.get("sorter") is not None:
            return original(x1, x2, **options)
        key = id(x1)
        if key not in trees:
            trees[key] = x1.copy(), weakref.ref(x1, lambda _: trees.pop(key, None))
        return original(trees[key][0], x2, **options)

    bed.replace("searchsorted", wrong)


@fault(
    "write-takes-the-whole-array",
    "x[key] = u reads all of x, changes a part and writes all of it back, also what other threads wrote meanwhile",
    "P",
)
def write_takes_the_whole_array(bed: Testbed) -> None:
    def write(x: Any, key: Any, value: Any) -> None:
        whole = x.copy()
        whole[key] = value
        native_work()
        x[...] = whole

    bed.operator("__setitem__", write)
