"""First- and second-order gradients of a sample, compared element by element with the reference engine."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from xpgrad import Variable, grad
from xpgrad.errors import MissingFunction
from xpgrad.testing.arrays import is_floating, on_host
from xpgrad.types import Shape
from xpgrad_conformance.generated import reference
from xpgrad_conformance.generated.accuracy import first_wrong
from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.formulas import formula
from xpgrad_conformance.generated.layouts import constant_along, laid_out
from xpgrad_conformance.generated.sample import Argument, Sample, as_list, raised
from xpgrad_conformance.generated.shrinking import commented, lines_of, opening
from xpgrad_conformance.subject import Subject
from xpgrad_conformance.table.comparisons import assert_place

UNITS = 32.0
"""Allowed error of a gradient in units in the last place of its value and of the largest element."""
MAX_UNITS = 8.0
"""Allowed error of a gradient relative to the units of the function's value."""
SUMMED = 0.25
"""Allowed error of a sum for each of its terms: errors of adding equal numbers accumulate in one direction."""
PERTURBED = 3
"""Number of perturbations of inputs to measure the effect of rounding: a single measurement may be near zero."""
SINGLE = float(np.finfo(np.float32).eps)
CONDITION = 16.0
"""Allowed error relative to the effect of rounding to float32 in the reference engine, in units of the dtype."""
EXACT = 2.0**22
"""Magnitude below which gradients of integers must be exact."""


@dataclass(frozen=True)
class SweepRequest:
    """How to compute the gradients of a sample.

    Attributes
    ----------
    kind : str
        Kind of cotangents, as for `formula`.
    layout : str
        Layout of cotangents.
    recorded : bool
        Whether the sweep records itself, and so calls functions rather than kernels for gradients.
    order : int
        2: the gradients of the inner product of the gradients and random directions, for inputs and cotangents.
    seed : int
        Seed of cotangents and directions.
    """

    kind: str = "integers"
    layout: str = "contiguous"
    recorded: bool = False
    order: int = 1
    seed: int = 0

    def cotangents(self, ys: Sequence[Variable], widths: Sequence[str], first: int = 0) -> tuple[Argument, ...]:
        """Return cotangents for Variables of the reference engine, in dtypes as wide as the named dtypes."""
        each = zip(ys, widths, strict=True)
        return tuple(self._cotangent(y, width, 10 * self.seed + first + i) for i, (y, width) in enumerate(each))

    def _cotangent(self, y: Variable, width: str, seed: int) -> Argument:
        kind = "complex" if reference.device().backend.is_kind(y.array.dtype, "complex floating") else "float"
        bits = (128, 64) if kind == "complex" else (64, 32)
        name = f"{kind}{bits[width in ('float32', 'complex64')]}"
        host, text = formula(self.kind, tuple(y.array.shape), name, seed=seed)
        if self.layout == "broadcast":
            host = constant_along(host)
        return Argument(host, (), self.layout if host.ndim and host.size else "contiguous", text)


@dataclass(frozen=True)
class Expected:
    """The gradients of the reference engine, and the cotangents that they are of.

    Attributes
    ----------
    gradients : list of host array or None
    cotangents, directions : tuple of Argument
        The directions are of the second order.
    """

    gradients: list[Any]
    cotangents: tuple[Argument, ...]
    directions: tuple[Argument, ...] = ()


def outputs(result: Any) -> list[Variable]:
    """Return those outputs of a function that have a gradient."""
    return [y for y in as_list(result) if isinstance(y, Variable) and y.requires_grad and is_floating(y.array)]


