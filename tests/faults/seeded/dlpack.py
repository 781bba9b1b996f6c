"""Faults in DLPack: exported and imported arrays."""

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
from tests.faults.fault import fault, freedom, planted_by, replacing
from tests.faults.seeded.lacking import declare
from tests.faults.testbed import DEVICES, Testbed, change, staged

from xpgrad import Device
from xpgrad.plugin import Backend

HOST_MEMORY = 1, 0


def _exports(bed: Testbed, values: Callable[[Any], Any]) -> None:
    """Let arrays export ``values(array)``, a NumPy array, by DLPack."""

    def dlpack(self: Any, **options: Any) -> Any:
        return values(self).__dlpack__(**options)

    change(bed.library.Array, __dlpack__=dlpack)


def _imports(bed: Testbed, values: Callable[[Any], Any]) -> None:
    """Let from_dlpack import ``values(x)`` of its NumPy array argument; other arguments are unchanged."""

    def from_dlpack(original: Any, x: Any, /, **options: Any) -> Any:
        return original(values(np.asarray(x)) if isinstance(x, np.ndarray) else x, **options)

    bed.replace("from_dlpack", from_dlpack)


def _only_imports(bed: Testbed, values: Callable[[Any], Any]) -> None:
    declare(bed, ["dlpack_export"])
    _imports(bed, values)


def _plain(x: Any) -> Any:
    """Return an array over the memory of `x` from its first element on, as if it were in C order."""
    strides = [x.itemsize * int(np.prod(x.shape[axis + 1 :], dtype=int)) for axis in range(x.ndim)]
    if any(stride < 0 for stride in x.strides):
        return np.ascontiguousarray(np.abs(x))  # its surroundings are not accessible: use other values
    return np.lib.stride_tricks.as_strided(x, x.shape, strides)


def with_shared_memory(bed: Testbed) -> None:
    """Let every device of a bed lie in host memory, and take arrays in from there by DLPack."""

    def from_dlpack(array: Any, device: Device) -> Any:
        return bed.library.array(np.from_dlpack(array), device.handle)

    change(bed.backend, dlpack_device=lambda device: HOST_MEMORY)
    change(bed.backend, from_dlpack=from_dlpack)


@planted_by(_imports, "from_dlpack ignores the offset of a view", "X")
def import_ignores_offset(x: Any) -> Any:
    whole = x
    while isinstance(whole.base, np.ndarray) and whole.base.dtype == x.dtype:
        whole = whole.base
    return x if x.ndim == 0 or whole is x else np.lib.stride_tricks.as_strided(whole, x.shape, x.strides)


@planted_by(_imports, families="X", memory=list)
def import_outlived(taken: list[Any], x: Any) -> Any:
    """from_dlpack keeps no reference to what it shares, and the memory is used again"""
    copied = x.copy()
    if copied.size and copied.dtype.kind == "f":
        taken.append(copied)
        weakref.finalize(x, copied.fill, 0)
    return copied


@planted_by(_exports, "an array's DLPack turns the axes of a transposed view back", "X")
def export_in_memory_order(array: Any) -> Any:
    x = array.inner
    return x.T if x.ndim == 2 and x.strides[0] < x.strides[1] else x


@planted_by(_exports, "the memory that an array has handed out is used again when the array is gone", "X")
def export_outlived(array: Any) -> Any:
    if array.inner.size and array.inner.dtype.kind == "f":
        weakref.finalize(array, array.inner.fill, 0)
    return array.inner


@planted_by(_exports, "an array's DLPack knows floating-point numbers only", "X")
def export_refuses_integers(array: Any) -> Any:
    if array.inner.dtype.kind in "iu":
        raise BufferError("integers are not supported")
    return array.inner


@fault("the backend's from_dlpack puts arrays on the default device", "X")
def taken_in_on_the_first(bed: Testbed) -> None:
    with_shared_memory(bed)
    change(bed.backend, from_dlpack=lambda array, device: bed.library.array(np.from_dlpack(array), DEVICES[0]))


@fault("the backend says that a device lies in host memory; its arrays say that they do not", "X")
def device_elsewhere(bed: Testbed) -> None:
    with_shared_memory(bed)
    change(bed.library.Array, __dlpack_device__=lambda self: (2, 0))


@fault("what comes from the host by DLPack shares the host's memory", "X")
def takes_over_the_hosts_memory(bed: Testbed) -> None:
    with_shared_memory(bed)
    change(bed.backend, from_host=lambda array, device: bed.backend.from_dlpack(array, device))
    bed.path = lambda source, target: (
        (lambda array: bed.backend.from_dlpack(array, target))
        if target.backend is bed.backend is not source.backend
        else None
    )


@freedom("every device lies in host memory, from where arrays are taken over by DLPack")
def memory_of_the_host(bed: Testbed) -> None:
    with_shared_memory(bed)


@freedom("only arrays of the default device come in by DLPack")
def dlpack_on_the_first(bed: Testbed) -> None:
    change(bed.backend, dlpack_device=lambda device: Backend.dlpack_device(bed.backend, device))


import_one_buffer = planted_by(
    _imports, "from_dlpack stages in a buffer that the next call uses again", "X", memory=dict
)(staged)
export_one_buffer = planted_by(
    _exports, "an array's DLPack stages in a buffer that the next one uses again", "X", memory=dict
)(lambda kept, array: staged(kept, array.inner))
import_narrows = planted_by(_imports, "from_dlpack makes float32 of float64", "X")(
    lambda x: x.astype(np.float32) if x.dtype == np.float64 else x
)
import_ignores_strides = planted_by(_imports, "from_dlpack ignores strides", "X")(_plain)
import_copies = planted_by(_imports, "capability says `dlpack` but copies", "X")(lambda x: x.copy())
import_makes_an_axis = planted_by(_imports, "from_dlpack makes arrays of one axis of 0-d ones", "X")(np.atleast_1d)
import_drops_imaginary = planted_by(_imports, "from_dlpack takes a complex array's pairs for its first numbers", "X")(
    lambda x: x.real.astype(x.dtype) if x.dtype.kind == "c" else x
)
import_bool_is_bytes = planted_by(_imports, "from_dlpack makes uint8 of bool", "X")(
    lambda x: x.view(np.uint8) if x.dtype == bool else x
)
import_unsigned_is_signed = planted_by(_imports, "from_dlpack takes unsigned integers for signed ones", "X")(
    lambda x: x.view(x.dtype.str.replace("u", "i")) if x.dtype.kind == "u" else x
)
import_flattens_empty = planted_by(_imports, "from_dlpack gives empty arrays one axis", "X")(
    lambda x: x if x.size else x.reshape(-1)
)
import_ignores_copy = replacing("from_dlpack", "from_dlpack(copy=True) shares memory", "X")(
    lambda right, x, copy=None: right(x)
)
export_ignores_strides = planted_by(_exports, "an array's DLPack says that views are plain", "X")(
    lambda array: _plain(array.inner)
)
export_copies = planted_by(_exports, "capability says `dlpack` but hands out copies", "X")(
    lambda array: array.inner.copy()
)
import_alone_flattens_empty = planted_by(
    _only_imports, "a library without an export gives empty arrays one axis in from_dlpack", "X"
)(lambda x: x if x.size else x.reshape(-1))
export_0_d_is_1_d = planted_by(_exports, "an array's DLPack gives 0-d arrays an axis", "X")(
    lambda array: np.atleast_1d(array.inner)
)
