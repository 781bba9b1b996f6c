"""Error and normal distribution functions of single precision in C, for which SciPy computes in double precision."""

import functools
from typing import Any

import numpy as np

from xpgrad.types import Array, Kernel, Namespace
from xpgrad_numpy.kernels import sources
from xpgrad_numpy.kernels.rows import SHARED, address

FUNCTIONS = {
    "special.erf": "error_function",
    "special.erfc": "complementary",
    "special.ndtr": "ndtr",
    "normal_weighted": "normal_weighted",
    "normal_weighted_slope": "normal_weighted_slope",
}
"""The functions of ``erf.c``, by kernels."""
SINGLE = np.dtype(np.float32)


@functools.cache
def loops() -> dict[str, Any] | None:
    """Return the functions in C by kernels, or None; a process decides once."""
    library = sources.loaded("erf")
    if library is None:
        return None
    kinds = sources.INT, sources.POINTER, sources.POINTER, sources.LONG, sources.LONG
    return {kernel: sources.function(library, name, *kinds) for kernel, name in FUNCTIONS.items()}


def build() -> bool:
    """Compile the library; return whether that was possible."""
    return sources.build("erf", {})


def find(name: str, xp: Namespace, otherwise: Kernel | None = None) -> Kernel | None:
    """Return a kernel in C for single precision, or None; `otherwise`, or the default body, takes other arrays."""
    if name not in FUNCTIONS:
        return otherwise
    other: Any = otherwise or xp.default(name)

    def kernel(x: Array, /) -> Any:
        found = loops() if x.dtype is SINGLE else None
        if found is None or type(x) is not np.ndarray:
            return other(x)
        if not (x.flags.c_contiguous and x.flags.aligned):
            x = np.require(x, None, ["C", "A"])
        y = np.empty(x.shape, SINGLE)
        if x.size < SHARED:
            found[name](address(x), address(y), 0, x.size)
        else:
            sources.in_threads(found[name], x.size, address(x), address(y))
        return y

    return kernel
