"""Faults of sequences, exchange and races, by somebody who had not read the checks."""

import threading
import weakref
from typing import Any

import numpy as np
from tests.faults.fault import fault
from tests.faults.seeded.invented_states import pause
from tests.faults.testbed import Testbed, change


@fault(
    "inv-knows-the-first-row",
    "inv of 8 rows or more gives the last result again where shape, dtype and the first row are the same",
    "S",
    operations=("linalg.inv",),
)
def inv_knows_the_first_row(bed: Testbed) -> None:
    kept: dict[Any, Any] = {}

    def wrong(original: Any, x: Any, /) -> Any:
        if x.ndim != 2 or len(x) < 8:
            return original(x)
        key = x.shape, x.dtype, x[0].tobytes()
        if key not in kept:
            kept.clear()
            kept[key] = original(x)
        return kept[key].copy()

    bed.replace("linalg.inv", wrong)


@fault(
    "concat-keeps-a-refused-axis",
    "concat that was refused leaves its axis to the next one, if that fits",
    "S",
    operations=("concat",),
)
def concat_keeps_a_refused_axis(bed: Testbed) -> None:
    left: dict[int, Any] = {}

    def wrong(original: Any, arrays: Any, /, *, axis: Any = 0) -> Any:
        thread = threading.get_ident()
        stale = left.pop(thread, axis)
        if stale != axis and axis is not None:
            try:
                return original(arrays, axis=stale)
            except Exception:
                pass
        try:
            return original(arrays, axis=axis)
        except Exception:
            left[thread] = axis
            raise

    bed.replace("concat", wrong)


@fault("pickle-kept-from-the-first", "an array keeps the bytes of its first pickle, and does not see writes", "R")
def pickle_kept_from_the_first(bed: Testbed) -> None:
    right = bed.library.Array.__reduce__
    kept: Any = weakref.WeakKeyDictionary()

    class Key:
        """What lives as long as an array does."""

    def reduce(self: Any) -> Any:
        key = self.__dict__.setdefault("_key", Key())
        if key not in kept:
            function, (name, inner, device) = right(self)
            kept[key] = function, (name, inner.copy(), device)
        return kept[key]

    change(bed.library.Array, __reduce__=reduce)


@fault(
    "import-kept-by-address",
    "from_dlpack gives the array that it made of the same memory and shape before, whatever its dtype",
    "X",
)
def import_kept_by_address(bed: Testbed) -> None:
    kept: dict[Any, Any] = {}

    def wrong(original: Any, x: Any, /, **options: Any) -> Any:
        out = original(x, **options)
        if options.get("copy") or not out.size or not out.ndim:
            return out
        key = out.__array_interface__["data"][0], out.shape, out.strides
        held = kept[key]() if key in kept else None
        if held is not None:
            return held
        kept[key] = weakref.ref(out, lambda _: kept.pop(key, None))
        return out

    bed.replace("from_dlpack", wrong)


@fault(
    "program-filed-under-anothers-dtype",
    "sinh compiles at the first use of a shape for the dtype that any thread has asked for last",
    "P",
    operations=("sinh",),
)
def program_filed_under_anothers_dtype(bed: Testbed) -> None:
    programs: dict[Any, Any] = {}
    asked: list[Any] = [None]

    def wrong(original: Any, x: Any, /) -> Any:
        if x.dtype not in (np.float32, np.float64):
            return original(x)
        if (x.shape, x.dtype) not in programs:
            asked[0] = x.dtype
            pause()
            programs[x.shape, x.dtype] = asked[0]
        with np.errstate(all="ignore"):
            return original(x.astype(programs[x.shape, x.dtype])).astype(x.dtype)

    bed.replace("sinh", wrong)
