"""The steps of generated programs: each a line of Python for the existing values, or None."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

GAP = 1e-3
"""Distance from ties and jumps beyond which rounding to float32 has no effect."""
MAX_PRODUCT = 100_000
"""Elements that products of matrices have at most."""
MIN_SUM = 1e-3
"""Minimum ratio of a sum to its sum of absolute values."""


class Values:
    """The values of a program so far, on the host in float64, and random choices from them.

    Attributes
    ----------
    rng : numpy.random.Generator
    wide : dict from number to host array
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.wide: dict[int, Any] = {}

    def pick(self, items: Sequence[Any]) -> Any:
        """Return a random item."""
        return items[int(self.rng.integers(len(items)))] if len(items) else None

    def line(self, lines: Sequence[str]) -> str | None:
        """Return a random line; None if `lines` is empty."""
        chosen: str | None = self.pick(lines)
        return chosen

    def number(self) -> float:
        """Return a Python number."""
        return float(self.pick([0.5, -0.5, 2.0, 0.25, -1.5, 3.0, 0.1, 1]))

    def any_of(self, kinds: str, ndim: int = 0, most: int = 9) -> int | None:
        """Return the number of a value of NumPy's `kinds` with so many axes, recent ones more often; or None."""
        found = [n for n, x in self.wide.items() if x.dtype.kind in kinds and ndim <= x.ndim <= most]
        chosen: int | None = self.pick(found[-4:] if self.rng.integers(3) else found)
        return chosen

    def fitting(self, number: int, kinds: str) -> int | None:
        """Return the number of a value that broadcasts with another to at most 60,000 elements, or None."""
        shape = self.wide[number].shape
        found = []
        for n, x in self.wide.items():
            if x.dtype.kind in kinds:
                try:
                    size = np.prod(np.broadcast_shapes(shape, x.shape))
                except ValueError:
                    continue
                if size <= max(60_000, x.size):
                    found.append(n)
        chosen: int | None = self.pick(found[-6:])
        return chosen

    def axis(self, number: int) -> int:
        """Return an axis of a value, negative with probability one half."""
        ndim = self.wide[number].ndim
        return int(self.rng.integers(-ndim, ndim))

    def apart(self, x: Any, axis: int | None = None) -> bool:
        """Return whether all elements along an axis are so far from each other that rounding changes no order."""
        x = np.sort(x.reshape(-1) if axis is None else x, axis=-1 if axis is None else axis)
        return self.beyond(np.diff(x, axis=-1 if axis is None else axis))

    def beyond(self, distance: Any) -> bool:
        """Return whether all elements are so far from zero that rounding changes no sign."""
        return bool(np.all(np.abs(distance) > GAP)) if distance.dtype.kind == "f" else True


def _cancels(sums: Any, magnitudes: Any) -> bool:
    """Return whether sums are so small, compared with sums of absolute values, that only rounding errors remain."""
    return bool(np.max(np.abs(sums), initial=0.0) < MIN_SUM * np.max(magnitudes, initial=0.0))


class Maker(NamedTuple):
    """A maker of steps.

    Attributes
    ----------
    make : callable
        ``make(values)`` returns a line of Python, or lines in which OUT is the value of the step, or None.
    weight : int
    shares : bool
        Whether results may be views of their operands, or the operands themselves, or read-only.
    """

    make: Callable[[Any], Any]
    weight: int
    shares: bool = False


def step(
    weight: int, kinds: str = "", ndim: int = 0, most: int = 9, *, other: str = "", shares: bool = False
) -> Callable[[Callable[..., Any]], Maker]:
    """Return a decorator that makes a `Maker` of ``make(values, *numbers)``.

    The numbers are those of a value of NumPy's `kinds` with `ndim` to `most` axes, and of one of the kinds `other` that
    broadcasts with it, if kinds are given; without such values, no step is made.
    """

    def decorate(make: Callable[..., Any]) -> Maker:
        def made(v: Values) -> Any:
            numbers = [v.any_of(kinds, ndim, most)] if kinds else []
            if other and numbers[0] is not None:
                numbers.append(v.fitting(numbers[0], other))
            return None if None in numbers else make(v, *numbers)

        return Maker(made, weight, shares)

    return decorate


