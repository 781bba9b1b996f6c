"""Family L: a backend is loaded by its name and by its arrays, and its description and devices are correct."""

from collections.abc import Callable
from typing import Any

import numpy as np

from xpgrad import Variable, get_device
from xpgrad.backend.kernels import check_kernels, table
from xpgrad.backend.plugins import plugins
from xpgrad.backend.standard import DTYPES, FUNCTIONS
from xpgrad.testing.arrays import on_host
from xpgrad_conformance.check import check
from xpgrad_conformance.fresh import facts_of, record_of
from xpgrad_conformance.probes import has_function
from xpgrad_conformance.subject import Subject

NAMED_LATE = ("from_dlpack",)  # declared by the capability dlpack_import


@check("L01", scope="backend")
def described(s: Subject) -> None:
    """The backend is registered as loaded, by the name of its devices, and reports the version of its library."""
    record, name, version = record_of(s.backend), s.backend.name, s.backend.version
    assert record is not None, f"no plugin that xpgrad has on record gave the backend {name!r}"
    assert record.state == "loaded", f"the plugin {record.module} is {record.state}: {record.reason()}"
    assert plugins.backend(name) is s.backend, f"the name {name!r} leads to another backend: {plugins.backend(name)!r}"
    assert isinstance(version, str), f"Backend.version is {version!r}, expected a text"
    assert version.strip(), f"Backend.version is {version!r}, expected the version of the library"
    assert version != "unknown", "Backend.version is 'unknown'; the library has no __version__, so give version="


@check("L02")
def array_types(s: Subject) -> None:
    """Arrays of the library have exactly the types that the backend lists, and these types lead to the backend."""
    xp, backend = s.kernels, s.backend
    x = s.array(s.values())
    made: dict[str, Any] = {
        "an array from the host": x,
        "zeros": backend.namespace.zeros((2, 3), dtype=x.dtype, device=s.device.handle),
        "a slice": x[1:, :],
        "x + x": x + x,
        "2.0 * x": 2.0 * x,
        "x > 0": x > 0.0,
        "matmul": xp.matmul(x, xp.permute_dims(x, axes=(1, 0))),
        "sum": backend.restore(xp.sum(x)),
        "x[1, 2]": backend.restore(x[1, 2]),
        "a copy": backend.copy(x),
    }
    listed = ", ".join(kind.__qualname__ for kind in backend.array_types)
    for what, array in made.items():
        kind = type(array)
        title = f"{kind.__module__}.{kind.__qualname__}"
        assert kind in backend.array_types, f"{what} is a {title}, but Backend.array_types lists {listed}"
        assert plugins.backend_of(array) is backend, f"{what}, a {title}, is not recognised as an array of the backend"


@check("L03")
def attributes(s: Subject) -> None:
    """Arrays have shape, ndim, size, dtype and device, as Python's own tuples and numbers."""
    for shape in ((3, 4), (2, 3, 5), (7,), (), (1,), *([(0, 3)] if s.has("empty_arrays") else [])):
        x = s.array(s.values(shape))
        what = f"an array of shape {shape}"
        assert isinstance(x.shape, tuple), (
            f"{what}: its attribute shape is a {type(x.shape).__name__}, expected a tuple"
        )
        assert x.shape == shape, f"{what}: its attribute shape is {x.shape}"
        assert all(isinstance(n, int) for n in x.shape), f"{what}: lengths in shape are no Python ints: {x.shape!r}"
        assert x.ndim == len(shape), f"{what}: its attribute ndim is {x.ndim!r}"
        assert x.dtype == s.dtype_of(s.wide), f"{what}: its dtype is {x.dtype}, expected {s.wide}"
        found = s.backend.device_of(x)
        assert found == s.device, f"{what}: Backend.device_of returns {found}, expected {s.device}"


@check("L04")
def conversions(s: Subject) -> None:
    """Arrays of one element become Python's bool, int, float and complex; an array of False is false."""
    integer = "int32" if s.has("int32") else "int64"
    number, whole, truth = (s.array(np.asarray(v), d) for v, d in ((-2.625, s.wide), (5, integer), (True, "bool")))
    lie = s.array(np.asarray(False), "bool")
    found: list[tuple[str, Callable[[], Any], Any]] = [
        ("bool(array(True))", lambda: bool(truth), True),
        ("bool(array(False))", lambda: bool(lie), False),
        ("bool(array(-2.625))", lambda: bool(number), True),
        ("bool(array(5) < 5)", lambda: bool(whole < 5), False),
        ("int(array(5))", lambda: int(whole), 5),
        ("float(array(-2.625))", lambda: float(number), -2.625),
    ]
    if s.has("complex64"):
        z = s.array(np.asarray(1.5 - 2.25j), "complex64")
        found.append(("complex(array(1.5-2.25j))", lambda: complex(z), 1.5 - 2.25j))
    for what, call, expected in found:
        got = call()
        assert got == expected, f"{what} is {got!r}, expected {expected!r}"
    several = Variable(s.array(np.asarray([True, False, True]), "bool"))
    s.raises((ValueError, TypeError, RuntimeError), lambda: bool(several), "bool() of three elements")


