"""Kernels of the NumPy backend, by chapter of the standard."""

import functools
import importlib

from xpgrad.types import Kernel, Namespace
from xpgrad_numpy.kernels.elementwise import ELEMENTWISE
from xpgrad_numpy.kernels.gathers import accumulate, scatter_add
from xpgrad_numpy.kernels.indexing import INDEXING
from xpgrad_numpy.kernels.linalg import LINALG
from xpgrad_numpy.kernels.linear import LINEAR
from xpgrad_numpy.kernels.manipulation import MANIPULATION
from xpgrad_numpy.kernels.scans import SCANS
from xpgrad_numpy.kernels.sorting import SORTING
from xpgrad_numpy.kernels.statistical import STATISTICAL

KERNELS: dict[str, Kernel] = {
    **ELEMENTWISE,
    **INDEXING,
    **LINALG,
    **LINEAR,
    **MANIPULATION,
    **SCANS,
    **SORTING,
    **STATISTICAL,
    "accumulate": accumulate,
    "scatter_add": scatter_add,
}
"""Kernels that replace those of `xpgrad.array_api` and of the graph."""
LATE = {
    "attention": "attention attention_backward",
    "convolution": "convolution transposed_convolution convolution_filter_backward",
    "neural": """
        relu gate special.expit special.expit.x softmax softmax_backward log_softmax log_softmax_backward logsumexp
        logsumexp.x affine affine.x affine.b softmax_from_log softmax_from_log.x labels_one_hot labels_weight
        labels_count masked_product cross_entropy cross_entropy.x""",
    "normalization": """
        moments normalized normalized_backward normalized.x normalized.gamma normalized.together standardize
        standardize_backward scale_and_shift scale_and_shift.x""",
    "pooling": "max_pool max_pool_backward max_pool_gather",
    "special": "special.exp_excess special.cbrt special.exp2 fmod logaddexp2 special.sinc special.sinc_of",
    "windows": "windows fold sum_pool unpool",
}
"""Names of kernels of later parts of xpgrad, by the modules that have them: imported late, too."""
_MODULES = {name: module for module, names in LATE.items() for name in names.split()}


@functools.cache
def network(name: str) -> Kernel | None:
    """Return the kernel `name` in `LATE`, or None; its module is imported at the first use."""
    module = _MODULES.get(name)
    if module is None:
        return None
    found: dict[str, Kernel] = getattr(importlib.import_module(f"{__name__}.{module}"), module.upper())
    return found[name]


def transform(name: str, xp: Namespace) -> Kernel | None:
    """Return a Fourier transform by SciPy where that is faster, or None."""
    if not name.startswith("fft."):
        return None
    found: Kernel | None = importlib.import_module(f"{__name__}.fourier").find(name, xp)
    return found


def special_function(name: str, xp: Namespace) -> Kernel | None:
    """Return a kernel of `xpgrad.special` in C or SciPy's function for it, or None."""
    if not name.startswith(("special.", "normal_")):
        return None
    theirs: Kernel | None = importlib.import_module(f"{__name__}.special").find(name, xp)
    found: Kernel | None = importlib.import_module(f"{__name__}.erf").find(name, xp, theirs)
    return found
