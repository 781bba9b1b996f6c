"""Faults that show only where several threads compute: made certain by points at which threads wait for each other."""

import threading
from typing import Any

import numpy as np
from tests.faults.fault import changing, fault, giving_kernel, giving_method, planted_by, replacing, spoiling, uniform
from tests.faults.testbed import Testbed, staged

from xpgrad import config
from xpgrad.plugin import Spec
from xpgrad_conformance.checks.concurrent_calls import COUNT


class Meeting:
    """A point at which as many threads as the checks start wait for each other."""

    def __init__(self) -> None:
        self._barrier = threading.Barrier(COUNT)

    def wait(self) -> None:
        """Return when all threads have arrived; immediately in the main thread, and soon if fewer threads come."""
        if threading.current_thread() is threading.main_thread() or threading.active_count() <= COUNT:
            return
        try:
            self._barrier.wait(0.25)
        except threading.BrokenBarrierError:
            self._barrier.reset()


@replacing("exp", "one scratch buffer for all threads", "P", operations=(), memory=lambda: (Meeting(), np.empty(4096)))
def one_scratch_buffer(memory: Any, right: Any, x: Any) -> Any:
    meeting, scratch = memory
    if x.dtype != np.float64 or x.size > scratch.size:
        return right(x)
    mine = scratch[: x.size].reshape(x.shape)
    right(x, out=mine)
    meeting.wait()
    return mine.copy()


@spoiling("matmul", families="P", operations=(), memory=lambda: (Meeting(), {}))
def one_buffer_for_each_shape(memory: Any, out: Any, *_: Any) -> Any:
    """matmul has one buffer for each shape, and for all threads"""
    meeting, buffers = memory
    held = staged(buffers, out)
    meeting.wait()
    return held.copy()


@giving_kernel("tanh.x", families="P", operations=("tanh",), memory=lambda: (Meeting(), np.empty(4096)))
def scratch_in_vjp(memory: Any, gy: Any, x: Any, y: Any) -> Any:
    """the kernel tanh.x has one scratch buffer for all threads"""
    meeting, scratch = memory
    if np.result_type(gy, y) != np.float64 or y.size > scratch.size:
        return gy * (1 - y * y)
    mine = scratch[: y.size].reshape(y.shape)
    mine[...] = gy * (1 - y * y)
    meeting.wait()
    return mine.copy()


@giving_method("backend._new_spec", families="P", memory=Meeting, of_bed=True)
def specs_without_a_lock(bed: Testbed, meeting: Any, shape: Any, dtype: Any, device: Any) -> Spec:
    """two threads that meet a new shape make two specs of it"""
    made = Spec(shape, dtype, device, bed.backend)
    meeting.wait()
    bed.backend._specs[shape, dtype, device] = made
    return made


@fault("the handle for tanh is there only in the thread that imported the library", "P")
def handle_of_one_thread(bed: Testbed) -> None:
    handles = threading.local()
    handles.tanh = np.tanh

    def tanh(right: Any, x: Any) -> Any:
        return handles.tanh(x)

    bed.replace("tanh", tanh)


@fault("the default dtype is float32 in all threads but the one that set it", "P")
def defaults_of_one_thread(bed: Testbed) -> None:
    chosen = threading.local()
    chosen.dtype = np.float64

    def asarray(right: Any, obj: Any, /, *, dtype: Any = None, device: Any = None, copy: Any = None) -> Any:
        if dtype is None and isinstance(obj, float):
            dtype = getattr(chosen, "dtype", np.float32)
        return right(obj, dtype=dtype, copy=copy)

    bed.replace("asarray", asarray)


@changing("Array.__mul__", families="P", of_bed=True, memory=lambda: (Meeting(), [""]))
def current_device_is_shared(bed: Testbed, memory: Any, right: Any, this: Any, other: Any) -> Any:
    """multiply computes on a current device that all threads share"""
    meeting, current = memory
    current[0] = this.device
    meeting.wait()
    return bed.library.array(right(this, other).inner, current[0])


@replacing("tanh", families="P", operations=(), memory=lambda: (Meeting(), [False]))
def mode_is_shared(memory: Any, right: Any, x: Any) -> Any:
    """tanh is less exact in no_backprop_mode, and in threads beside one that is in it"""
    meeting, fast = memory
    if not config.enable_backprop:
        fast[0] = True
    meeting.wait()
    out = right(x)
    out = out.astype(np.float32).astype(out.dtype) if fast[0] else out
    meeting.wait()
    fast[0] = False
    return out


@planted_by(uniform, "random numbers come from the stream that any thread has seeded last", "R", memory=list)
def stream_is_shared(streams: list[Any], generator: Any, shape: Any, dtype: Any) -> Any:
    if not any(generator is each for each in streams):
        streams.append(generator)
    return streams[-1].random(shape)


@fault("while one thread looks kernels up, others find none", "P")
def kernels_while_loading(bed: Testbed) -> None:
    meeting, kernels = Meeting(), bed.kernels
    loading = [False]  # prevents recursion when a backend uses its kernels: for one thread only

    def overrides() -> Any:
        if loading[0]:
            return {}
        loading[0] = True
        meeting.wait()
        loading[0] = False
        return kernels

    bed.backend.overrides = overrides


@giving_method("backend.to_host", "one staging buffer for all threads in to_host", "P", memory=lambda: (Meeting(), {}))
def one_staging_buffer(memory: Any, array: Any) -> Any:
    meeting, buffers = memory
    held = staged(buffers, array.inner)
    meeting.wait()
    return held.copy()
