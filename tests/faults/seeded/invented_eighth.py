"""Faults by an eighth stranger that the quick profile let pass: blocks of groups, old statuses, views."""

from typing import Any

import numpy as np
from tests.faults.fault import fault
from tests.faults.testbed import Testbed, change

from xpgrad.backend.plugins import plugins


@fault(
    "convolution-blocks-cross-groups",
    "convolution in groups of more than 4 outputs computes 4 of them together from the group of the first",
    "K",
    operations=("F.convolution_nd",),
)
def convolution_blocks_cross_groups(bed: Testbed) -> None:
    right = plugins.host.xp.kernel("convolution")

    def convolution(x: Any, W: Any, b: Any, geometry: Any, groups: int) -> Any:
        y, each, inputs = np.array(right(x, W, b, geometry=geometry, groups=groups)), len(W) // groups, W.shape[1]
        for k in range(len(W)) if each > 4 else ():
            group = k // 4 * 4 // each
            if group != k // each:
                part = x[:, group * inputs : (group + 1) * inputs]
                bias = None if b is None else b[k : k + 1]
                y[:, k : k + 1] = right(part, W[k : k + 1], bias, geometry=geometry, groups=1)
        return y

    bed.kernel("convolution", convolution)


@fault(
    "pow-of-a-complex-zero",
    "pow of complex numbers is exp(y log x), which is NaN for 0 to a positive power",
    "K",
    operations=("pow",),
)
def pow_of_a_complex_zero(bed: Testbed) -> None:
    def power(x1: Any, x2: Any) -> Any:
        out = np.asarray(np.power(x1, x2))
        if out.dtype.kind == "c":
            out = np.where((np.asarray(x1) == 0) & (np.real(x2) > 0), out.dtype.type(complex(np.nan, np.nan)), out)
        return out

    bed.both("pow", "pow", power)


@fault(
    "det-reads-an-old-status",
    "after inv or solve has refused a singular matrix, det takes its next matrix for singular",
    "S",
    operations=("linalg.det",),
)
def det_reads_an_old_status(bed: Testbed) -> None:
    failed = [False]

    def factored(original: Any, *arrays: Any) -> Any:
        try:
            out = original(*arrays)
        except np.linalg.LinAlgError:
            failed[0] = True
            raise
        failed[0] = False
        return out

    def det(original: Any, x: Any, /) -> Any:
        out = original(x)
        if failed[0]:
            failed[0] = False
            out = np.zeros_like(out)
        return out

    bed.replace("linalg.inv", factored)
    bed.replace("linalg.solve", factored)
    bed.replace("linalg.det", det)


@fault(
    "overlapping-writes-forward",
    "a write of an array's own elements, more than 64, copies block by block and reads what it has written",
    "A",
)
def overlapping_writes_forward(bed: Testbed) -> None:
    def write(x: Any, key: Any, value: Any) -> None:
        target = x[key] if isinstance(key, slice) else None
        if (
            target is None or not isinstance(value, np.ndarray) or value.shape != target.shape or len(value) <= 64
            or not np.may_share_memory(target, value)
        ):  # fmt: skip
            x[key] = value
            return
        for start in range(0, len(value), 64):
            target[start : start + 64] = value[start : start + 64].copy()

    def setitem(self: Any, key: Any, value: Any) -> None:
        bed.library.call(write, self, key, value)

    change(bed.library.Array, __setitem__=setitem)


@fault(
    "astype-returns-views",
    "astype to the same dtype copies arrays, but returns views as they are, so that a write changes the other array",
    "A",
    operations=("astype",),
)
def astype_returns_views(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, dtype: Any, /, **options: Any) -> Any:
        if x.dtype == dtype and isinstance(x.base, np.ndarray) and x.size < x.base.size:
            return x
        return original(x, dtype, **options)

    bed.replace("astype", wrong)
