"""Faults in moving arrays between devices and the host."""

from collections.abc import Callable
from typing import Any

import numpy as np
from tests.faults.fault import fault, giving_method, planted_by
from tests.faults.testbed import DEVICES, Testbed, change

from xpgrad import Device
from xpgrad.backend.plugins import plugins

CHUNK = 65536  # elements that a wrong loop moves


def _to_device(bed: Testbed, values: Callable[[Any], Any]) -> None:
    """Let transfers to another device return ``values(x)`` of the NumPy array."""

    def move(array: Any, device: Device) -> Any:
        return bed.library.array(np.asarray(values(array.inner)), device.handle)

    change(bed.backend, move=move)


def _from_host(bed: Testbed, values: Callable[[Any], Any]) -> None:
    """Let transfers from the host return ``values(x)``."""

    def from_host(array: Any, device: Device) -> Any:
        return bed.library.array(np.asarray(values(array)), device.handle)

    change(bed.backend, from_host=from_host)


def _to_host(bed: Testbed, values: Callable[[Any], Any]) -> None:
    """Let transfers to the host return ``values(x)``."""
    change(bed.backend, to_host=lambda array: np.asarray(values(array.inner)))


def _memory_order(x: Any) -> Any:
    """Return the values in memory order, ignoring the strides."""
    base = x if x.base is None else x.base
    flat = base.ravel(order="K") if isinstance(base, np.ndarray) else np.asarray(x).ravel()
    return np.resize(flat, x.shape).astype(x.dtype) if x.size else x.copy()


@giving_method("Array.to_device", "to_device changes the array that it is given, and returns it", "T")
def move_moves_the_argument(self: Any, device: Any, /) -> Any:
    self.device = device
    return self


@giving_method(
    "Array.to_device", "to_device tags the array before it finds that there is no such device", "T", of_bed=True
)
def move_tags_before_it_looks(bed: Testbed, self: Any, device: Any, /) -> Any:
    before, self.device = self.device, device
    made = bed.library.array(self.inner.copy(), DEVICES[DEVICES.index(device)])
    self.device = before
    return made


@planted_by(_to_device, "to_device takes negative strides for positive ones", "T")
def move_ignores_signs_of_steps(x: Any) -> Any:
    backwards = tuple(slice(None, None, -1 if stride < 0 else 1) for stride in x.strides)
    return x[backwards].copy()


@planted_by(_to_device, "to_device goes by float64, so that large integers lose their last digits", "T")
def move_by_float64(x: Any) -> Any:
    with np.errstate(invalid="ignore"):
        return x.astype(np.float64).astype(x.dtype) if x.dtype.kind in "iu" else x.copy()


@fault("to_device keeps what moved by shape and dtype, and gives it again", "T")
def move_second_is_the_first(bed: Testbed) -> None:
    moved: dict[Any, Any] = {}
    _to_device(bed, lambda x: moved.setdefault((x.shape, x.dtype.str), x.copy()))


@giving_method("backend.move", "to_device returns the same buffer, to the last device only", "T", of_bed=True)
def move_to_the_last_shares(bed: Testbed, array: Any, device: Device) -> Any:
    values = array.inner if device.handle == DEVICES[-1] else array.inner.copy()
    return bed.library.array(values, device.handle)


@planted_by(
    _from_host,
    "from_host stages in a pinned buffer that the next call uses again",
    "T",
    memory=lambda: np.empty(2**21, np.uint8),
)
def from_host_one_buffer(staged: Any, x: Any) -> Any:
    if not 0 < x.nbytes <= staged.nbytes:
        return x.copy()
    made = staged[: x.nbytes].view(x.dtype).reshape(x.shape)
    made[...] = x
    return made


@planted_by(_from_host, "from_host moves only the first 64k elements", "T")
def from_host_one_chunk(x: Any) -> Any:
    made = np.zeros(x.shape, x.dtype)
    made.reshape(-1)[:CHUNK] = x.reshape(-1)[:CHUNK]
    return made


@fault("from_host puts arrays on the default device", "TV")
def from_host_to_the_first(bed: Testbed) -> None:
    from_host = bed.backend.from_host
    change(bed.backend, from_host=lambda array, device: from_host(array, bed.backend.default_device))


@planted_by(_to_host, "to_host stages in a buffer that the next call uses again", "T", memory=dict)
def to_host_one_buffer(kept: dict[Any, Any], x: Any) -> Any:
    made = kept.setdefault((x.shape, x.dtype.str), np.empty(x.shape, x.dtype))
    made[...] = x
    return made


