"""Samples next to a given one: with arguments that differ in one place, and calls that are refused for one reason."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from xpgrad_conformance.generated import reference
from xpgrad_conformance.generated.sample import Argument, Sample
from xpgrad_conformance.subject import Subject

Index = tuple[int, ...]
PLACES = "the last element", "one element in the middle", "the first element", "the order of two elements"
"""Differences between a sample and a perturbed sample, in one of its arguments."""

KEPT = "copy", "stable", "ord", "n", "s"
"""Parameters that stay: without them results are not unique, are of another function, or have no meaning."""

NEGATIVE = "axis", "shift", "k", "offset"
"""Parameters that may be any negative number."""


def perturbed_samples(sample: Sample) -> Iterator[tuple[str, Sample]]:
    """Yield samples with arguments that differ in one place, each with a description.

    Elements are replaced by elements of the same array, simultaneously in all arguments of one shape, so that they stay
    in the function's domain. Positions change their order; in square matrices that must stay regular, a number is added
    on the diagonal that does not bring the determinant nearer to zero.
    """
    for shape in dict.fromkeys(argument.host.shape for argument in sample.arguments):
        for what in PLACES:
            changed = [_changed(sample, x, what) if x.host.shape == shape else x for x in sample.arguments]
            if any(new is not old for new, old in zip(changed, sample.arguments, strict=True)):
                yield what, replace(sample, arguments=tuple(changed))


def differing(one: Argument, two: Argument) -> list[Index]:
    """Return the places in which two arguments of one shape differ."""
    if one is two:
        return []
    size = one.host.dtype.itemsize
    same = [np.ascontiguousarray(each.host).reshape(-1, 1).view(np.uint8).reshape(-1, size) for each in (one, two)]
    flat = np.flatnonzero((same[0] != same[1]).any(axis=1))
    return [tuple(int(i) for i in np.unravel_index(k, one.host.shape)) for k in flat]


def _changed(sample: Sample, argument: Argument, what: str) -> Argument:
    """Return an argument with a change in one place, or the argument itself if no change is possible."""
    host, count = argument.host, argument.host.size
    if argument.layout == "broadcast" or count < 2:
        return argument
    at = {"the last element": count - 1, "one element in the middle": count // 2, "the first element": 0}.get(what)
    if argument.kept and host.dtype.kind in "fc":
        return argument if at is None else _on_the_diagonal(argument, at)
    if argument.kept and (at is not None or not _may_change_order(sample, argument)):
        return argument
    flat = host.reshape(-1).copy()
    at = count // 2 if at is None else at
    others = np.flatnonzero(flat != flat[at])
    if not others.size:
        return argument
    other = int(others[-1] if at == 0 else others[0])
    flat[at], flat[other] = flat[other], flat[at] if what == PLACES[-1] else flat[other]
    return replace(argument, host=flat.reshape(host.shape), text="")


def _may_change_order(sample: Sample, argument: Argument) -> bool:
    """Return whether the argument holds positions in free order, not a sorted table or a permutation that sorts it."""
    alone = sum(each.kept for each in sample.arguments) == 1
    flat = argument.host.reshape(-1)
    return alone and argument.host.dtype.kind in "iu" and bool((flat[1:] < flat[:-1]).any())


def _on_the_diagonal(argument: Argument, at: int) -> Argument:
    """Return square matrices with a change in one place of the diagonal, or of the signs of a row and column."""
    host = argument.host
    if host.ndim < 2 or host.shape[-1] != host.shape[-2] or host.shape[-1] < 2:
        return argument
    n, made = host.shape[-1], host.copy()
    matrix, i = at // n**2, at % n**2 // n
    a = made.reshape(-1, n, n)[matrix]
    if _is_normal(a):
        a[i, :] *= -1
        a[:, i] *= -1
    else:
        a[i, i] += _towards(a, i) * np.max(abs(a))
    same = made.tobytes() == host.tobytes()
    return argument if same or not np.isfinite(made).all() else replace(argument, host=made, text="")


def _is_normal(a: Any) -> bool:
    """Return whether a matrix is normal, but not Hermitian: one element more on the diagonal would change that."""
    a = a / (np.max(abs(a)) or 1)
    adjoint = np.conj(a.T)
    return not np.allclose(a, adjoint) and np.allclose(a @ adjoint, adjoint @ a, atol=1e-3)


def _towards(a: Any, i: int) -> Any:
    """Return the sign of changes to a place of the diagonal that do not make the determinant smaller.

    It is real for Hermitian matrices, which stay Hermitian.
    """
    try:
        inverse = np.linalg.inv(a)[i, i]
    except np.linalg.LinAlgError:
        return 1
    inverse = inverse.real if a[i, i].imag == 0 and np.allclose(a, np.conj(a.T)) else inverse
    return np.conj(inverse) / abs(inverse) if inverse else 1


def squared(sample: Sample) -> Sample:
    """Return a sample whose axes have one length where they can be shortened, so that any axis would fit."""
    lengths = {n for x in sample.arguments for n, name in zip(x.host.shape, x.axes, strict=False) if name and n > 1}
    if len(lengths) < 2:
        return sample
    n = min(lengths)
    return replace(sample, arguments=tuple(_shortened(x, n) for x in sample.arguments))


def _shortened(argument: Argument, n: int) -> Argument:
    if not argument.axes:
        return argument
    host = argument.host[tuple(slice(n) if name else slice(None) for name in argument.axes)]
    return replace(argument, host=np.ascontiguousarray(host).reshape(host.shape), text="")


def otherwise(sample: Sample, samples: Sequence[Sample]) -> Iterator[Sample]:
    """Yield samples on the same arguments with other parameters, which may be invalid.

    Each other axis comes first, then the parameters of other samples of the function.
    """
    ranks = [host.ndim for host in sample.hosts]
    axis = sample.parameters.get("axis", "none")
    for other in range(max(ranks, default=0)) if isinstance(axis, int) and sample.derived is None else ():
        if other not in (axis, axis + max(ranks)):
            yield replace(sample, parameters={**sample.parameters, "axis": other})
    known = {sample.written}
    for each in samples:
        if each.written not in known and [host.ndim for host in each.hosts] == ranks:
            known.add(each.written)
            alike = (sample, each) if sample.parameters.keys() == each.parameters.keys() else (each,)
            inexact = max(alike, key=lambda one: one.units)
            yield replace(each, arguments=sample.arguments, units=inexact.units, scale=inexact.scale)


def with_other_parameters(sample: Sample, samples: Sequence[Sample]) -> Iterator[Sample]:
    """Yield samples on the same arguments with one changed parameter, and with the parameters of other samples.

    Integers become -1 and -2, which have the same hash in Python, and the next integer. Only calls that have results
    are given.
    """
    known = {sample.written}
    if sample.takes_parameters:
        for changed in (*_of_one_shape(sample), *_in_one_value(sample)):
            each = replace(sample, parameters={**sample.parameters, **changed})
            if each.written not in known and is_accepted(each):
                known.add(each.written)
                yield each
    for each in otherwise(sample, samples):
        same_sign = _is_negative(each.parameters.get("axis")) == _is_negative(sample.parameters.get("axis"))
        if same_sign and each.written not in known and is_accepted(each):
            known.add(each.written)
            yield each


def _in_one_value(sample: Sample) -> Iterator[dict[str, Any]]:
    """Yield parameters with one changed value."""
    for name, value in sample.parameters.items():
        for other in _other_values(name, value) if name not in KEPT else ():
            yield {name: other}


def _of_one_shape(sample: Sample) -> Iterator[dict[str, Any]]:
    """Yield two parameters with other numbers that give results of the same shapes, such as padding and dilation."""
    numbers = {
        name: value for name, value in sample.parameters.items() if name not in (*KEPT, *NEGATIVE) and _larger(value, 1)
    }
    for one, two in itertools.permutations(numbers, 2) if sample.call is not None else ():
        for steps in (1, 1), (1, 2):
            changed = {name: _larger(numbers[name], step) for name, step in zip((one, two), steps, strict=True)}
            each = replace(sample, parameters={**sample.parameters, **changed})
            if each.is_defined and [x.shape for x in each.expected] == [x.shape for x in sample.expected]:
                yield changed


def _larger(value: Any, step: int) -> Any:
    """Return a positive number, or several, larger by a step; None for other values."""
    if type(value) is int:
        return value + step
    several = isinstance(value, tuple) and value and all(type(each) is int for each in value)
    return tuple(each + step for each in value) if several else None


def _is_negative(axis: Any) -> bool:
    """Return whether an axis is counted from the end: some functions of the standard accept only negative axes."""
    return isinstance(axis, int) and axis < 0


def _other_values(name: str, value: Any) -> Iterator[Any]:
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (-1, -2) if name in NEGATIVE else ()
        if value != -1:
            yield value + 1
    elif isinstance(value, tuple) and value and all(type(each) is int for each in value):
        yield from ((*value[:-1], -1), (*value[:-1], -2)) if name == "shift" else ()
        yield value[::-1]


def is_accepted(sample: Sample) -> bool:
    """Return whether NumPy and the reference engine return a result, excluding a quotient of integers by zero."""
    whole = all(host.dtype.kind in "biu" for host in sample.hosts)
    try:
        with np.errstate(divide="raise" if whole else "ignore"):
            sample.applied(reference.xp(), *reference.arguments(sample.hosts))
    except Exception:
        return False
    return sample.is_defined


def unfit(s: Subject, sample: Sample) -> Iterator[tuple[str, list[Any]]]:
    """Yield arrays that most functions refuse, while parameters may be right, each with a description."""
    hosts = sample.hosts
    if len(hosts) > 1 and hosts[0].ndim:
        longer = [
            np.pad(x, [(0, 1)] * x.ndim, mode="edge" if x.size else "constant") if x.ndim else x for x in hosts[1:]
        ]
        yield "with shapes that do not match", [s.array(x, x.dtype.name) for x in (hosts[0], *longer)]
    if s.has("empty_arrays") and hosts and hosts[0].ndim:
        yield "without elements", [s.array(np.zeros((0,) * x.ndim), x.dtype.name) for x in hosts]
    other = "complex128" if hosts and hosts[0].dtype.name != "complex128" and s.has("complex128") else "bool"
    if s.has(other):
        yield f"of {other}", [s.array(np.ones(x.shape), other) for x in hosts]
    placed = [x.kept and x.host.dtype.kind in "iu" for x in sample.arguments]
    if any(placed) and s.has("checked_index_arrays"):
        beyond = [np.full_like(x, 127) if at else x for x, at in zip(hosts, placed, strict=True)]
        yield "with positions out of range", [s.array(x, x.dtype.name) for x in beyond]
    yield "of strings", ["no array"] * len(hosts)
