"""Random functions by forward mode: against the double pullback, and against reverse mode."""

from collections.abc import Callable
from typing import Any

import numpy as np
from tests.core.transforms.references import doubled, looped, reverse_hvp
from tests.fuzz.batched import TOLERANCE, compared, total, weights
from tests.fuzz.programs import Program, ours

from xpgrad import Device, Parameter, Variable, transforms
from xpgrad import array_api as xp
from xpgrad.testing.arrays import inner, on_host, placed
from xpgrad.transforms.trees import flatten

SHAPES = ((2, 3), (3,), (2, 1), ())
Pair = Callable[..., tuple[Any, Any]]


class Plan:
    """A function, its arguments and tangents, and the derivatives to compute.

    Parameters
    ----------
    rng : numpy.random.Generator
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self.shapes = [SHAPES[i] for i in rng.integers(0, len(SHAPES), 2)]
        self.program = Program(rng, self.shapes, most=7)
        self.arguments, self.tangents, self.others = (
            [rng.normal(size=shape) for shape in self.shapes] for _ in range(3)
        )
        self.constant = rng.normal(size=self.shapes[0])
        self.kind = str(rng.choice(list(KINDS)))
        self.variables = bool(rng.random() < 0.5)

    def __repr__(self) -> str:
        return f"<{self.kind} of {self.program}, Variables {self.variables}>"

    def run(self, device: Device, jvp: Pair, *, forward: bool) -> list[Any]:
        """Return all numbers of one way, forward mode or its reference."""
        world = World(self, device)
        found = flatten(KINDS[self.kind](world, jvp, forward))[0]
        if world.weight.grad is not None:
            found.append(world.weight.grad)
        return [on_host(y) for y in found]


class World:
    """A plan's function and arguments on a device.

    Attributes
    ----------
    weight : Parameter
        Captured by the function.
    primals, tangents, others : tuple
        Arrays or Variables.
    """

    def __init__(self, plan: Plan, device: Device) -> None:
        self.program, self.device = plan.program, device
        self.weight = Parameter(placed(plan.constant, device))

        def made(numbers: Any) -> tuple[Any, ...]:
            arrays = [placed(x, device) for x in numbers]
            return tuple(Variable(x) if plan.variables else x for x in arrays)

        self.primals, self.tangents, self.others = map(made, (plan.arguments, plan.tangents, plan.others))

    def captured(self, values: Any) -> Any:
        """Return an array of the library, which the function captures."""
        return placed(np.asarray(values), self.device)

    def values(self, x: Any, y: Any) -> Any:
        """Return the values of the function."""
        return tuple(self.program.run(xp, [x * self.weight, y], self.captured, ours(self.captured)))

    def loss(self, x: Any, y: Any) -> Any:
        """Return one number."""
        return self.program.loss(xp, [x * self.weight, y], self.captured, ours(self.captured))

    def gradient(self, x: Any, y: Any) -> Any:
        """Return the gradient of the number."""
        return transforms.grad(self.loss, (0, 1), allow_constant=True)(x, y)


def _backward(w: World, jvp: Pair, forward: bool) -> Any:
    """Sweep from the tangent and the value back to the captured values."""
    found = jvp(w.values, w.primals, w.tangents)
    ys = [Variable(y) if not isinstance(y, Variable) else y for y in flatten(found)[0]]
    loss = total(ys, w.device)
    if loss.requires_grad:
        loss.backward()
    return found


def _pairing(w: World, jvp: Pair, forward: bool) -> Any:
    """Pair the tangent with cotangents, or cotangents pulled back with the tangents."""
    if forward:
        _, found = jvp(w.values, w.primals, w.tangents)
        return [np.asarray(sum(inner(weights(t.shape), on_host(t)) for t in flatten(found)[0]))]
    y, pullback = transforms.vjp(w.values, *w.primals, allow_constant=True)
    leaves, structure = flatten(y)
    gs = pullback(structure.build([placed(weights(x.shape), w.device) for x in leaves]))
    return [np.asarray(sum(inner(on_host(g), on_host(t)) for g, t in zip(gs, w.tangents, strict=True)))]


def _linearized(w: World, jvp: Pair, forward: bool) -> Any:
    if not forward:
        return [jvp(w.values, w.primals, t)[1] for t in (w.tangents, w.others)]
    _, along = transforms.linearize(w.values, *w.primals, allow_constant=True)
    return [along(*t) for t in (w.tangents, w.others)]


def _hvp(w: World, jvp: Pair, forward: bool) -> Any:
    if not forward:
        return reverse_hvp(w.loss, w.primals, w.tangents)
    return transforms.hvp(w.loss, w.primals, w.tangents, allow_constant=True)


def _gradient_of(w: World, jvp: Pair, forward: bool) -> Any:
    def along(*xs: Any) -> Any:
        return total(jvp(w.values, xs, w.tangents), w.device)

    return transforms.grad(along, (0, 1), allow_constant=True)(*w.primals)


def _captured_primal(w: World, jvp: Pair, forward: bool) -> Any:
    """Let an inner jvp capture the perturbed value of an outer jvp."""

    def outer(x: Any, y: Any) -> Any:
        return jvp(lambda v: w.values(x * 1.5, v), (y,), (w.others[1],))

    return jvp(outer, w.primals, w.tangents)


def _tangent_of_primal(w: World, jvp: Pair, forward: bool) -> Any:
    """Move along a direction that depends on the outer primal."""

    def outer(x: Any, y: Any) -> Any:
        return jvp(w.values, (x, y), (xp.sin(x), y * y))

    return jvp(outer, w.primals, w.tangents)


def _batched(w: World, jvp: Pair, forward: bool) -> Any:
    vmap = transforms.vmap if forward else looped
    scales = placed(np.asarray([0.5, -1.0, 2.0]), w.device)

    def scaled(scale: Any) -> Any:
        return jvp(w.values, tuple(scale * x for x in w.primals), tuple(0.0 * scale + t for t in w.tangents))

    return vmap(scaled)(scales)


KINDS: dict[str, Callable[[World, Pair, bool], Any]] = {
    "jvp": lambda w, jvp, _: jvp(w.values, w.primals, w.tangents),
    "backward of jvp": _backward, "pairing": _pairing, "linearize": _linearized, "hvp": _hvp,
    "jvp of gradient": lambda w, jvp, _: jvp(w.gradient, w.primals, w.tangents), "gradient of jvp": _gradient_of,
    "jvp of jvp": lambda w, jvp, _: jvp(lambda *xs: jvp(w.values, xs, w.tangents), w.primals, w.others),
    "captured primal": _captured_primal, "tangent of primal": _tangent_of_primal, "vmap of jvp": _batched,
}  # fmt: skip


def forward_jvp(f: Any, primals: Any, tangents: Any) -> Any:
    """Return the result of `jvp`, also for a function that does not depend on its arguments."""
    return transforms.jvp(f, primals, tangents, allow_constant=True)


def forward(rng: np.random.Generator, device: Device) -> str | None:
    """A function by forward mode and by reverse mode: None if both give the same."""
    plan = Plan(rng)
    with np.errstate(all="ignore"):
        try:
            expected = plan.run(device, doubled, forward=False)
        except Exception as error:
            return f"{plan}, by reverse mode: {type(error).__name__}: {error}"
        got = plan.run(device, forward_jvp, forward=True)
    return compared(plan, got, expected, 10 * TOLERANCE)
