"""Faults of backends that compute asynchronously: readers that do not wait, and work that is done out of order."""

from typing import Any

import numpy as np
from tests.faults.fault import changing, fault, giving_method, replacing
from tests.faults.seeded.lacking import declare
from tests.faults.testbed import Testbed, change


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


@giving_method("Array.to_device", families="Y", lazy=True, of_bed=True)
def moved_later(bed: Testbed, this: Any, device: str, /) -> Any:
    """a copy to another device reads its source when the host waits"""
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


@replacing("matmul", "an operation that fails in the queue leaves zeros", "Y", lazy=True)
def errors_are_swallowed(right: Any, x1: Any, x2: Any, /) -> Any:
    try:
        return right(x1, x2)
    except ValueError:
        return np.zeros((*x1.shape[:-1], x2.shape[-1]), x1.dtype)


@fault("an operation that failed lets the next one fail", "YP")
def errors_come_late(bed: Testbed) -> None:
    pending: list[Exception] = []

    def matmul(right: Any, x1: Any, x2: Any, /) -> Any:
        try:
            return right(x1, x2)
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


printing_does_not_wait = giving_method("backend.array_text", "array_text does not wait", "Y", lazy=True, of_bed=True)(
    lambda bed, array, *texts: bed.library.inner.array_text(array.shown, *texts)
)
to_host_does_not_wait = fault("to_host does not wait", "Y", lazy=True)(
    lambda bed: change(bed.backend, to_host=bed.backend.seen)
)
float_does_not_wait = giving_method("Array.__float__", "float does not wait", "Y", lazy=True)(lambda x: float(x.shown))
bool_does_not_wait = giving_method("Array.__bool__", "bool does not wait", "Y", lazy=True)(lambda x: bool(x.shown))
int_does_not_wait = giving_method("Array.__int__", "int does not wait", "Y", lazy=True)(lambda x: int(x.shown))
dlpack_does_not_wait = giving_method("Array.__dlpack__", "__dlpack__ does not wait", "Y", lazy=True)(
    lambda this, **options: this.shown.__dlpack__(**options)
)
nan_is_sought_early = giving_method("backend.has_nan", "has_nan does not wait", "Y", lazy=True)(
    lambda array: bool(np.isnan(array.shown).any())
)
small_to_host_does_not_wait = changing(
    "backend.to_host", "to_host does not wait for arrays of up to 16 elements", "Y", lazy=True, of_bed=True
)(lambda bed, correct, array: bed.backend.seen(array) if array.size <= 16 else correct(array))


@fault("a copy to another device does not wait for the values, and arrays cannot be written to", "Y", lazy=True)
def moved_before_done(bed: Testbed) -> None:
    declare(bed, ["in_place_update", "index_assignment"])
    change(bed.library.Array, to_device=lambda this, device, /: bed.library.array(this.shown.copy(), device))
