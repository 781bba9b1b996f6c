"""Faults of aliasing: kernels that write to their arguments, and memory that is allocated twice."""

from collections.abc import Callable
from typing import Any

import numpy as np
from tests.faults.fault import Fault, fault, giving_kernel, on_backend, replace, replacing, replacing_both
from tests.faults.testbed import Testbed, change


def _in_place(original: Callable[..., Any], x: Any) -> Any:
    """Call a function of one array so that it writes to its argument, if possible."""
    return original(x, out=x) if x.dtype.kind == "f" and x.flags.writeable else original(x)


@replacing_both("add", "add reuses its first operand", "AM", ("add",))
def add_reuses_first_operand(x1: Any, x2: Any) -> Any:
    fits = type(x1) is np.ndarray and x1.flags.writeable and np.result_type(x1, x2) == x1.dtype
    fits = fits and np.broadcast_shapes(x1.shape, np.shape(x2)) == x1.shape
    return np.add(x1, x2, out=x1) if fits else np.add(x1, x2)


@replacing_both("subtract", "subtract reuses its second operand where that is an array of its own", "A")
def subtract_reuses_second_operand(x1: Any, x2: Any) -> Any:
    own = type(x2) is np.ndarray and x2.base is None and x2 is not x1 and np.shape(x1) == x2.shape
    return np.subtract(x1, x2, out=x2) if own and np.result_type(x1, x2) == x2.dtype else np.subtract(x1, x2)


