"""Faults in what a plugin says of itself, its arrays and devices, and in how it loads."""

from typing import Any

import numpy as np
from tests.faults.bed import Bed
from tests.faults.fault import Fault, fault, faults_in

from xpgrad import Device
from xpgrad_conformance.pretend import PretendArray


@fault("no-version", "the library's version is unknown", "L")
def no_version(bed: Bed) -> None:
    bed.backend.version = "unknown"


@fault("base-type-listed", "array_types lists the base class of the arrays", "L")
def base_type_listed(bed: Bed) -> None:
    bed.backend.array_types = (type("Array", (), {"__module__": "crates"}),)


@fault("slices-are-another-type", "slices of an array are of a type that the backend does not list", "L")
def slices_are_another_type(bed: Bed) -> None:
    view = type("View", (bed.library.Array,), {})

    def getitem(this: Any, key: Any) -> Any:
        found = bed.library.call(lambda x, k: x[k], this, key)
        found.__class__ = view
        return found

    bed.library.Array.__getitem__ = getitem  # type: ignore[method-assign]  # a class made for this bed alone


@fault("shape-is-a-list", "an array's shape is a list", "L")
def shape_is_a_list(bed: Bed) -> None:
    bed.library.Array.shape = property(lambda self: list(self.inner.shape))  # type: ignore[assignment, method-assign]  # as above


@fault("ndim-counts-from-one", "a 0-d array says that it has one axis", "L")
def ndim_counts_from_one(bed: Bed) -> None:
    bed.library.Array.ndim = property(lambda self: max(1, len(self.inner.shape)))  # type: ignore[assignment, method-assign]  # as above


@fault("no-truth-value", "arrays have no truth value of their own, so Python takes every one for true", "L")
def no_truth_value(bed: Bed) -> None:
    bed.library.Array.__bool__ = lambda self: True  # type: ignore[method-assign]  # as above


@fault("default-device-not-first", "the library's default device is not the first that the backend lists", "L")
def default_device_not_first(bed: Bed) -> None:
    devices = bed.library.devices
    bed.backend._given_devices = {name: name for name in (*devices[1:], devices[0])}


@fault("one-handle-for-two-devices", "two devices have equal handles", "L")
def one_handle_for_two_devices(bed: Bed) -> None:
    bed.backend._given_devices = {"0": "0", "1": "0", "2": "2"}


@fault("device-names-do-not-parse", "get_device does not understand the name of a device", "L")
def device_names_do_not_parse(bed: Bed) -> None:
    bed.backend._devices = tuple(Device(bed.backend, d, f"@{bed.backend.name}_{d}") for d in bed.library.devices)


@fault("second-device-is-dead", "the second device is listed, but refuses to compute", "L")
def second_device_is_dead(bed: Bed) -> None:
    def refuse(original: Any, x: Any, /, **options: Any) -> Any:
        return original(x, **options)

    bed.replace("sum", refuse)
    inner = bed.library.names["sum"]

    def call(x: PretendArray, /, **options: Any) -> Any:
        if x.device == "1":
            raise RuntimeError("out of order")
        return inner(x, **options)

    bed.library.names["sum"] = call


@fault("kernel-added-after-loading", "a kernel of an unknown name is added after the plugin was loaded", "L")
def kernel_added_after_loading(bed: Bed) -> None:
    bed.devices()
    bed.kernel("softmaks", lambda x: x)


@fault("function-not-there", "the namespace lacks functions, and they are not declared as missing", "L")
def function_not_there(bed: Bed) -> None:
    find = bed.library.find

    def without(name: str) -> Any:
        if name in ("nextafter", "unique_counts"):
            raise AttributeError(name)
        return find(name)

    bed.library.find = without  # type: ignore[method-assign]  # of this bed's own library


# In a new process


@fault("needs-what-is-not-installed", "the plugin loads only in the program where it was written", "L")
def needs_what_is_not_installed(bed: Bed) -> None:
    bed.install("import only_in_my_notebook")


@fault("plugin-imports-torch", "import of the plugin imports torch", "L")
def plugin_imports_torch(bed: Bed) -> None:
    bed.install("import torch", others={"torch": ""})


@fault("plugin-prints", "import of the plugin prints a greeting", "L")
def plugin_prints(bed: Bed) -> None:
    bed.install("print('3 devices found')")


@fault("array-modules-forgotten", "no entry point names the module of the arrays", "L")
def array_modules_forgotten(bed: Bed) -> None:
    bed.install("", array_modules=False)


@fault("devices-named-by-chance", "a device has another name in each process", "L")
def devices_named_by_chance(bed: Bed) -> None:
    bed.install(
        "import os\nfrom xpgrad.backend.device import Device\n"
        "bed.backend._devices = tuple(Device(bed.backend, d, f'@{bed.backend.name}:{os.getpid()}_{d}') for d in '012')"
    )


@fault("error-state-is-set", "division switches NumPy's warnings off for all", "L")
def error_state_is_set(bed: Bed) -> None:
    def divide(x1: Any, x2: Any) -> Any:
        np.seterr(all="ignore")
        return np.divide(x1, x2)

    bed.both("divide", "truediv", divide)


FAULTS: tuple[Fault, ...] = faults_in(globals())
