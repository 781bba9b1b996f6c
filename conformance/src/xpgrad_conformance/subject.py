"""The argument of a check: a backend to test on one device, with inputs and comparisons; `Scenario` adds a case."""

import functools
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from xpgrad import Device, Variable, as_array
from xpgrad.array_api.namespace import namespace
from xpgrad.backend.kernels import missing_name
from xpgrad.backend.standard import DTYPES
from xpgrad.plugin import Backend, Capabilities
from xpgrad.testing.arrays import on_host, placed
from xpgrad.testing.differences import random_values
from xpgrad.types import Array, Namespace
from xpgrad_conformance.inputs import spread
from xpgrad_conformance.table.case import Case
from xpgrad_conformance.table.comparisons import assert_near, assert_place
from xpgrad_conformance.transformed import pair_of

if TYPE_CHECKING:
    from xpgrad_conformance.generated.operation import Operation

RTOL = {"float64": 1e-11, "complex128": 1e-11, "float32": 2e-5, "complex64": 2e-5}
"""Tolerances, relative to the largest value of the reference."""
FLOATING = tuple(RTOL)
NARROWER = {"float64": "float32", "complex128": "complex64"}
"""The dtypes in which checks run on a device that lacks the wider dtypes."""


class Subject:
    """The backend under test on one device, in one dtype, for one case.

    Attributes
    ----------
    device : Device
    dtype : str
        The name of a floating-point dtype: the widest real one, `wide`, unless the check has dtypes.
    case : Case or None
        For checks of the scope "case".
    operation : Operation or None
        For checks of the scope "operation".
    capabilities : Capabilities
    seed : int
        Random numbers are determined by it and the name of the check.
    quick, thin : bool
        Whether the check runs on few inputs, as in the profile of this name.
    """

    def __init__(
        self,
        device: Device,
        capabilities: Capabilities,
        *,
        dtype: str = "float64",
        case: Case | None = None,
        operation: "Operation | None" = None,
        name: str = "",
        seed: int = 0,
        quick: bool = False,
        thin: bool = False,
    ) -> None:
        self.device, self.dtype, self.case, self.capabilities = device, dtype, case, capabilities
        self.seed, self.quick, self.thin, self._name, self._position = seed, quick, thin, name, 1
        self._has: dict[tuple[str, ...], bool] = {}
        self.operation = operation

    # The backend

    @property
    def backend(self) -> Backend:
        """The backend of the device."""
        return self.device.backend

    @property
    def index(self) -> str | None:
        """The part of the device's name after the colon."""
        return self.device.name.partition(":")[2] or None

    @functools.cached_property
    def pair(self) -> tuple[Device, Device]:
        """Two devices of one library: this device and the backend's next device, or two virtual devices."""
        own = list(self.backend.devices())
        if len(own) < 2:
            return pair_of(self.backend)
        return self.device, own[(own.index(self.device) + 1) % len(own)]

    @functools.cached_property
    def places(self) -> tuple[Device, ...]:
        """The device and the devices of the pair."""
        return tuple(dict.fromkeys((self.device, *self.pair)))

    @property
    def xp(self) -> Namespace:
        """The differentiable namespace."""
        return namespace(self.backend)

    @property
    def kernels(self) -> Namespace:
        """The namespace of the library with all kernels, as rules use it."""
        return self.backend.xp

    def has(self, *facts: str) -> bool:
        """Return whether all these capabilities are present, that is, not declared missing on this device."""
        key = self.dtype, *facts
        if key not in self._has:
            self._has[key] = self.capabilities.lacking(facts, self.index, self.dtype) is None
        return self._has[key]

    def missing(self, error: BaseException | None) -> str | None:
        """Return the name of the function or dtype that the library lacks, if that caused the error."""
        seen = set[int]()
        while error is not None and id(error) not in seen:  # an error may be its own cause's context
            if (name := missing_name(error, self.backend.namespace)) is not None:
                return name
            seen.add(id(error))
            error = error.__cause__ or error.__context__
        return None

    @functools.cached_property
    def wide(self) -> str:
        """The widest real dtype that both devices of the pair support."""
        if not self.capabilities.missing_on:
            return "float64" if self.has("float64") else "float32"
        indices = [device.name.partition(":")[2] for device in self.places]
        lacking = [self.capabilities.lacking(("float64",), index) for index in indices]
        return "float64" if all(each is None for each in lacking) else "float32"

    def in_wide(self, name: str) -> "Subject":
        """Return a subject in the dtype `wide`; the name determines its random numbers."""
        return Subject(self.device, self.capabilities, dtype=self.wide, name=name, seed=self.seed, quick=self.quick)

    @property
    def widest(self) -> str:
        """The subject's dtype, or the wider dtype that it replaces on a device that lacks it."""
        wider = {narrow: wide for wide, narrow in NARROWER.items()}.get(self.dtype)
        return self.dtype if wider is None or self.has(wider) else wider

    def dtypes(self, *kinds: str) -> list[str]:
        """Return the names of the standard dtypes that the device supports, of NumPy's `kinds` ("biufc") if given."""
        wanted = kinds or tuple("biufc")
        return [name for name in DTYPES if np.dtype(name).kind in wanted and self.has(name)]

    def dtype_of(self, name: str) -> Any:
        """Return the library's dtype of this name."""
        return getattr(self.kernels, name)

    # Inputs

    def generator(self) -> np.random.Generator:
        """Return a new stream of random numbers, the same at each call in one check."""
        return np.random.default_rng([zlib.crc32(self._name.encode()), self.seed])

    def values(self, shape: tuple[int, ...] = (3, 4), low: float = -2.0, high: float = 2.0, dtype: str = "") -> Any:
        """Return distinct host values from a range, different at each call, in the subject's dtype."""
        dtype = dtype or self.dtype
        real = self._spread(shape, low, high)
        return (real + 1j * self._spread(shape, low, high) if dtype.startswith("complex") else real).astype(dtype)

    def _spread(self, shape: tuple[int, ...], low: float, high: float) -> Any:
        made = spread(shape, low, high, self._position + 7919 * self.seed, self.generator())
        self._position += made.size
        return made

    def cotangent(self, y: Any) -> Any:
        """Return a random gradient for an output, with values of both signs, as a host array."""
        host = on_host(y)
        return random_values(host.shape, np.iscomplexobj(host), self.generator()).astype(host.dtype)

    def array(self, values: Any, dtype: str = "", device: Device | None = None) -> Array:
        """Return host values as a new array of the backend, on the subject's device unless another is given."""
        host = np.asarray(values)
        if host.dtype.kind not in "fc" and not dtype:
            return placed(self.supported(host), device or self.device)
        return placed(host.astype(dtype or _like(self.dtype, host)), device or self.device)

    def supported(self, host: Any) -> Any:
        """Return a host array, as int32 if it is int64 and the device lacks that."""
        return host.astype("int32") if host.dtype == np.int64 and not self.has("int64") else host

    def variable(self, values: Any, dtype: str = "", device: Device | None = None) -> Variable:
        """Return host values as a Variable over a new array."""
        return Variable(self.array(values, dtype, device))

    def host(self, x: Any) -> Any:
        """Return a copy of a Variable or array as a NumPy array."""
        return on_host(x)

    # The comparator

    def rtol(self, dtype: str = "", factor: float = 1.0) -> float:
        """Return the relative tolerance in a dtype, with the factor that the capabilities declare."""
        name = dtype or self.dtype
        return RTOL[name] * factor * self.widened(name)

    def widened(self, dtype: str) -> float:
        """Return the factor by which the capabilities widen the tolerance of the case in a dtype."""
        names = (dtype, *([] if self.case is None else [self.case.name]))
        given = self.capabilities.tolerances
        return max((given[name][0] for name in names if name in given), default=1.0)

    def expect(self, got: Any, expected: Any, what: str, *, dtype: str = "", device: Device | None = None) -> None:
        """Raise AssertionError unless `got` is an array on the device, with this dtype, near the host array `expected`.

        Parameters
        ----------
        got : Variable or array
        expected : host array
            Computed in float64 or complex128.
        what : str
            A description of `got`, for the message.
        dtype : str
            The expected dtype; by default the dtype of the subject if `expected` is inexact, else any.
        device : Device, optional
        """
        array, target = as_array(got), device or self.device
        assert_place(target, array, what)
        expected = np.asarray(expected)
        wanted = dtype or (_like(self.dtype, expected) if expected.dtype.kind in "fc" else "")
        found = target.backend.dtype_name(array.dtype)
        assert not wanted or found == wanted, f"{what} has dtype {found}, expected {wanted}"
        assert_near(on_host(array), expected, self.rtol(found) if found in RTOL else 0.0, what)

    def raises(self, kinds: type[Exception] | tuple[type[Exception], ...], call: Any, what: str) -> Exception:
        """Return the error of one of `kinds` that `call()` raises; AssertionError if it raises none, or another."""
        try:
            result = call()
        except kinds as error:
            return error
        except Exception as error:
            raise AssertionError(f"{what}: raised {type(error).__name__}: {error}; expected {_names(kinds)}") from error
        raise AssertionError(f"{what}: gave {type(result).__name__}; expected {_names(kinds)}")


def _like(dtype: str, host: Any) -> str:
    """Return the floating-point dtype of the width of `dtype` that can hold the host values."""
    wide = dtype in ("float64", "complex128")
    if host.dtype.kind == "c":
        return "complex128" if wide else "complex64"
    return "float64" if wide else "float32"


def _names(kinds: type[Exception] | Sequence[type[Exception]]) -> str:
    return " or ".join(k.__name__ for k in (kinds if isinstance(kinds, Sequence) else (kinds,)))
