"""Faults of memory: arrays that live on after their last use, and caches without bounds."""

import itertools
import weakref
from collections import deque
from typing import Any

import numpy as np
from tests.faults.fault import changing, fault, giving_method, misreading
from tests.faults.testbed import Testbed, change

from xpgrad.plugin import Capabilities, Spec


@changing(
    "Array.__add__ Array.__mul__ Array.__sub__ Array.__neg__ add multiply subtract negative", families="M", memory=dict
)
def last_result_is_kept(last: dict[str, Any], right: Any, *args: Any) -> Any:
    """arithmetic keeps its last result"""
    last["last"] = out = right(*args)
    return out


@changing("Array.__mul__ multiply tanh exp", families="M", memory=lambda: deque(maxlen=16))
def pool_of_results(pool: deque[Any], right: Any, *args: Any) -> Any:
    """a pool keeps the last 16 results of multiply, tanh and exp"""
    pool.append(right(*args))
    return pool[-1]


@changing("matmul Array.__matmul__", "matmul logs its operands", "M", memory=list)
def operands_are_logged(log: list[Any], right: Any, *args: Any) -> Any:
    log.append(args)
    return right(*args)


@changing("max", "max caches its result by the identity of its argument, which it keeps", "M", memory=dict)
def results_by_identity(cache: dict[int, Any], right: Any, x: Any, *args: Any, **options: Any) -> Any:
    cache[id(x)] = x, right(x, *args, **options)
    return cache[id(x)][1]


@changing("permute_dims matrix_transpose", "an array and the transposed view that it caches refer to each other", "M")
def arrays_in_cycles(right: Any, x: Any, *args: Any, **options: Any) -> Any:
    x.transposed = right(x, *args, **options)
    x.transposed.base = x
    return x.transposed


@misreading("exp", "exp makes a workspace at each call, and keeps it", "M", memory=list)
def workspaces_pile_up(workspaces: list[Any], x: Any) -> Any:
    workspaces.append(np.empty_like(x))
    return x


@changing("matmul", "the last error of matmul is kept, with its operands", "M", memory=dict)
def failed_operands_are_kept(last: dict[str, Exception], right: Any, x1: Any, x2: Any, /) -> Any:
    try:
        return right(x1, x2)
    except Exception as error:
        last["error"] = error
        raise


@changing("backend.to_host", "to_host makes a staging buffer at each call, and keeps it", "M", memory=list)
def staging_buffers_pile_up(buffers: list[Any], right: Any, array: Any) -> Any:
    buffers.append(right(array))
    return buffers[-1].copy()


@fault("accumulate keeps the last totals that it wrote to", "M")
def totals_are_kept(bed: Testbed) -> None:
    totals: deque[Any] = deque(maxlen=8)

    def accumulate(total: Any, g: Any, /) -> Any:
        total.inner[...] = total.inner + g.inner
        totals.append(total)
        return total

    bed.kernels["accumulate"] = accumulate
    bed.backend.in_place_from = 0


@giving_method("backend._new_spec", "the backend's own cache of specs has no bound", "M", of_bed=True)
def specs_without_bound(bed: Testbed, shape: Any, dtype: Any, device: Any) -> Spec:
    return bed.backend._specs.setdefault((shape, dtype, device), Spec(shape, dtype, device, bed.backend))


@giving_method("backend.prepare", "each NaN goes into the cache of prepared numbers, which only equal ones leave", "M")
def nan_is_always_new(value: Any, spec: Spec) -> Any:
    if value == value and len(spec.constants) > 1024:
        spec.constants.clear()
    return spec.constants.setdefault(value, value)


@changing("library.array", families="M", cases=("tanh", "exp", "sum"), memory=itertools.count)
def pool_without_return(made: Any, right: Any, inner: Any, device: str) -> Any:
    """memory of arrays that died is never given back, until there is none"""
    if next(made) > 12:
        raise MemoryError("the pool is used up")
    return right(inner, device)


def counting(bed: Testbed) -> dict[str, int]:
    """Let the backend say how many bytes its arrays hold; return the count by device."""
    used = dict.fromkeys(bed.library.devices, 0)
    living: dict[int, weakref.ref[Any]] = {}
    correct, numbers = bed.library.array, itertools.count()

    def array(inner: Any, device: str) -> Any:
        made, number, size = correct(inner, device), next(numbers), inner.nbytes

        def gone(reference: Any) -> None:
            used[device] -= size
            living.pop(number)

        used[device] += size
        living[number] = weakref.ref(made, gone)
        return made

    change(bed.library, array=array)
    bed.backend.memory_used = lambda device: used[device.handle]
    missing = {fact: why for fact, why in bed.backend.capabilities.missing.items() if fact != "memory_used"}
    bed.backend.declared = Capabilities(missing)
    return used


@fault("memory_used is the highest number so far", "M")
def memory_never_falls(bed: Testbed) -> None:
    used, most = counting(bed), dict.fromkeys(bed.library.devices, 0)

    def memory_used(device: Any) -> int:
        most[device.handle] = max(most[device.handle], used[device.handle])
        return most[device.handle]

    bed.backend.memory_used = memory_used


@fault("memory_used counts the arrays of all devices", "M")
def memory_of_all_devices(bed: Testbed) -> None:
    used = counting(bed)
    bed.backend.memory_used = lambda device: sum(used.values())


@fault("memory_used counts elements", "M")
def memory_in_elements(bed: Testbed) -> None:
    used = counting(bed)
    bed.backend.memory_used = lambda device: used[device.handle] // 8


@fault("free_memory gives back memory that arrays are in", "M")
def memory_is_freed_in_use(bed: Testbed) -> None:
    counting(bed)
    made: deque[Any] = deque(maxlen=64)
    correct = bed.library.array

    def array(inner: Any, device: str) -> Any:
        made.append(weakref.ref(out := correct(inner, device)))
        return out

    def free_memory(device: Any) -> None:
        for reference in made:
            if (found := reference()) is not None and found.inner.flags.writeable:
                found.inner[...] = 0

    bed.library.array = array
    bed.backend.free_memory = free_memory


numbers_without_bound = giving_method("backend.prepare", "the cache of prepared Python numbers has no bound", "M")(
    lambda value, spec: spec.constants.setdefault(value, value)
)
