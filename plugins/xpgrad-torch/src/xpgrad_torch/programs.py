"""`TorchPrograms`: PyTorch's functions in compiled programs, memory for code in C, and elementwise steps in blocks."""

import functools
from collections.abc import Callable, Sequence

import torch

from xpgrad.plugin import Programs, Spec
from xpgrad.types import Array, Kernel

PART = 2**18  # bytes of a tensor that stays in a core's cache, with what is computed meanwhile
PARTS_FROM = 4  # parts; smaller tensors stay there whole


class TorchPrograms(Programs):
    """PyTorch's functions in compiled programs, and elementwise steps in blocks."""

    def writes(self, name: str) -> bool:
        """Return whether this is a method of tensors that computes in place: ``.add_``."""
        return name.startswith(".") and name.endswith("_")

    def apart(self, arrays: Sequence[Array]) -> bool:
        """Return whether the tensors have different storages."""
        return len({array.untyped_storage().data_ptr() for array in arrays}) == len(arrays)

    def address(self, array: Array) -> int:
        """Return the address of the first element of a contiguous tensor in host memory, else 0."""
        if type(array) is not torch.Tensor or not array.is_cpu or array.is_conj() or array.is_neg():
            return 0
        try:
            return int(array.data_ptr()) if array.is_contiguous() else 0
        except RuntimeError:  # under torch.func, or in a layout of its own
            return 0

    def contiguous(self, array: Array) -> Array:
        """Return a copy in C order."""
        return array.clone(memory_format=torch.contiguous_format)

    def allocator(self, spec: Spec) -> Callable[[], Array]:
        """Return a function that allocates like `empty`, without the overhead of a Python function."""
        return functools.partial(torch.empty, spec.shape, dtype=spec.dtype, device=spec.device)

    def in_cache(self, function: Kernel, arrays: Sequence[Array]) -> None:
        """Call a function that writes into tensors with their parts, if they are large and in host memory."""
        first = arrays[0]
        size, count = first.numel(), -(-first.nbytes // PART)
        alike = all(a.is_contiguous() and a.shape == first.shape for a in arrays)
        if count < PARTS_FROM or first.device.type != "cpu" or not alike:
            function(*arrays)
            return
        flat = [a.view(-1) for a in arrays]
        for i in range(count):
            start, stop = size * i // count, size * (i + 1) // count
            function(*[a[start:stop] for a in flat])
