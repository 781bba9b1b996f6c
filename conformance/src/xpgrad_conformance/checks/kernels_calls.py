"""Family K, calls: results that later calls do not change, and whether kernels are called."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from xpgrad import as_array
from xpgrad.testing.arrays import on_host
from xpgrad.types import Kernel
from xpgrad_conformance.check import check
from xpgrad_conformance.subject import Subject


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
