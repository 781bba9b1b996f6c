"""Faults in how arrays are made."""

from typing import Any

import numpy as np
from tests.faults.fault import Fault, fault, operator, replace, replacing
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


@fault("zeros hands out the same memory at the second call", "C")
def zeros_are_cached(bed: Testbed) -> None:
    cache: dict[Any, Any] = {}

    def wrong(original: Any, shape: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
        return cache.setdefault((shape, str(dtype)), original(shape, dtype=dtype))

    bed.replace("zeros", wrong)


@fault("Backend.ones hands out the same memory at the second call", "C")
def seeds_are_cached(bed: Testbed) -> None:
    made, cache = bed.backend.ones, dict[Any, Any]()
    bed.backend.ones = lambda spec: cache.setdefault(id(spec), made(spec))


@fault("arrays from the host share its memory", "C")
def host_memory_is_shared(bed: Testbed) -> None:
    bed.backend.from_host = lambda array, device: bed.library.array(array, device.handle)
    bed.backend.to_host = lambda array: array.inner
    bed.backend.copy = lambda array: bed.library.array(array.inner, array.device)


@fault("arrays from the host are read as if they were contiguous", "C")
def host_strides_are_ignored(bed: Testbed) -> None:
    def wrong(array: Any, device: Any) -> Any:
        flat = np.lib.stride_tricks.as_strided(array, array.shape, np.empty(array.shape, array.dtype).strides)
        safe = flat if array.flags.forc and not array.flags.c_contiguous else array
        return bed.library.array(np.array(safe), device.handle)

    bed.backend.from_host = wrong


@fault("a 0-d array from the host has shape (1,)", "C")
def host_0d_becomes_1d(bed: Testbed) -> None:
    def wrong(array: Any, device: Any) -> Any:
        return bed.library.array(np.atleast_1d(np.array(array)), device.handle)

    bed.backend.from_host = wrong


@fault("integers from the host go by way of float64", "C")
def host_integers_through_float64(bed: Testbed) -> None:
    def wrong(array: Any, device: Any) -> Any:
        whole = array.dtype.kind in "iu"
        values = array.astype(np.float64).clip(-(2.0**63), 2.0**63 - 1024) if whole else array
        return bed.library.array(np.array(values.astype(array.dtype)), device.handle)

    bed.backend.from_host = wrong


@fault("-0.0 from the host becomes 0.0", "C")
def negative_zero_is_lost(bed: Testbed) -> None:
    def wrong(array: Any, device: Any) -> Any:
        values = array + np.zeros((), array.dtype) if array.dtype.kind in "fc" else array
        return bed.library.array(np.array(values), device.handle)

    bed.backend.from_host = wrong


@fault("0-d result has shape (1,)", "CK", ("sum", "mean"))
def zero_d_sum_has_an_axis(bed: Testbed) -> None:
    for name in ("sum", "mean", "max"):
        bed.replace(name, lambda original, x, /, **options: np.atleast_1d(original(x, **options)))


@fault("Backend.copy of a transposed array has the order of its memory", "C")
def copy_ignores_strides(bed: Testbed) -> None:
    def wrong(array: Any) -> Any:
        inner = array.inner
        order = inner.ravel(order="K").reshape(inner.shape)
        return bed.library.array(order.copy(), array.device)

    bed.backend.copy = wrong


@fault("Backend.ones ignores the dtype of its spec", "C")
def backend_ones_are_float64(bed: Testbed) -> None:
    made = bed.library.find("ones")
    bed.backend.ones = lambda spec: made(spec.shape, device=spec.device)


FAULTS = (
    Fault(
        "zeros-ignore-device",
        "zeros/full ignore `device=`",
        "CG",
        lambda bed: _heedless(bed, "zeros", "full", "ones"),
        ("F.convolution_1d",),
    ),
    Fault(
        "arange-ignores-device",
        "arange and linspace ignore `device=`",
        "C",
        lambda bed: _heedless(bed, "arange", "linspace"),
    ),
    Fault("eye-ignores-device", "eye ignores `device=`", "C", lambda bed: _heedless(bed, "eye")),
    Fault(
        "like-ignores-device",
        "zeros_like and ones_like ignore `device=`",
        "C",
        lambda bed: _heedless(bed, "zeros_like", "ones_like", "full_like"),
    ),
    Fault(
        "like-ignores-dtype",
        "zeros_like ignores `dtype=`",
        "C",
        replace("zeros_like", lambda original, x, /, *, dtype=None, device=None: original(x)),
    ),
    Fault(
        "ones-of-integers-are-floats",
        "ones_like of integers gives floats",
        "C",
        replace("ones_like", lambda original, x, /, *, dtype=None, device=None: np.ones(x.shape, dtype or _wide(x))),
    ),
    Fault(
        "zeros-of-length-as-1x1",
        "zeros(()) has shape (1,)",
        "C",
        replace("zeros", lambda original, shape, /, **options: original(shape if shape != () else (1,), **options)),
    ),
    Fault(
        "linspace-keeps-endpoint",
        "linspace ignores endpoint=False",
        "C",
        replace("linspace", lambda original, a, b, /, num, endpoint=True, **options: original(a, b, num, **options)),
    ),
    Fault(
        "eye-ignores-k-below",
        "eye takes a negative k for 0",
        "C",
        replace("eye", lambda original, *n, k=0, **options: original(*n, k=max(k, 0), **options)),
    ),
    Fault(
        "meshgrid-is-always-ij",
        "meshgrid ignores `indexing`",
        "C",
        replace("meshgrid", lambda original, *arrays, indexing="xy": original(*arrays, indexing="ij")),
    ),
    Fault(
        "reshape-never-copies",
        "reshape(x, shape, copy=True) returns a view",
        "C",
        replace("reshape", lambda original, x, /, shape, *, copy=None: original(x, shape)),
    ),
    Fault(
        "0d-element-has-an-axis",
        "x[1, 2] has shape (1,)",
        "C",
        operator("__getitem__", lambda x, key: np.atleast_1d(x[key]) if x[key].ndim == 0 and x.ndim else x[key]),
    ),
)
