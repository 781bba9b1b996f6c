"""A program on the backend under test, compared with NumPy and the reference engine."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xpgrad import Variable, grad
from xpgrad.testing.arrays import on_host
from xpgrad_conformance.generated import reference
from xpgrad_conformance.generated.accuracy import first_wrong, summed
from xpgrad_conformance.generated.formulas import formula
from xpgrad_conformance.generated.gradients import differentiable, outputs
from xpgrad_conformance.generated.programs.program import GeneratedProgram, on_numpy, widened
from xpgrad_conformance.subject import Subject
from xpgrad_conformance.table.comparisons import assert_place

UNITS = 256.0
"""Allowed error in units in the last place of an element and of the largest element."""
CONDITION = 32.0
"""Allowed error relative to the effect of rounding in the reference engine, in units of the dtype: see
`Comparison._rounding`."""
MAX_GRADIENT = 1e5
"""Gradients of programs whose derivatives are larger are not compared."""


class EngineResults:
    """The values, gradients and second derivatives of a program on one engine, as host arrays, by name.

    Parameters
    ----------
    program : GeneratedProgram
    xp : namespace
    inputs : dict from number to Variable
    make : callable
        ``make(host)`` returns a host array as a Variable of the engine.
    like : EngineResults, optional
        EngineResults of the reference engine, whose cotangents are used.
    """

    def __init__(
        self,
        program: GeneratedProgram,
        xp: Any,
        inputs: dict[int, Variable],
        make: Callable[[Any], Variable],
        like: Any = None,
    ) -> None:
        self.values: dict[int, Any] = program.run(xp, inputs)
        self.numbers = [n for n in program.outputs if outputs(self.values[n])]
        self.xs = {n: x for n, x in inputs.items() if program.inputs[n].dtype.kind in "fc"}
        self.gradients: list[Variable | None] = []
        self.seconds: list[Variable | None] = []
        ys = [self.values[n] for n in self.numbers]
        if like is not None and like.numbers != self.numbers:
            raise AssertionError(f"the values {self.numbers} have gradients, expected {like.numbers}")
        self.cotangents: list[Any] = cotangents(ys, 0) if like is None else like.cotangents
        self.directions: list[Any] = []
        if not ys or not self.xs:
            return
        seeds = [make(each) for each, _ in self.cotangents]
        self.gradients = grad(ys, list(self.xs.values()), seeds, enable_double_backprop=program.order > 1)
        if program.order == 1:
            return
        firsts = differentiable(self.gradients)
        self.directions = cotangents(firsts, 50) if like is None else like.directions
        if len(firsts) != len(self.directions):
            raise AssertionError(f"{len(firsts)} gradients have gradients, expected {len(self.directions)}")
        if firsts:
            moved = [make(each) for each, _ in self.directions]
            self.seconds = grad(firsts, list(self.xs.values()), moved)

    @property
    def moving(self) -> list[int]:
        """The numbers of the inputs whose gradients have gradients."""
        pairs = zip(self.xs, self.gradients, strict=False)
        return [n for n, gx in pairs if gx is not None and gx.requires_grad]


def cotangents(ys: Sequence[Variable], seed: int) -> list[tuple[Any, str]]:
    """Return whole numbers for each of some Variables of the reference engine, and the line that makes them."""
    found = []
    for i, y in enumerate(ys):
        dtype = str(reference.device().backend.dtype_name(y.array.dtype))
        found.append(formula("integers", tuple(y.array.shape), dtype, seed=seed + i))
    return found


class Comparison:
    """A program on the backend under test, compared with NumPy and the reference engine."""

    def __init__(self, s: Subject, program: GeneratedProgram) -> None:
        self._s, self._program = s, program
        self.reference = self._referred(True, None)
        self._rounded: list[tuple[EngineResults, float]] = []

    def _referred(self, wide: bool, like: EngineResults | None) -> EngineResults:
        hosts = list(self._program.inputs.values())
        made = dict(zip(self._program.inputs, reference.variables(hosts, wide=wide), strict=True))
        dtypes = {"f": "float64" if wide else "float32", "c": "complex128" if wide else "complex64"}

        def make(host: Any) -> Variable:
            return reference.variable(host.astype(dtypes[host.dtype.kind]))

        return EngineResults(self._program, reference.xp(), made, make, like)

    def error(self) -> str | None:
        """Return the error on the backend as text, or None."""
        s, program = self._s, self._program
        with np.errstate(all="ignore"):
            narrow = on_numpy(program, program.inputs)
            exact = on_numpy(program, widened(program.inputs))
            inputs = {n: s.variable(x, x.dtype.name) for n, x in program.inputs.items()}
            found = EngineResults(program, s.xp, inputs, self._maker(narrow), self.reference)
            for n in program.outputs:
                wrong = self._value(n, found.values[n], narrow[n], exact[n])
                if wrong is not None:
                    return f"v{n}: {wrong}"
            return self._gradients(found)

    def _maker(self, narrow: dict[int, Any]) -> Callable[[Any], Variable]:
        """Return a function that creates cotangents in the outputs' dtypes, then directions in the inputs' dtypes."""
        names = [narrow[n].dtype.name for n in self.reference.numbers]
        dtypes = iter([*names, *(self._program.inputs[n].dtype.name for n in self.reference.moving)])
        return lambda host: self._s.variable(host, next(dtypes))

    def _value(self, number: int, got: Any, narrow: Any, exact: Any) -> str | None:
        array, backend = got.array, self._s.backend
        assert_place(self._s.device, array, f"v{number}")
        dtype = backend.dtype_name(array.dtype)
        if dtype != narrow.dtype.name and not (narrow.dtype.kind == "i" and dtype.startswith("int")):
            return f"it has dtype {dtype}, expected {narrow.dtype.name}"
        return self._wrong(on_host(array), exact, lambda sweeps: on_host(sweeps.values[number]))

    def _gradients(self, found: EngineResults) -> str | None:
        for what, name in (("the gradient", "gradients"), ("the second derivative", "seconds")):
            own, wanted = getattr(found, name), getattr(self.reference, name)
            right = [None if each is None else on_host(each) for each in wanted]
            if any(each is not None and not _tame(each) for each in right):
                return None
            for i, (n, x) in enumerate(found.xs.items()):
                if i >= len(own) or (own[i] is None and right[i] is None):
                    continue
                if own[i] is None or right[i] is None:
                    return f"{what} of v{n} is {'None' if own[i] is None else 'not None'}"
                if own[i].array.dtype != x.array.dtype:
                    return f"{what} of v{n} has dtype {own[i].array.dtype}, expected the dtype of v{n}, {x.array.dtype}"

                def rounded(sweeps: EngineResults, i: int = i, name: str = name) -> Any:
                    return on_host(getattr(sweeps, name)[i])

                wrong = self._wrong(on_host(own[i]), right[i], rounded)
                if wrong is not None:
                    return f"{what} of v{n}: {wrong}"
        return None

    def _wrong(self, got: Any, exact: Any, rounded: Callable[[EngineResults], Any]) -> str | None:
        if got.shape != exact.shape:
            return f"it has shape {got.shape}, expected {exact.shape}"
        if got.dtype.kind not in "fc":
            right = got == exact
        else:
            largest = float(np.max(np.abs(exact), initial=0.0))
            eps = float(np.finfo(self._narrowest(got)).eps) * self._s.widened(got.dtype.name)
            away = np.abs(got - exact)
            near = UNITS * eps + summed(max((x.size for x in self._program.inputs.values()), default=0))
            right = away <= near * (np.abs(exact) + max(largest, 1.0))
            if not np.all(right):
                right = right | (away <= CONDITION * eps * self._rounding(exact, rounded))
        return first_wrong(got, exact, right)

    def _narrowest(self, got: Any) -> Any:
        """Return the narrowest floating-point dtype of the inputs and a result: values may have been rounded to it."""
        return min(
            (x.dtype for x in (got, *self._program.inputs.values()) if x.dtype.kind in "fc"),
            key=lambda dtype: -np.finfo(dtype).eps,
        )

    def _rounding(self, exact: Any, rounded: Callable[[EngineResults], Any]) -> float:
        """Return the effect of rounding in the reference engine, in units of the last place.

        It computes in float32, and in float64 with other last digits of functions that saturate: in float32, tanh(10.0)
        is 1, and its derivative 0, where in float64 half of the derivative's digits are right.
        """
        if not self._rounded:
            self._rounded = [(self._referred(False, self.reference), float(np.finfo(np.float32).eps))]
            with reference.inexact():
                self._rounded += [(self._referred(True, self.reference), float(np.finfo(np.float64).eps))]
        return max(float(np.max(np.abs(rounded(each) - exact), initial=0.0)) / eps for each, eps in self._rounded)


def _tame(host: Any) -> bool:
    return bool(np.all(np.isfinite(host)) and np.all(np.abs(host) < MAX_GRADIENT))


def program_error(s: Subject, program: GeneratedProgram) -> str | None:
    """Return the error of a program on the backend as text, or None; exceptions of the backend are errors as well."""
    compare = Comparison(s, program)
    try:
        return compare.error()
    except AssertionError as error:
        return str(error)
