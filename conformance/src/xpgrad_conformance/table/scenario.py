"""The subject of the assertions: a case on a device, in one dtype, with one variant of its inputs."""

import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import xpgrad.functions
import xpgrad.ops
from xpgrad import Device, Variable, as_array
from xpgrad.plugin import Capabilities
from xpgrad.testing.arrays import is_floating, on_host, placed
from xpgrad.testing.differences import random_values
from xpgrad.types import Array, Namespace, Shape
from xpgrad_conformance.inputs import fractions, spread
from xpgrad_conformance.subject import Subject
from xpgrad_conformance.table.case import Case, Input
from xpgrad_conformance.table.variants import PLAIN, Variant

AREAS: dict[str, Namespace] = {"F": xpgrad.functions, "ops": xpgrad.ops}
DTYPES = ("float64", "float32", "complex128", "complex64")
WIDE = {"float32": "float64", "float64": "float64", "complex64": "complex128", "complex128": "complex128"}
REAL = {"float32": "float32", "float64": "float64", "complex64": "float32", "complex128": "float64"}
COMPLEX = {"float32": "complex64", "float64": "complex128", "complex64": "complex64", "complex128": "complex128"}


def dtypes_of(case: Case) -> tuple[str, ...]:
    """Return the dtypes in which `case` runs."""
    if not any(x.kind == "float" for x in case.inputs):
        return DTYPES[:2] if any(x.kind == "real" for x in case.inputs) else DTYPES[:1]
    return DTYPES if case.complex else DTYPES[:2]


def facts_within(case: Case, dtype: str) -> tuple[str, ...]:
    """Return the facts that inputs and results of a run in `dtype` take: other dtypes, and arrays without elements."""
    given = case.dtype if isinstance(case.dtype, tuple) else (case.dtype,)
    made = {"real": REAL, "complex": COMPLEX}
    results = [made[each][dtype] for each in given if each in made]
    inputs = [REAL[dtype] for x in case.inputs if x.kind == "real"]
    inputs += [COMPLEX[dtype]] if "complex" in case.needs else []
    empty = ["empty_arrays"] if any(0 in x.shape for x in case.inputs) else []
    return tuple(dict.fromkeys(name for name in (*inputs, *results, *empty) if name != dtype))


class Scenario(Subject):
    """A case on a device, in one dtype, with one variant of its inputs.

    Attributes
    ----------
    variant : Variant
    inputs : list of NumPy arrays
        The inputs on the host, in the dtypes of the run.
    floating : list of int
        Positions of the inputs that have a gradient; where all are one Variable, only the first.

    Parameters
    ----------
    seed : int
        Other values of the inputs, and other random cotangents and directions.
    capabilities : Capabilities, optional
        By default no fact is missing, and no tolerance is wider.
    """

    case: Case

    def __init__(
        self,
        case: Case,
        device: Device,
        dtype: str,
        variant: Variant = PLAIN,
        *,
        seed: int = 0,
        capabilities: Capabilities | None = None,
    ) -> None:
        given, name = capabilities or Capabilities(), f"{case.name} {variant.name}"
        super().__init__(device, given, dtype=dtype, case=case, name=name, seed=seed)
        self.variant = variant
        self.inputs = [self.supported(x) for x in host_inputs(case, dtype, variant, seed)]
        self.floating = [i for i, x in enumerate(case.inputs) if x.kind in ("float", "real")]
        if variant.same:
            self.floating = self.floating[:1]

    @property
    def title(self) -> str:
        """Case, device, dtype and variant, for messages."""
        return f"{self.case.name}[{self.device}, {self.dtype}, {self.variant.name}]"

    @property
    def xp(self) -> Namespace:
        """The namespace of the case: the differentiable namespace, or the namespace of its area."""
        return AREAS.get(self.case.area) or super().xp

    def tolerance(self, by_dtype: Mapping[str, float]) -> float:
        """Return the relative tolerance: for the dtype, or for the case if that is wider."""
        return self.widened(self.dtype) * max(by_dtype[self.dtype], self.case.rtol.get(self.dtype, 0))

    def arrays(self) -> list[Array]:
        """Return the inputs as new arrays on the device, in the layout of the variant."""
        if self.variant.same:
            return [placed(self.inputs[0], self.device)] * len(self.inputs)
        return [_laid_out(v, self.device, self.variant.layout) for v in self.inputs]

    def variables(self, arrays: Sequence[Array], needed: int | None = None) -> list[Variable]:
        """Return Variables over `arrays`; only that at the position `needed`, by default all, require a gradient."""
        if self.variant.same:
            return [Variable(arrays[0])] * len(arrays)
        return [Variable(a, requires_grad=needed is None or i == needed) for i, a in enumerate(arrays)]

    def call(self, xs: Sequence[Any], xp: Namespace | None = None) -> list[Any]:
        """Return the outputs of the function, always in a list; `xp` replaces the namespace of the case."""
        ys = self.case.call(self.xp if xp is None else xp, *xs)
        return list(ys) if isinstance(ys, (tuple, list)) else [ys]

    def reference(self, values: Sequence[Any]) -> list[Any]:
        """Return the outputs of the reference on host arrays, computed in float64 or complex128."""
        wide = [v.astype(WIDE[v.dtype.name]) if v.dtype.name in WIDE else v for v in values]
        if self.variant.same:
            wide = [wide[0]] * len(wide)
        ys = self.case.reference(*wide)
        return [np.asarray(y) for y in (ys if isinstance(ys, (tuple, list)) else [ys])]

    def usual_size(self, output: int) -> float:
        """Return the largest magnitude of an output of the reference for plain inputs, including other seeds."""
        largest = 0.0
        for seed in range(self.seed, self.seed + 4):
            plain = Scenario(self.case, self.device, self.dtype, seed=seed, capabilities=self.capabilities)
            found = plain.reference(plain.inputs)[output]
            largest = max(largest, float(np.max(np.abs(found), where=np.isfinite(found), initial=0.0)))
        return largest

    def differentiable(self, ys: Sequence[Any]) -> list[int]:
        """Return the positions of those outputs that have a gradient."""
        return [i for i, y in enumerate(ys) if isinstance(y, Variable) and y.requires_grad and is_floating(y.array)]

    def cotangents(self, ys: Sequence[Variable]) -> list[Any]:
        """Return random gradients for outputs, as host arrays with their shapes and dtypes."""
        rng = self.generator()
        hosts = [on_host(y) for y in ys]
        return [random_values(h.shape, np.iscomplexobj(h), rng).astype(h.dtype) for h in hosts]

    def placed(self, values: Any) -> Array:
        """Return the host array `values` as a new array on the device."""
        return placed(values, self.device)

    def expected_dtype(self, output: int) -> tuple[str, ...]:
        """Return the names of the allowed dtypes of an output."""
        given = self.case.dtype[output] if isinstance(self.case.dtype, tuple) else self.case.dtype
        if given is None:
            return (self.dtype if self.floating else self.inputs[0].dtype.name,)
        if given == "default":
            return (self.device.backend.dtype_name(xpgrad.ops.default_dtype(device=self.device)),)
        if given == "int":
            return tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
        return ({"real": REAL, "complex": COMPLEX}[given][self.dtype],) if given in ("real", "complex") else (given,)

    def describe(self, x: Any) -> str:
        """Return a description of dtype, shape and device of an array or Variable."""
        array, backend = as_array(x), self.device.backend
        return f"{backend.dtype_name(array.dtype)} {tuple(array.shape)} on {backend.device_of(array)}"


