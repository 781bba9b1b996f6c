"""One-hot encoding, and indices into several axes from flat indices."""

import math
from collections.abc import Sequence

from xpgrad.array_api.data_types import astype
from xpgrad.array_api.manipulation import moveaxis
from xpgrad.errors import ShapeError
from xpgrad.graph.operands import as_numbers
from xpgrad.graph.variable import Variable, as_variable, constant_variable
from xpgrad.ops.dtypes import default_dtype
from xpgrad.types import AnyArray, Dtype, integers


def one_hot(x: AnyArray, /, num_classes: int, *, dtype: Dtype | None = None, axis: int = -1) -> Variable:
    """Vectors of zeros with a 1 at the index `x`, along a new axis; no gradient.

    Parameters
    ----------
    x : Variable or array of int
        Values that are not from 0 to ``num_classes - 1`` give zeros only.
    num_classes : int
    dtype : dtype, optional
        By default the default floating-point dtype of the device.
    axis : int
        Position of the new axis in the result.
    """
    x, n = as_variable(x), as_numbers("one_hot", "num_classes", num_classes)
    spec = x.node.spec
    numbers = spec.backend.namespace.arange(n, dtype=x.dtype, device=spec.device)
    same = x[..., None] == constant_variable(numbers)
    y = astype(same, default_dtype(device=spec.backend.device_for(spec.device)) if dtype is None else dtype)
    return moveaxis(y, -1, axis)


def unravel_index(indices: AnyArray, shape: Sequence[int], /) -> tuple[Variable, ...]:
    """Indices into an array of this `shape`, one array for each axis, from indices into the flattened array.

    Parameters
    ----------
    indices : Variable or array of int
        Negative ones count from the end.
    shape : sequence of int
    """
    shape = integers(shape)
    if not math.prod(shape):
        raise ShapeError(f"unravel_index: expected a shape with elements, got {shape}")
    flat = as_variable(indices) % math.prod(shape)
    found = []
    for length in reversed(shape):
        found.append(flat % length)
        flat = flat // length
    return tuple(reversed(found))
