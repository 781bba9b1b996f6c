"""Faults that come of state: buffers and caches, the device on which something runs, kinds and views misreported."""

from collections.abc import Callable
from typing import Any

import numpy as np
from tests.faults.fault import changing, fault, giving_method, replacing, replacing_both
from tests.faults.testbed import Testbed, change


@replacing("sqrt", "sqrt works in place on its input", "KG", ("sqrt",), operations=())
def sqrt_in_place(original: Any, x: Any, /) -> Any:
    if x.flags.writeable and x.dtype.kind in "fc":
        with np.errstate(all="ignore"):
            return np.sqrt(x, out=x)
    return original(x)


@replacing_both(
    "multiply", "multiply writes its result into its second operand when that is large enough", "KG", ("multiply",)
)
def multiply_reuses_operand(x1: Any, x2: Any) -> Any:
    out = np.multiply(x1, x2)
    fits = isinstance(x2, np.ndarray) and x2.shape == out.shape and x2.dtype == out.dtype and x2.size > 2
    if fits and x2.flags.writeable:
        x2[...] = out
    return out


@replacing(
    "exp", "exp gives the same output buffer at each call with one shape", "K", ("exp",), operations=(), memory=dict
)
def buffer_for_each_shape(buffers: dict[Any, Any], original: Any, x: Any, /) -> Any:
    out = buffers.setdefault((x.shape, x.dtype), np.empty(x.shape, x.dtype))
    out[...] = original(x)
    return out


@replacing(
    "max",
    "the plan of a max is cached by shape and dtype, so a second call uses the first one's axis",
    "K",
    ("max-axis",),
    operations=(),
    memory=dict,
)
def plan_cached_by_shape(
    plans: dict[Any, Any], original: Any, x: Any, /, *, axis: Any = None, keepdims: bool = False
) -> Any:
    if not isinstance(axis, int):
        return original(x, axis=axis, keepdims=keepdims)
    first = plans.setdefault((x.shape, x.dtype), axis)
    out = original(x, axis=axis, keepdims=keepdims)
    other = original(x, axis=first, keepdims=keepdims)
    return other if other.shape == out.shape else np.resize(other, out.shape).astype(out.dtype)


@replacing_both(
    "add",
    "a Python number is cached by its kind, so the second one is taken for the first",
    "KG",
    ("operator-add-scalar",),
    memory=dict,
)
def constant_cached(known: dict[Any, Any], x1: Any, x2: Any) -> Any:
    if type(x2) is float and isinstance(x1, np.ndarray):
        x2 = known.setdefault(x1.shape, x2)
    return np.add(x1, x2)


@replacing("sort", "sort gives the result of its last call again where shape and dtype are the same", "K", memory=dict)
def second_call_is_stale(last: dict[Any, Any], original: Any, x: Any, /, **options: Any) -> Any:
    key = x.shape, x.dtype, tuple(sorted(options.items()))
    return last.setdefault(key, original(x, **options)).copy()


@replacing("tanh", "tanh computes large arrays in blocks and forgets the last, shorter one", "K", operations=())
def large_arrays_in_blocks(original: Any, x: Any, /) -> Any:
    out = original(x)
    if x.ndim == 1 and x.size > 65536:
        out = out.copy()
        out[x.size // 65536 * 65536 :] = x[x.size // 65536 * 65536 :]
    return out


@replacing_both(
    "multiply", "multiply is wrong in the last element of arrays with an odd number of elements above 30", "K"
)
def vector_tail(x1: Any, x2: Any) -> Any:
    out = np.asarray(np.multiply(x1, x2))
    if out.ndim == 1 and out.size > 30 and out.size % 2 and out.dtype.kind == "f":
        out = out.copy()
        out[-1] = 0
    return out


@fault("prepared Python numbers are remembered by value, so that -0.0 becomes 0.0", "K")
def numbers_by_value(bed: Testbed) -> None:
    known: dict[Any, Any] = {}
    change(bed.backend, prepare=lambda value, spec: known.setdefault((value, spec.dtype), value))


def _where_it_runs(bed: Testbed, name: str, change: Callable[[Any], Any]) -> None:
    """Let a function change its results by ``change(result)`` of pretend arrays."""
    library = bed.library
    right = library.find(name)
    library.names[name] = lambda *args, **kwargs: change(right(*args, **kwargs))


@fault("sum on the second device is that of another kernel, which is off by one part in a thousand", "KG", ("sum",))
def sum_on_the_second_device(bed: Testbed) -> None:
    def change(out: Any) -> Any:
        return (
            bed.library.array(out.inner * out.dtype.type(1.001), "1")
            if out.device == "1" and out.dtype.kind == "f"
            else out
        )

    _where_it_runs(bed, "sum", change)


@changing("backend.copy", "copy rounds to float32, so debug mode finds kept arrays changed", "G", ("tanh", "multiply"))
def copy_rounds(right: Any, array: Any) -> Any:
    made = right(array)
    if made.dtype == np.float64:
        made.inner = made.inner.astype(np.float32).astype(np.float64)
    return made


@changing(
    "backend.is_kind",
    "is_kind says of integers that they are floating-point",
    "GM",
    ("where", "take", "F.softmax_cross_entropy"),
)
def integers_are_floating(right: Any, dtype: Any, kind: Any) -> bool:
    kinds = (kind,) if isinstance(kind, str) else kind
    return right(dtype, kind) or ("real floating" in kinds and right(dtype, ("integral", "bool")))


@fault("exp puts its result on the first device, wherever its input is", "KG", ("exp",))
def exp_on_the_first_device(bed: Testbed) -> None:
    _where_it_runs(bed, "exp", lambda out: bed.library.array(out.inner, "0"))


@fault("tanh falls back to NumPy in silence and gives a NumPy array", "K", ("tanh",))
def tanh_by_the_host(bed: Testbed) -> None:
    _where_it_runs(bed, "tanh", lambda out: np.asarray(out.inner))


@giving_method(
    "backend.is_view",
    "is_view says of a view that it is none, so a gradient shares memory with its seed",
    "A",
    ("reshape", "expand_dims"),
)
def views_are_not_told(array: Any) -> Any:
    return False


@replacing(
    "cos", "cos has the wrong sign, so that only derivatives of sin are wrong", "GHK", ("sin", "cos"), operations=()
)
def cos_is_negative(original: Any, x: Any, /) -> Any:
    return -original(x)
