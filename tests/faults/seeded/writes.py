"""Faults of aliasing: kernels that write to their arguments, and memory that is allocated twice."""

from collections.abc import Callable
from typing import Any

import numpy as np
from tests.faults.fault import (
    accumulate,
    changing,
    fault,
    giving_kernel,
    giving_method,
    misreading,
    planted_by,
    replacing,
    replacing_both,
    spoiling,
)
from tests.faults.testbed import Testbed, staged


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


@misreading("sort", "sort works in place on its input", "A", ("sort",))
def sort_in_place(x: Any, *, axis: int = -1, **_: Any) -> Any:
    if x.flags.writeable:
        x.sort(axis=axis)
    return x


@replacing("linalg.inv", "linalg.inv writes the inverse over its argument, as LAPACK does", "A", ("linalg.inv",))
def inv_overwrites(right: Any, x: Any, /) -> Any:
    x[...] = right(x)
    return x.copy()


@spoiling("cumulative_sum", "cumulative_sum along the last axis works in place on transposed arrays", "A")
def in_place_when_transposed(out: Any, x: Any, **_: Any) -> Any:
    if x.flags.f_contiguous and not x.flags.c_contiguous and out.shape == x.shape:
        x[...] = out
    return out


@replacing_both("multiply", "multiply works in place on arrays of 4096 elements or more", "A")
def in_place_when_large(x1: Any, x2: Any) -> Any:
    large = type(x1) is np.ndarray and x1.size >= 4096 and x1.flags.writeable
    return np.multiply(x1, x2, out=x1 if large and np.shape(x2) in ((), x1.shape) else None)


@replacing_both("multiply", "a Python number that is cached is the output buffer of 0-d products", "A", memory=dict)
def number_cache_is_written_to(numbers: dict[Any, Any], x1: Any, x2: Any) -> Any:
    if type(x2) is float and type(x1) is np.ndarray and x1.dtype == np.float64:
        number = numbers.setdefault(x2, np.asarray(x2))
        return np.multiply(x1, number, out=number if x1.shape == () else None)
    return np.multiply(x1, x2)


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


@replacing("zeros", "zeros of up to 16 elements are cached by shape and dtype", "A", memory=dict)
def small_zeros_are_cached(
    made: dict[Any, Any], right: Any, shape: Any, *, dtype: Any = None, device: Any = None
) -> Any:
    out = right(shape, dtype=dtype)
    return made.setdefault((out.shape, out.dtype), out) if out.size <= 16 else out


@changing("Array.__getitem__", families="K", operations=("getitem",))
def index_is_made_positive(right: Any, this: Any, key: Any) -> Any:
    """indexing makes negative numbers of an index array positive, in place"""
    out = right(this, key)
    for axis, item in enumerate(key if isinstance(key, tuple) else (key,)):
        found = getattr(item, "inner", None)
        if found is not None and found.dtype.kind == "i" and found.flags.writeable:
            found %= this.shape[axis]
    return out


result_buffer = spoiling("tanh", "tanh hands out one buffer for each shape", "A", memory=dict)(
    lambda buffers, out, x: staged(buffers, out)
)
ones_are_cached = changing("backend.ones", "the ones that a sweep starts from are cached", "A", memory=dict)(
    lambda made, right, spec: made.setdefault(spec, right(spec))
)
in_place_on_integers = replacing("bitwise_and", "bitwise_and writes to its first operand", "A")(
    lambda right, x1, x2: right(x1, x2, out=x1).copy()
)
accumulate_once_for_broadcast = planted_by(accumulate(), "accumulate leaves out arrays with steps of zero", "A")(
    lambda total, g: total if 0 in g.strides and g.size > 1 else np.add(total, g, out=total)
)
in_place_when_0d = replacing("log1p", "log1p works in place on 0-d arrays", "A")(
    lambda right, x: right(x) if x.ndim else _in_place(right, x)
)
in_place_when_strided = replacing("sqrt", "sqrt works in place on arrays with steps", "A")(
    lambda right, x: right(x) if x.flags.forc else _in_place(right, x)
)
in_place_when_complex64 = replacing("sin", "sin works in place in complex64 only", "A")(
    lambda right, x: right(x, out=x) if x.dtype == np.complex64 else right(x)
)
accumulate_writes_to_g = planted_by(accumulate(), "accumulate writes into its second argument", "AE")(
    lambda total, g: np.add(total, g, out=g if g.flags.writeable else None)
)
view_declared_as_own = giving_method("backend.is_view", "is_view says no of every array", "A", ("reshape",))(
    lambda array: False
)
contiguous_view_declared_as_own = giving_method("backend.is_view", "is_view says no of every contiguous array", "A")(
    lambda array: not array.inner.flags.c_contiguous
)
same_values_says_yes = giving_method("backend.same_values", "same_values compares shapes only", "A")(
    lambda a, b: a.shape == b.shape
)
same_values_by_identity = giving_method("backend.same_values", "same_values tells whether it is one array", "A")(
    lambda a, b: a is b
)
exp_in_place = replacing("exp", "exp works in place on its input", "AG", ("exp",))(lambda right, x: _in_place(right, x))
vjp_writes_to_cotangent = giving_kernel(
    "tanh.x", "the kernel tanh.x writes its result over the cotangent", "A", ("tanh",)
)(lambda gy, x, y: np.multiply(gy, 1 - y * y, out=gy if gy.flags.writeable else None))
vjp_writes_to_output = giving_kernel(
    "tanh.x", "the kernel tanh.x squares the output that the graph keeps in place", "A", ("tanh",)
)(lambda gy, x, y: gy * (1 - np.multiply(y, y, out=y if y.flags.writeable else None)))
accumulate_ignores_strides = planted_by(
    accumulate(), "accumulate takes the elements of transposed arrays as they lie", "A"
)(lambda total, g: np.add(total, g.ravel(order="K").reshape(g.shape), out=total))
copy_makes_contiguous = giving_method(
    "backend.copy", "copy makes arrays contiguous, and copies no other", "A", of_bed=True
)(lambda bed, array: bed.library.array(np.asarray(array.inner, order="C"), array.device))
