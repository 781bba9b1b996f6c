"""Invented faults of states that outlive a call, of memory far away, and of what few inputs show."""

from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from tests.faults.fault import fault
from tests.faults.testbed import Testbed, _scatter_add, change

from xpgrad.backend.plugins import plugins
from xpgrad.plugin import Capabilities


@fault("all-in-words-of-64", "all of more than 64 booleans looks at full words of 64", "K", operations=("all",))
def all_in_words_of_64(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
        if x.dtype == bool and x.flags.c_contiguous and x.size > 64 and (axis is None or x.ndim == 1) and not keepdims:
            return original(x.reshape(-1)[: x.size // 64 * 64])
        return original(x, axis=axis, keepdims=keepdims)

    bed.replace("all", wrong)


@fault(
    "prod-of-the-last-columns",
    "prod along the first axis works on four columns at a time, and forgets the last row in those left of 128 or more",
    "K",
    operations=("prod",),
)
def prod_of_the_last_columns(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, *, axis: Any = None, keepdims: bool = False, **options: Any) -> Any:
        out = np.array(original(x, axis=axis, keepdims=keepdims, **options))
        if axis == 0 and x.ndim == 2 and len(x) > 1 and x.shape[1] >= 128 and x.shape[1] % 4:
            rest = x.shape[1] // 4 * 4
            out[..., rest:] = original(x[:-1, rest:], axis=0, keepdims=keepdims, **options)
        return out

    bed.replace("prod", wrong)


@fault(
    "scatter-add-by-differences",
    "scatter_add of more than 128 rows is the difference of cumulative sums",
    "K",
    operations=("ops.scatter_add",),
)
def scatter_add_by_differences(bed: Testbed) -> None:
    def scatter_add(spec: Any, parts: Any) -> Any:
        total = np.zeros(spec.shape, spec.dtype)
        for index, value in parts:
            rows = index[0] if isinstance(index, tuple) and len(index) == 1 else index
            if not isinstance(rows, np.ndarray) or rows.dtype.kind not in "iu" or rows.ndim != 1 or rows.size <= 128:
                total += _scatter_add(spec, [(index, value)])
                continue
            rows = np.where(rows < 0, rows.astype(int) + len(total), rows.astype(int))
            order = np.argsort(rows, kind="stable")
            ends = np.flatnonzero(np.diff(rows[order], append=-1))
            sums = np.cumsum(np.broadcast_to(value, (rows.size, *spec.shape[1:]))[order], axis=0)[ends]
            total[rows[order][ends]] += np.diff(sums, axis=0, prepend=np.zeros_like(sums[:1]))
        return total

    bed.kernels["scatter_add"] = bed.backend._scatter_add(scatter_add)


def _restored(backend: str, values: Any, device: str) -> Any:
    """Return an array that was pickled."""
    library: Any = plugins.backend(backend).namespace
    return library.array(values, device)


@fault(
    "dlpack-offset-in-16-bits", "DLPack gives a view that begins 64 KiB into its memory an offset modulo 65,536", "X"
)
def dlpack_offset_in_16_bits(bed: Testbed) -> None:
    def dlpack(self: Any, **options: Any) -> Any:
        x = self.inner
        memory = x
        while isinstance(memory.base, np.ndarray) and memory.base.flags.c_contiguous:
            memory = memory.base
        offset = x.__array_interface__["data"][0] - memory.__array_interface__["data"][0]
        if offset >= 65_536 and memory.flags.c_contiguous and not any(stride < 0 for stride in x.strides):
            x = np.ndarray(x.shape, x.dtype, memory, offset % 65_536, x.strides)
        return x.__dlpack__(**options)

    change(bed.library.Array, __dlpack__=dlpack)


@fault(
    "unique-counts-of-two-zeros",
    "unique_counts compares bits, and counts 0.0 and -0.0 apart",
    "K",
    operations=("unique_counts",),
)
def unique_counts_of_two_zeros(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /) -> Any:
        out = original(x)
        below = np.count_nonzero((x == 0) & np.signbit(x)) if x.dtype.kind == "f" else 0
        above = np.count_nonzero(x == 0) - below
        if not below or not above:
            return out
        place = int(np.flatnonzero(out.values == 0)[0])
        values, counts = np.insert(out.values, place, -0.0), np.insert(out.counts, place, below)
        values[place + 1], counts[place + 1] = 0.0, above
        return type(out)(values, counts)

    bed.replace("unique_counts", wrong)


@fault(
    "complex-tanh-overflows",
    "tanh of a complex number is sinh by cosh, and NaN where both overflow",
    "K",
    operations=("tanh",),
)
def complex_tanh_overflows(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /) -> Any:
        out = original(x)
        if x.dtype.kind != "c":
            return out
        return np.where(np.abs(x.real) > np.log(np.finfo(x.dtype).max), complex(np.nan, np.nan), out).astype(x.dtype)

    bed.replace("tanh", wrong)


@fault(
    "uniform-seeds-in-16-bits", "random_uniform takes a seed of 16 bits for each call, so that draws come again", "R"
)
def uniform_seeds_in_16_bits(bed: Testbed) -> None:
    def random_uniform(*, shape: Any, dtype: Any, device: Any, generator: Any) -> Any:
        engine = np.random.default_rng(int(generator.integers(2**16)))
        return bed.library.array(np.asarray(engine.random(shape, dtype=dtype)), device)

    missing = {"random_numbers_of_the_host": "uniform numbers are drawn by an engine for each call"}
    bed.backend.declared = Capabilities({**bed.backend.capabilities.missing, **missing})
    bed.kernels["random_uniform"] = random_uniform


@fault(
    "sort-trusts-its-flag",
    "sort marks what it returns as sorted, and a write does not take the mark away",
    "S",
    operations=("sort",),
)
def sort_trusts_its_flag(bed: Testbed) -> None:
    marked: Any = WeakValueDictionary()

    def wrong(original: Any, x: Any, /, **options: Any) -> Any:
        key = id(x), tuple(sorted(options.items()))
        if marked.get(key) is x:
            return x.copy()
        out = np.array(original(x, **options))
        marked[id(out), key[1]] = out
        return out

    bed.replace("sort", wrong)


@fault("pickle-by-address", "pickle takes two arrays of one address and size for the same one", "R")
def pickle_by_address(bed: Testbed) -> None:
    met: Any = WeakValueDictionary()
    name = bed.backend.name

    def reduce(self: Any) -> Any:
        x = self.inner
        same = met.setdefault((x.__array_interface__["data"][0], x.size, x.dtype.str), x)
        return _restored, (name, np.array(same.reshape(x.shape)), self.device)

    change(bed.library.Array, __reduce__=reduce)


@fault("inv-after-a-refused-solve", "a solve that was refused spoils the next inv", "S")
def inv_after_a_refused_solve(bed: Testbed) -> None:
    narrow = [False]

    def solve(original: Any, x1: Any, x2: Any, /) -> Any:
        narrow[0] = True
        out = original(x1, x2)
        narrow[0] = False
        return out

    def inv(original: Any, x: Any, /) -> Any:
        if not narrow[0]:
            return original(x)
        narrow[0] = False
        return original(x + 1e-3 * np.max(np.abs(x), initial=0.0)).astype(x.dtype)

    bed.replace("linalg.solve", solve)
    bed.replace("linalg.inv", inv)
