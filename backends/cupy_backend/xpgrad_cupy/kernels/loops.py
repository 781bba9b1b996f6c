"""CuPy's `ElementwiseKernel` and `ReductionKernel` with the options of all kernels of this package."""

from typing import Any

import cupy

AS_WRITTEN = ("--fmad=false",)
"""Products and sums are rounded one by one, as those of separate kernels are.

Half precision is computed in single; where results must be bit-identical, the source has ``T(...)`` around each step.
"""


def loop(name: str, inputs: str, output: str, body: str, preamble: str = "") -> Any:
    """Return an elementwise kernel, compiled at its first call for each combination of dtypes."""
    return cupy.ElementwiseKernel(inputs, output, body, f"xpgrad_{name}", preamble=preamble, options=AS_WRITTEN)


def total(name: str, inputs: str, output: str, summand: str) -> Any:
    """Return a kernel that sums an expression along axes, compiled like a loop."""
    return cupy.ReductionKernel(
        inputs, output, summand, "a + b", f"{output.split()[-1]} = a", "0", f"xpgrad_{name}", options=AS_WRITTEN
    )
