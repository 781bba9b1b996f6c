"""Leading axes, and default dtypes."""

from typing import Any

from xpgrad.array_api.manipulation import reshape
from xpgrad.backend.current import current_device, get_device
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.types import AnyArray, Dtype


def atleast_nd(x: AnyArray, /, *, ndim: int) -> Variable:
    """`x` with leading axes of length 1, so that it has at least `ndim` axes."""
    x = as_variable(x)
    return x if x.ndim >= ndim else reshape(x, shape=(1,) * (ndim - x.ndim) + x.shape)


def default_dtype(kind: str = "real floating", *, device: Any = None) -> Dtype:
    """Default dtype of a kind ("real floating", "complex floating", "integral", "indexing") on a device.

    Parameters
    ----------
    kind : str
    device : as `get_device` takes it, or None
        By default the current device.
    """
    found = current_device() if device is None else get_device(device)
    dtypes = found.backend.namespace.__array_namespace_info__().default_dtypes(device=found.handle)
    if kind not in dtypes:
        raise ValueError(f"default_dtype: expected a kind of {', '.join(dtypes)}, got {kind!r}")
    return dtypes[kind]
