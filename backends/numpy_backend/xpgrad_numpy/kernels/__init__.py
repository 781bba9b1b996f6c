"""NumPy's kernels, by chapter of the standard."""

from xpgrad.types import Kernel
from xpgrad_numpy.kernels.convolution import CONVOLUTION
from xpgrad_numpy.kernels.elementwise import ELEMENTWISE
from xpgrad_numpy.kernels.gathers import accumulate, scatter_add
from xpgrad_numpy.kernels.indexing import INDEXING
from xpgrad_numpy.kernels.linalg import LINALG
from xpgrad_numpy.kernels.linear import LINEAR
from xpgrad_numpy.kernels.manipulation import MANIPULATION
from xpgrad_numpy.kernels.neural import NEURAL
from xpgrad_numpy.kernels.normalization import NORMALIZATION
from xpgrad_numpy.kernels.pooling import POOLING
from xpgrad_numpy.kernels.statistical import STATISTICAL
from xpgrad_numpy.kernels.windows import WINDOWS

KERNELS: dict[str, Kernel] = {
    **ELEMENTWISE,
    **INDEXING,
    **LINALG,
    **LINEAR,
    **MANIPULATION,
    **STATISTICAL,
    "accumulate": accumulate,
    "scatter_add": scatter_add,
}
"""Kernels that replace those of `xpgrad.array_api` and of the graph."""
NETWORKS: dict[str, Kernel] = {**CONVOLUTION, **NEURAL, **NORMALIZATION, **POOLING, **WINDOWS}
"""Kernels that replace those of `xpgrad.functions`, which is imported late."""
