"""Invented faults that the conformance suite does not find yet: the self-test does not read them.

Each makes a mistake of a kind that array libraries have had. Move one to `tests.faults.seeded` once a check kills it.
"""

from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from tests.faults.fault import fault
from tests.faults.seeded.invented_states import pause
from tests.faults.testbed import Testbed, _scatter_add, change

from xpgrad.backend.plugins import plugins
from xpgrad.plugin import Capabilities

# Only the full profile finds these, by inputs that the self-test does not draw


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


@fault("scatter-add-by-differences", "scatter_add of more than 128 rows is the difference of cumulative sums", "G")
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


# Neither profile finds these


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


@fault("unique-counts-of-two-zeros", "unique_counts compares bits, and counts 0.0 and -0.0 apart", "K")
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


@fault("complex-tanh-overflows", "tanh of a complex number is sinh by cosh, and NaN where both overflow", "K")
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


@fault("sort-trusts-its-flag", "sort marks what it returns as sorted, and a write does not take the mark away", "K")
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


@fault("assignment-copies-forwards", "x[1:] = x[:-1] copies row by row, and repeats the first one", "A")
def assignment_copies_forwards(bed: Testbed) -> None:
    def setitem(x: Any, key: Any, value: Any) -> None:
        target = x[key] if isinstance(key, slice) else None
        if target is None or np.shape(value) != target.shape or not np.may_share_memory(target, value):
            x[key] = value
            return
        for row in range(len(target)):
            target[row] = value[row]

    bed.operator("__setitem__", setitem)


@fault("take-keeps-wrapped-indices", "take keeps what became of 64 or more indices with negative ones by address", "K")
def take_keeps_wrapped_indices(bed: Testbed) -> None:
    kept: dict[Any, Any] = {}

    def wrong(original: Any, x: Any, indices: Any, /, *, axis: Any = None) -> Any:
        if np.size(indices) < 64 or np.min(indices) >= 0:
            return original(x, indices, axis=axis)
        length = x.shape[0 if axis is None else axis]
        key = indices.__array_interface__["data"][0], indices.shape, indices.strides, indices.dtype, length
        positions = kept.setdefault(key, np.where(indices < 0, indices + length, indices))
        return original(x, positions, axis=axis)

    bed.replace("take", wrong)


@fault("take-along-axis-after-an-error", "a take that was refused leaves take_along_axis clipping once", "K")
def take_along_axis_after_an_error(bed: Testbed) -> None:
    clipping = [False]

    def take(original: Any, x: Any, indices: Any, /, **options: Any) -> Any:
        clipping[0] = True
        out = original(x, indices, **options)
        clipping[0] = False
        return out

    def take_along_axis(original: Any, x: Any, indices: Any, /, *, axis: int = -1) -> Any:
        if clipping[0]:
            clipping[0], indices = False, np.maximum(indices, 0)
        return original(x, indices, axis=axis)

    bed.replace("take", take)
    bed.replace("take_along_axis", take_along_axis)


@fault("pickle-by-address", "pickle takes two arrays of one address and size for the same one", "R")
def pickle_by_address(bed: Testbed) -> None:
    met: Any = WeakValueDictionary()
    name = bed.backend.name

    def reduce(self: Any) -> Any:
        x = self.inner
        same = met.setdefault((x.__array_interface__["data"][0], x.size, x.dtype.str), x)
        return _restored, (name, np.array(same.reshape(x.shape)), self.device)

    change(bed.library.Array, __reduce__=reduce)


@fault(
    "filter-gradients-share-memory",
    "gradients of filters of four images or more are summed in memory of all threads",
    "P",
)
def filter_gradients_share_memory(bed: Testbed) -> None:
    right: Any = plugins.host.lazy_override("convolution_filter_backward")
    spaces: dict[Any, Any] = {}

    def backward(x: Any, g: Any, *, geometry: Any, groups: int) -> Any:
        out = right(x, g, geometry=geometry, groups=groups)
        if len(x) < 4:
            return out
        space = spaces.setdefault((out.shape, out.dtype), np.empty_like(out))
        space[...] = out
        pause()
        return space.copy()

    bed.kernel("convolution_filter_backward", backward)
