"""Family K, calls: results that later calls do not change, and whether kernels are called."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from xpgrad import as_array
from xpgrad.testing.arrays import on_host
from xpgrad.types import Kernel
from xpgrad_conformance.check import check
from xpgrad_conformance.oracle import wide
from xpgrad_conformance.subject import Subject

CALLS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "exp": (lambda xp, x: xp.exp(x), np.exp),
    "add": (lambda xp, x: xp.add(x, 0.7), lambda x: x + 0.7),
    "multiply": (lambda xp, x: xp.multiply(x, x), lambda x: x * x),
    "sum, axis=0": (lambda xp, x: xp.sum(x, axis=0), lambda x: x.sum(0)),
    "sum, axis=1": (lambda xp, x: xp.sum(x, axis=1), lambda x: x.sum(1)),
    "sum, axis=1, keepdims": (lambda xp, x: xp.sum(x, axis=1, keepdims=True), lambda x: x.sum(1, keepdims=True)),
    "max, axis=0": (lambda xp, x: xp.max(x, axis=0), lambda x: x.max(0)),
    "matmul": (lambda xp, x: xp.matmul(x, x), lambda x: x @ x),
    "concat, axis=0": (lambda xp, x: xp.concat([x, x], axis=0), lambda x: np.concatenate([x, x])),
    "concat, axis=1": (lambda xp, x: xp.concat([x, x], axis=1), lambda x: np.concatenate([x, x], 1)),
    "permute_dims": (lambda xp, x: xp.permute_dims(x, (1, 0)), np.transpose),
    "permute_dims to the same order": (lambda xp, x: xp.permute_dims(x, (0, 1)), lambda x: x),
    "roll": (lambda xp, x: xp.roll(x, 1, axis=0), lambda x: np.roll(x, 1, 0)),
    "flip": (lambda xp, x: xp.flip(x, axis=1), lambda x: x[:, ::-1]),
    "sort": (lambda xp, x: xp.sort(x, axis=0), lambda x: np.sort(x, 0)),
    "where": (lambda xp, x: xp.where(xp.greater(x, 0.0), x, 0.5), lambda x: np.where(x > 0, x, 0.5)),
}


@check("K24")
def calls_are_apart(s: Subject) -> None:
    """A call does not depend on earlier calls, and does not change earlier results."""
    results: list[tuple[str, Any, Any]] = []
    for turn in range(3):
        for dtype in (s.wide, "float32"):
            host = s.values((3, 3), dtype=dtype)
            x = s.array(host, dtype)
            for name, (call, reference) in CALLS.items():
                what = f"{name} of shape (3, 3) and {dtype}, call {turn + 1}"
                got, expected = call(s.xp, x), reference(wide(host))
                s.expect(got, expected, what, dtype=dtype)
                results.append((what, got, on_host(got)))
    for what, got, before in results:
        assert on_host(got).tobytes() == before.tobytes(), f"the result of {what} has been changed by a later call"
    x = s.variable(np.asarray([0.3, 1.7]))
    for zero in (0.0, -0.0, 0.0):  # equal numbers, which are the same key of a cache
        for title, found in (("x * z", x * zero), ("z * x", zero * x), ("z / x", zero / x)):
            got = on_host(found)
            what = f"{title} with z = {zero}, after others with the other zero"
            assert (np.signbit(got) == np.signbit(zero)).all(), f"{what}: got {got}, expected zeros of the sign of z"


@contextmanager
def provided(s: Subject, kernels: Mapping[str, Kernel]) -> Iterator[None]:
    """Context manager in which kernels take precedence over the backend's kernels, like kernels of a plugin."""
    before = s.backend.xp._providers
    s.backend.xp.set_providers([("conformance", kernels), *before])
    try:
        yield
    finally:
        s.backend.xp.set_providers(before)


RUNS: dict[str, Callable[[Any, Any], Any]] = {
    "exp": lambda xp, x: xp.exp(x),
    "add": lambda xp, x: xp.add(x, x),
    "subtract": lambda xp, x: xp.subtract(2.5, x),
    "sum": lambda xp, x: xp.sum(x, axis=0),
    "max": lambda xp, x: xp.max(x, axis=1, keepdims=True),
    "matmul": lambda xp, x: xp.matmul(x, x),
    "reshape": lambda xp, x: xp.reshape(x, (9,)),
    "permute_dims": lambda xp, x: xp.permute_dims(x, (1, 0)),
    "concat": lambda xp, x: xp.concat([x, x], axis=1),
    "where": lambda xp, x: xp.where(xp.greater(x, 0.0), x, -x),
    "broadcast_to": lambda xp, x: xp.broadcast_to(x, (2, 3, 3)),
}


@check("K25")
def kernels_run(s: Subject) -> None:
    """The kernel under test runs on arrays of the device, and returns the result of the function."""
    host = s.values((3, 3))
    x = s.array(host)
    for name, run in RUNS.items():
        plain = on_host(run(s.xp, x))
        seen: list[Any] = []

        def count(*arrays: Any, name: str = name, seen: list[Any] = seen, **parameters: Any) -> Any:
            seen.append([s.backend.device_of(a) for a in arrays if type(a) in s.backend.array_types])
            return NotImplemented

        with provided(s, {name: count}):
            got = run(s.xp, x)
        assert seen, f"{name}: the provided kernel was not called: other code computes the result"
        assert all(device == s.device for each in seen for device in each), f"{name} ran on {seen}, not on {s.device}"
        assert on_host(got).tobytes() == plain.tobytes(), f"{name}: when a provided kernel declines, the result differs"
        marked = as_array(run(s.xp, s.array(host + 1.0)))
        with provided(s, {name: lambda *arrays, marked=marked, **parameters: marked}):
            got = run(s.xp, x)
        assert on_host(got).tobytes() == on_host(marked).tobytes(), f"{name}: the provided kernel's result is not used"
        again = on_host(run(s.xp, x))
        assert again.tobytes() == plain.tobytes(), f"{name}: the provided kernel is still used after it was taken away"
