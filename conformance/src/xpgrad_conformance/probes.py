"""Probes of capabilities: the declaration of a backend must agree with the library, in both directions."""

import functools
import pickle
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np

from xpgrad import Device, random, using_device
from xpgrad.backend.capabilities import IMPLIED_BY
from xpgrad.backend.kernels import library_function, table
from xpgrad.backend.standard import DTYPES, FUNCTIONS
from xpgrad.errors import MissingFunction
from xpgrad.plugin import FACTS, Backend, Capabilities
from xpgrad.testing.arrays import on_host, placed
from xpgrad.types import Array
from xpgrad_conformance.exchanged import aligned, hands_out_its_memory, in_host_memory, takes_over


class Mismatch(NamedTuple):
    """A capability for which the declaration and the probe disagree.

    Attributes
    ----------
    fact, device : str
    declared : bool
        Whether the capabilities declare it as present.
    error : str
        The error that the probe raised; empty if it raised none.
    """

    fact: str
    device: str
    declared: bool
    error: str = ""

    def __str__(self) -> str:
        if not self.declared:
            return f"{self.fact} on {self.device}: declared missing, but the probe finds it"
        why = f": {self.error}" if self.error else ""
        return f"{self.fact} on {self.device}: not declared missing, but the probe does not find it{why}"


class ProbeResult(NamedTuple):
    """Whether a capability is present (None if unknown), and the error that shows its absence."""

    there: bool | None
    error: str = ""


Probe = Callable[[Device], bool | None]


def mismatches(devices: Sequence[Device], capabilities: Capabilities) -> list[Mismatch]:
    """Return the disagreements between declaration and probes; facts that cannot be probed are assumed to be right."""
    found: list[Mismatch] = []
    for device in devices:
        index = device.name.partition(":")[2] or None
        for fact, (there, error) in findings(device).items():
            lacking = capabilities.lacking((fact,), index, wrong=False)
            if there is not None and there == (lacking is not None) and not (there and _implied(fact, lacking)):
                found.append(Mismatch(fact, device.name, lacking is None, error))
    return found


def _implied(fact: str, lacking: str | None) -> bool:
    """Return whether a fact is declared missing only because another fact is missing."""
    return lacking is not None and lacking.partition(":")[0] in IMPLIED_BY.get(fact, ())


def findings(device: Device) -> dict[str, ProbeResult]:
    """Return the results of the probes for every capability, dtype and function."""
    found = {fact: _probed(PROBES[fact], device) for fact in FACTS}
    found |= {name: _probed(functools.partial(_has_dtype, name=name), device) for name in DTYPES}
    extensions = {name: found[name].there for name in ("linalg", "fft")}
    for name in FUNCTIONS:
        inside = extensions.get(name.partition(".")[0], True)
        found[name] = ProbeResult(has_function(device.backend, name) if inside else False)
    return found


def _probed(probe: Probe, device: Device) -> ProbeResult:
    try:
        with using_device(device) if device.backend.has_current_device else nullcontext():
            return ProbeResult(probe(device))
    except Exception as error:  # any exception means that the capability is missing
        return ProbeResult(False, f"{type(error).__name__}: {error}".splitlines()[0][:200])


def _vector(device: Device) -> Array:
    return placed(np.asarray([0.25, 1.5, -2.75, 3.125], "float32"), device)


def _index(device: Device, *values: int) -> Array:
    """Return an index array of the library's own default integers, which need not be int64."""
    default = device.backend.namespace.asarray(list(values), device=device.handle).dtype
    return placed(np.asarray(values, device.backend.dtype_name(default)), device)


def _taken(device: Device, x: Array, key: Any) -> Array:
    """Return ``x[key]``, computed as xpgrad does: with the kernel of the backend or of a plugin if it has one."""
    if any(True for _ in device.backend.xp.providers("getitem")):
        return device.backend.xp.getitem(x, index=key)
    return x[key]


def _taken_from_vector(device: Device, expected: Any, *places: int) -> bool:
    return _equal(_taken(device, _vector(device), _index(device, *places)), expected)


def _equal(array: Array, expected: Any) -> bool:
    return bool(np.array_equal(on_host(array), np.asarray(expected, "float32")))


def _data_dependent_shapes(device: Device) -> bool:
    x = _vector(device)
    if not has_function(device.backend, "nonzero"):
        return _equal(_taken(device, x, x > 0.0), [0.25, 1.5, 3.125])
    (found,) = device.backend.namespace.nonzero(x > 0.0)
    return tuple(found.shape) == (3,) and on_host(found).tolist() == [0, 1, 3]


def _with_slices(device: Device) -> bool:
    square = placed(np.arange(12, dtype="float32").reshape(3, 4), device)
    return _equal(_taken(device, square, (slice(None), _index(device, 1, 3))), [[1, 3], [5, 7], [9, 11]])


def _assigned(device: Device, key: Any, expected: Any) -> bool:
    x = device.backend.copy(_vector(device))
    x[key] = _vector(device)[2:3]
    return _equal(x, expected)


