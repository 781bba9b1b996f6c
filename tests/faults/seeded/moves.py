"""Faults in moving arrays between devices and the host."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from tests.faults.fault import changing, fault, from_host, giving_method, planted_by, to_device, to_host
from tests.faults.testbed import DEVICES, Testbed, staged

from xpgrad import Device
from xpgrad.backend.plugins import plugins

CHUNK = 65536  # elements that a wrong loop moves


def _path(bed: Testbed, path: Callable[[Testbed, Device, Device], Any]) -> None:
    """Let ``path(bed, source, target)`` give direct paths."""
    bed.path = partial(path, bed)


def _memory_order(x: Any) -> Any:
    """Return the values in memory order, ignoring the strides."""
    base = x if x.base is None else x.base
    flat = base.ravel(order="K") if isinstance(base, np.ndarray) else np.asarray(x).ravel()
    return np.resize(flat, x.shape).astype(x.dtype) if x.size else x.copy()


@giving_method("Array.to_device", "to_device changes the array that it is given, and returns it", "T")
def move_moves_the_argument(self: Any, device: Any, /) -> Any:
    self.device = device
    return self


@giving_method("Array.to_device", families="T", of_bed=True)
def move_tags_before_it_looks(bed: Testbed, self: Any, device: Any, /) -> Any:
    """to_device tags the array before it finds that there is no such device"""
    before, self.device = self.device, device
    made = bed.library.array(self.inner.copy(), DEVICES[DEVICES.index(device)])
    self.device = before
    return made


@giving_method("backend.move", "to_device returns the same buffer, to the last device only", "T", of_bed=True)
def move_to_the_last_shares(bed: Testbed, array: Any, device: Device) -> Any:
    values = array.inner if device.handle == DEVICES[-1] else array.inner.copy()
    return bed.library.array(values, device.handle)


@planted_by(from_host, families="T", memory=lambda: np.empty(2**21, np.uint8))
def from_host_one_buffer(staged: Any, x: Any) -> Any:
    """from_host stages in a pinned buffer that the next call uses again"""
    if not 0 < x.nbytes <= staged.nbytes:
        return x.copy()
    made = staged[: x.nbytes].view(x.dtype).reshape(x.shape)
    made[...] = x
    return made


@planted_by(from_host, "from_host moves only the first 64k elements", "T")
def from_host_one_chunk(x: Any) -> Any:
    made = np.zeros(x.shape, x.dtype)
    made.reshape(-1)[:CHUNK] = x.reshape(-1)[:CHUNK]
    return made


@giving_method("Array.__setitem__", "accumulate-in-place writes to a copy", "T")
def writes_to_a_copy(self: Any, key: Any, value: Any) -> None:
    copied = self.inner.copy()
    copied[key] = getattr(value, "inner", value)


@planted_by(_path, "a direct path gives again what it moved last, for arrays of the same shape", "T", memory=dict)
def direct_path_remembers(moved: dict[Any, Any], bed: Testbed, source: Device, target: Device) -> Any:
    if source.backend is not bed.backend or target.backend is not bed.backend:
        return None
    return lambda array: moved.setdefault(
        (array.shape, str(array.dtype), target.name), bed.library.array(array.inner.copy(), target.handle)
    )


@planted_by(_path, "a direct path from the host takes over the host's memory", "T")
def direct_path_shares(bed: Testbed, source: Device, target: Device) -> Any:
    if source.backend is not plugins.host or target.backend is not bed.backend:
        return None
    return lambda array: bed.library.array(array, target.handle)


@planted_by(_path, "a direct path between devices goes the wrong way round", "T")
def direct_path_turns_round(bed: Testbed, source: Device, target: Device) -> Any:
    if source.backend is not bed.backend or target.backend is not bed.backend:
        return None
    return lambda array: bed.library.array(array.inner.copy(), source.handle)


@fault("to_device copies plain arrays, and returns the same buffer for views", "T")
def views_share_when_moved(bed: Testbed) -> None:
    to_device(bed, lambda x: x.copy() if x.base is None else x)


@fault("from_host takes over the host's memory of arrays that are read-only", "T")
def from_host_read_only_shares(bed: Testbed) -> None:
    from_host(bed, lambda x: x.copy() if x.flags.writeable else x)


@fault("from_host copies a view's memory in its order, not by its strides", "T")
def from_host_ignores_strides(bed: Testbed) -> None:
    from_host(bed, _memory_order)


@fault("from_host takes over the host's memory of arrays in column order", "T")
def from_host_columns_share(bed: Testbed) -> None:
    from_host(bed, lambda x: x if x.flags.f_contiguous and not x.flags.c_contiguous else x.copy())


to_host_one_buffer = planted_by(to_host, "to_host stages in a buffer that the next call uses again", "T", memory=dict)(
    staged
)
move_keeps_the_tag = giving_method("Array.to_device", "to_device keeps the old device tag", "TV", of_bed=True)(
    lambda bed, self, device: bed.library.array(self.inner.copy(), self.device)
)
move_shares_memory = planted_by(to_device, "to_device returns the same buffer", "TA")(lambda x: x)
move_in_memory_order = planted_by(to_device, "to_device copies a view's memory in its order, not by its strides", "T")(
    _memory_order
)
move_drops_signs_of_zero = planted_by(to_device, "to_device adds the array to zeros, so that -0.0 becomes 0.0", "T")(
    lambda x: np.zeros_like(x) + x if x.dtype.kind == "f" else x.copy()
)
move_conjugates = planted_by(to_device, "to_device swaps the sign of imaginary parts", "T")(lambda x: np.conj(x).copy())
from_host_shares = planted_by(from_host, "from_host takes over the host's memory", "TY")(lambda x: x)
from_host_0_d_shares = planted_by(from_host, "from_host takes over the host's memory of 0-d arrays", "T")(
    lambda x: x if x.ndim == 0 else x.copy()
)
from_host_fortran_order = planted_by(from_host, "from_host reads arrays of three axes in Fortran order", "T")(
    lambda x: x.ravel(order="F").reshape(x.shape) if x.ndim > 2 else x.copy()
)
from_host_one_axis = planted_by(from_host, "from_host makes arrays of one axis of 0-d ones", "T")(
    lambda x: np.atleast_1d(x).copy()
)
to_host_shares = planted_by(to_host, "to_host gives the array's own memory", "TY")(lambda x: x)
to_host_empty_flat = planted_by(to_host, "to_host gives empty arrays one axis", "T")(
    lambda x: x.copy() if x.size else x.reshape(-1)
)
to_host_bool_is_bytes = planted_by(to_host, "to_host gives bool as uint8", "T")(
    lambda x: x.astype(np.uint8) if x.dtype == bool else x.copy()
)
to_host_views_share = planted_by(to_host, "to_host copies plain arrays, and gives the memory of transposed ones", "T")(
    lambda x: x if x.base is not None and x.ndim == 2 and x.strides[0] < x.strides[1] else x.copy()
)
move_ignores_signs_of_steps = planted_by(to_device, "to_device takes negative strides for positive ones", "T")(
    lambda x: x[tuple(slice(None, None, -1 if stride < 0 else 1) for stride in x.strides)].copy()
)
move_by_float64 = planted_by(
    to_device, "to_device goes by float64, so that large integers lose their last digits", "T"
)(lambda x: x.astype(np.float64).astype(x.dtype) if x.dtype.kind in "iu" else x.copy())
move_second_is_the_first = planted_by(
    to_device, "to_device keeps what moved by shape and dtype, and gives it again", "T", memory=dict
)(lambda moved, x: moved.setdefault((x.shape, x.dtype.str), x.copy()))
from_host_to_the_first = changing(
    "backend.from_host", "from_host puts arrays on the default device", "TV", of_bed=True
)(lambda bed, right, array, device: right(array, bed.backend.default_device))
