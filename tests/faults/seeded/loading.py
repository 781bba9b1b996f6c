"""Faults in a plugin's description of itself, its arrays and devices, and in its loading."""

from typing import Any

import numpy as np
from tests.faults.fault import changing, fault, giving_method
from tests.faults.testbed import Testbed, change

from xpgrad import Device
from xpgrad_conformance.pretend import PretendArray


@fault("slices of an array are of a type that the backend does not list", "L")
def slices_are_another_type(bed: Testbed) -> None:
    view = type("View", (bed.library.Array,), {})

    def getitem(this: Any, key: Any) -> Any:
        found = bed.library.call(lambda x, k: x[k], this, key)
        found.__class__ = view
        return found

    bed.library.Array.__getitem__ = getitem


@fault("the library's default device is not the first that the backend lists", "L")
def default_device_not_first(bed: Testbed) -> None:
    devices = bed.library.devices
    bed.backend._given_devices = {name: name for name in (*devices[1:], devices[0])}


@changing("sum", "the second device is listed, but refuses to compute", "L")
def second_device_is_dead(right: Any, x: PretendArray, /, **options: Any) -> Any:
    if x.device == "1":
        raise RuntimeError("out of order")
    return right(x, **options)


@fault("a kernel of an unknown name is added after the plugin was loaded", "L")
def kernel_added_after_loading(bed: Testbed) -> None:
    bed.devices()
    bed.kernel("softmaks", lambda x: x)


@changing("library.find", "the namespace lacks functions, and they are not declared as missing", "L")
def function_not_there(find: Any, name: str) -> Any:
    if name in ("nextafter", "unique_counts"):
        raise AttributeError(name)
    return find(name)


@fault("division switches NumPy's warnings off for all", "L")
def error_state_is_set(bed: Testbed) -> None:
    def divide(x1: Any, x2: Any) -> Any:
        np.seterr(all="ignore")
        return np.divide(x1, x2)

    bed.both("divide", divide)


@fault("get_device does not understand the name of a device", "L")
def device_names_do_not_parse(bed: Testbed) -> None:
    change(bed.backend, _devices=tuple(Device(bed.backend, d, f"@{bed.backend.name}_{d}") for d in bed.library.devices))


@fault("a device has another name in each process", "L")
def devices_named_by_chance(bed: Testbed) -> None:
    bed.install(
        "import os\nfrom xpgrad.backend.device import Device\n"
        "name = f'@{bed.backend.name}:{os.getpid()}_'\n"
        "bed.backend._devices = tuple(Device(bed.backend, d, f'{name}{d}') for d in '012')"
    )


base_type_listed = fault("array_types lists the base class of the arrays", "L")(
    lambda bed: change(bed.backend, array_types=(type("Array", (), {"__module__": "crates"}),))
)
shape_is_a_list = fault("an array's shape is a list", "L")(
    lambda bed: change(bed.library.Array, shape=property(lambda self: list(self.inner.shape)))
)
ndim_counts_from_one = fault("a 0-d array says that it has one axis", "L")(
    lambda bed: change(bed.library.Array, ndim=property(lambda self: max(1, len(self.inner.shape))))
)
one_handle_for_two_devices = fault("two devices have equal handles", "L")(
    lambda bed: change(bed.backend, _given_devices={"0": "0", "1": "0", "2": "2"})
)
no_version = fault("the library's version is unknown", "L")(lambda bed: change(bed.backend, version="unknown"))
needs_what_is_not_installed = fault("the plugin loads only in the program where it was written", "L")(
    lambda bed: bed.install("import only_in_my_notebook")
)
plugin_imports_torch = fault("import of the plugin imports torch", "L")(
    lambda bed: bed.install("import torch", others={"torch": ""})
)
plugin_prints = fault("import of the plugin prints a greeting", "L")(
    lambda bed: bed.install("print('3 devices found')")
)
array_modules_forgotten = fault("no entry point names the module of the arrays", "L")(
    lambda bed: bed.install("", array_modules=False)
)
no_truth_value = giving_method(
    "Array.__bool__", "arrays have no truth value of their own, so Python takes every one for true", "L"
)(lambda self: True)
