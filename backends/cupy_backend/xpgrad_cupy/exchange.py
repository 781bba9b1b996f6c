"""Copies into and out of the memory of a GPU, with as little waiting as possible."""

from typing import Any

import cupy
import cupyx
import numpy as np

from xpgrad.types import Array

PINNED_FROM = 2**16  # bytes from which a copy to the host goes through pinned memory


def to_host(array: Array) -> Any:
    """Return a copy of `array` as a NumPy array.

    The copy is asynchronous, into pinned memory of CuPy's pool; then only the current stream is synchronized.
    """
    with array.device:
        if array.nbytes < PINNED_FROM:
            return array.get(order="C")
        staged = cupyx.empty_pinned(array.shape, array.dtype)
        array.get(out=staged, blocking=False)
        cupy.cuda.get_current_stream().synchronize()
    return np.array(staged)  # pinned memory is scarce: return it to the pool


def from_host(array: Any, number: int) -> Array:
    """Return a copy of a NumPy array on a GPU.

    CuPy copies the values into pinned memory before it returns, and from there asynchronously.
    """
    with cupy.cuda.Device(number):
        return cupy.array(array, order="C")


def to_gpu(array: Array, number: int) -> Array:
    """Return a copy of `array` on another GPU: peer to peer if the hardware supports it, else through the driver.

    The copy is queued in the target's current stream. It waits for the work that computes the values, and later work in
    the source's stream waits for the copy, because that work may reuse the memory.
    """
    source = array.device.id
    if source == number:
        with cupy.cuda.Device(number):
            return array.copy()
    _enable_peer_access(number, source)
    with cupy.cuda.Device(source):
        whole = cupy.ascontiguousarray(array)
        made = cupy.cuda.get_current_stream().record(cupy.cuda.Event(disable_timing=True))
    with cupy.cuda.Device(number):
        stream = cupy.cuda.get_current_stream()
        stream.wait_event(made)
        moved = whole.copy()
        done = stream.record(cupy.cuda.Event(disable_timing=True))
    with cupy.cuda.Device(source):
        cupy.cuda.get_current_stream().wait_event(done)
    return moved.reshape(array.shape)


_pairs: set[tuple[int, int]] = set()


def _enable_peer_access(number: int, peer: int) -> None:
    """Let the GPU `number` read the memory of `peer`, once."""
    if (number, peer) in _pairs:
        return
    _pairs.add((number, peer))
    runtime = cupy.cuda.runtime
    if runtime.deviceCanAccessPeer(number, peer):
        with cupy.cuda.Device(number):
            try:
                runtime.deviceEnablePeerAccess(peer)
            except runtime.CUDARuntimeError:
                pass  # already enabled: CuPy also enables peer access
