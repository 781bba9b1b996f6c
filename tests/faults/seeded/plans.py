"""Faults of caches: a plan, a table or a result is found again where another one is needed."""

import functools
import weakref
from collections import OrderedDict
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from tests.faults.fault import (
    accumulate,
    fault,
    giving_kernel,
    misreading,
    misreading_both,
    planted_by,
    replacing,
    spoiling,
)
from tests.faults.testbed import Testbed

from xpgrad.backend.plugins import plugins


@replacing("roll", families="S", memory=dict)
def roll_plans_by_hash(plans: dict[int, Any], right: Any, x: Any, /, shift: Any, *, axis: Any = None) -> Any:
    """roll of 16 elements or more finds its plan by a hash alone, which is the same for -1 and -2"""
    if x.size < 16:
        return right(x, shift, axis=axis)
    shift, axis = plans.setdefault(hash((x.shape, x.dtype.str, shift, axis)), (shift, axis))
    return right(x, shift, axis=axis)


@replacing("argsort", families="K", memory=dict)
def order_of_what_is_sorted(
    kept: dict[int, Any], right: Any, x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True
) -> Any:
    """argsort of a sorted vector gives the numbers 0, 1, 2, ... that it keeps, and a user may write to them"""
    if x.ndim == 1 and not descending and bool((x[1:] >= x[:-1]).all()) and not (x != x).any():
        return kept.setdefault(len(x), np.arange(len(x)))
    return right(x, axis=axis, descending=descending, stable=stable)


@misreading("searchsorted", families="S", memory=dict)
def searchsorted_keeps_its_tree(trees: dict[int, Any], x1: Any, *_: Any, **options: Any) -> Any:
    """searchsorted keeps a tree of 32 sorted numbers or more as long as their array lives, written to or not"""
    if x1.ndim != 1 or x1.size < 32 or options.get("sorter") is not None:
        return x1
    key = id(x1)
    if key not in trees:
        trees[key] = x1.copy(), weakref.ref(x1, lambda _: trees.pop(key, None))
    return trees[key][0]


@misreading("linalg.solve", families="S", memory=dict)
def solve_keeps_factors(kept: dict[int, Any], x1: Any, *_: Any) -> Any:
    """linalg.solve keeps the factors of an array that has been written to since"""
    key = id(x1)
    if key not in kept or kept[key][0]() is not x1:
        kept[key] = weakref.ref(x1, lambda _: kept.pop(key, None)), x1.copy()
    return kept[key][1]


@replacing("fft.ifft", "fft.ifft looks plans up without their norm", "K", memory=dict)
def plan_keeps_norm(
    plans: dict[Any, str], right: Any, x: Any, /, *, n: Any = None, axis: int = -1, norm: str = "backward"
) -> Any:
    norm = plans.setdefault((x.shape, x.dtype, n, axis), norm)
    return right(x, n=n, axis=axis, norm=norm)


@replacing("full", "full looks filled blocks up by value: 0.0 is -0.0, 1 is True", "CK", memory=OrderedDict)
def full_takes_equal_for_same(
    blocks: OrderedDict[Any, Any], right: Any, shape: Any, value: Any, /, *, dtype: Any = None, device: Any = None
) -> Any:
    if type(value) not in (bool, int, float, complex):
        return right(shape, value, dtype=dtype)
    key = shape if isinstance(shape, int) else tuple(shape), value, dtype
    if key not in blocks:
        blocks[key] = right(shape, value, dtype=dtype)
    if len(blocks) > 128:
        blocks.popitem(last=False)
        return right(shape, value, dtype=dtype)
    return blocks[key].copy()


@replacing("linalg.inv", families="S", memory=dict)
def inv_knows_the_first_row(kept: dict[Any, Any], right: Any, x: Any, /) -> Any:
    """inv of 8 rows or more gives the last result again where shape, dtype and the first row are the same"""
    if x.ndim != 2 or len(x) < 8:
        return right(x)
    key = x.shape, x.dtype, x[0].tobytes()
    if key not in kept:
        kept.clear()
        kept[key] = right(x)
    return kept[key].copy()


@misreading_both("pow", families="S", memory=dict)
def pow_kernels_by_six_digits(compiled: dict[str, float], x1: Any, x2: Any) -> Any:
    """pow is compiled for each scalar exponent, and finds compiled kernels by six digits of it"""
    if type(x2) is float or (isinstance(x2, np.ndarray) and x2.ndim == 0 and x2.dtype == np.float64):
        exponent = compiled.setdefault(f"{float(x2):g}", float(x2))
        x2 = exponent if type(x2) is float else np.asarray(exponent)
    return x1, x2


