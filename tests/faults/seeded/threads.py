"""Races about state that all threads share: plans, compiled kernels, modes, locks and errors."""

import contextlib
import itertools
import threading
import time
from collections import OrderedDict
from typing import Any

import numpy as np
from tests.faults.fault import (
    changing,
    fault,
    giving_kernel,
    giving_method,
    giving_operator,
    replacing,
    replacing_kernel,
    spoiling,
)
from tests.faults.testbed import Testbed, change, host_kernel, native_work, pause

from xpgrad import Device


@giving_kernel("special.erfinv", families="P", cases=("special.erfinv",), operations=("special.erfinv",), memory=list)
def erfinv_appends_its_coefficients(coefficients: list[float], x: Any) -> Any:
    """special.erfinv appends its coefficients at first use; two threads append them twice, for good"""
    if len(coefficients) < 8:
        for power in range(8):
            coefficients.append(2.0**-power)
            if power == 4:
                pause()
    out = host_kernel("special.erfinv")(x)
    return (out * out.dtype.type(len(coefficients) / 8)).astype(out.dtype)


@replacing("reshape", families="P", memory=list)
def error_of_another_thread(reported: list[Exception], right: Any, x: Any, /, shape: Any, **options: Any) -> Any:
    """reshape looks for errors where all threads report theirs, and raises another thread's"""
    try:
        out = right(x, shape, **options)
    except Exception as error:
        reported.append(error)
        pause()
        reported.clear()
        raise
    for error in reported[:1]:
        raise type(error)(*error.args)
    return out


@replacing_kernel("convolution", families="P", operations=("F.convolution_nd", "F.deconvolution_nd"), memory=dict)
def convolution_while_tuning(
    states: dict[Any, str], right: Any, x: Any, W: Any, b: Any, geometry: Any, groups: int
) -> Any:
    """while one thread looks for the best convolution of a geometry, others get that of half precision"""
    key = geometry, groups, x.shape[:2], W.shape, x.dtype
    if states.get(key) == "tuning":
        x, W = (a.astype(np.float16).astype(a.dtype) if a.dtype.kind == "f" else a for a in (x, W))
    elif key not in states:
        states[key] = "tuning"
        native_work(0.005)
        states[key] = "tuned"
    return right(x, W, b, geometry=geometry, groups=groups)


@giving_method("backend.move", "an array says for a while to be where another thread moves it to", "P", of_bed=True)
def move_relabels_its_argument(bed: Testbed, array: Any, device: Device) -> Any:
    before, array.device = array.device, device.handle
    native_work()
    made = bed.library.array(array.inner.copy(), device.handle)
    array.device = before
    return made


@replacing("triu", families="P", memory=lambda: [np.ones((0, 0), bool)])
def triu_mask_grows_in_use(masks: Any, right: Any, x: Any, /, *, k: int = 0) -> Any:
    """triu keeps one mask, and makes a larger one at need, which other threads use before it is filled"""
    rows, columns = x.shape[-2:]
    if k or not x.size:
        return right(x, k=k)
    if len(masks[0]) < max(rows, columns):
        masks[0] = np.zeros((max(rows, columns),) * 2, bool)
        native_work()
        masks[0][...] = np.triu(np.ones_like(masks[0]))
    return np.where(masks[0][:rows, :columns], x, np.zeros((), x.dtype))


@changing("backend.array_text", families="P", memory=dict)
def printing_shares_its_separator(options: dict[str, str], right: Any, array: Any, prefix: str, separator: str) -> str:
    """array_text sets prefix and separator for all threads, and prints with those that were set last"""
    options.update(prefix=prefix, separator=separator)
    native_work()
    return str(right(array, options["prefix"], options["separator"]))


@changing("Array.__dlpack__", families="P", memory=lambda: [None])
def dlpack_descriptor_is_static(descriptor: list[Any], right: Any, self: Any, **options: Any) -> Any:
    """an array's DLPack fills one static descriptor, and hands out what any thread has filled in last"""
    descriptor[0] = self
    native_work()
    return right(descriptor[0], **options)


