"""How the coefficients of a primitive's result are computed: by a recurrence, or by the rules of forward mode.

The derivative of a result by t is its tangent in the direction of the derivative of the operands. So the rules of
`dual`, on series of one order less, give the coefficients of any primitive from those of its operands.
"""

import functools
import types
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from xpgrad.backend.kernels import OWNER
from xpgrad.config import switches
from xpgrad.graph.definition import Definition
from xpgrad.graph.general import plan_for
from xpgrad.graph.methods.cuts import ended_at, running, uncollected
from xpgrad.transforms.dual.rules import ROWS
from xpgrad.transforms.dual.tangents import raise_escaped, tangent_rule
from xpgrad.transforms.dual.transposition import transposed
from xpgrad.transforms.series.terms import CURVES, RECURRENCES, Tail
from xpgrad.types import Array, Kernel

if TYPE_CHECKING:
    from xpgrad.transforms.series.backend import SeriesBackend

FLOATING = "real floating", "complex floating"
TOGETHER = frozenset(("setitem", "sort", "windows"))
"""Functions whose rows are linear in all tangents together, and that are locally."""
PIECEWISE = frozenset(("abs", "clip", "maximum", "minimum", "relu"))
"""Functions of real numbers whose derivative changes at kinks only."""
WITH_BIAS = frozenset(("affine", "convolution", "transposed_convolution"))
Operands = tuple[list[Any], list[Tail]]


def derived(backend: "SeriesBackend", definition: Definition, kernel: Kernel | None) -> Callable[..., Any]:
    """Return a primitive as a function of series: as `dual.tangents.derived`."""
    kind, base = backend.kind, backend.base
    kernel = kernel or plan_for(definition, base.array_types[0], base).kernel
    if definition.variadic:
        return functools.partial(_variadic, backend, definition, kernel)
    rule = _Rule(backend, definition, kernel)
    bind = definition.bind if definition.reduction else None
    places = [definition.inputs.index(x) for x in definition.rules]

    def called(*operands: Any, **parameters: Any) -> Any:
        if bind is not None:
            operands, parameters = bind(operands, parameters)
        levels: list[Any] = []
        primals, tails = _divided(kind, operands, levels)
        if parameters:
            parameters = {name: backend.opened(value, levels) for name, value in parameters.items()}
        level = levels[-1] if levels else backend.level()
        given = [i for i in places if tails[i] is not None]
        y = base.restore(kernel(*primals, **parameters))
        if not any(tail is not None for tail in tails):
            return kind(level, y, None)
        if not given or switches().constant or not base.is_kind(y.dtype, FLOATING):
            if running() and not base.is_kind(y.dtype, "bool"):
                ended_at(level, definition.name, not definition.rules)
            return kind(level, y, None)
        return kind(level, *rule(level, y, (primals, tails), given, parameters))

    return called


def _divided(kind: Any, operands: Sequence[Any], levels: list[Any]) -> Operands:
    """Return primals and later coefficients of operands; their level is added to `levels`."""
    primals, tails = [], []
    for x in operands:
        if type(x) is kind:
            own = x.level
            if not own.live or (levels and own is not levels[-1]):
                raise_escaped(own, levels[-1] if levels else None)
            if not levels:
                levels.append(own)
            primals.append(x.primal)
            tails.append(x.tangent)
        else:
            primals.append(x)
            tails.append(None)
    return primals, tails