@step(7, "f")
def _unary(v: Values, n: int) -> str | None:
    x = f"v{n}"
    lines = [
        *(f"xp.{name}({x})" for name in ("tanh", "sin", "cos", "atan", "asinh", "square", "negative", "expm1")),
        *(f"-{x}", f"{x} ** 2", f"{x} ** 3", f"xp.exp(-{x} * {x})", f"xp.log({x} * {x} + 0.5)"),
        *(f"xp.sqrt(1.0 + {x} * {x})", f"1.0 / (2.0 + {x} ** 2)", f"xp.log1p({x} ** 2)", f"2.0 ** (0.3 * {x})"),
        *(f"1.0 / (1.0 + xp.exp(-{x}))", f"xp.reciprocal(1.5 + {x} * {x})", f"{x} * {v.number()}"),
        *(f"{v.number()} - {x}", f"{x} / {v.number()}", f"xp.sinh(0.3 * {x})", f"xp.cosh(0.3 * {x})"),
        *(f"xp.exp(0.5 * {x})", f"xp.positive({x}) + 1", f"xp.log2(1.0 + {x} * {x})", f"xp.acosh(1.5 + {x} * {x})"),
    ]
    return v.line(lines)


@step(3, "f", shares=True)
def _kinked(v: Values, n: int) -> str | None:
    x, wide = f"v{n}", v.wide[n]
    c = v.pick([0.3, -0.4, 0.05])
    choices = []
    if v.beyond(wide):
        choices += [f"xp.abs({x})", f"xp.sign({x}) * {c}", f"abs({x}) + 1"]
    if v.beyond(wide - c):
        choices += [f"xp.maximum({x}, {c})", f"xp.minimum({c}, {x})", f"xp.where({x} > {c}, {x}, {c} * {x})"]
        choices += [f"xp.clip({x}, min={c})", f"xp.where({x} <= {c}, 0.5, {x} * {x})"]
        if v.beyond(wide + 0.7):
            choices += [f"xp.clip({x}, -0.7, {c})"]
    if v.beyond(np.asarray(wide * 2 - np.round(wide * 2)) - 0.5) and v.beyond(
        np.asarray(wide * 2 - np.round(wide * 2))
    ):
        choices += [f"xp.floor(2 * {x}) + {x}", f"{x} - xp.trunc({x} * 2)", f"xp.ceil(2.0 * {x}) * 0.5"]
    return v.line(choices)


@step(8, "f", other="f")
def _binary(v: Values, a: int, b: int) -> str | None:
    x, y, difference = f"v{a}", f"v{b}", v.wide[a] - v.wide[b]
    lines = [
        *(f"{x} + {y}", f"{x} - {y}", f"{x} * {y}", f"{y} * {x} + {x}", f"{x} / (1.5 + {y} * {y})", f"{x} - 0.3 * {y}"),
        *(f"xp.atan2({x}, 1.0 + {y} * {y})", f"xp.hypot({x}, 1.0 + {y} ** 2)", f"xp.logaddexp({x}, {y})"),
        *(f"xp.pow(1.0 + {x} * {x}, 0.4 * {y})", f"({x} * {x} + 0.7) ** xp.tanh({y})", f"xp.multiply({x}, {y})"),
    ]
    if v.beyond(difference):
        lines += [f"xp.maximum({x}, {y})", f"xp.minimum({x}, {y})", f"xp.where({x} < {y}, {x} * {y}, {y})"] * 2
    if v.beyond(v.wide[b]) and v.beyond(v.wide[a]):
        lines += [f"xp.copysign({x}, {y})"]
    return v.line(lines)


