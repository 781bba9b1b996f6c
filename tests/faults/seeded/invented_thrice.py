"""Faults by a third person who had not read the checks, which the quick profile did not find at first."""

import weakref
from collections import OrderedDict
from typing import Any

import numpy as np
from tests.faults.fault import fault
from tests.faults.seeded.invented_states import pause
from tests.faults.testbed import Testbed, change

from xpgrad.backend.plugins import plugins
from xpgrad_conformance.pretend import _unpickled


@fault(
    "mask-of-a-transpose-in-its-memory",
    "x[mask] with a transposed mask of more than 64 elements gives what it chooses in the order of the mask's memory",
    "K",
    operations=("getitem",),
)
def mask_of_a_transpose_in_its_memory(bed: Testbed) -> None:
    def getitem(x: Any, key: Any) -> Any:
        mask = key[0] if isinstance(key, tuple) and len(key) == 1 else key
        whole = isinstance(mask, np.ndarray) and mask.dtype == bool and mask.ndim > 1 and mask.shape == x.shape
        if whole and mask.size > 64 and mask.flags.f_contiguous and not mask.flags.c_contiguous:
            return x.T[mask.T]
        return x[key]

    bed.operator("__getitem__", getitem)


@fault(
    "logsumexp-of-nothing-but-minus-infinity",
    "the kernel logsumexp subtracts the maximum also where that is infinite, and gives NaN",
    "K",
    operations=("F.logsumexp",),
)
def logsumexp_of_minus_infinity(bed: Testbed) -> None:
    def logsumexp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        wide = x.astype(np.result_type(x.dtype, np.float32))
        with np.errstate(all="ignore"):
            largest = np.max(wide, axis=axis, keepdims=True)
            total = np.log(np.sum(np.exp(wide - largest), axis=axis, keepdims=True)) + largest
        out = total if keepdims else np.squeeze(total, axis=axis)
        return np.asarray(out, x.dtype)

    bed.kernel("logsumexp", logsumexp)


@fault(
    "argsort-by-the-bits-of-floats",
    "argsort sorts the bits of floats, so that -0.0 comes before 0.0 and is no tie",
    "K",
    operations=("argsort",),
)
def argsort_by_the_bits_of_floats(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, *, descending: bool = False, **options: Any) -> Any:
        if x.dtype.kind != "f" or x.ndim == 0 or np.isnan(x).any():
            return original(x, descending=descending, **options)
        bits = np.ascontiguousarray(x).view(f"i{x.dtype.itemsize}")
        keys = np.where(bits < 0, ~(bits & np.iinfo(bits.dtype).max), bits)
        return original(keys, descending=descending, **options)

    bed.replace("argsort", wrong)


@fault(
    "max-pool-passes-by-nan",
    "max_pool begins with -inf and takes what is larger, which NaN never is",
    "K",
    cases=("F.max_pooling_nd",),
    operations=("F.max_pooling_nd",),
)
def max_pool_passes_by_nan(bed: Testbed) -> None:
    def max_pool(x: Any, geometry: Any) -> Any:
        x = np.where(np.isnan(x), np.asarray(-np.inf, x.dtype), x) if x.dtype.kind == "f" else x
        return plugins.host.xp.max_pool(x, geometry=geometry)

    bed.kernel("max_pool", max_pool)


@fault(
    "python-integers-by-double",
    "add takes a Python integer by way of a double, so that one above 2^53 loses its last digits",
    "K",
    operations=("add",),
)
def python_integers_by_double(bed: Testbed) -> None:
    def taken(number: Any, other: Any) -> Any:
        if type(number) is not int or getattr(other, "dtype", None) not in (np.int64, np.uint64):
            return number
        info = np.iinfo(other.dtype)
        return min(max(int(float(number)), int(info.min)), int(info.max))

    bed.both("add", "add", lambda x1, x2: np.add(taken(x1, x2), taken(x2, x1)))


_interned: dict[Any, Any] = {}


def _unpickled_once(backend: str, inner: Any, device: str) -> Any:
    """Return the array that came of equal bytes before, or a new one."""
    key = backend, device, inner.dtype.str, inner.shape, inner.tobytes()
    if key not in _interned:
        _interned[key] = _unpickled(backend, inner, device)
    return _interned[key]


@fault("small-pickles-are-interned", "arrays of up to 1 KiB of equal pickles share their memory", "R")
def small_pickles_are_interned(bed: Testbed) -> None:
    def reduce(self: Any) -> Any:
        make = _unpickled_once if self.inner.nbytes <= 1024 else _unpickled
        return make, (bed.backend.name, self.inner, self.device)

    change(bed.library.Array, __reduce__=reduce)


@fault(
    "moves-home-are-saved",
    "to_device back to where an array came from takes what is still there, and not what was written since",
    "T",
)
def moves_home_are_saved(bed: Testbed) -> None:
    right = bed.library.Array.to_device

    def to_device(self: Any, device: str, /) -> Any:
        home = getattr(self, "_home", None)
        origin = home and home()
        if origin is not None and origin.device == device:
            return right(origin, device)
        made = right(self, device)
        made._home = weakref.ref(self)
        return made

    change(bed.library.Array, to_device=to_device)


@fault(
    "irfft-plans-are-evicted-in-use",
    "fft.irfft looks for a plan among the last two, and finds it gone if another thread has made one",
    "P",
    operations=("fft.irfft",),
)
def irfft_plans_are_evicted_in_use(bed: Testbed) -> None:
    plans: OrderedDict[Any, Any] = OrderedDict()

    def wrong(original: Any, x: Any, /, *, n: Any = None, axis: int = -1, **options: Any) -> Any:
        key = x.shape, x.dtype, n, axis
        if key not in plans:
            plans[key] = n
            while len(plans) > 2:
                plans.popitem(last=False)
            length = n
        else:
            pause()
            length = plans[key]
        return original(x, n=length, axis=axis, **options)

    bed.replace("fft.irfft", wrong)


@fault("pickles-stage-for-all", "pickling copies to one block for each shape, which all threads share", "P")
def pickles_stage_for_all(bed: Testbed) -> None:
    staged: dict[Any, Any] = {}

    def reduce(self: Any) -> Any:
        held = staged.setdefault((self.inner.shape, self.inner.dtype), np.empty_like(self.inner))
        held[...] = self.inner
        pause()
        return _unpickled, (bed.backend.name, held.copy(), self.device)

    change(bed.library.Array, __reduce__=reduce)
