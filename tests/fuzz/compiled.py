"""Random functions, compiled and not, in two equal worlds: results, stored values and random numbers must agree."""

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from tests.core.transforms.trace.compiled_cases import same_leaf
from tests.fuzz.programs import Program

import xpgrad
import xpgrad.functions as F
from xpgrad import Device, Parameter, Variable, as_variable, random, transforms
from xpgrad import array_api as xp
from xpgrad.testing.arrays import on_host, placed
from xpgrad.transforms.trees import flatten
from xpgrad_conformance.checks.concurrent_calls import run_concurrently

CALLS = 4
"""Two calls that record, and two of the program."""


class World:
    """The external state of a function: Variables, arrays of the library, and a number.

    Parameters
    ----------
    numbers : sequence of NumPy arrays
    device : Device
    """

    def __init__(self, numbers: Sequence[Any], device: Device) -> None:
        self.device = device
        self.weights = [Parameter(placed(numbers[0], device)), Variable(placed(numbers[1], device))]
        self.arrays = [placed(numbers[2], device)]

    def state(self) -> list[Any]:
        """Return copies of all its numbers, and the next numbers of its random stream."""
        found = [on_host(x) for x in (*(w.array for w in self.weights), *self.arrays)]
        found += [None if w.grad is None else on_host(w.grad) for w in self.weights]
        return [*found, random.get_state(self.device)]


Effect = Callable[[World, Variable, Variable], Variable | None]
"""Code between the steps of a program, which replaces the first of two values unless it returns None."""


def _scaled(world: World, a: Variable, b: Variable) -> Variable:
    return world.weights[0] * a if _fit(a, world.weights[0]) else a + 1


def _moved(world: World, a: Variable, b: Variable) -> Variable:
    return a - world.weights[1] if _fit(a, world.weights[1]) else a


def _masked(world: World, a: Variable, b: Variable) -> Variable:
    return a * world.arrays[0] if _fit(a, world.arrays[0]) else a * -0.0


def _noisy(world: World, a: Variable, b: Variable) -> Variable:
    return a + random.uniform(a.shape, a.dtype, world.device)


def _dropped(world: World, a: Variable, b: Variable) -> Variable:
    return F.dropout(a, 0.5)


def _joined(world: World, a: Variable, b: Variable) -> Variable:
    return xp.concat([a, a], axis=0)[: a.shape[0]] if a.ndim else a


def _write(world: World, a: Variable, b: Variable) -> Variable:
    """Change an array that the function has made."""
    made = a.array * 1.5
    if not world.device.backend.immutable:
        if a.ndim:
            made[..., :1] = made[..., -1:] + 1
        made += 0.25
    written = Variable(made, requires_grad=False)
    return written * b if _fit(a, b) else written


def _assign(world: World, a: Variable, b: Variable) -> None:
    w = world.weights[1]
    w.array = 0.5 * w.array + xp.mean(a).array * 0.125


def _descend(world: World, a: Variable, b: Variable) -> None:
    w = world.weights[0]
    if w.grad is not None:
        w.array = w.array - 0.1 * w.grad


def _sweep(world: World, a: Variable, b: Variable) -> None:
    y = xp.sum(a * a + (world.weights[0] * 2 if _fit(a, world.weights[0]) else 1))
    if y.requires_grad:
        y.backward()


def _clear(world: World, a: Variable, b: Variable) -> None:
    world.weights[0].cleargrad()


def _gradient(world: World, a: Variable, b: Variable) -> Variable | None:
    y = xp.sum(xp.tanh(a) * a)
    return xpgrad.grad([y], [a], enable_double_backprop=True)[0] if y.requires_grad else None


def _recomputed(world: World, a: Variable, b: Variable) -> Variable:
    recomputed: Variable = transforms.checkpoint(lambda v: F.dropout(xp.sin(v) * v, 0.4))(a)
    return recomputed


def _taken(world: World, a: Variable, b: Variable) -> Variable:
    return a * 2 if float(xp.sum(b).array) > 0 else a - 1


def _hooked(world: World, a: Variable, b: Variable) -> Variable:
    c = a * 1
    if c.requires_grad:
        c.register_hook(lambda g: g * 0.5)
    return c


FIXED: tuple[Effect, ...] = _scaled, _moved, _masked, _joined
"""Effects without random numbers, and that write to nothing."""
PURE: tuple[Effect, ...] = *FIXED, _noisy
EFFECTS: tuple[Effect, ...] = (
    *PURE, _dropped, _write, _assign, _descend, _sweep, _sweep, _clear, _gradient, _recomputed, _hooked,
)  # fmt: skip