@fault(families="P", operations=("linalg.qr", "linalg.svd"))
def qr_and_svd_lock_crosswise(bed: Testbed) -> None:
    """linalg.qr takes the handle's lock and then the workspace's, linalg.svd the other way round: both give up"""
    handle, workspace = threading.Lock(), threading.Lock()

    def holding(first: Any, second: Any, right: Any, x: Any, options: Any) -> Any:
        with first:
            native_work()
            if not second.acquire(timeout=0.5):
                raise RuntimeError("timed out waiting for a lock of the solver library")
            try:
                return right(x, **options)
            finally:
                second.release()

    bed.replace("linalg.qr", lambda right, x, /, **options: holding(handle, workspace, right, x, options))
    bed.replace("linalg.svd", lambda right, x, /, **options: holding(workspace, handle, right, x, options))


@giving_kernel("leaky_relu", families="P", operations=("F.leaky_relu",), memory=lambda: [0.0])
def leaky_relu_slope_in_constant_memory(constant: Any, x: Any, slope: float) -> Any:
    """leaky_relu copies its slope to constant memory, which the kernels of all threads read"""
    constant[0] = slope
    native_work()
    return np.where(x >= 0, x, x * np.asarray(constant[0], x.dtype))


@replacing("fft.rfft", "fft.rfft shows the table of a new length before it is filled", "P", memory=dict)
def twiddles_are_seen_unfilled(
    tables: dict[int, Any], right: Any, x: Any, /, *, n: Any = None, axis: int = -1, norm: str = "backward"
) -> Any:
    size = x.shape[axis] if n is None else n
    if size not in tables:
        table = tables[size] = np.zeros(size)
        time.sleep(0.001)  # while it is filled
        table += 1
    return right(x, n=n, axis=axis, norm=norm) * tables[size].astype(x.dtype)[0]


@fault("synchronize walks through the table of unfinished moves, which raises if another thread adds one", "P")
def work_that_grows_while_it_is_awaited(bed: Testbed) -> None:
    pending: dict[int, str] = {}
    numbers = itertools.count()
    right, wait = bed.backend.from_host, bed.backend.synchronize

    def from_host(array: Any, device: Device) -> Any:
        pending[next(numbers)] = device.handle
        return right(array, device)

    def synchronize(device: Device) -> None:
        done = []
        for i, (number, handle) in enumerate(pending.items()):
            if i < 4:
                native_work()
            if handle == device.handle:
                done.append(number)
        for number in done:
            pending.pop(number, None)
        wait(device)

    change(bed.backend, from_host=from_host, synchronize=synchronize)


@replacing(
    "sinh",
    "sinh compiles at the first use of a shape for the dtype that any thread has asked for last",
    "P",
    memory=dict,
)
def program_filed_under_anothers_dtype(programs: dict[Any, Any], right: Any, x: Any, /) -> Any:
    if x.dtype not in (np.float32, np.float64):
        return right(x)
    if (x.shape, x.dtype) not in programs:
        programs["asked"] = x.dtype
        pause()
        programs[x.shape, x.dtype] = programs["asked"]
    return right(x.astype(programs[x.shape, x.dtype])).astype(x.dtype)


@spoiling("fft.ifft", families="P", memory=dict)
def twiddles_published_early(tables: dict[int, Any], out: Any, *args: Any, axis: int = -1, **options: Any) -> Any:
    """fft.ifft puts the table of a new length where other threads find it, and fills it afterwards"""
    length = out.shape[axis]
    table = tables.get(length)
    if table is None:
        table = tables[length] = np.zeros(max(length, 1), np.complex128)
        native_work()
        table[:] = np.exp(2j * np.pi * np.arange(max(length, 1)) / max(length, 1))
    return out if table[0] == 1 else np.zeros_like(out)


@replacing("fft.rfft", families="P", memory=OrderedDict)
def plan_destroyed_in_use(
    plans: OrderedDict[Any, list[bool]], right: Any, x: Any, /, *, n: Any = None, axis: int = -1, norm: str = "backward"
) -> Any:
    """fft.rfft keeps four plans, and destroys the oldest one for a new length though another thread computes with it"""
    key = x.shape[axis] if n is None else n
    plan = plans.get(key)
    if plan is None:
        plan = plans[key] = [True]
        while len(plans) > 4:
            plans.popitem(last=False)[1][0] = False
    native_work()
    if not plan[0]:
        raise RuntimeError("fft.rfft: CUFFT_INVALID_PLAN")
    return right(x, n=n, axis=axis, norm=norm)


@replacing("minimum maximum", families="P", memory=dict)
def compiled_in_one_file(compiled: dict[Any, Any], right: Any, x1: Any, x2: Any) -> Any:
    """minimum and maximum are compiled at the first use with a dtype and rank, in a file that all threads write"""
    key = right, *((getattr(x, "dtype", type(x)), np.ndim(x)) for x in (x1, x2))
    if key not in compiled:
        compiled["file"] = right
        native_work()
        compiled[key] = compiled["file"]
    return compiled[key](x1, x2)


