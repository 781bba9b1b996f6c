"""`Spectral`: decompositions into values and vectors, whose gradients divide by gaps that may be 0."""

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

from xpgrad.array_api.linalg.checks import epsilon, readable
from xpgrad.array_api.linalg.decomposition import Arrays, Decomposition
from xpgrad.array_api.linalg.limits import NAN, fenced, limit
from xpgrad.array_api.linalg.repetition import Derivative, NotRepeatable, repeated, unobserved
from xpgrad.config import force_backprop_mode
from xpgrad.graph.rules import recorded_namespace
from xpgrad.graph.sweep import Sweep
from xpgrad.graph.variable import Variable, as_array, constant_variable
from xpgrad.types import Array, Namespace


class Quotient(NamedTuple):
    """A term of a gradient: a numerator, to be divided by gaps between values.

    Attributes
    ----------
    numerator : array
    gap : callable
        ``gap(xp, values)``, linear.
    diagonal : bool
        Whether the quotient has elements on the diagonal; if not, they are 0.
    """

    numerator: Any
    gap: Callable[[Namespace, Array], Array]
    diagonal: bool


def difference(xp: Namespace, values: Array) -> Array:
    """Return ``values_j - values_i``."""
    return values[..., None, :] - values[..., :, None]


def total(xp: Namespace, values: Array) -> Array:
    """Return ``values_j + values_i``."""
    return values[..., None, :] + values[..., :, None]


def row(xp: Namespace, values: Array) -> Array:
    """Return the values as a row: the gaps to 0."""
    return values[..., None, :]


def conjugate_difference(xp: Namespace, values: Array) -> Array:
    """Return the complex conjugates of ``values_j - values_i``."""
    return xp.conj(difference(xp, values))


class Spectral(Decomposition):
    """A decomposition into values and vectors.

    Where values are equal, vectors have no derivative, and the quotients of the rule are 0 / 0 for functions that do
    not depend on their choice; those have a gradient there, which the limits of the quotients give.

    Attributes
    ----------
    place : int
        The index of the output that has the values.
    """

    keeps_outputs: ClassVar[tuple[int, ...]] = (0, 1)
    place: ClassVar[int] = 0

    def quotients(self, xp: Namespace, gys: Arrays, ys: Arrays) -> list[Quotient]:
        """Return the quotients of the rule, linear in `gys`, some of which may be None."""
        raise NotImplementedError

    def sizes(self, xp: Namespace, gys: Arrays) -> Array:
        """Return the lengths of the cotangents of the vectors, as a row."""
        return xp.linalg.vector_norm(gys[1], axis=-2, keepdims=True)

    def turned(self, xp: Namespace, ys: Arrays, turn: Array) -> list[Any]:
        """Return the change of each output, or None, when vectors of equal values are rotated into each other.

        `turn` is an antihermitian matrix, 0 between unequal values.
        """
        raise NotImplementedError

    def pull(self, gys: tuple[Any, ...], targets: tuple[int, ...], sweep: Sweep) -> Sequence[Any]:
        """Return the gradient of the only input; the rule may repeat the part of `sweep` that found the cotangents."""
        return self.gradients(targets, gys, sweep)

    def largest(self, xp: Namespace, values: Array) -> Array:
        """Return the largest modulus of the values, with the last axis of length 1."""
        return xp.max(xp.abs(values), axis=-1, keepdims=True)

    def small(self, xp: Namespace, values: Array, largest: Array) -> Array | None:
        """Return a mask of the small values, or None if the rule does not divide by values."""
        return None

    def has_tangents(self, outputs: tuple[Variable, ...]) -> bool:
        """Return whether no values are equal or nearly so: then how vectors rotate does not follow from tangents.

        Values that are computed later may be equal; in a traced function they are taken for different.
        """
        values = as_array(outputs[self.place])
        if not (math.prod(values.shape) and readable(values, self.spec)):
            return not math.prod(values.shape) or type(values) is not self.spec.backend.array_types[0]
        largest = self.largest(self.spec.backend.xp, values)
        return self._apart(values, largest, self._close(difference(self.spec.backend.xp, values), largest))

    def divided(self, xp: Namespace, gys: Arrays, ys: Arrays, sweep: Sweep | None) -> list[Any]:
        """Return the quotients."""
        values = as_array(ys[self.place])
        kernels = self.spec.backend.xp
        gap = difference(kernels, values)
        largest = self.largest(kernels, values)
        close = self._close(gap, largest)
        found = self.quotients(xp, gys, ys)
        if readable(values, self.spec) and self._apart(values, largest, close):
            known = gap if xp is kernels else None
            return [_plain(xp, q, close, ys[self.place], known) for q in found]
        return Ties(self, xp, found, ys).divided(gys, sweep)

    def _close(self, gap: Array, largest: Array) -> Array:
        """Return a mask of the values that are close to each other; the diagonal is True."""
        close: Array = self.spec.backend.xp.abs(gap) <= epsilon(self.spec) ** 0.5 * largest[..., None]
        return close

    def _apart(self, values: Array, largest: Array, close: Array) -> bool:
        """Return whether all values are well separated, and no divisor of the rule is small."""
        backend = self.spec.backend
        if backend.any_true(backend.xp.count_nonzero(close) != math.prod(values.shape)):
            return False
        near_zero = self.small(backend.xp, values, largest)
        return near_zero is None or not backend.any_true(near_zero)


