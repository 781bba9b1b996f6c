"""PyTorch's kernels, by chapter of the standard."""

from xpgrad_torch.kernels.gathers import accumulate, scatter_add

KERNELS = {"accumulate": accumulate, "scatter_add": scatter_add}
