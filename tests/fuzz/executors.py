"""Random functions, compiled to C, which rounds otherwise than eager calls.

The effect of rounding is measured: the same function is called eagerly with arguments perturbed by rounding, and a
result may differ by a multiple of the resulting change.
"""

import contextlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from unittest.mock import patch

import numpy as np
from tests.backends.c_executor.table import cut_small
from tests.core.transforms.trace.compiled_cases import same_leaf
from tests.fuzz.compiled import FIXED, Function, Plan, Sums, World, _leaf, _outcome

import xpgrad
from xpgrad import Device, Variable
from xpgrad.testing.arrays import placed
from xpgrad_c import executor as c_executors
from xpgrad_c.executor import wait
from xpgrad_conformance.checks.concurrent_calls import run_concurrently

SIZES = (
    *((1, 7), (3, 5), (8, 8), (9, 4), (2, 63), (17, 3), (33, 65), (5, 1025), (1, 4095), (1, 4097), (64, 65)),
    *((1, 32767), (1, 32769), (2, 32768), (65, 513), (7, 9363), (4097, 9), (40000, 1)),
)
"""Shapes around the lengths of vectors, blocks, chunks and parts."""
ROUNDINGS = 3
"""Eager calls with other roundings of the arguments."""
ALLOWED = 50
"""Allowed multiple of the effect of these perturbations."""
FLOOR = {"f": 5e-5, "d": 1e-13}
"""Minimum allowed difference, relative to the largest number: NumPy adds 40,000 rows one by one."""
SIZE = 16.0
"""Magnitude of the arguments and their sums; a result may be a difference of such numbers."""


class Rounded(Plan):
    """A plan with larger arrays, in one of two dtypes.

    Parameters
    ----------
    rng : numpy.random.Generator
    sizes : sequence of shapes
    """

    def __init__(self, rng: np.random.Generator, sizes: Sequence[tuple[int, int]]) -> None:
        super().__init__(rng)
        shape = sizes[rng.integers(len(sizes))]
        dtype = np.dtype(["f4", "f8"][rng.integers(2)])
        wide = [shape, (1, shape[1]), shape]
        self.numbers = [rng.normal(size=each).astype(dtype) for each in wide]
        self.arguments = [
            (rng.normal(size=shape).astype(dtype), rng.normal(size=shape if self.one else (1, shape[1])).astype(dtype))
            for _ in self.arguments
        ]

    def rounded(self, rng: np.random.Generator) -> "Rounded":
        """Return the same with arguments that differ by a few units in the last place."""
        made = object.__new__(Rounded)
        made.__dict__.update(self.__dict__)
        made.arguments = [(_rounded(x, rng), _rounded(y, rng)) for x, y in self.arguments]
        made.numbers = [_rounded(x, rng) for x in self.numbers]
        return made


def _rounded(x: Any, rng: np.random.Generator) -> Any:
    ulps = rng.integers(-2, 3, x.shape).astype(x.dtype)
    return x + ulps * np.spacing(x)


@contextlib.contextmanager
def in_use(*, small: bool) -> Iterator[None]:
    """Let C compute groups of any size; `small` also groups with sums of small arrays."""
    with contextlib.ExitStack() as stack:
        if small:
            cut_small(lambda place, key, value: stack.enter_context(patch.object(place, key, value)))
        stack.enter_context(patch.object(c_executors, "worth", lambda fused: True))
        yield


