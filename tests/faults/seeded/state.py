"""Faults that come of state: buffers and caches, the device on which something runs, kinds and views misreported."""

from typing import Any

import numpy as np
from tests.faults.fault import changing, giving_method, misreading_both, replacing, spoiling, spoiling_both
from tests.faults.testbed import Testbed, staged


@spoiling_both("multiply", families="KG", cases=("multiply",))
def multiply_reuses_operand(out: Any, x1: Any, x2: Any) -> Any:
    """multiply writes its result into its second operand when that is large enough"""
    fits = isinstance(x2, np.ndarray) and x2.shape == out.shape and x2.dtype == out.dtype and x2.size > 2
    if fits and x2.flags.writeable:
        x2[...] = out
    return out


@replacing("max", families="K", cases=("max-axis",), memory=dict)
def plan_cached_by_shape(
    plans: dict[Any, Any], right: Any, x: Any, /, *, axis: Any = None, keepdims: bool = False
) -> Any:
    """the plan of a max is cached by shape and dtype, so a second call uses the first one's axis"""
    if not isinstance(axis, int):
        return right(x, axis=axis, keepdims=keepdims)
    first = plans.setdefault((x.shape, x.dtype), axis)
    out = right(x, axis=axis, keepdims=keepdims)
    other = right(x, axis=first, keepdims=keepdims)
    return other if other.shape == out.shape else np.resize(other, out.shape).astype(out.dtype)


@misreading_both("add", families="K", cases=("operator-add-scalar",), memory=dict)
def constant_cached(known: dict[Any, Any], x1: Any, x2: Any) -> Any:
    """a Python number is cached by its kind, so the second one is taken for the first"""
    if type(x2) is float and isinstance(x1, np.ndarray):
        x2 = known.setdefault(x1.shape, x2)
    return x1, x2


@replacing("sort", "sort gives the result of its last call again where shape and dtype are the same", "K", memory=dict)
def second_call_is_stale(last: dict[Any, Any], right: Any, x: Any, /, **options: Any) -> Any:
    key = x.shape, x.dtype, tuple(sorted(options.items()))
    return last.setdefault(key, right(x, **options)).copy()


@spoiling("tanh", "tanh computes large arrays in blocks and forgets the last, shorter one", "K")
def large_arrays_in_blocks(out: Any, x: Any) -> Any:
    if x.ndim == 1 and x.size > 65536:
        out = out.copy()
        out[x.size // 65536 * 65536 :] = x[x.size // 65536 * 65536 :]
    return out


@spoiling_both("multiply", families="K")
def vector_tail(out: Any, *_: Any) -> Any:
    """multiply is wrong in the last element of arrays with an odd number of elements above 30"""
    if out.ndim == 1 and out.size > 30 and out.size % 2 and out.dtype.kind == "f":
        out = out.copy()
        out[-1] = 0
    return out


@changing("sum", families="K", cases=("sum",), of_bed=True)
def sum_on_the_second_device(bed: Testbed, right: Any, *args: Any, **options: Any) -> Any:
    """sum on the second device is that of another kernel, which is off by one part in a thousand"""
    out = right(*args, **options)
    other = out.device == "1" and out.dtype.kind == "f"
    return bed.library.array(out.inner * out.dtype.type(1.001), "1") if other else out


@changing("backend.copy", "copy rounds to float32, so debug mode finds kept arrays changed", "G", ("tanh", "multiply"))
def copy_rounds(right: Any, array: Any) -> Any:
    made = right(array)
    if made.dtype == np.float64:
        made.inner = made.inner.astype(np.float32).astype(np.float64)
    return made


@changing("backend.is_kind", families="GM", cases=("where", "take", "F.softmax_cross_entropy"))
def integers_are_floating(right: Any, dtype: Any, kind: Any) -> bool:
    """is_kind says of integers that they are floating-point"""
    kinds = (kind,) if isinstance(kind, str) else kind
    return right(dtype, kind) or ("real floating" in kinds and right(dtype, ("integral", "bool")))


@replacing("cos", families="GHK", cases=("sin", "cos"))
def cos_is_negative(right: Any, x: Any, /) -> Any:
    """cos has the wrong sign, so that only derivatives of sin are wrong"""
    return -right(x)


buffer_for_each_shape = spoiling(
    "exp", "exp gives the same output buffer at each call with one shape", "S", ("exp",), memory=dict
)(lambda buffers, out, x: staged(buffers, out))
tanh_by_the_host = changing("tanh", "tanh falls back to NumPy in silence and gives a NumPy array", "K", ("tanh",))(
    lambda right, x: np.asarray(right(x).inner)
)
sqrt_in_place = replacing("sqrt", "sqrt works in place on its input", "KG", ("sqrt",))(
    lambda right, x: np.sqrt(x, out=x) if x.flags.writeable and x.dtype.kind in "fc" else right(x)
)
numbers_by_value = giving_method(
    "backend.prepare", "prepared Python numbers are remembered by value, so that -0.0 becomes 0.0", "S", memory=dict
)(lambda known, value, spec: known.setdefault((value, spec.dtype), value))
exp_on_the_first_device = changing(
    "exp", "exp puts its result on the first device, wherever its input is", "KG", ("exp",), of_bed=True
)(lambda bed, right, x: bed.library.array(right(x).inner, "0"))