def host_inputs(case: Case, dtype: str, variant: Variant = PLAIN, seed: int = 0) -> list[Any]:
    """Return the inputs of a case on the host: their given values, or distinct values in their ranges."""
    rng = np.random.default_rng([zlib.crc32(case.name.encode()), seed])
    position, made = 1 + 7919 * seed, []
    for i, x in enumerate(case.inputs):
        target = {"int": "int64", "bool": "bool", "real": REAL[dtype]}.get(x.kind, dtype)
        if x.values is not None:
            made.append(_cut(np.asarray(x.values, target), None if variant.shapes is None else variant.shapes[i]))
            continue
        shape = x.shape if variant.shapes is None else variant.shapes[i]
        low, high = x.low, x.high
        if variant.same:
            low, high = max(each.low for each in case.inputs), min(each.high for each in case.inputs)
        values = _values(shape, low, high, x, position, rng)
        if x.diagonal and len(shape) > 1:
            values = values + x.diagonal * np.eye(shape[-2], shape[-1])
        position += values.size
        if target.startswith("complex"):
            values = values + 1j * _values(shape, low, high, x, position, rng)
            position += values.size
        made.append(np.asarray(values, target))
    return made


def _cut(values: Any, shape: Shape | None) -> Any:
    """Return the leading part of given values, in this shape."""
    if shape is None:
        return values
    return np.array(values[tuple(map(slice, shape))] if shape else values.reshape(-1)[:1].reshape(()))


def _values(shape: Shape, low: float, high: float, x: Input, position: int, rng: np.random.Generator) -> Any:
    """Return values of the kind of an input from a range."""
    if x.kind == "bool":
        return fractions(shape, position, rng) < 0.5
    if x.kind == "int":
        return np.floor(low + fractions(shape, position, rng) * (high - low + 1)).astype(np.int64)
    return spread(shape, low, high, position, rng)


def _laid_out(values: Any, device: Device, layout: str) -> Array:
    xp = device.backend.namespace
    if layout == "strided" and values.ndim:
        apart = np.repeat(values, 2, axis=-1)
        apart[..., 1::2] = np.nan if values.dtype.kind in "fc" else 0  # to find a kernel that reads these
        return placed(apart, device)[..., ::2]
    if layout == "transposed" and values.ndim > 1:
        return xp.permute_dims(placed(np.ascontiguousarray(values.T), device), tuple(range(values.ndim))[::-1])
    return placed(values, device)