def _fit(a: Any, b: Any) -> bool:
    """Return whether `b` broadcasts to the shape of `a`."""
    try:
        return np.broadcast_shapes(a.shape, b.shape) == tuple(a.shape)
    except ValueError:
        return False


class Function:
    """A random function of two arrays and a number, written for one world; the same numbers make the same function.

    Parameters
    ----------
    rng : numpy.random.Generator
    plan : Plan
        Whose arguments it takes.
    effects : sequence of Effect
    """

    def __init__(self, rng: np.random.Generator, plan: "Plan", effects: Sequence[Effect] = EFFECTS) -> None:
        first, second = (x.shape for x in plan.arguments[0])
        dtype = plan.numbers[0].dtype.name
        self.program = Program(rng, [first, second, first], most=12, changes=6, dtype=dtype)
        self.effects = effects
        self.looks = bool(rng.random() < 0.08)
        self.returned = [int(n) for n in rng.integers(0, 100, rng.integers(1, 4))]
        self.kinds = [int(n) for n in rng.integers(0, 8, len(self.returned))]

    def __repr__(self) -> str:
        return f"<{self.program}, looks {self.looks}, returns {self.returned} as {self.kinds}>"

    def of(self, world: World) -> Callable[..., Any]:
        """Return the function in a world."""

        def changed(kind: int, a: Any, b: Any) -> Any:
            a = as_variable(a)
            found = self.effects[kind % len(self.effects)](world, a, as_variable(b))
            return a if found is None else found

        def made(values: Any) -> Any:
            return placed(values, world.device)

        def function(x1: Any, x2: Any, scale: float) -> Any:
            leaves = [x1, x2, x1 * scale]
            values = [*leaves, *self.program.run(xp, leaves, made, changed)]
            if self.looks:
                values.append(_taken(world, as_variable(values[-1]), as_variable(values[0])))
            results = [values[-1 - n % len(values)] for n in self.returned]
            return [as_variable(y).array if kind == 0 else y for y, kind in zip(results, self.kinds, strict=True)]

        return function


class Plan:
    """The environment of the calls of a function: its arguments, and changes from call to call."""

    def __init__(self, rng: np.random.Generator) -> None:
        shape = tuple(int(n) for n in rng.integers(1, 4, 2))
        self.one = bool(rng.random() < 0.15)
        second = shape if self.one else (1, shape[1])
        self.numbers = [rng.normal(size=shape), rng.normal(size=(1, shape[1])), rng.normal(size=shape)]
        self.arguments = [(rng.normal(size=shape), rng.normal(size=second)) for _ in range(CALLS)]
        self.variables = bool(rng.random() < 0.8)
        self.needed = [bool(n) for n in rng.random(2) < 0.7]
        self.changes = [int(n) for n in rng.integers(0, 14, CALLS)]
        self.seeds = [float(n) for n in rng.normal(size=3)]
        self.backwards = int(rng.integers(0, 3))
        self.seed = int(rng.integers(2**31))

    def run(self, function: Callable[..., Any], world: World) -> list[Any]:
        """Return the results of the calls and the state after them."""
        random.seed(self.seed)
        found: list[Any] = []
        for numbers, change in zip(self.arguments, self.changes, strict=True):
            xs: list[Any] = [placed(x, world.device) for x in numbers]
            if self.variables:
                xs = [
                    Variable(x, requires_grad=needed != (change == 6))
                    for x, needed in zip(xs, self.needed, strict=True)
                ]
            if self.one:
                xs[1] = xs[0]
            self._change(change, world)
            with xpgrad.using_config("train", change != 4):
                results = function(*xs, 0.5 if change == 5 else 1.25)
            found += [_leaf(y) for y in flatten(results)[0]]
            found += self._gradients(results, [x for x in xs if isinstance(x, Variable)], world)
            self._spoil(results, world, xs)
            found += world.state()
        return found

    def _change(self, change: int, world: World) -> None:
        """Change the world between two calls."""
        first, second = world.weights
        if change == 0:
            first.array = first.array * -1.5
        elif change == 1 and not world.device.backend.immutable:
            first.array[...] = 0.5  # in place
            world.arrays[0][...] = -0.5
        elif change == 2:
            second.cleargrad()
        elif change == 3:
            world.weights[1] = Variable(second.array, requires_grad=not second.requires_grad)

    def _gradients(self, results: Any, xs: list[Variable], world: World) -> list[Any]:
        """Compute gradients through the results, and return the gradients of the arguments."""
        ys = [y for y in flatten(results)[0] if isinstance(y, Variable) and y.requires_grad]
        inputs = list({id(x): x for x in (*xs, *world.weights) if x.requires_grad}.values())
        if self.backwards == 0 or not ys or not inputs:
            return []
        loss = sum(
            (xp.sum(y) * seed for y, seed in zip(ys, self.seeds, strict=False)),
            start=Variable(placed(0.0, world.device)),
        )
        if self.backwards == 1:
            loss.backward()
            found = [*(x.grad for x in (*xs, *world.weights))]
            for w in world.weights:  # the next call gets equal values in both worlds
                w.cleargrad()
        else:
            found = list(xpgrad.grad([loss], inputs))
        several = len(ys) > 1 or any(y is x for y in ys for x in inputs)
        hosts = [None if g is None else on_host(g) for g in found]
        return [Sums(g) for g in hosts] if several else hosts

    def _spoil(self, results: Any, world: World, xs: Sequence[Any]) -> None:
        """Write to the results, which must not change any other array."""
        if world.device.backend.immutable:
            return
        kept = {id(x) for x in (*xs, *world.weights)}
        for y in flatten(results)[0]:
            if id(y) not in kept:
                (y.array if isinstance(y, Variable) else y)[...] = 77