def expected(
    sample: Sample, sweep: SweepRequest, *, wide: bool = True, perturbed: int | None = None
) -> Expected | None:
    """Return the gradients of the reference engine; None if no output has a gradient.

    Parameters
    ----------
    wide : bool
        Whether in float64, else in float32.
    perturbed : int, optional
        With inputs, cotangents and directions perturbed by rounding to float32, by random numbers of this seed.
    """
    rng = None if perturbed is None else np.random.default_rng(perturbed)
    sample = replace(sample, arguments=tuple(_moved(argument, rng) for argument in sample.arguments))
    xs = reference.arguments(sample.hosts, wide=wide)
    ys = outputs(sample.applied(reference.xp(), *xs))
    if not ys:
        return None
    given = sweep.cotangents(ys, [_width(sample)] * len(ys))
    seeds = reference.variables([_moved(each, rng).host for each in given], wide=wide)
    inputs = [x for x in xs if isinstance(x, Variable)]
    gxs = grad(ys, inputs, seeds, enable_double_backprop=sweep.order > 1)
    if sweep.order == 1:
        return Expected(_hosts(gxs), given)
    firsts = differentiable(gxs)
    if not firsts:
        return None
    names = [host.dtype.name for host in sample.hosts if host.dtype.kind in "fc"]
    widths = [name for name, gx in zip(names, gxs, strict=True) if differentiable([gx])]
    directions = sweep.cotangents(firsts, widths, len(given))
    moved = reference.variables([_moved(each, rng).host for each in directions], wide=wide)
    return Expected(_hosts(grad(firsts, [*inputs, *seeds], moved)), given, directions)


def _width(sample: Sample) -> str:
    """Return a dtype as wide as a call's outputs; one of its arguments may be wider."""
    if isinstance(sample.dtype, str) and sample.dtype.startswith(("float", "complex")):
        return sample.dtype
    return str(next(host.dtype.name for host in sample.hosts if host.dtype.kind in "fc"))


def differentiable(gxs: Sequence[Variable | None]) -> list[Variable]:
    """Return those gradients that have gradients."""
    return [gx for gx in gxs if gx is not None and gx.requires_grad]


def _hosts(found: Sequence[Any]) -> list[Any]:
    return [None if each is None else on_host(each) for each in found]


def gradient_error(s: Subject, sample: Sample, sweep: SweepRequest) -> str | None:
    """Return the error of a sample's gradients on the backend as text, or None."""
    with np.errstate(all="ignore"):
        wanted = expected(sample, sweep)
        if wanted is None:
            return None
        try:
            wrong, inputs, seeds, found = _found(s, sample, sweep, wanted)
        except (MissingFunction, AssertionError):
            raise
        except Exception as error:
            return raised(error)
        if wrong is not None:
            return wrong
        compare = _Comparison(s, sample, sweep, wanted)
        for i, (x, gx) in enumerate(zip([*inputs, *seeds], found, strict=False)):
            wrong = compare.error(i, x, gx)
            if wrong is not None:
                return f"{_name(sample, i)}: {wrong}"
    for what, x, argument in _given(sample, wanted, inputs, seeds):
        if on_host(x).tobytes() != np.ascontiguousarray(argument.host).tobytes():
            return f"the sweep has written to {what}"
    return None


def _found(
    s: Subject, sample: Sample, sweep: SweepRequest, wanted: Expected
) -> tuple[str | None, list[Variable], list[Variable], Sequence[Variable | None]]:
    """Return the error of the sweep, inputs, cotangents or gradients on the backend as text, or None."""
    arrays = [Variable(a) if h.dtype.kind in "fc" else a for a, h in zip(sample.arrays(s), sample.hosts, strict=True)]
    inputs = [x for x in arrays if isinstance(x, Variable)]
    ys = outputs(sample.applied(s.xp, *arrays))
    if len(ys) != len(wanted.cotangents):
        return f"{len(ys)} outputs have a gradient, expected {len(wanted.cotangents)}", inputs, [], []
    seeds = [Variable(laid_out(s, each.host, each.layout)) for each in wanted.cotangents]
    found: Sequence[Variable | None] = grad(ys, inputs, seeds, enable_double_backprop=sweep.recorded or sweep.order > 1)
    if sweep.order > 1:
        firsts = differentiable(found)
        if len(firsts) != len(wanted.directions):
            return f"{len(firsts)} gradients have a gradient, expected {len(wanted.directions)}", inputs, seeds, []
        directions = [Variable(laid_out(s, each.host, each.layout)) for each in wanted.directions]
        found = grad(firsts, [*inputs, *seeds], directions, enable_double_backprop=sweep.recorded)
    return None, inputs, seeds, found


