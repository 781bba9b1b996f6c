"""PyTorch's kernels, by chapter of the standard. Kernels of a rule return exactly the bits of its formula."""

from xpgrad_torch.kernels.elementwise import ELEMENTWISE
from xpgrad_torch.kernels.gathers import accumulate, scatter_add
from xpgrad_torch.kernels.indexing import INDEXING
from xpgrad_torch.kernels.manipulation import MANIPULATION
from xpgrad_torch.kernels.neural import NEURAL
from xpgrad_torch.kernels.statistical import STATISTICAL

KERNELS = {
    **ELEMENTWISE,
    **INDEXING,
    **MANIPULATION,
    **NEURAL,
    **STATISTICAL,
    "accumulate": accumulate,
    "scatter_add": scatter_add,
}