@planted_by(_to_host, "to_host leaves out the rest that fills no chunk", "T")
def to_host_whole_chunks(x: Any) -> Any:
    made = x.copy()
    if x.size > CHUNK:
        made.reshape(-1)[x.size // CHUNK * CHUNK :] = 0
    return made


@giving_method("Array.__setitem__", "accumulate-in-place writes to a copy", "T")
def writes_to_a_copy(self: Any, key: Any, value: Any) -> None:
    copied = self.inner.copy()
    copied[key] = getattr(value, "inner", value)


@fault("a direct path gives again what it moved last, for arrays of the same shape", "T")
def direct_path_remembers(bed: Testbed) -> None:
    moved: dict[Any, Any] = {}

    def path(source: Device, target: Device) -> Any:
        if source.backend is not bed.backend or target.backend is not bed.backend:
            return None
        return lambda array: moved.setdefault(
            (array.shape, str(array.dtype), target.name), bed.library.array(array.inner.copy(), target.handle)
        )

    bed.path = path


@fault("a direct path from the host takes over the host's memory", "T")
def direct_path_shares(bed: Testbed) -> None:
    def path(source: Device, target: Device) -> Any:
        if source.backend is not plugins.host or target.backend is not bed.backend:
            return None
        return lambda array: bed.library.array(array, target.handle)

    bed.path = path


@fault("a direct path between devices goes the wrong way round", "T")
def direct_path_turns_round(bed: Testbed) -> None:
    def path(source: Device, target: Device) -> Any:
        if source.backend is not bed.backend or target.backend is not bed.backend:
            return None
        return lambda array: bed.library.array(array.inner.copy(), source.handle)

    bed.path = path


@fault("to_device returns the same buffer", "TA")
def move_shares_memory(bed: Testbed) -> None:
    _to_device(bed, lambda x: x)


@fault("to_device keeps the old device tag", "TV")
def move_keeps_the_tag(bed: Testbed) -> None:
    (change(bed.library.Array, to_device=lambda self, device, /: bed.library.array(self.inner.copy(), self.device)))


@fault("to_device copies a view's memory in its order, not by its strides", "T")
def move_in_memory_order(bed: Testbed) -> None:
    _to_device(bed, _memory_order)


@fault("to_device adds the array to zeros, so that -0.0 becomes 0.0", "T")
def move_drops_signs_of_zero(bed: Testbed) -> None:
    _to_device(bed, lambda x: np.zeros_like(x) + x if x.dtype.kind == "f" else x.copy())


@fault("to_device swaps the sign of imaginary parts", "T")
def move_conjugates(bed: Testbed) -> None:
    _to_device(bed, lambda x: np.conj(x).copy())


@fault("to_device copies plain arrays, and returns the same buffer for views", "T")
def views_share_when_moved(bed: Testbed) -> None:
    _to_device(bed, lambda x: x.copy() if x.base is None else x)


@fault("from_host takes over the host's memory", "T")
def from_host_shares(bed: Testbed) -> None:
    _from_host(bed, lambda x: x)


@fault("from_host takes over the host's memory of 0-d arrays", "T")
def from_host_0_d_shares(bed: Testbed) -> None:
    _from_host(bed, lambda x: x if x.ndim == 0 else x.copy())


@fault("from_host takes over the host's memory of arrays that are read-only", "T")
def from_host_read_only_shares(bed: Testbed) -> None:
    _from_host(bed, lambda x: x.copy() if x.flags.writeable else x)


@fault("from_host copies a view's memory in its order, not by its strides", "T")
def from_host_ignores_strides(bed: Testbed) -> None:
    _from_host(bed, _memory_order)


@fault("from_host reads arrays of three axes in Fortran order", "T")
def from_host_fortran_order(bed: Testbed) -> None:
    _from_host(bed, lambda x: x.ravel(order="F").reshape(x.shape) if x.ndim > 2 else x.copy())


@fault("from_host makes arrays of one axis of 0-d ones", "T")
def from_host_one_axis(bed: Testbed) -> None:
    _from_host(bed, lambda x: np.atleast_1d(x).copy())


@fault("to_host gives the array's own memory", "T")
def to_host_shares(bed: Testbed) -> None:
    _to_host(bed, lambda x: x)


@fault("to_host gives empty arrays one axis", "T")
def to_host_empty_flat(bed: Testbed) -> None:
    _to_host(bed, lambda x: x.copy() if x.size else x.reshape(-1))


@fault("to_host gives bool as uint8", "T")
def to_host_bool_is_bytes(bed: Testbed) -> None:
    _to_host(bed, lambda x: x.astype(np.uint8) if x.dtype == bool else x.copy())


@fault("from_host takes over the host's memory of arrays in column order", "T")
def from_host_columns_share(bed: Testbed) -> None:
    _from_host(bed, lambda x: x if x.flags.f_contiguous and not x.flags.c_contiguous else x.copy())


@fault("to_host copies plain arrays, and gives the memory of transposed ones", "T")
def to_host_views_share(bed: Testbed) -> None:
    (_to_host(bed, lambda x: x if x.base is not None and x.ndim == 2 and x.strides[0] < x.strides[1] else x.copy()))
