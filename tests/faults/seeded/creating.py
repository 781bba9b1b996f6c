"""Faults in how arrays are made."""

from typing import Any

import numpy as np
from tests.faults.fault import fault, giving_method, giving_operator, replacing
from tests.faults.testbed import DEVICES, Testbed

MAKERS = "zeros", "ones", "full", "empty", "arange", "asarray", "eye", "linspace"


def _heedless(bed: Testbed, *names: str) -> None:
    """Let functions drop `device=`."""
    for name in names:
        find = bed.library.find(name)

        def call(*args: Any, _find: Any = find, device: Any = None, **options: Any) -> Any:
            return _find(*args, **options)

        bed.library.names[name] = call


@fault("asarray of lists ignores `device=`", "C")
def asarray_ignores_device(bed: Testbed) -> None:
    find = bed.library.find("asarray")

    def call(obj: Any, /, *, device: Any = None, **options: Any) -> Any:
        return (
            find(obj, **options) if isinstance(obj, (list, tuple, int, float)) else find(obj, device=device, **options)
        )

    bed.library.names["asarray"] = call


@fault("zeros_like makes its array on the default device", "C")
def like_on_default_device(bed: Testbed) -> None:
    for name in ("zeros_like", "ones_like", "full_like", "empty_like"):
        find = bed.library.find(name)

        def call(*args: Any, _find: Any = find, device: Any = None, **options: Any) -> Any:
            made = _find(*args, **options)
            return bed.library.array(made.inner, device or DEVICES[0])

        bed.library.names[name] = call


def _wide(x: Any) -> Any:
    return x.dtype if x.dtype.kind in "fcb" else np.float64


