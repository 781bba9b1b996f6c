"""Random compositions of three transformations of a random function, compared with JAX."""

from typing import Any

import numpy as np
from tests.core.transforms.mixtures import KINDS, Library, Mixture, composed, of_jax, ours
from tests.fuzz.batched import compared
from tests.fuzz.programs import FOREIGN, Program

from xpgrad import Device
from xpgrad.testing.arrays import on_host, placed

SHAPES = ((2, 3), (3,))
ORDERS = {"grad": 1, "jvp": 1, "vmap": 0, "jacobian": 1, "hessian": 2, "compile": 0, "checkpoint": 0}
HIGHEST = 3
"""Order of the derivatives."""
TOLERANCE = 1e-7


def mixture(rng: np.random.Generator) -> Mixture:
    """Return up to four transformations with a total order of at most three."""
    names, order = list[str](), 0
    for _ in range(rng.integers(2, 5)):
        name = str(rng.choice(list(KINDS), p=[0.27, 0.27, 0.26, 0.05, 0.05, 0.05, 0.05]))
        if order + ORDERS[name] <= HIGHEST:
            names.append(name)
            order += ORDERS[name]
    return tuple(KINDS[name][rng.integers(len(KINDS[name]))] for name in names)


def mixes(rng: np.random.Generator, device: Device) -> str | None:
    """A function transformed by us and by JAX: None if both give the same."""
    import jax

    shape = SHAPES[rng.integers(len(SHAPES))]
    program, chosen = Program(rng, [shape, shape], most=4, without=FOREIGN), mixture(rng)
    x, constant = rng.normal(size=shape), rng.normal(size=shape)

    def result(lib: Library, x: Any) -> list[Any]:
        def f(v: Any) -> Any:
            y = program.run(lib.xp, [v, lib.leaf(constant)], lib.made)
            return y[0] if len(y) == 1 else y[0] + lib.xp.sum(lib.xp.tanh(y[1]))

        return [composed(lib, chosen, f)(x)]

    with jax.enable_x64(True):
        expected = [np.asarray(y) for y in result(of_jax(), jax.numpy.asarray(x))]
    with np.errstate(all="ignore"):
        got = [on_host(y) for y in result(ours(device), placed(x, device))]
    plan = f"{[each.__name__.strip('_') for each in chosen]} of {program}"
    return compared(plan, got, expected, TOLERANCE)
