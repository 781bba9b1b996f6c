"""Faults of memory: arrays that live on after their last use, and caches without bounds."""

import itertools
import types
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
from tests.faults.fault import fault, giving_method, replacing
from tests.faults.testbed import Testbed

from xpgrad.plugin import Capabilities, Spec


def seen(bed: Testbed, names: str, see: Callable[..., None]) -> None:
    """Let ``see(result, *args)``, with fake arrays, follow each call of functions and operators."""
    for name in names.split():
        correct: Any = getattr(bed.library.Array, name) if name.startswith("__") else bed.library.find(name)

        def call(*args: Any, correct: Any = correct, **options: Any) -> Any:
            result = correct(*args, **options)
            see(result, *args)
            return result

        if name.startswith("__"):
            setattr(bed.library.Array, name, call)
        else:
            bed.library.names[name] = call


@fault("arithmetic keeps its last result", "M")
def last_result_is_kept(bed: Testbed) -> None:
    last: dict[str, Any] = {}
    seen(
        bed, "__add__ __mul__ __sub__ __neg__ add multiply subtract negative", lambda out, *args: last.update(last=out)
    )


@fault("a pool keeps the last 16 results of multiply, tanh and exp", "M")
def pool_of_results(bed: Testbed) -> None:
    pool: deque[Any] = deque(maxlen=16)
    seen(bed, "__mul__ multiply tanh exp", lambda out, *args: pool.append(out))


@fault("matmul logs its operands", "M")
def operands_are_logged(bed: Testbed) -> None:
    log: list[Any] = []
    seen(bed, "matmul __matmul__", lambda out, *args: log.append(args))


@fault("max caches its result by the identity of its argument, which it keeps", "M")
def results_by_identity(bed: Testbed) -> None:
    cache: dict[int, Any] = {}

    def see(out: Any, x: Any, *args: Any) -> None:
        cache[id(x)] = x, out

    seen(bed, "max", see)


@fault("an array and the transposed view that it caches refer to each other", "M")
def arrays_in_cycles(bed: Testbed) -> None:
    def see(out: Any, x: Any, *args: Any) -> None:
        x.transposed, out.base = out, x

    seen(bed, "permute_dims matrix_transpose", see)


@replacing("exp", "exp makes a workspace at each call, and keeps it", "M", memory=list)
def workspaces_pile_up(workspaces: list[Any], original: Any, x: Any) -> Any:
    workspaces.append(np.empty_like(x))
    return original(x)


@fault("the last error of matmul is kept, with its operands", "M")
def failed_operands_are_kept(bed: Testbed) -> None:
    last: dict[str, Exception] = {}
    correct = bed.library.find("matmul")

    def matmul(x1: Any, x2: Any, /) -> Any:
        try:
            return correct(x1, x2)
        except Exception as error:
            last["error"] = error
            raise

    bed.library.names["matmul"] = matmul


@fault("to_host makes a staging buffer at each call, and keeps it", "M")
def staging_buffers_pile_up(bed: Testbed) -> None:
    buffers: list[Any] = []
    correct = bed.backend.to_host

    def to_host(array: Any) -> Any:
        buffers.append(correct(array))
        return buffers[-1].copy()

    bed.backend.to_host = to_host


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


@fault("memory of arrays that died is never given back, until there is none", "M", ("tanh", "exp", "sum"))
def pool_without_return(bed: Testbed) -> None:
    correct, made = bed.library.array, itertools.count()

    def array(inner: Any, device: str) -> Any:
        if next(made) > 12:
            raise MemoryError("the pool is used up")
        return correct(inner, device)

    bed.library.array = array


def of_plugin(function: Any) -> Any:
    """Return a function as a module of a plugin defines it, whose code `compile` does not follow."""
    names = {**globals(), "__name__": "xpgrad_testbed"}
    return types.FunctionType(function.__code__, names, function.__name__, None, function.__closure__)


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

    bed.library.array = of_plugin(array)
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


@giving_method("backend.prepare", "the cache of prepared Python numbers has no bound", "M")
def numbers_without_bound(value: Any, spec: Any) -> Any:
    return spec.constants.setdefault(value, value)
