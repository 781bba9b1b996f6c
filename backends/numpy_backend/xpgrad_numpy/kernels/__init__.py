"""NumPy's kernels, by chapter of the standard."""

from xpgrad_numpy.kernels.elementwise import ELEMENTWISE
from xpgrad_numpy.kernels.gathers import accumulate, scatter_add

KERNELS = {**ELEMENTWISE, "accumulate": accumulate, "scatter_add": scatter_add}