def _assigned_by_arrays(device: Device) -> bool:
    """Return whether assignment by an index array works, with the kernel of the backend or a plugin, if any."""
    key, expected = _index(device, 0, 3), [-2.75, 1.5, -2.75, -2.75]
    if any(True for _ in device.backend.xp.providers("setitem")):
        return _equal(device.backend.xp.setitem(_vector(device), _vector(device)[2:3], index=key), expected)
    return _assigned(device, key, expected)


def _refused(device: Device) -> bool:
    if not _probed(PROBES["index_arrays"], device).there:
        return False
    try:
        on_host(_taken(device, _vector(device), _index(device, 99)))
    except IndexError:
        return True
    return False


def _written(device: Device) -> bool | None:
    if device.backend.immutable:
        return False
    x = device.backend.copy(_vector(device))
    rest = x[1:]
    x[...] = _vector(device) * 2.0
    if not _equal(x, [0.5, 3.0, -5.5, 6.25]):
        return False
    return _equal(rest, [3.0, -5.5, 6.25]) or None  # a copy or a rebound array: they cannot be distinguished


def _kept_small(device: Device) -> bool:
    host = np.full((37,), np.finfo("float32").smallest_normal, "float32") * np.float32(0.25)
    x = placed(host, device)
    return _equal(x * 2.0, host * np.float32(2)) and _equal(x + x, host * np.float32(2))


def _exported(device: Device) -> bool:
    x = _vector(device)
    return len(x.__dlpack_device__()) == 2 and x.__dlpack__() is not None


def _imported(device: Device) -> bool:
    host = np.asarray([0.25, 1.5], "float32")
    found = device.backend.namespace.from_dlpack(host)
    return type(found) in device.backend.array_types and _equal(found, host)


def _shared(device: Device) -> bool | None:
    x, host = _vector(device), aligned(np.asarray([0.25, 1.5], "float32"))
    take = device.backend.namespace.from_dlpack
    if not in_host_memory(x):
        return None
    try:
        return hands_out_its_memory(x) and all(
            takes_over(device.backend.restore(take(each)), each) for each in (x, host)
        )
    except (BufferError, RuntimeError, TypeError, ValueError):
        return None  # memory that the host cannot read, or that the library does not take


def _pickled(device: Device) -> bool:
    x = _vector(device)
    back = pickle.loads(pickle.dumps(x))
    return type(back) is type(x) and _equal(back, on_host(x))


def _comes_back(device: Device) -> bool | None:
    devices = device.backend.devices()
    if len(devices) < 2 or not _probed(_pickled, device).there:
        return None
    return all(each.backend.device_of(pickle.loads(pickle.dumps(_vector(each)))) == each for each in devices)


def _drawn_on_host(device: Device) -> bool:
    state = random.get_state(device)
    try:
        random.seed(7, device)
        drawn = on_host(random.uniform((5,), library_function(device.backend, "float32"), device))
    finally:
        random.set_state(state, device)
    values = np.random.default_rng(7).random(5)
    return bool(np.allclose(drawn, values, rtol=0, atol=1e-6))


def _has_dtype(device: Device, name: str) -> bool:
    dtype = library_function(device.backend, name)
    made = device.backend.namespace.ones((2,), dtype=dtype, device=device.handle)
    if name != "bool":
        made = made + made  # a dtype that can be stored but not computed with counts as missing
    return bool(device.backend.dtype_name(made.dtype) == name and on_host(made).dtype == np.dtype(name))


def has_function(backend: Backend, name: str) -> bool:
    """Return whether the library has a function of the standard, or its plugin a kernel of this name."""
    if name in table.declared and any(True for _ in backend.xp.providers(name)):
        return True
    try:
        return callable(library_function(backend, name))
    except MissingFunction:
        return False


PROBES: dict[str, Probe] = {
    "several_devices": lambda d: True if len(d.backend.devices()) > 1 else None,  # this machine may have one only
    "data_dependent_shapes": _data_dependent_shapes,
    "index_arrays": lambda d: _taken_from_vector(d, [-2.75, 0.25], 2, 0),
    "index_arrays_with_slices": _with_slices,
    "negative_index_arrays": lambda d: _taken_from_vector(d, [3.125, 1.5], -1, 1),
    "index_assignment": lambda d: _assigned(d, slice(1, 3), [0.25, -2.75, -2.75, 3.125]),
    "index_assignment_arrays": _assigned_by_arrays,
    "negative_steps": lambda d: _equal(_vector(d)[::-1], [3.125, -2.75, 1.5, 0.25]),
    "checked_index_arrays": _refused,
    "in_place_update": _written,
    "subnormal_numbers": _kept_small,
    "empty_arrays": lambda d: on_host(placed(np.zeros((0, 3), "float32"), d)).shape == (0, 3),
    "dlpack_export": _exported,
    "dlpack_import": _imported,
    "dlpack_shares_memory": _shared,
    "asynchronous": lambda d: None,
    "pickle": _pickled,
    "pickle_keeps_device": _comes_back,
    "threads": lambda d: None,
    "linalg": lambda d: hasattr(d.backend.namespace, "linalg"),
    "fft": lambda d: hasattr(d.backend.namespace, "fft"),
    "random_numbers_of_the_host": _drawn_on_host,
    "memory_used": lambda d: d.backend.memory_used(d) is not None,
}