class _Rule:
    """What computes the coefficients of the results of one primitive."""

    def __init__(self, backend: "SeriesBackend", definition: Definition, kernel: Kernel) -> None:
        self.backend, self.definition, self.kernel = backend, definition, kernel
        self.name = "" if OWNER in definition.kernel.name else definition.kernel.name
        self.within = uncollected if backend.base.carries_tangents else None

    def __call__(
        self, level: Any, y: Array, operands: Operands, given: list[int], parameters: dict[str, Any]
    ) -> tuple[Array, Tail]:
        """Return the primal and the later coefficients of the result `y`."""
        called = functools.partial(self._result, level, y, operands, given, parameters)
        return called() if self.within is None else self.within(called)

    def _result(
        self, level: Any, y: Array, operands: Operands, given: list[int], parameters: dict[str, Any]
    ) -> tuple[Array, Tail]:
        if level.collapsed:
            given = self._multiplied(operands[0], given)
        if self.name in TOGETHER or self._is_constant(y, given, parameters):
            found = self._term_by_term(y, operands, given, parameters)
            if found is not NotImplemented:
                return y, found
        if level.collapsed and self.definition.elementwise and self.backend.order == 2 and len(given) == 1:
            found = self._composed(level, y, operands, given[0], parameters)
        else:
            found = self._recurrence(level, y, operands, given, parameters)
        if found is None:
            return self._general(level, y, operands, given, parameters)
        return y, tuple(None if x is None else self._fitting(x, y) for x in found[1:])

    def _multiplied(self, primals: list[Any], given: list[int]) -> list[int]:
        """Return the operands that change, and those of a product that are batched: it is summed over the members."""
        inputs = self.definition.inputs
        places = range(2) if self.name == "multiply" else map(inputs.index, self.definition.linear)
        return sorted({*given, *(i for i in places if getattr(primals[i], "batched", False))})

    def _fitting(self, x: Array, y: Array) -> Array:
        """Return a coefficient in dtype and shape of the result: an operand that broadcasts may have others."""
        base = self.backend.base
        x = base.restore(x)
        if x.dtype != y.dtype:
            x = base.xp.astype(x, y.dtype)
        return x if x.shape == y.shape else base.restore(base.xp.broadcast_to(x, shape=y.shape))

    def _is_constant(self, y: Array, given: list[int], parameters: dict[str, Any]) -> bool:
        """Return whether the derivative by the operands that change is constant, at least near their values."""
        definition = self.definition
        if definition.linear:
            return len(given) == 1 and definition.inputs[given[0]] in definition.linear
        if self.name in ROWS or not (definition.elementwise or definition.symmetric or definition.reduction):
            return False
        if self.name in PIECEWISE:
            return self.backend.base.is_kind(y.dtype, "real floating")
        changing = {"y", *(definition.inputs[i] for i in given)}
        return not any(changing.intersection(definition.asks[definition.inputs[i]]) for i in given)

    @functools.cached_property
    def _base_rule(self) -> Any:
        return tangent_rule(self.backend.space, self.definition, self.kernel)

    def _term_by_term(self, y: Array, operands: Operands, given: list[int], parameters: dict[str, Any]) -> Any:
        """Return the coefficients of a result that is linear in those of the operands; or decline."""
        primals, tails = operands
        terms = []
        for k in range(self.backend.order):
            tangents = [tail[k] if tail is not None and i in given else None for i, tail in enumerate(tails)]
            if any(t is not None for t in tangents):
                t = self._base_rule(y, primals, tangents, parameters)
                if t is NotImplemented:
                    return NotImplemented
                terms.append(t)
            else:
                terms.append(None)
        return tuple(terms)

    def _composed(
        self, level: Any, y: Array, operands: Operands, i: int, parameters: dict[str, Any]
    ) -> list[Any] | None:
        """Return the coefficients by two derivatives of a function of one operand, which all members share; or None."""
        (primals, tails), of = operands, self.backend.arithmetic(level)
        x, (first, second) = primals[i], tails[i] or (None, None)
        together = first is None or getattr(y, "batched", True)
        together = together or any(tail is not None for j, tail in enumerate(tails) if j != i)  # they have no rule
        if together or not self.backend.base.is_kind(y.dtype, "real floating"):
            return self._recurrence(level, y, operands, [i], parameters)
        units: list[Tail] = [(1.0, None) if j == i else None for j in range(len(tails))]
        known = CURVES.get(self.name)
        found = [y, *known(of, x, y)] if known else self._recurrence(level, y, (primals, units), [i], parameters)
        if found is None:
            units[i] = (of.xp.ones_like(x), None)
            found = [y, *(self._general(level, y, (primals, units), [i], parameters)[1] or (None, None))]
        _, slope, curve = found
        curved = None if curve is None else of.times(curve, of.times(first, first))
        return [y, of.times(slope, first), of.add(of.times(slope, second), curved)]

    def _recurrence(
        self, level: Any, y: Array, operands: Operands, given: list[int], parameters: dict[str, Any]
    ) -> list[Any] | None:
        """Return the coefficients of the result by a recurrence; None without one."""
        definition, name, of = self.definition, self.name, self.backend.arithmetic(level)
        primals, tails = operands
        terms = [
            [x, *(tail if tail is not None and i in given else (None,) * self.backend.order)]
            for i, (x, tail) in enumerate(zip(primals, tails, strict=True))
        ]
        if name in RECURRENCES and len(terms) == 1 and self.backend.base.is_kind(y.dtype, "real floating"):
            return RECURRENCES[name](of, terms[0], y)
        if name == "constant_power" and parameters["exponent"] in range(2, 65):
            return of.power(terms[0], parameters["exponent"])
        if name == "divide":
            return of.quotient(terms[0], terms[1], y)
        if name == "multiply":
            return [of.convolved(terms[0], terms[1], k) for k in range(self.backend.order + 1)]
        if name in WITH_BIAS:
            (x, w, b), kernel = terms, self.kernel
            found = [of.convolved(x, w, k, lambda x, w: kernel(x, w, None, **parameters)) for k in range(len(x))]
            if tails[2] is None:
                return found
            axes = (1, primals[2].shape[0], *(1,) * (len(y.shape) - 2))
            rows = [None if each is None else of.xp.reshape(each, shape=axes) for each in b]
            return [
                self._fitting(total, y) if (total := of.add(f, row)) is not None else None
                for f, row in zip(found, rows, strict=True)
            ]
        if len(given) == 2 and all(definition.inputs[i] in definition.linear for i in given):
            (i, j), kernel = given, self.kernel

            def product(a: Array, b: Array) -> Array:
                xs = list(primals)
                xs[i], xs[j] = a, b
                return kernel(*xs, **parameters)

            return [of.convolved(terms[i], terms[j], k, product) for k in range(self.backend.order + 1)]
        return None

    @functools.cached_property
    def _lower(self) -> Any:
        """The primitive on series of one order less, and how its tangent is computed there."""
        backend, definition = self.backend, self.definition
        kernel = self.kernel if backend.order == 1 else derived(backend.lower, definition, self.kernel)
        return kernel, tangent_rule(backend.space_below, definition, kernel)

    def _general(
        self, level: Any, y: Array, operands: Operands, given: list[int], parameters: dict[str, Any]
    ) -> tuple[Array, Tail]:
        """Return the result by the rules of forward mode, in the direction of the derivative of the operands."""
        backend, definition = self.backend, self.definition
        (kernel, rule), asks = self._lower, definition.asks
        if backend.is_summed(level, y) and len(given) > 1:  # by each operand alone: see `SeriesArithmetic.summed`
            parts = [self._general(level, y, operands, [i], parameters)[1] for i in given]
            return y, (functools.reduce(backend.arithmetic(level).add, [part and part[0] for part in parts], None),)
        lows = [backend.cut(level, x, tail) for x, tail in zip(*operands, strict=True)]
        slopes = [
            backend.slope(level, x, tail) if i in given else None
            for i, (x, tail) in enumerate(zip(*operands, strict=True))
        ]
        t: Any = NotImplemented
        if rule is not None:
            asked = self.name in ROWS or any("y" in asks[definition.inputs[i]] for i in given)
            low = y if backend.order == 1 else kernel(*lows, **parameters) if asked else backend.lower.constant(y)
            t = rule(low, lows, slopes, parameters)
        if t is NotImplemented:
            low, t = transposed(backend.space_below, definition, [backend.raised(x) for x in lows], slopes, parameters)
            y = backend.first(low)
        return y, backend.tail_of(backend.arithmetic(level).summed(t) if backend.is_summed(level, y) else t)


