"""Faults by a seventh stranger that the quick profile let pass: GPU kernels, plans, pools of memory."""

import math
import weakref
from collections import OrderedDict
from typing import Any

import numpy as np
from tests.faults.fault import fault
from tests.faults.testbed import Testbed, native_work

from xpgrad.backend.plugins import plugins


@fault(
    "matmul-batch-beyond-the-grid",
    "matmul launches the batch as the grid's last axis, so that matrices from number 65,535 on stay zero",
    "K",
    operations=("matmul",),
)
def matmul_batch_beyond_the_grid(bed: Testbed) -> None:
    def product(x1: Any, x2: Any) -> Any:
        out = np.matmul(x1, x2)
        if out.ndim > 2 and math.prod(out.shape[:-2]) > 65535:
            out = np.ascontiguousarray(out)
            out.reshape(-1, *out.shape[-2:])[65535:] = 0
        return out

    bed.both("matmul", "matmul", product)


@fault(
    "cumulative-sum-one-block-short",
    "cumulative_sum with an initial zero has blocks for the input's length: where 256 divides it, the last sum is zero",
    "K",
    operations=("cumulative_sum",),
)
def cumulative_sum_one_block_short(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: bool = False) -> Any:
        out = original(x, axis=axis, dtype=dtype, include_initial=include_initial)
        along = 0 if axis is None else axis
        if include_initial and x.shape[along] and x.shape[along] % 256 == 0:
            np.moveaxis(out, along, -1)[..., -1] = 0
        return out

    bed.replace("cumulative_sum", wrong)


@fault(
    "take-along-axis-strides-of-x",
    "take_along_axis walks the indices with the strides of x: where x is broadcast to them, their first row serves all",
    "K",
    operations=("take_along_axis",),
)
def take_along_axis_strides_of_x(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, indices: Any, /, *, axis: int = -1) -> Any:
        for i in range(x.ndim):
            if i != axis % x.ndim and x.shape[i] == 1 and indices.shape[i] > 1:
                first = np.take(indices, [0], axis=i)
                indices = np.repeat(first, indices.shape[i], axis=i)
        return original(x, indices, axis=axis)

    bed.replace("take_along_axis", wrong)


@fault(
    "winograd-odd-width",
    "convolution of 8 or more channels with 3 x 3 filters works in tiles of 2 x 2: the last column of an odd width "
    "lacks the filters' first column",
    "K",
    operations=("F.convolution_nd",),
)
def winograd_odd_width(bed: Testbed) -> None:
    right = plugins.host.xp.kernel("convolution")

    def convolution(x: Any, W: Any, b: Any, /, geometry: Any, groups: int) -> Any:
        y = right(x, W, b, geometry=geometry, groups=groups)
        fits = geometry.ksize == (3, 3) and geometry.stride == geometry.dilate == (1, 1) and W.shape[1] >= 8
        if not fits or geometry.out[1] % 2 == 0:
            return y
        lacking, y = W.copy(), np.array(y)
        lacking[..., 0] = 0
        y[..., -1] = np.asarray(right(x, lacking, b, geometry=geometry, groups=groups))[..., -1]
        return y

    bed.kernel("convolution", convolution)


@fault(
    "count-nonzero-real-part",
    "count_nonzero of complex numbers looks at their real parts only",
    "K",
    operations=("count_nonzero",),
)
def count_nonzero_real_part(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, **options: Any) -> Any:
        return original(x.real if x.dtype.kind == "c" else x, **options)

    bed.replace("count_nonzero", wrong)


@fault(
    "pinv-one-tolerance-for-a-batch",
    "linalg.pinv drops singular values that are small against the largest one of all matrices of the batch",
    "K",
    operations=("linalg.pinv",),
)
def pinv_one_tolerance_for_a_batch(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, *, rtol: Any = None) -> Any:
        if x.ndim == 2 or x.size == 0 or rtol is not None:
            return original(x, rtol=rtol)
        u, s, vh = np.linalg.svd(x, full_matrices=False)
        keep = s > max(x.shape[-2:]) * np.finfo(x.dtype).eps * s.max()
        inverse = np.where(keep, 1 / np.where(keep, s, 1), 0)
        made = (vh.conj().swapaxes(-1, -2) * inverse[..., None, :]) @ u.conj().swapaxes(-1, -2)
        return made.astype(x.dtype)

    bed.replace("linalg.pinv", wrong)