@step(2, "f", other="b")
def _where(v: Values, a: int, c: int) -> str | None:
    b = v.fitting(c, "f")
    if b is None:
        return None
    try:
        np.broadcast_shapes(*(v.wide[n].shape for n in (a, b, c)))
    except ValueError:
        return f"xp.where(v{c}, v{a}, 0.25)"
    return str(v.pick([f"xp.where(v{c}, v{a}, v{b})", f"xp.where(v{c}, 0.5 * v{a}, -1.0)"]))


@step(6, "f", 1, shares=True)
def _reduction(v: Values, n: int) -> str | None:
    x, wide, axis = f"v{n}", v.wide[n], v.axis(n)
    keep = v.pick(["", ", keepdims=True"])
    axes = v.pick([f", axis={axis}", f", axis={axis}", "", f", axis={tuple(range(wide.ndim))}", f", axis=({axis},)"])
    sums = [f"xp.sum({x}{axes}{keep})", f"xp.mean({x}{axes}{keep})", f"xp.cumulative_sum({x}, axis={axis})"]
    spread = wide.shape[axis] > 1 and np.all(np.std(wide, axis=axis) > 0.05)  # equal numbers leave only rounding errors
    spreads = [f"{x} - xp.mean({x}, axis={axis}, keepdims=True)", f"xp.std({x}, axis={axis}{keep})"]
    lines = [*sums, *(spreads if spread else ())]
    if wide.shape[axis] > 1:
        lines += [f"xp.var({x}, axis={axis}{keep})", f"xp.sqrt(0.1 + xp.var({x}{axes}, correction=0{keep}))"]
    if wide.size and v.apart(wide, axis):
        lines += [f"xp.max({x}, axis={axis}{keep})", f"xp.min({x}, axis={axis}{keep})", f"xp.max({x}, axis={axis})"]
    lines += [f"xp.linalg.vector_norm(xp.sqrt({x} ** 2 + 0.3), axis={axis}{keep})"]
    if wide.shape[axis] <= 6 and v.beyond(wide):
        lines += [f"xp.prod({x}, axis={axis}{keep})", f"xp.cumulative_prod({x}, axis={axis})"]
    line = v.line(lines)
    if line in sums and any(_cancels(np.sum(wide, k), np.sum(np.abs(wide), k)) for k in (axis, None)):
        return None
    return line


@step(1, "f", 1)
def _softmax(v: Values, n: int) -> str | None:
    if not v.wide[n].size:
        return None
    axis = v.axis(n)
    result = v.pick([f"t / xp.sum(t, axis={axis}, keepdims=True)", f"xp.log(xp.sum(t, axis={axis}))"])
    return f"t = xp.exp(v{n} - xp.mean(v{n}, axis={axis}, keepdims=True))\nOUT = {result}"


@step(6, "fci", shares=True)
def _shape(v: Values, n: int) -> str | None:
    x, shape = f"v{n}", v.wide[n].shape
    ndim = len(shape)
    lines = [f"xp.expand_dims({x}, axis={int(v.rng.integers(-ndim - 1, ndim + 1))})", f"xp.reshape({x}, (-1,))"]
    if ndim < 4:
        lines += [f"{x}[None, ...]", f"xp.broadcast_to({x}, {(int(v.rng.integers(1, 4)), *shape)})"]
    if ndim:
        axis = v.axis(n)
        order = tuple(v.rng.permutation(ndim).tolist())
        lines += [f"xp.flip({x}, axis={axis})", f"xp.roll({x}, {int(v.rng.integers(-2, 3))}, axis={axis})"]
        lines += [f"xp.permute_dims({x}, {order})"] * 2 + [
            f"xp.moveaxis({x}, {axis}, 0)",
            f"xp.reshape({x}, {shape[::-1]})",
        ]
        if max(shape) < 50:
            lines += [f"xp.repeat({x}, 2, axis={axis})", f"xp.tile({x}, {(1,) * (ndim - 1) + (2,)})"]
        lines += [f"xp.squeeze({x}, axis={i})" for i in range(ndim) if shape[i] == 1]
    if ndim >= 2:
        lines += [f"xp.matrix_transpose({x})", f"{x}.mT", f"xp.tril({x})", f"xp.triu({x}, k=1)"]
        lines += [f"xp.reshape({x}, {(shape[0] * shape[1], *shape[2:])})"]
    return v.line(lines)


