"""Faults of backends that compute asynchronously: readers that do not wait, and work that is done out of order."""

from typing import Any

import numpy as np
from tests.faults.fault import changing, fault, giving_method, replacing
from tests.faults.testbed import Testbed, change


def _early(convert: Any) -> Any:
    """Return a method of arrays that converts the host's view of the values, without waiting."""
    return lambda this: convert(this.shown)


@changing("backend.to_host", "to_host does not wait for arrays of up to 16 elements", "Y", lazy=True, of_bed=True)
def small_to_host_does_not_wait(bed: Testbed, correct: Any, array: Any) -> Any:
    return bed.backend.seen(array) if array.size <= 16 else correct(array)


@fault("array_text does not wait", "Y", lazy=True)
def printing_does_not_wait(bed: Testbed) -> None:
    inner = bed.library.inner

    def array_text(array: Any, prefix: str, separator: str) -> str:
        return inner.array_text(array.shown, prefix, separator)

    bed.backend.array_text = array_text


@giving_method("backend.synchronize", "synchronize takes the default device only", "Y", lazy=True, of_bed=True)
def synchronize_knows_one_device(bed: Testbed, device: Any) -> None:
    if device.handle != bed.library.devices[0]:
        raise ValueError(f"no queue for device {device.handle}")
    bed.library.wait()


@giving_method("backend.synchronize", "synchronize gives up the work that is not done", "Y", lazy=True, of_bed=True)
def synchronize_drops_work(bed: Testbed, device: Any) -> None:
    for array in bed.library._waiting:
        if array.size > 16:
            array.inner = array.shown
    bed.library.wait()


@giving_method("Array.to_device", "a copy to another device does not wait for the values", "Y", lazy=True, of_bed=True)
def moved_before_done(bed: Testbed, this: Any, device: str, /) -> Any:
    return bed.library.array(bed.library.inner.copy(this.shown), device)


@giving_method(
    "Array.to_device", "a copy to another device reads its source when the host waits", "Y", lazy=True, of_bed=True
)
def moved_later(bed: Testbed, this: Any, device: str, /) -> Any:
    made = bed.library.array(bed.library.inner.copy(this.inner), device)
    bed.library.unfinished.append(lambda: np.copyto(made.inner, this.inner))
    return made


@changing("backend.from_host", "from_host returns before the copy is done", "Y", lazy=True, of_bed=True)
def from_host_reads_later(bed: Testbed, correct: Any, array: Any, device: Any) -> Any:
    made = correct(array, device)
    bed.library.unfinished.append(lambda: np.copyto(made.inner, array))
    return made


@fault("accumulate does not wait for its second argument", "Y", lazy=True)
def accumulate_reads_early(bed: Testbed) -> None:
    def accumulate(total: Any, g: Any, /) -> Any:
        total.inner[...] = total.inner + g.shown
        return total

    bed.kernels["accumulate"] = accumulate
    bed.backend.in_place_from = 0


@replacing("matmul", "an operation that fails in the queue leaves zeros", "Y", lazy=True, operations=())
def errors_are_swallowed(original: Any, x1: Any, x2: Any, /) -> Any:
    try:
        return original(x1, x2)
    except ValueError:
        return np.zeros((*x1.shape[:-1], x2.shape[-1]), x1.dtype)


@fault("an operation that failed lets the next one fail", "YP")
def errors_come_late(bed: Testbed) -> None:
    pending: list[Exception] = []

    def matmul(original: Any, x1: Any, x2: Any, /) -> Any:
        try:
            return original(x1, x2)
        except ValueError as error:
            pending.append(error)
            raise

    def multiply(x1: Any, x2: Any) -> Any:
        if pending:
            raise pending.pop()
        return np.multiply(x1, x2)

    bed.replace("matmul", matmul)
    bed.both("multiply", multiply)


@fault("multiply and exp read their inputs when the host waits", "Y", lazy=True)
def operands_are_read_later(bed: Testbed) -> None:
    for name, compute in (("__mul__", np.multiply), ("exp", np.exp)):
        correct: Any = getattr(bed.library.Array, name) if name.startswith("__") else bed.library.find(name)

        def call(x: Any, *others: Any, correct: Any = correct, compute: Any = compute) -> Any:
            made = correct(x, *others)
            given = [getattr(other, "inner", other) for other in others]
            bed.library.unfinished.append(lambda: np.copyto(made.inner, compute(x.inner, *given)))
            return made

        if name.startswith("__"):
            setattr(bed.library.Array, name, call)
        else:
            bed.library.names[name] = call


@giving_method("Array.__setitem__", "x[key] = value is done when the host waits", "Y", lazy=True, of_bed=True)
def writes_are_put_off(bed: Testbed, this: Any, key: Any, value: Any) -> None:
    bed.library.unfinished.append(lambda: this.inner.__setitem__(key, getattr(value, "inner", value)))


@fault("to_host does not wait", "Y", lazy=True)
def to_host_does_not_wait(bed: Testbed) -> None:
    change(bed.backend, to_host=bed.backend.seen)


@fault("float does not wait", "Y", lazy=True)
def float_does_not_wait(bed: Testbed) -> None:
    change(bed.library.Array, __float__=_early(float))


@fault("bool does not wait", "Y", lazy=True)
def bool_does_not_wait(bed: Testbed) -> None:
    change(bed.library.Array, __bool__=_early(bool))


@fault("int does not wait", "Y", lazy=True)
def int_does_not_wait(bed: Testbed) -> None:
    change(bed.library.Array, __int__=_early(int))


@giving_method("Array.__dlpack__", "__dlpack__ does not wait", "Y", lazy=True)
def dlpack_does_not_wait(this: Any, **options: Any) -> Any:
    return this.shown.__dlpack__(**options)


@giving_method("backend.to_host", "to_host hands out the memory of the array", "Y")
def to_host_shares_memory(array: Any) -> Any:
    return array.inner


@fault("from_host takes the host's memory over", "Y")
def from_host_shares_memory(bed: Testbed) -> None:
    change(bed.backend, from_host=lambda array, device: bed.library.array(array, device.handle))


@giving_method("backend.has_nan", "has_nan does not wait", "Y", lazy=True)
def nan_is_sought_early(array: Any) -> Any:
    return bool(np.isnan(array.shown).any())
