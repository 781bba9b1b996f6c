"""Random batched functions compared with a loop: values, gradients of any order, captured values."""

from collections.abc import Callable
from typing import Any

import numpy as np
from tests.core.transforms.references import looped
from tests.fuzz.programs import Program, ours

from xpgrad import Device, Parameter, Variable, transforms
from xpgrad import array_api as xp
from xpgrad.testing.arrays import on_host, placed
from xpgrad.transforms.trees import flatten

SHAPES = ((2, 3), (3,), (2, 1), ())
KINDS = "values", "inside", "outside", "both", "second", "captured"
"""Where gradients are computed: nowhere, in the function, of the function, both, second order in it, by `backward`."""
TOLERANCE = 1e-9


class Level:
    """One `vmap`: its parameters, and which arguments are passed and which captured.

    Parameters
    ----------
    rng : numpy.random.Generator
    ranks : list of int
        Ranks of the members' arguments.
    """

    def __init__(self, rng: np.random.Generator, ranks: list[int]) -> None:
        self.size = int(rng.integers(1, 4))
        kept = int(rng.integers(len(ranks)))
        self.axes = [
            int(rng.integers(-rank - 1, rank + 1)) if i == kept or rng.random() < 0.6 else None
            for i, rank in enumerate(ranks)
        ]
        self.out_axis = -int(rng.integers(0, 2))
        self.closes_over = bool(rng.random() < 0.5)
        self.options = {} if rng.random() < 0.7 else {"chunk_size": int(rng.integers(1, 4))}

    def __repr__(self) -> str:
        closes = ", others captured" if self.closes_over else ""
        return f"<vmap of {self.size}, {self.axes} -> {self.out_axis}, {self.options}{closes}>"

    def enlarged(self, shapes: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
        """Return the shapes of batches of arrays of these shapes."""
        return [
            shape if axis is None else (*shape[: (at := axis % (len(shape) + 1))], self.size, *shape[at:])
            for shape, axis in zip(shapes, self.axes, strict=True)
        ]

    def of(self, vmap: Callable[..., Any], f: Callable[..., Any]) -> Callable[..., Any]:
        """Return `f` of batches."""

        def mapped(*args: Any) -> Any:
            if not self.closes_over:
                return vmap(f, in_axes=tuple(self.axes), out_axes=self.out_axis, **self.options)(*args)
            passed = [i for i, axis in enumerate(self.axes) if axis is not None]

            def inner(*given: Any) -> Any:
                members = dict(zip(passed, given, strict=True))
                return f(*(members.get(i, x) for i, x in enumerate(args)))

            axes = tuple(self.axes[i] for i in passed)
            return vmap(inner, in_axes=axes, out_axes=self.out_axis, **self.options)(*(args[i] for i in passed))

        return mapped


class Plan:
    """A function of members, the levels of `vmap` around it, and its arguments.

    Parameters
    ----------
    rng : numpy.random.Generator
    """

    def __init__(self, rng: np.random.Generator) -> None:
        members = [SHAPES[i] for i in rng.integers(0, len(SHAPES), 2)]
        self.program = Program(rng, members, most=7)
        self.levels, shapes = list[Level](), members
        for _ in range(1 + (rng.random() < 0.3)):
            self.levels.append(Level(rng, [len(shape) for shape in shapes]))
            shapes = self.levels[-1].enlarged(shapes)
        self.arguments = [rng.normal(size=shape) for shape in shapes]
        self.weight, self.constant = rng.normal(size=members[0]), rng.normal(size=members[1])
        self.kind = str(rng.choice(KINDS))
        self.variables = bool(rng.random() < 0.5)

    def __repr__(self) -> str:
        return f"<{self.kind} by {self.levels} of {self.program}, Variables {self.variables}>"

    def run(self, vmap: Callable[..., Any], device: Device) -> list[Any]:
        """Return all numbers that the function gives, as arrays of the host."""
        weight, constant = Parameter(placed(self.weight, device)), placed(self.constant, device)
        captures = self.kind in ("captured", "both") or self.variables

        def made(values: Any) -> Any:
            values = np.asarray(values)
            return placed(values, device)

        def leaves(args: Any) -> list[Any]:
            x, y = (v if isinstance(v, Variable) else Variable(v, requires_grad=False) for v in args)
            return [x * (weight if captures else 1.5), y + constant]

        def values(*args: Any) -> Any:
            return tuple(self.program.run(xp, leaves(args), made, ours(made)))

        def loss(*args: Any) -> Any:
            return self.program.loss(xp, leaves(args), made, ours(made))

        gradient = transforms.grad(loss, (0, 1), allow_constant=True)

        def second(*args: Any) -> Any:
            return transforms.grad(lambda *xs: total(gradient(*xs), device), (0, 1), allow_constant=True)(*args)

        inner = {"inside": gradient, "both": gradient, "second": second}.get(self.kind, values)
        mapped = inner
        for level in self.levels:
            mapped = level.of(vmap, mapped)
        args = [placed(x, device) for x in self.arguments]
        if self.variables or self.kind == "captured":
            args = [Variable(x) for x in args]
        if self.kind == "captured":
            ys = mapped(*args)
            total(ys, device).backward()
            found = [*flatten(ys)[0], *(x.grad for x in args), weight.grad]
        elif self.kind in ("outside", "both"):
            found = list(transforms.grad(lambda *xs: total(mapped(*xs), device), (0, 1), allow_constant=True)(*args))
        else:
            found = flatten(mapped(*args))[0]
        return [None if y is None else on_host(y) for y in found]


def total(ys: Any, device: Device) -> Any:
    """Return one number in which each element of each array counts differently."""
    terms = [xp.sum(xp.tanh(y) * placed(weights(y.shape), device)) for y in flatten(ys)[0]]
    return sum(terms[1:], start=terms[0])


def weights(shape: tuple[int, ...]) -> Any:
    """Return different numbers of both signs."""
    return np.cos(np.arange(1.0, 1.0 + np.prod(shape))).reshape(shape)


def batched(rng: np.random.Generator, device: Device) -> str | None:
    """A function of batches by `vmap` and by a loop: None if both give the same."""
    plan = Plan(rng)
    with np.errstate(all="ignore"):
        try:
            expected = plan.run(looped, device)
        except Exception as error:
            return f"{plan}, by a loop: {type(error).__name__}: {error}"
        got = plan.run(transforms.vmap, device)
    return compared(plan, got, expected, TOLERANCE)


def compared(plan: Any, got: list[Any], expected: list[Any], tolerance: float) -> str | None:
    """Return the difference between two lists of host arrays, if larger than a fraction of their largest element."""
    if len(got) != len(expected):
        return f"{plan}: {len(got)} results, expected {len(expected)}"
    for i, (a, b) in enumerate(zip(got, expected, strict=True)):
        a, b = (np.zeros(()) if x is None else np.asarray(x) for x in (a, b))
        if a.shape != b.shape and np.any(a) | np.any(b):
            return f"{plan}, result {i}: shape {a.shape}, expected {b.shape}"
        size = 1 + np.max(np.abs(b), initial=0.0, where=np.isfinite(b))
        if a.shape == b.shape and not np.allclose(a, b, rtol=0, atol=tolerance * size, equal_nan=True):
            return f"{plan}, result {i}: got {a.tolist()}, expected {b.tolist()}"
    return None