@step(6, "fci", 1, shares=True)
def _part(v: Values, n: int) -> str | None:
    shape, keys = v.wide[n].shape, list[str]()
    for length in shape:
        if length == 0:
            return None
        i, stop = int(v.rng.integers(-length, length)), int(v.rng.integers(1, length + 1))
        keys.append(
            str(v.pick([":", ":", str(i), f":{stop}", f"{stop - 1}:", "::2", "1::2" if length > 1 else ":", "::-1"]))
        )
    if v.rng.integers(4) == 0:
        keys = v.pick([[keys[0], "..."], ["...", keys[-1]]])
    if v.rng.integers(5) == 0:
        keys.insert(int(v.rng.integers(len(keys) + 1)), "None")
    return f"v{n}[{', '.join(keys)}]"


@step(4, "fc", 1, shares=True)
def _join(v: Values, n: int) -> str | None:
    wide, axis = v.wide[n], v.axis(n)
    shape = [k for i, k in enumerate(wide.shape) if i != axis % wide.ndim]
    same = [
        m
        for m, x in v.wide.items()
        if x.dtype == wide.dtype and x.ndim == wide.ndim
        and [k for i, k in enumerate(x.shape) if i != axis % wide.ndim] == shape
    ]  # fmt: skip
    others = [v.pick(same) for _ in range(int(v.rng.integers(1, 4)))]
    names = ", ".join(f"v{m}" for m in (n, *others))
    equal = all(v.wide[m].shape == wide.shape for m in others)
    lines = [f"xp.concat([{names}], axis={axis})"]
    if equal and wide.ndim < 3:
        lines += [f"xp.stack([{names}], axis={axis})", f"sum([{names}])"]
    if wide.shape[axis] in (2, 3):
        lines += [f"xp.unstack(v{n}, axis={axis})[1] * v{n}[(slice(None),) * {axis % wide.ndim} + (0,)]"]
    return v.line(lines)


@step(3, "f", 1, shares=True)
def _sorted(v: Values, n: int) -> str | None:
    wide, axis = v.wide[n], v.axis(n)
    if not wide.shape[axis] or not v.apart(wide, axis):
        return None
    down = v.pick(["", ", descending=True"])
    lines = [
        f"xp.sort(v{n}, axis={axis}{down})",
        f"xp.argsort(v{n}, axis={axis}{down})",
        f"xp.argmax(v{n}, axis={axis})",
    ]
    lines += [f"xp.take_along_axis(v{n}, xp.argsort(v{n}, axis={axis}{down}), axis={axis})"]
    lines += [f"xp.argmin(v{n}, axis={axis}, keepdims=True)"]
    return v.line(lines)


@step(5, "fc", 1)
def _gathered(v: Values, n: int) -> str | None:
    axis, length = v.axis(n), v.wide[n].shape
    indices = [
        m for m, x in v.wide.items() if x.dtype.kind == "i" and x.ndim == 1 and x.size
        and x.min() >= 0 and x.max() < length[axis]
    ]  # fmt: skip
    if not indices:
        return None
    i = v.pick(indices)
    lines = [f"xp.take(v{n}, v{i}, axis={axis})"] * 2
    if axis % len(length) == 0:
        lines += [f"v{n}[v{i}]"]
    if axis % len(length) == 1:
        lines += [f"v{n}[:, v{i}]", f"v{n}[0, v{i}]"]
        if v.wide[i].max() < length[0]:
            lines += (
                [f"v{n}[v{i}, v{i}]", f"v{n}[v{i}, ..., v{i}]"] if len(length) == 2 else [f"v{n}[v{i}, ..., v{i}, :]"]
            )
    if len(length) > 2 and axis % len(length) == len(length) - 1:
        lines += [f"v{n}[..., v{i}]"]
        if v.wide[i].max() < length[0]:
            lines += [f"v{n}[v{i}, ..., v{i}]", f"v{n}[v{i}, ..., None, v{i}]", f"v{n}[v{i}, ..., 0]"]
    return v.line(lines)