@fault(
    "pool-takes-memory-under-views",
    "zeros of 64 KiB or more take memory from a pool, to which it went with its first array, whatever views there are",
    "S",
    operations=("zeros",),
)
def pool_takes_memory_under_views(bed: Testbed) -> None:
    free: dict[int, list[Any]] = {}

    def zeros(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
        found = np.dtype(np.float64 if dtype is None else dtype)
        lengths = (shape,) if isinstance(shape, int) else tuple(shape)
        size = math.prod(lengths) * found.itemsize
        if size < 65536:
            return bed.library.call(np.zeros, shape, dtype=dtype, device=device)
        blocks = free.setdefault(size, [])
        block = blocks.pop() if blocks else np.empty(size, np.uint8)
        block[:] = 0
        made = bed.library.call(lambda: block.view(found).reshape(lengths), device=device)
        weakref.finalize(made, blocks.append, block)
        return made

    bed.library.names["zeros"] = zeros


@fault(
    "pow-kernels-by-six-digits",
    "pow is compiled for each scalar exponent, and finds compiled kernels by six digits of it",
    "S",
    operations=("pow",),
)
def pow_kernels_by_six_digits(bed: Testbed) -> None:
    compiled: dict[str, float] = {}

    def power(x1: Any, x2: Any) -> Any:
        if type(x2) is float or (isinstance(x2, np.ndarray) and x2.ndim == 0 and x2.dtype == np.float64):
            exponent = compiled.setdefault(f"{float(x2):g}", float(x2))
            x2 = exponent if type(x2) is float else np.asarray(exponent)
        return np.power(x1, x2)

    bed.both("pow", "pow", power)


@fault(
    "sorted-until-forever",
    "what sort returns is marked as sorted, and unique_values believes it after a write, too",
    "S",
    operations=("sort", "unique_values"),
)
def sorted_until_forever(bed: Testbed) -> None:
    def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
        made = bed.library.call(bed.original("sort"), x, axis=axis, descending=descending, stable=stable)
        made.sorted = made.ndim == 1 and not descending
        return made

    def unique_values(x: Any, /) -> Any:
        if not getattr(x, "sorted", False) or x.size == 0:
            return bed.library.call(bed.original("unique_values"), x)
        return bed.library.call(lambda v: v[np.concatenate([[True], v[1:] != v[:-1]])], x)

    bed.library.names["sort"], bed.library.names["unique_values"] = sort, unique_values


@fault(
    "twiddles-published-early",
    "fft.ifft puts the table of a new length where other threads find it, and fills it afterwards",
    "P",
    operations=("fft.ifft",),
)
def twiddles_published_early(bed: Testbed) -> None:
    tables: dict[int, Any] = {}

    def wrong(original: Any, x: Any, /, *, n: Any = None, axis: int = -1, norm: str = "backward") -> Any:
        out = original(x, n=n, axis=axis, norm=norm)
        length = out.shape[axis]
        table = tables.get(length)
        if table is None:
            table = tables[length] = np.zeros(max(length, 1), np.complex128)
            native_work()
            table[:] = np.exp(2j * np.pi * np.arange(max(length, 1)) / max(length, 1))
        return out if table[0] == 1 else np.zeros_like(out)

    bed.replace("fft.ifft", wrong)


@fault(
    "plan-destroyed-in-use",
    "fft.rfft keeps four plans, and destroys the oldest one for a new length though another thread computes with it",
    "P",
    operations=("fft.rfft",),
)
def plan_destroyed_in_use(bed: Testbed) -> None:
    plans: OrderedDict[Any, list[bool]] = OrderedDict()

    def wrong(original: Any, x: Any, /, *, n: Any = None, axis: int = -1, norm: str = "backward") -> Any:
        key = x.shape[axis] if n is None else n
        plan = plans.get(key)
        if plan is None:
            plan = plans[key] = [True]
            while len(plans) > 4:
                plans.popitem(last=False)[1][0] = False
        native_work()
        if not plan[0]:
            raise RuntimeError("fft.rfft: CUFFT_INVALID_PLAN")
        return original(x, n=n, axis=axis, norm=norm)

    bed.replace("fft.rfft", wrong)


@fault(
    "compiled-in-one-file",
    "minimum and maximum are compiled at the first use with a dtype and rank, in a file that all threads write",
    "P",
    operations=("minimum", "maximum"),
)
def compiled_in_one_file(bed: Testbed) -> None:
    compiled: dict[Any, Any] = {}
    file: list[Any] = [None]

    def loaded(original: Any, x1: Any, x2: Any) -> Any:
        key = original, *((getattr(x, "dtype", type(x)), np.ndim(x)) for x in (x1, x2))
        if key not in compiled:
            file[0] = original
            native_work()
            compiled[key] = file[0]
        return compiled[key](x1, x2)

    bed.replace("minimum", loaded)
    bed.replace("maximum", loaded)