def executors(rng: np.random.Generator, device: Device) -> str | None:
    """Compare a random function compiled to C with eager calls; None if it is the same but for rounding."""
    plan = Rounded(rng, SIZES)
    function = Function(rng, plan)
    with warnings.catch_warnings(), xpgrad.using_config("detect_mutation", False), in_use(small=bool(rng.integers(8))):
        warnings.simplefilter("ignore")
        world = World(plan.numbers, device)
        expected, failed = _outcome(plan, function.of(world), world)
        if failed:
            return None  # an eager failure may occur at another place when compiled
        others = []
        for _ in range(ROUNDINGS):
            other = plan.rounded(rng)
            world = World(other.numbers, device)
            found, failed = _outcome(other, function.of(world), world)
            if failed or len(found) != len(expected):
                return None
            others.append(found)
        world = World(plan.numbers, device)
        made = xpgrad.compile(function.of(world), executor="c")

        def call(*args: Any) -> Any:
            wait()
            return made(*args)

        got, failed = _outcome(plan, call, world)
    if failed:
        return f"{function}: {failed}"
    if len(got) != len(expected):
        return f"{function}: {len(got)} items, eagerly {len(expected)}"
    for i, (a, b, *rest) in enumerate(zip(got, expected, *others, strict=True)):
        if (text := difference(a, b, rest)) is not None:
            return f"{function}, item {i} of {len(expected)}: {text}"
    return None


def difference(found: Any, expected: Any, others: Sequence[Any]) -> str | None:
    """Return how a leaf differs by more than rounding, or None."""
    a, b, rest = _number(found), _number(expected), [_number(other) for other in others]
    if isinstance(found, tuple) and found[1:] != expected[1:]:
        return f"{found!r}, eagerly {expected!r}"
    if not isinstance(b, np.ndarray) or b.dtype.kind != "f" or not isinstance(a, np.ndarray):
        return None if same_leaf(a, b) else f"{a!r}, eagerly {b!r}"
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return f"{a.dtype}{a.shape}, eagerly {b.dtype}{b.shape}"
    with np.errstate(all="ignore"):
        size = np.max(np.abs(b), initial=SIZE, where=np.isfinite(b))
        change = max((np.max(np.nan_to_num(np.abs(c - b), nan=np.inf), initial=0.0) for c in rest), default=0.0)
        allowed = ALLOWED * change + FLOOR[b.dtype.char] * size
        if not np.isfinite(allowed):
            return None
        far = ~((np.abs(a - b) <= allowed) | (a == b) | (np.isnan(a) & np.isnan(b)))
    if not far.any():
        return None
    return f"{far.sum()} of {b.size} by {np.max(np.abs(a - b)[far])}, allowed {allowed}, {a[far][:3]}, {b[far][:3]}"


def _number(leaf: Any) -> Any:
    return leaf[0] if isinstance(leaf, tuple) else leaf.total if isinstance(leaf, Sums) else leaf


def executors_threads(rng: np.random.Generator, device: Device) -> str | None:
    """Three threads call one compiled function; each result equals another compiled function in one thread."""
    plan = Rounded(rng, SIZES)
    function = Function(rng, plan, FIXED)
    world = World(plan.numbers, device)
    with warnings.catch_warnings(), xpgrad.using_config("detect_mutation", False), in_use(small=False):
        warnings.simplefilter("ignore")
        f = function.of(world)  # a call that verifies returns the eager numbers, which rounding separates from C's
        made, alone = (xpgrad.compile(f, executor="c", verify=False) for _ in range(2))

        def calls(call: Callable[..., Any]) -> list[Any]:
            return [
                [_leaf(y) for y in call(*(Variable(placed(x, device)) for x in numbers), 1.25)]
                for numbers in plan.arguments
            ]

        try:
            for call in (made, alone):
                for _ in range(2):
                    calls(call)
        except Exception:
            return None  # what fails eagerly
        wait()

        def run() -> list[Any]:
            with xpgrad.using_config("detect_mutation", False):
                return [calls(made), calls(made)]

        found = run_concurrently([run] * 3)
        expected = calls(alone)
    for got in (one for both in found for one in both):
        for a, b in zip(got, expected, strict=True):
            if not all(same_leaf(x[0], y[0]) for x, y in zip(a, b, strict=True)):
                return f"{function}: {a!r}, in one thread {b!r}"
    return None