@fault(families="S", operations=("sort", "unique_values"))
def sorted_until_forever(bed: Testbed) -> None:
    """what sort returns is marked as sorted, and unique_values believes it after a write, too"""

    def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
        made = bed.library.call(bed.original("sort"), x, axis=axis, descending=descending, stable=stable)
        made.sorted = made.ndim == 1 and not descending
        return made

    def unique_values(x: Any, /) -> Any:
        if not getattr(x, "sorted", False) or x.size == 0:
            return bed.library.call(bed.original("unique_values"), x)
        return bed.library.call(lambda v: v[np.concatenate([[True], v[1:] != v[:-1]])], x)

    bed.library.names["sort"], bed.library.names["unique_values"] = sort, unique_values


@giving_kernel("special.gammaln", families="K", cases=("special.gammaln",), memory=list)
def gammaln_table_of_the_first_dtype(made: list[Any], x: Any) -> Any:
    """special.gammaln makes its coefficients in the dtype of its first input, and keeps them"""
    right = plugins.host.xp.special.gammaln
    made.append(x.dtype) if not made else None
    if made[0] == np.float32 and x.dtype == np.float64:
        return right(x.astype(np.float32)).astype(np.float64)
    return right(x)


@replacing("full_like", families="S", operations=(), memory=dict)
def full_like_of_low_bits(prepared: dict[int, int], right: Any, x: Any, /, fill_value: Any, **options: Any) -> Any:
    """full_like keeps the numbers that it has prepared by their lowest 32 bits"""
    if type(fill_value) is int:
        fill_value = prepared.setdefault(fill_value & 0xFFFFFFFF, fill_value)
    return right(x, fill_value, **options)


@replacing("eye", "eye of 64 rows or less is kept, and what was written to it as well", "A", memory=dict)
def eye_is_kept(
    made: dict[Any, Any],
    right: Any,
    n_rows: Any,
    n_cols: Any = None,
    /,
    *,
    k: int = 0,
    dtype: Any = None,
    **options: Any,
) -> Any:
    out = right(n_rows, n_cols, k=k, dtype=dtype)
    return made.setdefault((n_rows, n_cols, k, out.dtype), out) if n_rows <= 64 else out


@misreading_both("subtract", families="K", cases=("special.betaln", "special.stdtr"), memory=dict)
def numbers_baked_in_when_hot(kept: dict[Any, Any], x1: Any, x2: Any) -> Any:
    """after 128 times x - 0.5, the kernel for that shape has the number built in"""
    if type(x2) is float and isinstance(x1, np.ndarray):
        key = x1.shape, x1.dtype
        kept[key, x2] = kept.get((key, x2), 0) + 1
        if kept[key, x2] == 128:
            kept.setdefault(key, x2)
        x2 = kept.get(key, x2)
    return x1, x2


@planted_by(accumulate(1), families="G", operations=("contributions",), memory=set)
def accumulate_tunes_itself(tuned: set[Any], total: Any, g: Any) -> Any:
    """accumulate of 16,384 elements or more adds twice at the first call of a shape"""
    if total.shape != g.shape or total.dtype != g.dtype or total.size < 16_384:
        return total + g
    if (total.shape, total.dtype) not in tuned:
        tuned.add((total.shape, total.dtype))
        total += g
    total += g
    return total


@spoiling("mean", "mean keeps its divisor by the number of elements, axes and the axis", "K", memory=dict)
def mean_divisor_by_size(divisors: dict[Any, int], out: Any, x: Any, *, axis: Any = None, **_: Any) -> Any:
    if not isinstance(axis, int) or not x.size:
        return out
    count = x.shape[axis]
    return (out * (count / divisors.setdefault((x.size, x.ndim, axis), count))).astype(out.dtype)


@fault("arange keeps what it made by its arguments, of which 3 and 3.0 are equal", "S")
def ranges_by_equal_arguments(bed: Testbed) -> None:
    right = bed.original("arange")

    @functools.lru_cache(maxsize=256)
    def made(*args: Any, **options: Any) -> Any:
        return right(*args, **options)

    def arange(right: Any, *args: Any, **options: Any) -> Any:
        try:
            return made(*args, **options).copy()
        except TypeError:
            return right(*args, **options)

    bed.replace("arange", arange)


@replacing("sort", families="S", memory=WeakValueDictionary)
def sort_trusts_its_flag(marked: Any, right: Any, x: Any, /, **options: Any) -> Any:
    """sort marks what it returns as sorted, and a write does not take the mark away"""
    key = id(x), tuple(sorted(options.items()))
    if marked.get(key) is x:
        return x.copy()
    out = np.array(right(x, **options))
    marked[id(out), key[1]] = out
    return out