@step(1, "f", 1)
def _masked(v: Values, n: int) -> str | None:
    if not v.beyond(v.wide[n] - 0.1):
        return None
    return str(v.pick([f"v{n}[v{n} > 0.1]", f"xp.where(v{n} > 0.1, v{n}, 0.0)"]))


@step(3, "i", other="i")
def _integers(v: Values, a: int, b: int) -> str | None:
    x, y = f"v{a}", f"v{b}"
    lines = [f"{x} + {y}", f"{x} * {y}", f"{x} - 2", f"{x} // 3", f"{x} % 3", f"{x} & {y}", f"{x} | 1", f"{x} == {y}"]
    lines += [
        f"xp.remainder({x}, 4)",
        f"xp.maximum({x}, {y})",
        f"{x} < {y}",
        f"xp.abs({x})",
        f"xp.bitwise_xor({x}, {y})",
    ]
    if v.wide[a].ndim:
        axis = v.axis(a)
        lines += [f"xp.sort({x}, axis={axis})", f"xp.sum({x}, axis={axis})", f"xp.cumulative_sum({x}, axis={axis})"]
    return v.line(lines)


@step(2)
def _cast(v: Values) -> str | None:
    n, m = v.any_of("ib"), v.any_of("f")
    if n is None or m is None:
        return None
    return f"xp.astype(v{n}, v{m}.dtype) * 0.5"


@step(2, "f", other="f")
def _truth(v: Values, a: int, b: int) -> str | None:
    lines = []
    if v.beyond(v.wide[a] - v.wide[b]):
        lines += [f"v{a} > v{b}", f"xp.less_equal(v{a}, v{b})"]
    if v.beyond(v.wide[a] - 0.2):
        lines += [f"v{a} > 0.2", f"xp.logical_not(v{a} < 0.2)"]
    c = v.any_of("b")
    d = None if c is None else v.fitting(c, "b")
    if c is not None and d is not None:
        lines += [f"xp.logical_and(v{c}, v{d})", f"v{c} ^ v{d}", f"xp.any(v{c})", f"xp.all(v{c})"]
    return v.line(lines)


@step(4, "fc", 1, 3)
def _product(v: Values, a: int) -> str | None:
    wide, x = v.wide[a], f"v{a}"
    lines = [f"xp.vecdot({x}, {x})", f"xp.sum({x} * {x}, axis=-1)"] if wide.dtype.kind == "f" else []
    if max(wide.shape, default=0) < 100:
        if wide.ndim >= 2:
            lines += [f"xp.matmul({x}, xp.matrix_transpose({x}))", f"{x}.mT @ {x}"]
            if wide.shape[-2]:
                lines += [f"xp.matmul({x}, {x}[..., 0, :][..., None])[..., 0]"]
        if wide.ndim == 2:
            lines += [f"xp.tensordot({x}, {x}, axes=((0,), (0,)))", f"xp.linalg.trace({x} @ {x}.mT)"]
        if wide.ndim == 1:
            lines += [f"xp.linalg.outer({x}, {x})", f"{x} @ {x}"]
    others = [
        m for m, y in v.wide.items()
        if y.dtype == wide.dtype and y.ndim >= 1 and y.shape[max(-2, -y.ndim)] == wide.shape[-1]
    ]  # fmt: skip
    other = v.pick(others)
    product = f"xp.matmul({x}, v{other})"
    line = v.line(lines if other is None else [*lines, product, product, product])
    if other is not None and line == product:
        y, inner = v.wide[other], max(wide.shape[-1], 1)
        if wide.size * y.size > MAX_PRODUCT * inner**2:
            return None
        if inner > 100 and max(wide.ndim, y.ndim) < 3 and _cancels(wide @ y, np.abs(wide) @ np.abs(y)):
            return None
    return line