def _leaf(y: Any) -> Any:
    return on_host(y), isinstance(y, Variable) and y.requires_grad  # without Variables as arguments, arrays return


class Sums:
    """A gradient with several contributions: a call of a compiled function first adds its contributions."""

    def __init__(self, total: Any) -> None:
        self.total = total

    def __repr__(self) -> str:
        return f"the sum {self.total!r}"

    def near(self, other: "Sums") -> bool:
        """Return whether two sums are equal to rounding."""
        a, b = self.total, other.total
        if a is None or b is None:
            return a is b
        return a.shape == b.shape and np.allclose(
            a, b, rtol=1e-11, atol=1e-12 * np.max(np.abs(b), initial=1), equal_nan=True
        )


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, Sums) and isinstance(b, Sums):
        return a.near(b)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    return same_leaf(a, b)


def compiled(rng: np.random.Generator, device: Device) -> str | None:
    """A function in two worlds, compiled in the second; None if both are the same after each call, else where not."""
    plan = Plan(rng)
    function = Function(rng, plan)
    here, there = World(plan.numbers, device), World(plan.numbers, device)
    with warnings.catch_warnings(), xpgrad.using_config("detect_mutation", False):
        warnings.simplefilter("ignore")
        expected, failed = _outcome(plan, function.of(here), here)
        if failed:
            return None  # an eager failure may occur at another place when compiled
        made = xpgrad.compile(function.of(there), exact=True)
        got, failed = _outcome(plan, made, there)
    if failed:
        return f"{function}: {failed}"
    for i, (a, b) in enumerate(zip(got, expected, strict=True)):
        if not _same(a, b):
            return f"{function}, item {i} of {len(expected)}: {a!r}, eagerly {b!r}, {_difference(a, b)}"
    return None


def _difference(a: Any, b: Any) -> str:
    a, b = (x[0] if isinstance(x, tuple) else x.total if isinstance(x, Sums) else x for x in (a, b))
    if getattr(a, "shape", None) != getattr(b, "shape", ()):
        return "of other shapes"
    return f"by {np.max(np.abs(a - b), initial=0)}"


def _outcome(plan: Plan, function: Callable[..., Any], world: World) -> tuple[list[Any], str]:
    try:
        return plan.run(function, world), ""
    except Exception as error:
        return [], f"{type(error).__name__}: {error}"


def compiled_threads(rng: np.random.Generator, device: Device) -> str | None:
    """Two threads call one compiled function from its first call on, without anything that is written to."""
    plan = Plan(rng)
    function = Function(rng, plan, PURE)
    world = World(plan.numbers, device)
    eager = function.of(world)
    made = xpgrad.compile(eager, exact=True)

    def calls(number: int, call: Callable[..., Any]) -> list[Any]:
        random.seed(number)
        return [
            [_leaf(y) for y in call(*(Variable(placed(x, device)) for x in numbers), 1.25)]
            for numbers in plan.arguments[number % 2 :] * 2
        ]

    def run(number: int) -> list[Any]:
        with xpgrad.using_config("detect_mutation", False):
            return calls(number, made)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = run_concurrently([partial(run, number) for number in range(2)])
    for number, got in enumerate(found):
        expected = calls(number, eager)
        if not all(_same(a, b) for x, y in zip(got, expected, strict=True) for a, b in zip(x, y, strict=True)):
            return f"{function}: thread {number} got {got!r}, eagerly {expected!r}"
    return None