@check("L05", scope="backend")
def devices(s: Subject) -> None:
    """Devices have unique names that can be looked up, unique handles, and the default device is the first."""
    found = list(s.backend.devices())
    assert found, "Backend.devices() is empty"
    assert list(s.backend.devices()) == found, "Backend.devices() says something else at the second call"
    names, default = [device.name for device in found], s.backend.default_device
    assert len(set(names)) == len(names), f"two devices have one name: {', '.join(names)}"
    assert default == found[0], f"the default device is {default}, but Backend.devices() begins with {found[0]}"
    made = s.backend.device_of(s.backend.namespace.asarray([0.5, 1.5]))
    assert made == default, f"without device= the library makes arrays on {made}, but the first device is {default}"
    for device in found:
        assert device.backend is s.backend, f"{device} belongs to the backend {device.backend.name}"
        back = get_device(str(device))
        assert back == device, f"get_device({str(device)!r}) gave {back}"
        there = s.backend.device_for(device.handle)
        assert there == device, f"Backend.device_for({device.handle!r}) is {there}, expected {device}"
        same = [other for other in found if other.handle == device.handle]
        assert same == [device], f"{' and '.join(map(str, same))} have equal handles: {device.handle!r}"


@check("L06")
def device_is_usable(s: Subject) -> None:
    """The device computes a product, a sum and a gradient, and the results are on the device."""
    values = s.values((3,))
    x = s.variable(values)
    y = s.xp.sum(x * x)
    y.backward()
    s.expect(y, np.asarray(values @ values), f"sum(x * x) on {s.device}")
    s.expect(x.grad, 2 * values, f"the gradient of sum(x * x) on {s.device}")


@check("L07", scope="backend")
def kernels(s: Subject) -> None:
    """The backend's kernels have names that xpgrad defines, and accept the arguments of these kernels."""
    own = dict(s.backend.overrides())
    check_kernels(own, s.backend.name, s.backend.name)
    for name, declaration in table.declared.items():
        if declaration.body is None and not declaration.optional:
            assert name in own, f"the backend gives no kernel {name!r}, which has no default"


@check("L08", scope="backend")
def standard_names(s: Subject) -> None:
    """The namespace has the standard's functions and dtypes, except for declared missing names."""
    facts = s.capabilities
    wanted = [name for name in FUNCTIONS if name not in NAMED_LATE and facts.lacking([name]) is None]
    lacking = [name for name in wanted if not has_function(s.backend, name)]
    lacking += [name for name in DTYPES if s.has(name) and not hasattr(s.backend.namespace, name)]
    assert not lacking, (
        f"the namespace lacks {', '.join(lacking)}; give them, or kernels of these names, or declare them in "
        "Capabilities(missing=...) with the reason"
    )


# In a new process


@check("L09", scope="backend")
def loads_by_name(s: Subject) -> None:
    """A new process loads the backend by its name, finds the same devices there, and computes."""
    facts = facts_of(s.backend)
    if facts is None:  # registered by this program, so unknown in a new process
        assert get_device(f"@{s.backend.name}") == s.backend.default_device, f"@{s.backend.name} is another device"
        return
    assert "error" not in facts, f"in a new process: {facts['error']}\n{facts.get('trace', '')}"
    here = [str(device) for device in s.backend.devices()]
    assert facts["devices"] == here, f"devices in a new process: {facts['devices']}; here {here}"
    assert facts["version"] == s.backend.version, f"version in a new process: {facts['version']}"
    got, expected = facts["gradient"], [1.0, 3.0, -5.0]
    assert np.allclose(got, expected, 1e-5), f"in a new process the gradient of sum(x * x) is {got}, not {expected}"


@check("L10", scope="backend")
def found_by_its_arrays(s: Subject) -> None:
    """An array finds the backend in a process that has not named it: entry points in xpgrad.array_modules."""
    facts = facts_of(s.backend) or {}
    found = facts.get("found", s.backend.name)
    assert found == s.backend.name, (
        f"a new process that makes an array and puts it into a Variable finds {found}; name the first part of the "
        f"module of the array's type in the entry points of the group xpgrad.array_modules "
        f"({', '.join(sorted({kind.__module__ for kind in s.backend.array_types}))})"
    )
    array = s.backend.namespace.asarray([0.5, 1.5])
    assert plugins.backend_of(array) is s.backend, f"{type(array).__qualname__} leads to another backend"


@check("L11", scope="backend")
def imports_no_other_library(s: Subject) -> None:
    """Importing the plugin, and making its backend, imports no other heavy array library."""
    facts = facts_of(s.backend) or {}
    for when, what in (("at_import", "its plugin"), ("at_load", "it and making its backend")):
        names = facts.get(when, [])
        assert not names, (
            f"importing {what} imports {', '.join(names)}, which the plugin does not serve; import it in the function "
            "that needs it"
        )


@check("L12", scope="backend")
def prints_nothing(s: Subject) -> None:
    """Loading the backend does not write to standard output."""
    printed = (facts_of(s.backend) or {}).get("printed", "")
    assert not printed, f"loading the backend prints {printed!r}; use logging or warnings"


@check("L13")
def leaves_settings_alone(s: Subject) -> None:
    """Computing, a division by zero too, changes neither the error state nor the print options of NumPy."""
    x = s.variable(s.values((3, 4), 0.3, 1.7))
    with np.errstate(all="warn"), np.printoptions(precision=5):
        before = _settings()
        y = s.xp.mean(s.xp.matmul(x, s.xp.matrix_transpose(x)) / (x[:, :3] - x[:, :3])) + s.xp.sum(s.xp.log(x))
        y.backward()
        on_host(y)
        on_host(x.grad)
        repr(y)
        changed = {name: value for name, value in _settings().items() if value != before[name]}
    assert not changed, f"computing has set {changed} in NumPy for all; use numpy.errstate and numpy.printoptions"


def _settings() -> dict[str, object]:
    return {**np.geterr(), **np.get_printoptions()}