@step(2, "f", 2, shares=True)
def _linear_algebra(v: Values, n: int) -> str | None:
    if not 1 <= v.wide[n].shape[-1] <= 5:
        return None
    x, size = f"v{n}", v.wide[n].shape[-1]
    opening = f"t = xp.tanh({x})\nt = t.mT @ t + 2.0 * xp.eye({size}, dtype={x}.dtype, device={x}.device)\n"
    lines = ["xp.linalg.inv(t)", "xp.linalg.det(t)", "xp.linalg.cholesky(t)", f"xp.linalg.solve(t, {x}.mT)"]
    lines += ["xp.linalg.slogdet(t)[1]", "xp.linalg.diagonal(t)", "xp.linalg.trace(xp.linalg.inv(t))"]
    return f"{opening}OUT = {v.pick(lines)}"


@step(4, "c", shares=True)
def _complex(v: Values, n: int) -> str | None:
    x, m = f"v{n}", v.fitting(n, "c")
    lines = [
        f"xp.real({x})",
        f"xp.imag({x})",
        f"xp.conj({x})",
        f"{x} * (0.5+1j)",
        f"{x} * {x}",
        f"{x} / (2.0 + xp.abs({x}) ** 2)",
    ]
    lines += [f"xp.sum({x})", f"xp.exp(0.3 * {x})", f"xp.abs({x} + 9.0)", f"{x} + xp.conj({x})"]
    lines += [f"{x} * v{m}", f"{x} - v{m}"] if m is not None else []
    if v.wide[n].ndim and v.wide[n].shape[-1]:
        lines += [
            f"xp.fft.ifft({x})",
            f"xp.fft.fft({x}, axis={v.axis(n)})",
            f"xp.fft.irfft({x}, n={v.wide[n].shape[-1] * 2 - 1})",
        ]
    return v.line(lines)


@step(1, "f", 1)
def _spectrum(v: Values, n: int) -> str | None:
    if not v.wide[n].shape[-1]:
        return None
    return v.line([f"xp.fft.rfft(v{n})", f"xp.fft.irfft(xp.fft.rfft(v{n}) * 0.5, n={v.wide[n].shape[-1]})"])


@step(2, "f", 1, shares=True)
def _loop(v: Values, n: int) -> str | None:
    if not 2 <= v.wide[n].shape[0] <= 7:
        return None
    count, x = v.wide[n].shape[0], f"v{n}"
    bodies = [
        f"OUT = xp.tanh(0.7 * OUT + {x}[i])",
        f"OUT = OUT * 0.5 + {x}[i, ...] * {x}[0]",
        f"OUT = OUT - 0.3 * {x}[-i]",
    ]
    return f"OUT = {x}[0]\nfor i in range(1, {count}):\n    {v.pick(bodies)}"


@step(2, "f", shares=True)
def _many(v: Values, n: int) -> str | None:
    """Use one array many times, so that its gradient has many contributions."""
    x, wide = f"v{n}", v.wide[n]
    body = f"OUT = OUT + 0.1 * i * xp.tanh({x} + i)"
    if wide.ndim and wide.shape[0]:
        body = str(v.pick([body, f"OUT = OUT + {x}[i % {wide.shape[0]}] * (i - 2)", f"OUT = OUT + xp.sum({x}) * 0.1"]))
    return f"OUT = {x} * 0.5\nfor i in range({int(v.rng.integers(4, 12))}):\n    {body}"


@step(2, "f", 1)
def _assigned(v: Values, n: int) -> str | None:
    if not v.wide[n].shape[0]:
        return None
    x, length = f"v{n}", v.wide[n].shape[0]
    i = int(v.rng.integers(length))
    lines = [
        f"OUT[{i}, ...] = 0.5",
        f"OUT[{i}, ...] = {x}[0] * 2.0",
        f"OUT[:{i + 1}, ...] = {x}[{length - i - 1}:, ...]",
        "OUT[::2, ...] = -1.0",
    ]
    return f"OUT = {x} * 1.0\n{v.pick(lines)}"


MAKERS = tuple(each for each in list(globals().values()) if isinstance(each, Maker))