def _variadic(backend: "SeriesBackend", definition: Definition, kernel: Kernel, arrays: Any, **parameters: Any) -> Any:
    """Return the result for a sequence of arrays; zeros replace the coefficients that are missing."""
    levels: list[Any] = []
    arrays = list(arrays)
    parameters = backend.opened(parameters, levels)
    primals, tails = _divided(backend.kind, arrays, levels)
    level, base = levels[-1] if levels else backend.level(), backend.base
    given = any(tail is not None for tail in tails)
    y = base.restore(kernel(primals, **parameters))
    if given and switches().constant:
        ended_at(level, definition.name, False)
    if switches().constant or not given:
        return backend.kind(level, y, None)
    if definition.linear:
        zeros = [base.xp.zeros_like(x) for x in primals]
        terms = []
        for k in range(backend.order):
            parts = [None if tail is None else tail[k] for tail in tails]
            filled = [z if t is None else t for z, t in zip(zeros, parts, strict=True)]
            terms.append(base.restore(kernel(filled, **parameters)) if any(t is not None for t in parts) else None)
        return backend.kind(level, y, tuple(terms))
    lows = [backend.cut(level, x, tail) for x, tail in zip(primals, tails, strict=True)]
    slopes = [backend.slope(level, x, tail) for x, tail in zip(primals, tails, strict=True)]
    low, t = transposed(backend.space_below, definition, [backend.raised(x) for x in lows], slopes, parameters)
    return backend.kind(level, backend.first(low), backend.tail_of(t))


def space_of(base: Any) -> Any:
    """Return what the rules of forward mode need of a backend of dual arrays over `base`."""
    return types.SimpleNamespace(base=base)
