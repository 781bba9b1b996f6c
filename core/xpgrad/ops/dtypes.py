"""Default dtypes, and the comparison of dtypes of two libraries."""

from typing import Any

from xpgrad.array_api.data_types import same_dtype
from xpgrad.backend.current import current_device, get_device
from xpgrad.types import Dtype


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


def is_same_dtype(dtype1: Dtype, dtype2: Dtype, /) -> bool:
    """Whether `dtype1` and `dtype2`, of one library or of two, or their names, represent the same type.

    The operator ``==`` compares dtypes of one library only.
    """
    return same_dtype(current_device().backend, dtype1, dtype2)