def _given(
    sample: Sample, wanted: Expected, inputs: list[Variable], seeds: list[Variable]
) -> list[tuple[str, Variable, Argument]]:
    numbers = [i for i, argument in enumerate(sample.arguments) if argument.host.dtype.kind in "fc"]
    own = [(f"x{i}", x, sample.arguments[i]) for i, x in zip(numbers, inputs, strict=True)]
    return own + [(f"g{i}", g, a) for i, (g, a) in enumerate(zip(seeds, wanted.cotangents, strict=True))]


def _name(sample: Sample, place: int) -> str:
    """Return the name of the variable of a gradient, by its place among inputs and cotangents."""
    numbers = [i for i, argument in enumerate(sample.arguments) if argument.host.dtype.kind in "fc"]
    return f"the gradient of x{numbers[place]}" if place < len(numbers) else f"that of g{place - len(numbers)}"


class _Comparison:
    """The gradients of the reference engine, and the error bounds of gradients on the backend."""

    def __init__(self, s: Subject, sample: Sample, sweep: SweepRequest, wanted: Expected) -> None:
        self._s, self._sample, self._sweep, self._wanted = s, sample, sweep, wanted
        given = [*sample.hosts, *(each.host for each in (*wanted.cotangents, *wanted.directions))]
        self._exact = sample.units == 0 and all(map(_integral, given))
        # where terms of the size of cotangents cancel, as in the gradient of a softmax, only rounding errors remain;
        # the same holds for a product of whole numbers, which gives no scale, with cotangents that are not whole
        self._cancelling = sample.scale is not None or sample.units == 0
        self._floor = min(1.0, max(map(_largest, given[len(sample.hosts) :]), default=0.0))
        self._most = max(host.size for host in given)
        self._places = any(host.dtype.kind in "iu" for host in sample.hosts)
        self._rounded: list[Expected | None] = []

    def error(self, place: int, x: Variable, gx: Variable | None) -> str | None:
        """Return the error of one gradient as text, or None."""
        wanted = self._wanted.gradients[place]
        if gx is None or wanted is None:
            return None if gx is None and wanted is None else "it is None" if gx is None else "it is not None"
        array, backend = gx.array, self._s.backend
        assert_place(self._s.device, array, "the gradient")
        dtype, right = backend.dtype_name(array.dtype), backend.dtype_name(x.array.dtype)
        if dtype != right:
            return f"it has dtype {dtype}, expected the dtype of the input, {right}"
        got = on_host(array)
        if got.shape != wanted.shape:
            return f"it has shape {got.shape}, expected {wanted.shape}"
        return first_wrong(got, wanted, self._near(place, got, wanted))

    def _near(self, place: int, got: Any, wanted: Any) -> Any:
        finite = np.isfinite(wanted) & (np.abs(wanted) < float(np.finfo(got.dtype).max) / 64)
        if self._exact and _integral(wanted) and float(np.max(np.abs(wanted), initial=0.0)) < EXACT:
            return got == wanted
        terms = self._most // max(wanted.size, 1)  # the number of terms in each element
        floor = self._floor * terms if self._cancelling or terms > 1 else 0.0
        largest = max(floor, float(np.max(np.abs(wanted), where=finite, initial=0.0)))
        eps = float(np.finfo(got.dtype).eps) * self._s.widened(got.dtype.name)
        summed = self._most if terms > 1 and self._places else terms  # places may all be the same
        units = max(UNITS, MAX_UNITS * self._sample.units, SUMMED * max(summed, self._sample.summed))
        away = np.abs(got.astype(wanted.dtype) - wanted)
        near = (away <= units * eps * (np.abs(wanted) + largest)) | ~finite
        if near.all():
            return near
        condition = max(CONDITION, SUMMED * self._sample.summed)
        return near | (away <= condition * eps * self._rounding(place, wanted, finite))

    def _rounding(self, place: int, wanted: Any, finite: Any) -> float:
        """Return the effect of rounding to float32 in the reference engine, in units of the float32 spacing.

        This is the largest of several changes: in float32, and in float64 with inputs perturbed by rounding errors.
        """
        if not self._rounded:
            others = [expected(self._sample, self._sweep, perturbed=number) for number in range(PERTURBED)]
            self._rounded = [expected(self._sample, self._sweep, wide=False), *others]
        changes = [0.0]
        for each in self._rounded:
            gradient = None if each is None else each.gradients[place]
            if gradient is not None:
                away = np.abs(gradient.astype(wanted.dtype) - wanted)
                changes.append(float(np.max(away, where=finite & np.isfinite(away), initial=0.0)))
        return max(changes) / SINGLE


