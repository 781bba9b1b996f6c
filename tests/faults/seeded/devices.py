"""Faults about where arrays are, and which device they say that they are on."""

from typing import Any

import numpy as np
from tests.faults.fault import changing, fault, giving_method
from tests.faults.testbed import DEVICES, Testbed, change

from xpgrad import Device

FIRST = DEVICES[0]
SUMS = "sum", "sum-axis"


def _lands_on_the_first(bed: Testbed, *names: str) -> None:
    """Let functions of the namespace put their results on the first device."""
    for name in names:
        original = bed.library.find(name)

        def call(*args: Any, original: Any = original, **kwargs: Any) -> Any:
            return _relabelled(original(*args, **kwargs))

        bed.library.names[name] = call


def _relabelled(result: Any) -> Any:
    if isinstance(result, tuple):
        for each in result:
            each.device = FIRST
    else:
        result.device = FIRST
    return result


def _ignores_device(bed: Testbed, *names: str) -> None:
    """Let functions of the namespace forget their parameter `device`."""
    for name in names:
        original = bed.library.find(name)
        bed.library.names[name] = lambda *args, original=original, device=None, **kwargs: original(*args, **kwargs)


@giving_method("backend.device_of", "device_of gives a device of another name than devices() has", "V", of_bed=True)
def device_of_another_name(bed: Testbed, array: Any) -> Device:
    return Device(bed.backend, array.device, f"@{bed.backend.name}:dev{array.device}")


@fault("zeros_like and its kin create on the default device", "V")
def like_on_the_first(bed: Testbed) -> None:
    _ignores_device(bed, "zeros_like", "ones_like", "full_like", "empty_like")
    _lands_on_the_first(bed, "zeros_like", "ones_like", "full_like", "empty_like")


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


@giving_method(
    "backend.prepare", "scalars are cached by dtype, for the device that came first", "V", memory=dict, of_bed=True
)
def scalars_of_one_device(bed: Testbed, made: dict[Any, Any], value: Any, spec: Any) -> Any:
    if type(value) is not float or not spec.differentiable or spec.complex:
        return value
    return made.setdefault((value, spec.dtype), bed.library.array(np.asarray(value, spec.dtype), spec.device))


@fault("specs are cached by shape and dtype, for the device that came first", "V")
def specs_of_one_device(bed: Testbed) -> None:
    known: dict[Any, Any] = {}
    spec_for = bed.backend.spec_for

    def spec(array: Any) -> Any:
        key = array.shape, array.dtype
        if key not in known:
            known[key] = spec_for(*key, array.device)
        return known[key]

    change(bed.backend, spec=spec)


@fault("full reductions come back on the default device", "V")
def reductions_on_the_first(bed: Testbed) -> None:
    original = bed.library.find("sum")

    def wrong(x: Any, /, **options: Any) -> Any:
        made = original(x, **options)
        return _relabelled(made) if made.ndim == 0 else made

    bed.library.names["sum"] = wrong


@changing("Array.__getitem__", "indexing with an integer array gives a result on the default device", "V", of_bed=True)
def indexing_on_the_first(bed: Testbed, index: Any, self: Any, key: Any) -> Any:
    made = index(self, key)
    keys = key if isinstance(key, tuple) else (key,)
    return _relabelled(made) if any(isinstance(k, bed.library.Array) for k in keys) else made


@fault("comparisons give their results on the default device", "V")
def comparisons_on_the_first(bed: Testbed) -> None:
    for name in ("gt", "lt"):
        original = getattr(bed.library.Array, f"__{name}__")
        setattr(bed.library.Array, f"__{name}__", lambda a, b, original=original: _relabelled(original(a, b)))
    _lands_on_the_first(bed, "greater", "less")


@fault("scatter_add creates its result on the default device", "V")
def scatter_on_the_first(bed: Testbed) -> None:
    scatter_add = bed.kernels["scatter_add"]
    bed.kernels["scatter_add"] = lambda spec, parts, /: _relabelled(scatter_add(spec, parts))


@fault("sums of large gradients come back on the default device", "V")
def accumulate_on_the_first(bed: Testbed) -> None:
    bed.backend.in_place_from = 4096
    bed.kernels["accumulate"] = lambda total, g: bed.library.array(total.inner + g.inner, FIRST)


@fault("copies are made on the default device", "VR")
def copies_on_the_first(bed: Testbed) -> None:
    copy = bed.backend.copy
    change(bed.backend, copy=lambda array: _relabelled(copy(array)))


@fault("operations on the last device give results on the default one", "V")
def third_device_is_the_first(bed: Testbed) -> None:
    place = bed.library.place
    change(bed.library, place=lambda devices: FIRST if devices == {DEVICES[-1]} else place(devices))


@giving_method("backend.handle_of", "device_of always reports device 0", "VKG", SUMS)
def device_of_says_the_first(array: Any) -> Any:
    return FIRST


@giving_method("backend.handle_of", "device_of reports device 0 for views", "V")
def device_of_views_says_the_first(a: Any) -> Any:
    return a.device if a.inner.base is None else FIRST


@fault("zeros/full ignore `device=`", "V")
def creation_ignores_device(bed: Testbed) -> None:
    _ignores_device(bed, "zeros", "full")


@fault("arange, linspace and eye ignore `device=`", "V")
def arange_is_on_the_default(bed: Testbed) -> None:
    _ignores_device(bed, "arange", "linspace", "eye")


@fault("the ones that a sweep starts from are on the default device", "V")
def ones_on_the_first(bed: Testbed) -> None:
    change(bed.backend, ones=lambda spec: bed.library.ones(spec.shape, dtype=spec.dtype))


@giving_method("library.check_devices", "kernels accept mixed devices", "V")
def mixed_devices_accepted(devices: Any) -> Any:
    return None


@giving_method("backend.handle_of", "equal device handles compare unequal", "V")
def equal_handles_unequal(array: Any) -> Any:
    return _Handle(array.device)


@giving_method("backend.handle_of", "equal device handles have unequal hashes", "V")
def handles_hash_unequal(array: Any) -> Any:
    return _HashedByIdentity(array.device)


@giving_method("backend.handle_of", "device handles of one library all compare equal", "V")
def handles_all_equal(array: Any) -> Any:
    return _EqualToAll(array.device)


@fault("the backend gives its default device for every index", "VRT")
def index_ignored(bed: Testbed) -> None:
    change(bed.backend, device=lambda index: bed.backend.default_device)


@fault("concat and stack create their result on the default device", "V")
def joining_on_the_first(bed: Testbed) -> None:
    _lands_on_the_first(bed, "concat", "stack")


@fault("linear algebra gives its results on the default device", "V")
def linalg_on_the_first(bed: Testbed) -> None:
    _lands_on_the_first(bed, "linalg.inv", "linalg.solve", "linalg.det")


@fault("Fourier transforms give their results on the default device", "V")
def fft_on_the_first(bed: Testbed) -> None:
    _lands_on_the_first(bed, "fft.rfft", "fft.irfft", "fft.fft", "fft.ifft")