def _plain(xp: Namespace, q: Quotient, diagonal: Array, values: Any, known: Any) -> Any:
    """Return a quotient by division, 0 on the diagonal unless it has elements there."""
    if q.diagonal:
        return q.numerator / q.gap(xp, values)
    gap = known if q.gap is difference and known is not None else q.gap(xp, values)
    return q.numerator * xp.where(diagonal, 0.0, 1.0 / xp.where(diagonal, 1.0, gap))


class Ties:
    """Equal and nearly equal values of one decomposition, and the quotients there.

    Gaps are small below the square root of the precision, relative to the largest value: there a quotient has lost half
    of its digits, and its limit is as accurate. Gaps within rounding errors are treated as 0.
    """

    def __init__(self, function: Spectral, xp: Namespace, found: list[Quotient], ys: Sequence[Array]) -> None:
        spec = function.spec
        self.function, self.xp, self.found, self.ys = function, xp, found, ys
        self.kernels = kernels = spec.backend.xp
        self.plain_ys = [as_array(y) for y in ys]
        values = self.plain_ys[function.place]
        self.values, self.spec = spec.backend.spec(values), spec
        self.readable = readable(values, spec)
        self.epsilon = epsilon(spec)
        self.rounding = self.epsilon * max(spec.shape[-2:])
        self.gaps = [q.gap(kernels, values) for q in found]
        self.moduli = [kernels.abs(gap) for gap in self.gaps]
        self.largest = function.largest(kernels, values)[..., None]
        self.small = [modulus <= self.epsilon**0.5 * self.largest for modulus in self.moduli]

    def divided(self, gys: Sequence[Any], sweep: Sweep | None) -> list[Any]:
        """Return the quotients: their limits where gaps are small and the function allows it."""
        if self.readable and sweep is not None:
            try:
                with unobserved(), force_backprop_mode():
                    found = self._inspected(gys, sweep)
            except NotRepeatable:
                found = None
            if found is not None:
                return found
        return self._unknown()

    def _inspected(self, gys: Sequence[Any], sweep: Sweep) -> list[Any] | None:
        place = self.function.place
        again, moduli = repeated(sweep, self.function, False)
        sizes = self.function.sizes(self.kernels, [None if i == place else m for i, m in enumerate(moduli)])
        if self._exact(gys[place], sizes):
            return [self._divided(i, self._skipped(i), 0.0) for i in range(len(self.found))]
        if not self._same(gys, again):  # hooks changed the cotangents
            return None
        return self._limits(gys, sizes, sweep)

    def _exact(self, gw: Any, sizes: Array) -> bool:
        """Return whether division by small gaps loses less than half of the digits of the whole gradient."""
        kernels, moduli = self.kernels, []
        largest = 0.0 * self.largest
        if gw is not None:
            largest = kernels.max(kernels.abs(as_array(gw)), axis=-1, keepdims=True)[..., None]
        for i, q in enumerate(self.found):
            skipped = self._skipped(i)
            if self.spec.backend.any_true(self._zero(i) & ~skipped):
                return False
            moduli.append(kernels.where(skipped, kernels.ones_like(self.moduli[i]), self.moduli[i]))
            quotient = kernels.where(skipped, 0.0, kernels.abs(as_array(q.numerator)) / moduli[i])
            largest = kernels.maximum(largest, kernels.max(quotient, axis=(-2, -1), keepdims=True))
        errors = self.epsilon**0.5 * kernels.max(sizes, axis=-1, keepdims=True)
        for i, modulus in enumerate(moduli):
            if self.spec.backend.any_true((errors > modulus * largest) & self.small[i] & ~self._skipped(i)):
                return False
        return True

    def _skipped(self, i: int) -> Array:
        """Return a mask of the elements where quotient `i` is 0 by definition."""
        return self.moduli[i] < 0 if self.found[i].diagonal else self._diagonal()

    def _zero(self, i: int) -> Array:
        """Return a mask of the elements where gap `i` is 0 up to rounding."""
        return self.moduli[i] <= self.rounding * self.largest

    def _diagonal(self) -> Array:
        k = self.values.shape[-1]
        return self.kernels.eye(k, dtype=self.values.dtype, device=self.values.device) != 0

    def _gap(self, i: int) -> Any:
        """Return gap `i`, a Variable in a recorded sweep."""
        return self.gaps[i] if self.xp is self.kernels else self.found[i].gap(self.xp, self.ys[self.function.place])

    def _divided(self, i: int, where: Array, otherwise: Any) -> Any:
        """Return quotient `i` by division, but `otherwise` times the numerator at some places."""
        xp = self.xp
        return self.found[i].numerator * xp.where(where, otherwise, 1.0 / xp.where(where, 1.0, self._gap(i)))

    def _unknown(self) -> list[Any]:
        """Return the quotients, NaN where gaps are 0."""
        result = []
        for i, q in enumerate(self.found):
            unknown: Any = self.kernels.full_like(self.moduli[i], NAN)
            otherwise = unknown if q.diagonal else self.kernels.where(self._diagonal(), 0.0, unknown)
            result.append(self._divided(i, self._zero(i), otherwise))
        return result

    def _limits(self, gys: Sequence[Any], sizes: Array, sweep: Sweep) -> list[Any]:
        function, place = self.function, self.function.place
        recorded = self.xp is not self.kernels
        if recorded:
            outputs, numerators = self.ys, [q.numerator for q in self.found]
        else:
            again, _ = repeated(sweep, function, True)
            outputs, given = function.get_retained_outputs(), [None if i == place else g for i, g in enumerate(again)]
            quotients = function.quotients(recorded_namespace(self.spec.backend), given, outputs)
            numerators = [q.numerator for q in quotients]
        change: list[Any] = [None] * len(self.ys)
        change[place] = constant_variable(self._opening())
        derivative = Derivative(numerators, outputs)
        slopes = derivative.along(change, True)
        turned = derivative.along(self._turning(), False)
        seconds = _seconds(slopes, outputs, change, recorded)
        return [self._limit(i, slopes[i], seconds[i], turned[i], sizes) for i in range(len(self.found))]

    def _opening(self) -> Array:
        """Return a change of the values that opens every small gap: a different one for each value with small gaps."""
        kernels, values = self.kernels, self.values
        steps = kernels.cumulative_sum(kernels.ones((values.shape[-1],), dtype=values.dtype, device=values.device))
        opened = kernels.zeros(values.shape, dtype=values.dtype, device=values.device)
        for q, small in zip(self.found, self.small, strict=True):
            close = small if q.diagonal else small & ~self._diagonal()
            opened = kernels.where(kernels.any(close, axis=-2), steps, opened)
        return opened

    def _turning(self) -> list[Any]:
        """Return a change of the vectors that rotates vectors of equal values, by irregular amounts."""
        kernels, spec = self.kernels, self.spec.backend.spec(self.plain_ys[-1])
        steps = kernels.cumulative_sum(kernels.ones((self.values.shape[-1],), dtype=spec.dtype, device=spec.device))
        amounts = kernels.cos(steps[:, None] + 2.0 * steps)
        turn = amounts - kernels.matrix_transpose(amounts)
        if spec.complex:
            turn = turn + 1j * (amounts + kernels.matrix_transpose(amounts))
        turn = kernels.where(self._zero(0) & ~self._diagonal(), turn, kernels.zeros_like(turn))
        changes = self.function.turned(kernels, self.plain_ys, turn)
        return [None if c is None else constant_variable(c) for c in changes]

    def _same(self, gys: Sequence[Any], again: Sequence[Any]) -> bool:
        """Return whether the repeated sweep found the same cotangents of the vectors."""
        kernels = self.kernels
        for i, (g, other) in enumerate(zip(gys, again, strict=True)):
            if i == self.function.place or g is None:
                continue
            if other is None:
                return False
            modulus = kernels.abs(as_array(g))
            allowed = 1e-3 * modulus + self.epsilon**0.5 * kernels.max(modulus)
            if self.spec.backend.any_true(kernels.abs(as_array(g) - other) > allowed):
                return False
        return True

    def _limit(self, i: int, slope: Any, second: Any, turned: Any, sizes: Array) -> Any:
        """Return quotient `i`: its limit where the gap is 0, or so small that division is less accurate.

        A numerator that is not 0 where the gap is 0, or not after a rotation of the vectors, depends on their choice:
        the quotient is NaN.
        """
        kernels, xp, q, gap = self.kernels, self.xp, self.found[i], self.gaps[i]
        numerator, zero, skipped = as_array(q.numerator), self._zero(i), self._skipped(i)
        opening = q.gap(kernels, self._opening())
        opening = kernels.where(opening == 0, kernels.ones_like(opening), opening)
        value: Any = kernels.zeros_like(numerator)
        steepness = kernels.abs(value)
        if slope is not None:
            steepness = kernels.abs(as_array(slope) / opening)
            value = limit(as_array(slope), None if second is None else as_array(second), gap, opening)
        if q.gap is not row:  # for the element in row i and column j the sum of sizes i and j
            sizes = sizes + kernels.matrix_transpose(sizes)
        # Rounding errors, including errors of the values where cotangents are small because of cancellation.
        errors = 64.0 * self.rounding * self.largest * kernels.max(steepness, axis=(-2, -1), keepdims=True)
        allowed = self.epsilon**0.5 * sizes + errors
        dependent = kernels.abs(numerator) > allowed
        if turned is not None:
            turning = kernels.abs(as_array(turned))
            dependent = dependent | (turning > kernels.max(allowed, axis=(-2, -1), keepdims=True))
        # Errors of the largest cotangent affect all cotangents, because rounding mixes vectors.
        misfit = kernels.abs(numerator - gap * value)
        rounding = self.epsilon * kernels.max(sizes, axis=(-2, -1), keepdims=True)
        surely = (misfit <= 64.0 * rounding) | (self.moduli[i] <= 4.0 * self.epsilon * self.largest)
        used = kernels.where(zero, ~dependent & surely, self.small[i] & (misfit <= 256.0 * rounding)) & ~skipped
        if xp is not kernels and slope is not None:
            value = fenced(limit(slope, second, self._gap(i), opening), self._gap(i), used)
        unknown = kernels.where(zero & dependent & ~skipped, kernels.full_like(gap, NAN), 0.0)
        return xp.where(used, value, self._divided(i, (gap == 0) | skipped, unknown))


def _seconds(slopes: Sequence[Any], outputs: Sequence[Any], change: Sequence[Any], recorded: bool) -> list[Any]:
    """Return the derivative of each slope along the same change."""
    found = iter(Derivative([s for s in slopes if s is not None], outputs).along(change, recorded))
    return [None if s is None else next(found) for s in slopes]