def _moved(argument: Argument, rng: np.random.Generator | None) -> Argument:
    """Return an argument perturbed by rounding to float32, itself if `rng` is None."""
    host = argument.host
    if rng is None or argument.kept or host.dtype.kind not in "fc":
        return argument
    wide = np.complex128 if host.dtype.kind == "c" else np.float64
    return replace(argument, host=host.astype(wide) * (1 + SINGLE * rng.uniform(-1, 1, host.shape)), text="")


def _largest(host: Any) -> float:
    return float(np.max(np.abs(host), initial=0.0))


def _integral(host: Any) -> bool:
    """Return whether all elements are whole numbers."""
    return host.dtype.kind not in "fc" or bool((host == np.round(host)).all())


def folded(sample: Sample, draw: Draw) -> Sample:
    """Return a call on matrices instead of vectors, in other layouts; unchanged if it is not elementwise."""
    shapes = {host.shape for host in sample.hosts}
    (n, *rest) = next(iter(shapes), ()) or (0, 0)
    width = int(draw.rng.choice([2, 4, 5]))
    if len(shapes) > 1 or rest or n < 3 * width or sample.parameters or any(a.kept for a in sample.arguments):
        return sample
    if not _elementwise(_of_rows(sample, 3, width), (3, width)):
        return sample
    layouts = draw.layouts(broadcast=False)
    made = _of_rows(sample, n // width, width).arguments
    return replace(sample, arguments=tuple(replace(a, layout=draw.pick(layouts)) for a in made))


def _of_rows(sample: Sample, rows: int, width: int) -> Sample:
    """Return a call on matrices of the first elements of vectors."""
    axes = ("n", "m")
    made = [replace(a, host=a.host[: rows * width].reshape(rows, width), axes=axes) for a in sample.arguments]
    return replace(sample, arguments=tuple(replace(a, text="") for a in made))


def _elementwise(sample: Sample, shape: Shape) -> bool:
    """Return whether the results of a call have the shape of its arguments."""
    try:
        with np.errstate(all="ignore"):
            found = outputs(sample.applied(reference.xp(), *reference.arguments(sample.hosts)))
    except Exception:  # a function of vectors
        return False
    return len(found) == 1 and tuple(found[0].array.shape) == shape


def gradient_program(sample: Sample, sweep: SweepRequest, device: str, wrong: str) -> str:
    """Return a short program that shows an error in gradients."""
    with np.errstate(all="ignore"):
        wanted = expected(sample, sweep)
    lines = opening(sample, device)
    if wanted is None:
        return "\n".join([*lines, f"print({sample.written})", commented(wrong)])
    xs = ", ".join(f"x{i}" for i, host in enumerate(sample.hosts) if host.dtype.kind in "fc")
    lines += ["", f"y = {sample.written}", "ys = y if isinstance(y, (tuple, list)) else [y]"]
    for i, argument in enumerate(wanted.cotangents):
        lines += lines_of(f"g{i}", argument, device)
    gs = ", ".join(f"g{i}" for i in range(len(wanted.cotangents)))
    record = ", enable_double_backprop=True" if sweep.recorded or sweep.order > 1 else ""
    lines += ["ys = [y for y in ys if y.requires_grad]"] if len(wanted.cotangents) > 1 else []
    lines += [f"gxs = xpgrad.grad(ys, [{xs}], [{gs}]{record})"]
    if sweep.order > 1:
        for i, argument in enumerate(wanted.directions):
            lines += lines_of(f"v{i}", argument, device)
        vs = ", ".join(f"v{i}" for i in range(len(wanted.directions)))
        again = ", enable_double_backprop=True" if sweep.recorded else ""
        lines += ["gxs = [gx for gx in gxs if gx is not None and gx.requires_grad]"]
        lines += [f"gxs = xpgrad.grad(gxs, [{xs}, {gs}], [{vs}]{again})"]
    return "\n".join([*lines, "print(gxs)", commented(wrong)])
