"""Faults of moves between devices, the host, processes and libraries: copies, pickles, DLPack."""

import ctypes
import weakref
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from tests.faults.fault import changing, fault, giving_method, spoiling
from tests.faults.testbed import Testbed, change

from xpgrad import Device
from xpgrad_conformance.pretend import PretendArray, _unpickled

_interned: dict[Any, Any] = {}


def _unpickled_once(backend: str, inner: Any, device: str) -> Any:
    """Return the array that came of equal bytes before, or a new one."""
    key = backend, device, inner.dtype.str, inner.shape, inner.tobytes()
    if key not in _interned:
        _interned[key] = _unpickled(backend, inner, device)
    return _interned[key]


@changing("backend.from_host", families="T", memory=dict)
def upload_by_identity(sent: dict[int, Any], right: Any, array: Any, device: Any) -> Any:
    """from_host of 4,096 elements or more sends again what it has sent before for this array, changed or not"""
    key = id(array)
    if getattr(array, "size", 0) < 4096:
        return right(array, device)
    if key not in sent or sent[key][0]() is not array:
        sent[key] = weakref.ref(array, lambda _: sent.pop(key, None)), np.array(array)
    return right(sent[key][1], device)


@giving_method("Array.__reduce__", families="R", memory=dict, of_bed=True)
def pickle_keeps_its_bytes(bed: Testbed, kept: dict[int, Any], self: Any) -> Any:
    """the second pickle of an array of 1,024 elements or more is the first one, whatever was written since"""
    key, values = id(self), np.array(self.inner)
    if self.size >= 1024:
        if key not in kept or kept[key][0]() is not self:
            kept[key] = weakref.ref(self, lambda _: kept.pop(key, None)), values
        values = kept[key][1]
    return _unpickled, (bed.backend.name, values, self.device)


@giving_method("Array.__dlpack__", families="X", memory=dict)
def export_by_address(exported: dict[int, Any], self: Any, **options: Any) -> Any:
    """an array's DLPack is found by its address, so that a view of its beginning is handed out as the whole"""
    x = self.inner
    key = x.__array_interface__["data"][0]
    known = exported[key]() if key in exported else None
    if known is None or known.dtype != x.dtype or known.size < x.size or not x.size:
        known = x
        exported[key] = weakref.ref(x)
    return known.__dlpack__(**options)


@giving_method("backend.from_host", families="T", of_bed=True)
def read_only_host_array_is_shared(bed: Testbed, array: Any, device: Any) -> Any:
    """a read-only host array is not copied, though its owner may write"""
    if array.flags.writeable or not array.flags.c_contiguous or not array.size:
        return bed.library.array(np.array(array), device.handle)
    memory = (ctypes.c_char * array.nbytes).from_address(array.ctypes.data)
    memory.owner = array
    return bed.library.array(np.frombuffer(memory, array.dtype).reshape(array.shape), device.handle)


@spoiling("from_dlpack", families="X", memory=dict)
def import_kept_by_address(kept: dict[Any, Any], out: Any, *_: Any, **options: Any) -> Any:
    """from_dlpack gives the array that it made of the same memory and shape before, whatever its dtype"""
    if options.get("copy") or not out.size or not out.ndim:
        return out
    key = out.__array_interface__["data"][0], out.shape, out.strides
    held = kept[key]() if key in kept else None
    if held is not None:
        return held
    kept[key] = weakref.ref(out, lambda _: kept.pop(key, None))
    return out


@changing("backend.to_host", "to_host of more than 1 MiB returns one of two pinned buffers in turn", "T", memory=dict)
def to_host_by_two_buffers(buffers: dict[Any, list[Any]], right: Any, array: Any) -> Any:
    out = right(array)
    if out.nbytes <= 1 << 20:
        return out
    pair = buffers.setdefault((out.shape, out.dtype), [])
    pair.append(out if len(pair) < 2 else pair.pop(0))
    pair[-1][...] = out
    return pair[-1]


@fault("an array keeps its copy on another device until it is written to, and gives that memory to all who ask", "A")
def replicas_of_devices(bed: Testbed) -> None:
    def moved(array: Any, handle: Any) -> Any:
        held = array.__dict__.setdefault("replicas", {})
        if handle not in held:
            held[handle] = array.inner.copy()
        return bed.library.array(held[handle], handle)

    def setitem(self: Any, key: Any, value: Any) -> None:
        self.__dict__.pop("replicas", None)
        PretendArray.__setitem__(self, key, value)

    def move(array: Any, device: Device) -> Any:
        return moved(array, device.handle)

    change(bed.backend, move=move)
    change(bed.library.Array, to_device=moved, __setitem__=setitem)


@changing("backend.from_host", families="T", of_bed=True)
def from_host_wraps_whole_pages(bed: Testbed, right: Any, array: Any, device: Device) -> Any:
    """from_host wraps host memory that consists of whole pages instead of copying it"""
    pages = array.nbytes and not array.nbytes % 4096 and not array.__array_interface__["data"][0] % 4096
    if pages and array.flags.c_contiguous and array.flags.writeable and array.dtype.isnative:
        return bed.library.array(array, device.handle)
    return right(array, device)


@giving_method("Array.__reduce__", "arrays of up to 1 KiB of equal pickles share their memory", "R", of_bed=True)
def small_pickles_are_interned(bed: Testbed, self: Any) -> Any:
    make = _unpickled_once if self.inner.nbytes <= 1024 else _unpickled
    return make, (bed.backend.name, self.inner, self.device)


@changing("Array.to_device", families="T")
def moves_home_are_saved(right: Any, self: Any, device: str, /) -> Any:
    """to_device back to where an array came from takes what is still there, and not what was written since"""
    home = getattr(self, "_home", None)
    origin = home and home()
    if origin is not None and origin.device == device:
        return right(origin, device)
    made = right(self, device)
    made._home = weakref.ref(self)
    return made


@giving_method("Array.__reduce__", families="R", memory=WeakValueDictionary, of_bed=True)
def pickle_by_address(bed: Testbed, met: Any, self: Any) -> Any:
    """pickle takes two arrays of one address and size for the same one"""
    x = self.inner
    same = met.setdefault((x.__array_interface__["data"][0], x.size, x.dtype.str), x)
    return _unpickled, (bed.backend.name, np.array(same.reshape(x.shape)), self.device)


dlpack_never_copies = giving_method(
    "Array.__dlpack__", "an export by DLPack with copy=True shares memory with the array", "X"
)(lambda self, copy=None, **options: PretendArray.__dlpack__(self, **options))
