"""Family S, uses of results: functions treat a result that was written to like any other array."""

from collections.abc import Callable
from typing import Any

import numpy as np

from xpgrad import as_array
from xpgrad.testing.arrays import on_host
from xpgrad.types import Shape
from xpgrad_conformance.check import check
from xpgrad_conformance.generated.sample import Sample, as_list
from xpgrad_conformance.generated.sequences import in_turn, pairs_of
from xpgrad_conformance.generated.writing import overwrite
from xpgrad_conformance.oracle import host as numpy_namespace
from xpgrad_conformance.oracle import wide
from xpgrad_conformance.subject import Subject
from xpgrad_conformance.table.comparisons import assert_near

SAMPLES = {True: 2, False: 6}
"""Results of a function, in the quick and the full profile."""
USES: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "sort": ("biuf", lambda xp, x: xp.sort(x, axis=-1)),
    "argsort": ("iuf", lambda xp, x: xp.argsort(x, axis=0)),
    "unique_values": ("iuf", lambda xp, x: xp.sort(xp.unique_values(x))),
    "max": ("iuf", lambda xp, x: xp.max(x, axis=-1)),
    "argmin": ("iuf", lambda xp, x: xp.argmin(x)),
    "any": ("biuf", lambda xp, x: xp.any(x)),
    "sum": ("fc", lambda xp, x: xp.sum(x)),
    "sum, axis=0": ("fc", lambda xp, x: xp.sum(x, axis=0)),
    "multiply": ("iufc", lambda xp, x: xp.multiply(x, x)),
    "equal": ("iufc", lambda xp, x: xp.equal(x, xp.flip(x))),
    "flip": ("biufc", lambda xp, x: xp.flip(x)),
    "tril": ("iufc", lambda xp, x: xp.tril(x)),
    "matrix_transpose": ("biufc", lambda xp, x: xp.matrix_transpose(x)),
    "matmul": ("fc", lambda xp, x: xp.matmul(x, x)),
    "concat": ("biufc", lambda xp, x: xp.concat([x, x], axis=0)),
}
"""Functions by name, the kinds of dtypes that they take, and their calls."""
OF_MATRICES = "tril", "matrix_transpose"


PARTS: tuple[Callable[[Any, Any], Any], ...] = (
    lambda xp, y: xp.real(y),
    lambda xp, y: xp.imag(y),
    lambda xp, y: y[..., :1],
    lambda xp, y: y[::2],
    lambda xp, y: xp.flip(y, axis=0),
    lambda xp, y: xp.reshape(y, (-1,)),
    lambda xp, y: xp.matrix_transpose(y),
    lambda xp, y: xp.expand_dims(y, axis=0),
)
"""Functions whose result may share the memory of an argument."""


@check("S13", scope="operation", applies=in_turn)
def parts_of_results(s: Subject) -> None:
    """A part of a result keeps its values after the result is deleted and the function is called again."""
    assert s.operation is not None
    for one, two in pairs_of(s, s.operation)[-1 if s.quick else -SAMPLES[False] :]:
        for part in PARTS:
            found = one.applied(s.xp, *one.arrays(s))
            parts = [made for made in (_part(part, s, y) for y in as_list(found)) if made is not None]
            before = [each.tobytes() for each in map(on_host, parts)]
            del found
            for sample in (two, one, two):
                sample.applied(s.xp, *sample.arrays(s))
            changed = [each for each, was in zip(parts, before, strict=True) if on_host(each).tobytes() != was]
            assert not changed, (
                f"{one.written}: a part of the result has changed, after the result was deleted and later calls"
            )


@check("S11", scope="operation", needs=("in_place_update", "index_assignment"), applies=in_turn)
def results_used(s: Subject) -> None:
    """Functions use the values of a result after a write: it may no longer be sorted, symmetric or constant."""
    assert s.operation is not None
    samples = [one for one, _ in pairs_of(s, s.operation)]
    for sample in list({each.written: each for each in samples}.values())[: SAMPLES[s.quick]]:  # the largest of each
        found = sample.applied(s.xp, *sample.arrays(s))
        for y in as_list(found):
            _used(s, sample, as_array(y))


def _used(s: Subject, sample: Sample, y: Any) -> None:
    before = on_host(y)
    if before.ndim == 0 or before.size < 2 or s.backend.is_view(y):
        return
    values = _other_values(s, before)
    if not overwrite(y, s.array(values, before.dtype.name)):
        return
    rtol = 1e-10 if before.dtype.name in ("float64", "complex128") else 1e-4
    for name, (kinds, call) in USES.items():
        if before.dtype.kind in kinds and s.has(name.partition(",")[0]) and _takes(name, before.shape):
            with np.errstate(all="ignore"):
                expected = np.asarray(call(numpy_namespace, wide(values)))
            what = f"{name} of the result of {sample.written}, of shape {before.shape}, after it was written to,"
            assert_near(on_host(call(s.xp, y)), expected, rtol, what)


def _part(part: Callable[[Any, Any], Any], s: Subject, y: Any) -> Any:
    """Return a part of a result as an array; None if it has none of this kind."""
    try:
        return as_array(part(s.xp, y))
    except Exception:
        return None


def _takes(name: str, shape: Shape) -> bool:
    if name == "matmul":
        return len(shape) == 2 and shape[0] == shape[1]
    return name not in OF_MATRICES or len(shape) > 1


def _other_values(s: Subject, before: Any) -> Any:
    """Return other values of the dtype and shape of an array, all different unless the dtype is narrow."""
    if before.dtype.kind == "b":
        return ~before
    if before.dtype.kind in "iu":
        return s.generator().permutation(before.size).reshape(before.shape).astype(before.dtype) % 100
    return s.values(before.shape, 0.25, 2.0, before.dtype.name)  # so that no sum cancels