@replacing("sort", "sort works in place on its input", "A", ("sort",), operations=())
def sort_in_place(original: Any, x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    if x.flags.writeable:
        x.sort(axis=axis)
    return original(x, axis=axis, descending=descending, stable=stable)


@replacing(
    "linalg.inv", "linalg.inv writes the inverse over its argument, as LAPACK does", "A", ("linalg.inv",), operations=()
)
def inv_overwrites(original: Any, x: Any, /) -> Any:
    x[...] = original(x)
    return x.copy()


@giving_kernel("tanh.x", "the kernel tanh.x writes its result over the cotangent", "A", ("tanh",))
def vjp_writes_to_cotangent(gy: Any, x: Any, y: Any) -> Any:
    return np.multiply(gy, 1 - y * y, out=gy if gy.flags.writeable else None)


@giving_kernel("tanh.x", "the kernel tanh.x squares the output that the graph keeps in place", "A", ("tanh",))
def vjp_writes_to_output(gy: Any, x: Any, y: Any) -> Any:
    return gy * (1 - np.multiply(y, y, out=y if y.flags.writeable else None))


@replacing(
    "cumulative_sum", "cumulative_sum along the last axis works in place on transposed arrays", "A", operations=()
)
def in_place_when_transposed(original: Any, x: Any, /, *, axis: Any = None, **options: Any) -> Any:
    out = original(x, axis=axis, **options)
    if x.flags.f_contiguous and not x.flags.c_contiguous and out.shape == x.shape:
        x[...] = out
    return out


@replacing_both("multiply", "multiply works in place on arrays of 4096 elements or more", "A")
def in_place_when_large(x1: Any, x2: Any) -> Any:
    large = type(x1) is np.ndarray and x1.size >= 4096 and x1.flags.writeable
    return np.multiply(x1, x2, out=x1 if large and np.shape(x2) in ((), x1.shape) else None)


@replacing("bitwise_and", "bitwise_and writes to its first operand", "A", operations=())
def in_place_on_integers(original: Any, x1: Any, x2: Any, /) -> Any:
    return original(x1, x2, out=x1).copy()


@fault("a Python number that is cached is the output buffer of 0-d products", "A")
def number_cache_is_written_to(bed: Testbed) -> None:
    numbers: dict[Any, Any] = {}

    def multiply(x1: Any, x2: Any) -> Any:
        if type(x2) is float and type(x1) is np.ndarray and x1.dtype == np.float64:
            number = numbers.setdefault(x2, np.asarray(x2))
            return np.multiply(x1, number, out=number if x1.shape == () else None)
        return np.multiply(x1, x2)

    bed.both("multiply", multiply)


@fault("tanh hands out one buffer for each shape", "A")
def result_buffer(bed: Testbed) -> None:
    buffers: dict[Any, Any] = {}

    def tanh(original: Any, x: Any) -> Any:
        key = x.shape, x.dtype
        if key in buffers:
            return original(x, out=buffers[key])
        buffers[key] = original(x)
        return buffers[key]

    bed.replace("tanh", tanh)


@fault("scatter_add keeps its total for each spec, and clears it at the next call", "A")
def scatter_add_total(bed: Testbed) -> None:
    totals: dict[Any, Any] = {}
    correct = bed.kernels["scatter_add"]

    def scatter_add(spec: Any, parts: Any, /) -> Any:
        made = correct(spec, parts)
        held: Any = totals.setdefault(spec, made)
        held.inner[...] = made.inner
        return held

    bed.kernels["scatter_add"] = scatter_add


@fault("scatter_add adds into the first values that it gets", "A")
def scatter_add_writes_to_values(bed: Testbed) -> None:
    correct = bed.kernels["scatter_add"]

    def scatter_add(spec: Any, parts: Any, /) -> Any:
        made = correct(spec, parts)
        for _, values in parts:
            if values.shape == made.shape and values.inner.flags.writeable:
                values.inner[...] = made.inner
                break
        return made

    bed.kernels["scatter_add"] = scatter_add


def _accumulating(bed: Testbed, kernel: Callable[..., Any]) -> None:
    bed.kernel("accumulate", kernel)
    bed.backend.in_place_from = 0


@fault("accumulate-in-place writes to a copy", "A")
def accumulate_writes_to_a_copy(bed: Testbed) -> None:
    def accumulate(total: Any, g: Any) -> Any:
        np.add(total, g, out=total.copy())
        return total

    _accumulating(bed, accumulate)


@fault("accumulate takes the elements of transposed arrays as they lie", "A")
def accumulate_ignores_strides(bed: Testbed) -> None:
    def accumulate(total: Any, g: Any) -> Any:
        return np.add(total, g.ravel(order="K").reshape(g.shape), out=total)

    _accumulating(bed, accumulate)


@fault("accumulate leaves out arrays with steps of zero", "A")
def accumulate_once_for_broadcast(bed: Testbed) -> None:
    def accumulate(total: Any, g: Any) -> Any:
        return total if 0 in g.strides and g.size > 1 else np.add(total, g, out=total)

    _accumulating(bed, accumulate)


@fault("copy makes arrays contiguous, and copies no other", "A")
def copy_makes_contiguous(bed: Testbed) -> None:
    def copy(array: Any) -> Any:
        return bed.library.array(np.asarray(array.inner, order="C"), array.device)

    bed.backend.copy = copy


@fault("the ones that a sweep starts from are cached", "A")
def ones_are_cached(bed: Testbed) -> None:
    made: dict[Any, Any] = {}
    correct = bed.backend.ones
    bed.backend.ones = lambda spec: made.setdefault(spec, correct(spec))


@fault("zeros of up to 16 elements are cached by shape and dtype", "A")
def small_zeros_are_cached(bed: Testbed) -> None:
    made: dict[Any, Any] = {}

    def zeros(original: Any, shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
        out = original(shape, dtype=dtype)
        return made.setdefault((out.shape, out.dtype), out) if out.size <= 16 else out

    bed.replace("zeros", zeros)


@fault("indexing makes negative numbers of an index array positive, in place", "K", operations=("getitem",))
def index_is_made_positive(bed: Testbed) -> None:
    right = bed.library.Array.__getitem__

    def getitem(this: Any, key: Any) -> Any:
        out = right(this, key)
        for axis, item in enumerate(key if isinstance(key, tuple) else (key,)):
            found = getattr(item, "inner", None)
            if found is not None and found.dtype.kind == "i" and found.flags.writeable:
                found %= this.shape[axis]
        return out

    change(bed.library.Array, __getitem__=getitem)


FAULTS = (
    Fault("exp-in-place", "exp works in place on its input", "AG", replace("exp", _in_place), ("exp",)),
    Fault(
        "in-place-when-0d",
        "log1p works in place on 0-d arrays",
        "A",
        replace("log1p", lambda original, x: original(x) if x.ndim else _in_place(original, x)),
    ),
    Fault(
        "in-place-when-strided",
        "sqrt works in place on arrays with steps",
        "A",
        replace("sqrt", lambda original, x: original(x) if x.flags.forc else _in_place(original, x)),
    ),
    Fault(
        "in-place-when-complex64",
        "sin works in place in complex64 only",
        "A",
        replace("sin", lambda original, x: original(x, out=x) if x.dtype == np.complex64 else original(x)),
    ),
    Fault(
        "accumulate-writes-to-g",
        "accumulate writes into its second argument",
        "A",
        lambda bed: _accumulating(bed, lambda total, g: np.add(total, g, out=g if g.flags.writeable else None)),
    ),
    Fault(
        "view-declared-as-own",
        "is_view says no of every array",
        "A",
        on_backend(is_view=lambda array: False),
        ("reshape",),
    ),
    Fault(
        "contiguous-view-declared-as-own",
        "is_view says no of every contiguous array",
        "A",
        on_backend(is_view=lambda array: not array.inner.flags.c_contiguous),
    ),
    Fault(
        "copy-is-the-array",
        "copy returns another array over the same memory",
        "A",
        lambda bed: change(bed.backend, copy=lambda array: bed.library.array(array.inner, array.device)),
    ),
    Fault(
        "same-values-says-yes",
        "same_values compares shapes only",
        "A",
        on_backend(same_values=lambda a, b: a.shape == b.shape),
    ),
    Fault(
        "same-values-by-identity",
        "same_values tells whether it is one array",
        "A",
        on_backend(same_values=lambda a, b: a is b),
    ),
)