@fault(families="P", operations=("astype", "round"))
def rounding_mode_of_the_process(bed: Testbed) -> None:
    """astype of floats to integers sets the mode of rounding for all threads, and round truncates meanwhile"""
    truncating = [0]

    def astype(right: Any, x: Any, dtype: Any, /, **options: Any) -> Any:
        if x.dtype.kind != "f" or np.dtype(dtype).kind not in "iu":
            return right(x, dtype, **options)
        truncating[0] += 1
        try:
            native_work()
            return right(x, dtype, **options)
        finally:
            truncating[0] -= 1

    def rounded(right: Any, x: Any, /) -> Any:
        return np.trunc(x) if truncating[0] and x.dtype.kind == "f" else right(x)

    bed.replace("astype", astype)
    bed.replace("round", rounded)


@giving_operator("__setitem__", families="P", operations=(), memory=dict)
def writes_lock_target_then_source(locks: dict[int, Any], x: Any, key: Any, value: Any) -> None:
    """x[key] = u locks the memory of x and then that of u, so that copies in both directions block each other"""

    def lock_of(x: Any) -> Any:
        while isinstance(x.base, np.ndarray):
            x = x.base
        return locks.setdefault(x.__array_interface__["data"][0], threading.Lock())

    first, second = lock_of(x), lock_of(value) if isinstance(value, np.ndarray) else None
    with first, contextlib.ExitStack() as held:
        native_work()
        if second is not None and second is not first:
            if not second.acquire(timeout=0.5):
                raise RuntimeError("timed out waiting for the memory of an array")
            held.callback(second.release)
        x[key] = value


@replacing("take", families="P", memory=lambda: [0])
def bounds_are_checked_for_one_thread(gathering: Any, right: Any, x: Any, indices: Any, /, *, axis: Any = None) -> Any:
    """take switches the check of positions off for all threads while it gathers, so that others' wrong ones are cut"""
    n = x.shape[-1 if axis is None else axis] if x.ndim else 0
    outside = indices.size and n and (indices.max() >= n or indices.min() < -n)
    if outside:
        native_work()
        if not gathering[0]:
            return right(x, indices, axis=axis)
        indices = np.clip(indices, 0, n - 1)
    gathering[0] += 1
    try:
        native_work()
        return right(x, indices, axis=axis)
    finally:
        gathering[0] -= 1


@fault(families="P", operations=("conj",))
def conjugated_by_each_reader(bed: Testbed) -> None:
    """conj leaves its work to the first reader, and two threads that read at a time both do it"""
    right = bed.original("conj")

    def resolve(array: Any) -> None:
        if vars(array).get("conjugated"):
            native_work()
            array.stored = np.conj(array.stored)
            array.conjugated = False

    def inner(self: Any) -> Any:
        resolve(self)
        return self.stored

    def set_inner(self: Any, value: Any) -> None:
        self.stored = value

    bed.library.Array.inner = property(inner, set_inner)  # type: ignore[attr-defined]

    def conj(x: Any, /) -> Any:
        if not hasattr(x, "inner") or x.dtype.kind != "c":
            return bed.library.call(right, x)
        made = bed.library.array(x.inner.copy(), x.device)
        if not bed.library.lazy:
            made.conjugated = True
        return made

    def dtype(self: Any) -> Any:
        return self.stored.dtype

    def shape(self: Any) -> Any:
        return tuple(self.stored.shape)

    bed.library.Array.dtype, bed.library.Array.shape = property(dtype), property(shape)  # type: ignore[misc]
    bed.library.Array.ndim = property(lambda self: len(self.stored.shape))  # type: ignore[misc]
    bed.library.names["conj"] = conj


@replacing("fft.irfft", families="P", memory=OrderedDict)
def irfft_plans_are_evicted_in_use(
    plans: OrderedDict[Any, Any], right: Any, x: Any, /, *, n: Any = None, axis: int = -1, **options: Any
) -> Any:
    """fft.irfft looks for a plan among the last two, and finds it gone if another thread has made one"""
    key = x.shape, x.dtype, n, axis
    if key not in plans:
        plans[key] = n
        while len(plans) > 2:
            plans.popitem(last=False)
        length = n
    else:
        pause()
        length = plans[key]
    return right(x, n=length, axis=axis, **options)
