"""Faults about where arrays are, and which device they say that they are on."""

import threading
from typing import Any

import numpy as np
from tests.faults.fault import changing, fault, giving_method
from tests.faults.testbed import DEVICES, Testbed

from xpgrad import Device

FIRST = DEVICES[0]
SUMS = "sum", "sum-axis"


def _lands_on_the_first(right: Any, *args: Any, **options: Any) -> Any:
    """Call a function, and say that its result is on the first device."""
    return _relabelled(right(*args, **options))


def _relabelled(result: Any) -> Any:
    if isinstance(result, tuple):
        for each in result:
            each.device = FIRST
    else:
        result.device = FIRST
    return result


class _Handle:
    """A device object of a library, which is called by its name but compares by identity."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __str__(self) -> str:
        return self.name


class _HashedByIdentity(str):
    """A name that equals other names with its letters, but not in a dictionary."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other)

    def __hash__(self) -> int:
        return id(self)


class _EqualToAll(str):
    """A name that equals every other."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return str.__hash__(self)


@giving_method("backend.prepare", families="V", memory=dict, of_bed=True)
def scalars_of_one_device(bed: Testbed, made: dict[Any, Any], value: Any, spec: Any) -> Any:
    """scalars are cached by dtype, for the device that came first"""
    if type(value) is not float or not spec.differentiable or spec.complex:
        return value
    return made.setdefault((value, spec.dtype), bed.library.array(np.asarray(value, spec.dtype), spec.device))


@changing("sum", "full reductions come back on the default device", "V")
def reductions_on_the_first(right: Any, x: Any, /, **options: Any) -> Any:
    made = right(x, **options)
    return _relabelled(made) if made.ndim == 0 else made


@changing(
    "Array.__getitem__",
    "indexing with an integer array gives a result on the default device",
    "K",
    of_bed=True,
    operations=("getitem",),
)
def indexing_on_the_first(bed: Testbed, index: Any, self: Any, key: Any) -> Any:
    made = index(self, key)
    keys = key if isinstance(key, tuple) else (key,)
    return _relabelled(made) if any(isinstance(k, bed.library.Array) for k in keys) else made


@fault("scatter_add creates its result on the default device", "V")
def scatter_on_the_first(bed: Testbed) -> None:
    scatter_add = bed.kernels["scatter_add"]
    bed.kernels["scatter_add"] = lambda spec, parts, /: _relabelled(scatter_add(spec, parts))


@fault("sums of large gradients come back on the default device", "V")
def accumulate_on_the_first(bed: Testbed) -> None:
    bed.backend.in_place_from = 4096
    bed.kernels["accumulate"] = lambda total, g: bed.library.array(total.inner + g.inner, FIRST)


comparisons_on_the_first = changing(
    "Array.__gt__ Array.__lt__ greater less",
    "comparisons give their results on the default device",
    "K",
    operations=("greater", "less"),
)(_lands_on_the_first)
copies_on_the_first = changing("backend.copy", "copies are made on the default device", "VR")(_lands_on_the_first)
third_device_is_the_first = changing(
    "library.place", "operations on the last device give results on the default one", "V"
)(lambda right, devices: FIRST if devices == {DEVICES[-1]} else right(devices))
device_of_says_the_first = giving_method("backend.handle_of", "device_of always reports device 0", "VKGE", SUMS)(
    lambda array: FIRST
)
device_of_views_says_the_first = giving_method("backend.handle_of", "device_of reports device 0 for views", "V")(
    lambda a: a.device if a.inner.base is None else FIRST
)
device_of_empty_says_the_first = giving_method("backend.handle_of", "device_of reports device 0 for empty arrays", "V")(
    lambda array: array.device if array.inner.size else FIRST
)
ones_on_the_first = giving_method(
    "backend.ones", "the ones that a sweep starts from are on the default device", "V", of_bed=True
)(lambda bed, spec: bed.library.ones(spec.shape, dtype=spec.dtype))
mixed_devices_accepted = giving_method("library.check_devices", "kernels accept mixed devices", "VE")(
    lambda devices: None
)
equal_handles_unequal = giving_method("backend.handle_of", "equal device handles compare unequal", "V")(
    lambda array: _Handle(array.device)
)
handles_hash_unequal = giving_method("backend.handle_of", "equal device handles have unequal hashes", "V")(
    lambda array: _HashedByIdentity(array.device)
)
handles_all_equal = giving_method("backend.handle_of", "device handles of one library all compare equal", "V")(
    lambda array: _EqualToAll(array.device)
)
index_ignored = giving_method(
    "backend.device", "the backend gives its default device for every index", "VRT", of_bed=True
)(lambda bed, index: bed.backend.default_device)
devices_of_one_thread = changing(
    "backend.device", "other threads than the first find device 0 by every name", "V", memory=threading.current_thread
)(lambda first, right, index: right(index if threading.current_thread() is first else None))
joining_on_the_first = changing(
    "concat stack", "concat and stack create their result on the default device", "K", operations=("concat", "stack")
)(_lands_on_the_first)
linalg_on_the_first = changing(
    "linalg.inv linalg.solve linalg.det",
    "linear algebra gives its results on the default device",
    "K",
    operations=("linalg.inv", "linalg.solve", "linalg.det"),
)(_lands_on_the_first)
fft_on_the_first = changing(
    "fft.rfft fft.irfft fft.fft fft.ifft",
    "Fourier transforms give their results on the default device",
    "K",
    operations=("fft.rfft", "fft.fft"),
)(_lands_on_the_first)
device_of_another_name = giving_method(
    "backend.device_of", "device_of gives a device of another name than devices() has", "V", of_bed=True
)(lambda bed, array: Device(bed.backend, array.device, f"@{bed.backend.name}:dev{array.device}"))
like_on_the_first = changing(
    "zeros_like ones_like full_like empty_like", "zeros_like and its kin create on the default device", "VC"
)(lambda right, *args, device=None, **options: _relabelled(right(*args, **options)))