@replacing("full", "full of True gives an integer array", "C", operations=())
def full_of_bool_is_int(original: Any, shape: Any, value: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    return original(shape, int(value) if value is True and dtype is None else value, dtype=dtype)


@replacing("full", "full of 2.0 gives an integer array", "C", operations=())
def full_of_whole_float_is_int(
    original: Any, shape: Any, value: Any, /, *, dtype: Any = None, device: Any = None
) -> Any:
    whole = type(value) is float and value.is_integer() and dtype is None
    return original(shape, int(value) if whole else value, dtype=dtype)


@replacing("full", "full goes by way of float64, which large integers do not survive", "C", operations=())
def full_by_way_of_float64(original: Any, shape: Any, value: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    if type(value) is int and dtype is not None:
        return np.full(shape, float(value), np.float64).astype(dtype)
    return original(shape, value, dtype=dtype)


@replacing("full", "full leaves the last block of a large array unwritten", "C", operations=())
def large_full_is_cut(original: Any, shape: Any, value: Any, /, **options: Any) -> Any:
    out = original(shape, value, **options)
    if out.size > 65_536:
        out[-(out.size % 65_536) :] = 0
    return out


@replacing("arange", "arange starts again in the second block of a large array", "C", operations=())
def large_arange_starts_again(original: Any, *args: Any, **options: Any) -> Any:
    out = original(*args, **options)
    out[65_536:] -= out[65_536:65_537]
    return out


@replacing("arange", "arange includes its end when the step is negative", "C", operations=())
def arange_takes_its_end(original: Any, start: Any, /, stop: Any = None, step: Any = 1, **options: Any) -> Any:
    return original(start, None if stop is None else stop + min(step, 0), step, **options)


@replacing("arange", "arange(3, 3) has an element", "C", operations=())
def arange_of_nothing_has_one(original: Any, start: Any, /, stop: Any = None, step: Any = 1, **options: Any) -> Any:
    return original(start, stop + 1 if stop == start else stop, step, **options)


@replacing("linspace", "linspace of one number is NaN", "C", operations=())
def linspace_of_one_divides_by_zero(original: Any, start: Any, stop: Any, /, num: int, **options: Any) -> Any:
    out = original(start, stop, num, **options)
    return out if num != 1 else out * np.nan


@replacing("tril", "tril of a stack takes the diagonal of its first two axes", "C", operations=())
def tril_of_the_first_matrix(original: Any, x: Any, /, *, k: int = 0) -> Any:
    if x.ndim < 3:
        return original(x, k=k)
    return np.moveaxis(original(np.moveaxis(x, (0, 1), (-2, -1)), k=k), (-2, -1), (0, 1))


@replacing("asarray", "asarray of lists in lists in lists drops an axis of length 1", "C", operations=())
def asarray_of_nested_lists_is_flat(original: Any, obj: Any, /, **options: Any) -> Any:
    out = original(obj, **options)
    return out[..., 0] if isinstance(obj, list) and out.ndim == 3 and out.shape[-1] == 1 else out


@fault("asarray(x, copy=True) returns the same memory", "C")
def asarray_never_copies(bed: Testbed) -> None:
    bed.replace("asarray", lambda original, obj, /, *, copy=None, **options: original(obj, **options))
    bed.backend.copy = lambda array: bed.library.array(array.inner, array.device)


@replacing("zeros", "zeros hands out the same memory at the second call", "C", memory=dict)
def zeros_are_cached(
    cache: dict[Any, Any], original: Any, shape: Any, /, *, dtype: Any = None, device: Any = None
) -> Any:
    return cache.setdefault((shape, str(dtype)), original(shape, dtype=dtype))


@fault("Backend.ones hands out the same memory at the second call", "C")
def seeds_are_cached(bed: Testbed) -> None:
    made, cache = bed.backend.ones, dict[Any, Any]()
    bed.backend.ones = lambda spec: cache.setdefault(id(spec), made(spec))


@fault("arrays from the host share its memory", "C")
def host_memory_is_shared(bed: Testbed) -> None:
    bed.backend.from_host = lambda array, device: bed.library.array(array, device.handle)
    bed.backend.to_host = lambda array: array.inner
    bed.backend.copy = lambda array: bed.library.array(array.inner, array.device)


@giving_method("backend.from_host", "arrays from the host are read as if they were contiguous", "C", of_bed=True)
def host_strides_are_ignored(bed: Testbed, array: Any, device: Any) -> Any:
    flat = np.lib.stride_tricks.as_strided(array, array.shape, np.empty(array.shape, array.dtype).strides)
    safe = flat if array.flags.forc and not array.flags.c_contiguous else array
    return bed.library.array(np.array(safe), device.handle)


@giving_method("backend.from_host", "a 0-d array from the host has shape (1,)", "C", of_bed=True)
def host_0d_becomes_1d(bed: Testbed, array: Any, device: Any) -> Any:
    return bed.library.array(np.atleast_1d(np.array(array)), device.handle)


@giving_method("backend.from_host", "integers from the host go by way of float64", "C", of_bed=True)
def host_integers_through_float64(bed: Testbed, array: Any, device: Any) -> Any:
    whole = array.dtype.kind in "iu"
    values = array.astype(np.float64).clip(-(2.0**63), 2.0**63 - 1024) if whole else array
    return bed.library.array(np.array(values.astype(array.dtype)), device.handle)


@giving_method("backend.from_host", "-0.0 from the host becomes 0.0", "C", of_bed=True)
def negative_zero_is_lost(bed: Testbed, array: Any, device: Any) -> Any:
    values = array + np.zeros((), array.dtype) if array.dtype.kind in "fc" else array
    return bed.library.array(np.array(values), device.handle)


@fault("0-d result has shape (1,)", "CK", ("sum", "mean"))
def zero_d_sum_has_an_axis(bed: Testbed) -> None:
    for name in ("sum", "mean", "max"):
        bed.replace(name, lambda original, x, /, **options: np.atleast_1d(original(x, **options)))


@giving_method("backend.copy", "Backend.copy of a transposed array has the order of its memory", "C", of_bed=True)
def copy_ignores_strides(bed: Testbed, array: Any) -> Any:
    inner = array.inner
    order = inner.ravel(order="K").reshape(inner.shape)
    return bed.library.array(order.copy(), array.device)


@fault("Backend.ones ignores the dtype of its spec", "C")
def backend_ones_are_float64(bed: Testbed) -> None:
    made = bed.library.find("ones")
    bed.backend.ones = lambda spec: made(spec.shape, device=spec.device)


@fault("zeros/full ignore `device=`", "CG", ("F.convolution_1d",))
def zeros_ignore_device(bed: Testbed) -> None:
    _heedless(bed, "zeros", "full", "ones")


@fault("arange and linspace ignore `device=`", "C")
def arange_ignores_device(bed: Testbed) -> None:
    _heedless(bed, "arange", "linspace")


@fault("eye ignores `device=`", "C")
def eye_ignores_device(bed: Testbed) -> None:
    _heedless(bed, "eye")


@fault("zeros_like and ones_like ignore `device=`", "C")
def like_ignores_device(bed: Testbed) -> None:
    _heedless(bed, "zeros_like", "ones_like", "full_like")


@replacing("zeros_like", "zeros_like ignores `dtype=`", "C")
def like_ignores_dtype(original: Any, x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    return original(x)


@replacing("ones_like", "ones_like of integers gives floats", "C")
def ones_of_integers_are_floats(original: Any, x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    return np.ones(x.shape, dtype or _wide(x))


@replacing("zeros", "zeros(()) has shape (1,)", "C")
def zeros_of_length_as_1x1(original: Any, shape: Any, /, **options: Any) -> Any:
    return original(shape if shape != () else (1,), **options)


@replacing("linspace", "linspace ignores endpoint=False", "C")
def linspace_keeps_endpoint(original: Any, a: Any, b: Any, /, num: Any, endpoint: Any = True, **options: Any) -> Any:
    return original(a, b, num, **options)


@replacing("eye", "eye takes a negative k for 0", "C")
def eye_ignores_k_below(original: Any, *n: Any, k: Any = 0, **options: Any) -> Any:
    return original(*n, k=max(k, 0), **options)


@replacing("meshgrid", "meshgrid ignores `indexing`", "C")
def meshgrid_is_always_ij(original: Any, *arrays: Any, indexing: Any = "xy") -> Any:
    return original(*arrays, indexing="ij")


@replacing("reshape", "reshape(x, shape, copy=True) returns a view", "C")
def reshape_never_copies(original: Any, x: Any, /, shape: Any, *, copy: Any = None) -> Any:
    return original(x, shape)


@giving_operator("__getitem__", "x[1, 2] has shape (1,)", "C")
def zero_d_element_has_an_axis(x: Any, key: Any) -> Any:
    return np.atleast_1d(x[key]) if x[key].ndim == 0 and x.ndim else x[key]
