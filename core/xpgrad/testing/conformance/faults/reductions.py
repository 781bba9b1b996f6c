"""Faults in kernels that reduce."""

from typing import Any

import numpy as np

from xpgrad.testing.conformance.faults.bed import Bed
from xpgrad.testing.conformance.faults.fault import Fault, fault, faults_in

SUMS = "sum", "sum-axis", "sum-axes"


@fault("sum-drops-keepdims", "sum drops keepdims", "KG", SUMS)
def sum_drops_keepdims(bed: Bed) -> None:
    def wrong(original: Any, x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
        return original(x, axis=axis, dtype=dtype)

    bed.replace("sum", wrong)


@fault("float32-sum-is-float64", "float32 sum returns float64", "DK", SUMS)
def float32_sum_is_float64(bed: Bed) -> None:
    def wrong(original: Any, x: Any, /, **options: Any) -> Any:
        out = original(x, **options)
        return out.astype(np.float64) if out.dtype == np.float32 else out

    bed.replace("sum", wrong)


FAULTS: tuple[Fault, ...] = faults_in(globals())
