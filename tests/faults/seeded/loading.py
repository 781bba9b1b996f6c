"""Faults in a plugin's description of itself, its arrays and devices, and in its loading."""

from typing import Any

import numpy as np
from tests.faults.fault import Fault, fault, install, on_arrays, on_backend, replacing_both
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


@fault("the second device is listed, but refuses to compute", "L")
def second_device_is_dead(bed: Testbed) -> None:
    def refuse(original: Any, x: Any, /, **options: Any) -> Any:
        return original(x, **options)

    bed.replace("sum", refuse)
    inner = bed.library.names["sum"]

    def call(x: PretendArray, /, **options: Any) -> Any:
        if x.device == "1":
            raise RuntimeError("out of order")
        return inner(x, **options)

    bed.library.names["sum"] = call


@fault("a kernel of an unknown name is added after the plugin was loaded", "L")
def kernel_added_after_loading(bed: Testbed) -> None:
    bed.devices()
    bed.kernel("softmaks", lambda x: x)


@fault("the namespace lacks functions, and they are not declared as missing", "L")
def function_not_there(bed: Testbed) -> None:
    find = bed.library.find

    def without(name: str) -> Any:
        if name in ("nextafter", "unique_counts"):
            raise AttributeError(name)
        return find(name)

    bed.library.find = without


@replacing_both("divide", "division switches NumPy's warnings off for all", "L")
def error_state_is_set(x1: Any, x2: Any) -> Any:
    np.seterr(all="ignore")
    return np.divide(x1, x2)


FAULTS = (
    Fault("no-version", "the library's version is unknown", "L", on_backend(version="unknown")),
    Fault(
        "base-type-listed",
        "array_types lists the base class of the arrays",
        "L",
        lambda bed: change(bed.backend, array_types=(type("Array", (), {"__module__": "crates"}),)),
    ),
    Fault(
        "shape-is-a-list",
        "an array's shape is a list",
        "L",
        lambda bed: change(bed.library.Array, shape=property(lambda self: list(self.inner.shape))),
    ),
    Fault(
        "ndim-counts-from-one",
        "a 0-d array says that it has one axis",
        "L",
        lambda bed: change(bed.library.Array, ndim=property(lambda self: max(1, len(self.inner.shape)))),
    ),
    Fault(
        "no-truth-value",
        "arrays have no truth value of their own, so Python takes every one for true",
        "L",
        on_arrays(__bool__=lambda self: True),
    ),
    Fault(
        "one-handle-for-two-devices",
        "two devices have equal handles",
        "L",
        lambda bed: change(bed.backend, _given_devices={"0": "0", "1": "0", "2": "2"}),
    ),
    Fault(
        "device-names-do-not-parse",
        "get_device does not understand the name of a device",
        "L",
        lambda bed: change(
            bed.backend, _devices=tuple(Device(bed.backend, d, f"@{bed.backend.name}_{d}") for d in bed.library.devices)
        ),
    ),
    Fault(
        "needs-what-is-not-installed",
        "the plugin loads only in the program where it was written",
        "L",
        install("import only_in_my_notebook"),
    ),
    Fault(
        "plugin-imports-torch", "import of the plugin imports torch", "L", install("import torch", others={"torch": ""})
    ),
    Fault("plugin-prints", "import of the plugin prints a greeting", "L", install("print('3 devices found')")),
    Fault(
        "array-modules-forgotten",
        "no entry point names the module of the arrays",
        "L",
        install("", array_modules=False),
    ),
    Fault(
        "devices-named-by-chance",
        "a device has another name in each process",
        "L",
        install(
            "import os\nfrom xpgrad.backend.device import Device\n"
            "name = f'@{bed.backend.name}:{os.getpid()}_'\n"
            "bed.backend._devices = tuple(Device(bed.backend, d, f'{name}{d}') for d in '012')"
        ),
    ),
)
