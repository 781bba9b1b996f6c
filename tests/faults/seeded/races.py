"""Faults that show only where several threads compute: made certain by points at which threads wait for each other."""

import threading
from typing import Any

import numpy as np
from tests.faults.fault import fault, giving_method
from tests.faults.testbed import Testbed

from xpgrad import config
from xpgrad.plugin import Spec
from xpgrad_conformance.checks.concurrent_calls import COUNT
from xpgrad_conformance.pretend import PretendArray


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


@fault("one scratch buffer for all threads", "P")
def one_scratch_buffer(bed: Testbed) -> None:
    meeting, scratch = Meeting(), np.empty(4096)

    def exp(original: Any, x: Any) -> Any:
        if x.dtype != np.float64 or x.size > scratch.size:
            return original(x)
        mine = scratch[: x.size].reshape(x.shape)
        original(x, out=mine)
        meeting.wait()
        return mine.copy()

    bed.replace("exp", exp)


@fault("matmul has one buffer for each shape, and for all threads", "P")
def one_buffer_for_each_shape(bed: Testbed) -> None:
    meeting = Meeting()
    buffers: dict[Any, Any] = {}

    def matmul(original: Any, x1: Any, x2: Any, /) -> Any:
        made = original(x1, x2)
        held = buffers.setdefault((made.shape, made.dtype), np.empty_like(made))
        held[...] = made
        meeting.wait()
        return held.copy()

    bed.replace("matmul", matmul)


@fault("the kernel tanh.x has one scratch buffer for all threads", "P", operations=("tanh",))
def scratch_in_vjp(bed: Testbed) -> None:
    meeting, scratch = Meeting(), np.empty(4096)

    def tanh_x(gy: Any, x: Any, y: Any) -> Any:
        if np.result_type(gy, y) != np.float64 or y.size > scratch.size:
            return gy * (1 - y * y)
        mine = scratch[: y.size].reshape(y.shape)
        mine[...] = gy * (1 - y * y)
        meeting.wait()
        return mine.copy()

    bed.kernel("tanh.x", tanh_x)


@giving_method(
    "backend._new_spec",
    "two threads that meet a new shape make two specs of it",
    "P",
    memory=Meeting,
    of_bed=True,
)
def specs_without_a_lock(bed: Testbed, meeting: Any, shape: Any, dtype: Any, device: Any) -> Spec:
    made = Spec(shape, dtype, device, bed.backend)
    meeting.wait()
    bed.backend._specs[shape, dtype, device] = made
    return made


@fault("the handle for tanh is there only in the thread that imported the library", "P")
def handle_of_one_thread(bed: Testbed) -> None:
    handles = threading.local()
    handles.tanh = np.tanh

    def tanh(original: Any, x: Any) -> Any:
        return handles.tanh(x)

    bed.replace("tanh", tanh)


@fault("the default dtype is float32 in all threads but the one that set it", "P")
def defaults_of_one_thread(bed: Testbed) -> None:
    chosen = threading.local()
    chosen.dtype = np.float64

    def asarray(original: Any, obj: Any, /, *, dtype: Any = None, device: Any = None, copy: Any = None) -> Any:
        if dtype is None and isinstance(obj, float):
            dtype = getattr(chosen, "dtype", np.float32)
        return original(obj, dtype=dtype, copy=copy)

    bed.replace("asarray", asarray)


@fault("default-device context leaks to other threads", "P")
def scope_reaches_other_threads(bed: Testbed) -> None:
    current = [bed.library.devices[0]]

    def activate(device: Any) -> Any:
        before, current[0] = current[0], device.handle

        def undo() -> None:
            current[0] = before

        return undo

    def zeros(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
        return bed.library.call(np.zeros, shape, dtype=dtype, device=device or current[0])

    bed.backend.activate = activate
    bed.library.names["zeros"] = zeros


@fault("multiply computes on a current device that all threads share", "P")
def current_device_is_shared(bed: Testbed) -> None:
    meeting, current = Meeting(), [""]
    correct: Any = vars(PretendArray)["__mul__"]

    def multiply(this: Any, other: Any) -> Any:
        current[0] = this.device
        meeting.wait()
        made = correct(this, other)
        return bed.library.array(made.inner, current[0])

    setattr(bed.library.Array, "__mul__", multiply)  # noqa: B010 - operators are assigned by name


@fault("tanh is less exact in no_backprop_mode, and in threads beside one that is in it", "P")
def mode_is_shared(bed: Testbed) -> None:
    meeting, fast = Meeting(), [False]

    def tanh(original: Any, x: Any) -> Any:
        if not config.enable_backprop:
            fast[0] = True
        meeting.wait()
        out = original(x)
        out = out.astype(np.float32).astype(out.dtype) if fast[0] else out
        meeting.wait()
        fast[0] = False
        return out

    bed.replace("tanh", tanh)


@fault("random numbers come from the stream that any thread has seeded last", "P")
def stream_is_shared(bed: Testbed) -> None:
    streams: list[Any] = []

    def random_uniform(*, shape: Any, dtype: Any, device: Any, generator: Any) -> Any:
        if not any(generator is each for each in streams):
            streams.append(generator)
        return bed.library.array(np.asarray(streams[-1].random(shape), dtype), device)

    bed.kernels["random_uniform"] = random_uniform


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


@fault("one staging buffer for all threads in to_host", "P")
def one_staging_buffer(bed: Testbed) -> None:
    meeting = Meeting()
    buffers: dict[Any, Any] = {}

    def to_host(array: Any) -> Any:
        staged = buffers.setdefault((array.shape, array.dtype), np.empty_like(array.inner))
        staged[...] = array.inner
        meeting.wait()
        return staged.copy()

    bed.backend.to_host = to_host
