"""Calls of one function one after another: samples of the same shapes with other values, and with another dtype."""

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice, pairwise
from typing import Any, TypeVar

import numpy as np

from xpgrad import Device, Variable, grad
from xpgrad.testing.arrays import on_host
from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.operation import COMPLEX, Operation
from xpgrad_conformance.generated.sample import Argument, Sample, as_list
from xpgrad_conformance.generated.shrinking import program_of
from xpgrad_conformance.subject import Subject

LOOKED_AT = 200
"""Maximum number of samples from which small samples are chosen."""
CHOSEN_PAIRS = 30, 12
"""How many of them are, in the full and the quick profile; in full as few in dtypes that quick does not take."""
SAMPLES_A_CHOICE = 4, 2
"""Ratio of available to chosen samples: the first samples are plain, later samples less so."""
SMALL = 300
"""The most elements in the arguments of a small sample."""
WIDEST = "float64", "complex128"
"""The dtypes that show a result of less precision."""

Pair = tuple[Sample, Sample]
Item = TypeVar("Item")
CACHED_PAIRS = 8
_made: dict[Any, list[Pair]] = {}
"""Cache of pairs for checks that use the same pairs: all small pairs, and a few others."""


def pairs_of(s: Subject, operation: Operation, least: int = 1, most: int = SMALL, count: int = 0) -> list[Pair]:
    """Return pairs of samples with the same shapes and parameters and different values, sorted by number of elements.

    Where chance gives a sample no partner of its shapes, the partner has its elements in reverse order. Functions that
    make arrays of none have partners with other parameters.

    Parameters
    ----------
    s : Subject
    operation : Operation
    least, most : int
        Bounds of the number of elements of all arguments.
    count : int
        About how many; by default `CHOSEN_PAIRS`.
    """
    count = count or CHOSEN_PAIRS[s.quick or s.dtype not in operation.quick]
    wanted = operation.name, s.dtype, s.device.name, s.seed, s.quick, count, least, most
    if wanted not in _made:
        if most > SMALL:
            large = [key for key in _made if key[-1] > SMALL]
            for key in large[: max(len(large) - CACHED_PAIRS, 0)]:
                del _made[key]
        like = in_dtype(s, s.dtype)
        one, two = ({_key(each): each for each in _some(like, operation, k, (least, most), count)} for k in (1, 2))
        chosen = evenly_spaced(list(one.items()), count)
        found = [(sample, two.get(key) or turned_round(sample)) for key, sample in chosen if sample.arguments]
        makers = [sample for _, sample in chosen if not sample.arguments]
        different = [*(pair for pair in found if not _equal(*pair)), *pairwise(makers)]
        _made[wanted] = sorted(different, key=lambda pair: elements(pair[0]))
    return _made[wanted]


def one_of_each(s: Subject, operations: Iterable[Operation]) -> list[tuple[Subject, Sample]]:
    """Return a sample of few elements of each operation that the device has, with the subject in its dtype."""
    subjects = [(in_dtype(s, operation.quick[0]), operation) for operation in operations]
    return [
        (sub, one)
        for sub, operation in subjects
        if sub.has(sub.dtype, *operation.facts)
        for one, _ in pairs_of(sub, operation, count=2)[-1:]
    ]


def turned_round(sample: Sample) -> Sample:
    """Return a sample whose arguments have their elements in reverse order: matrices stay regular, Hermitian, normal.

    Sorted tables get other elements; elements selected by positions, and the positions, are unchanged.
    """
    sorts = sample.name == "searchsorted"
    if sorts and len(sample.arguments) > 2:
        return sample
    made = (_doubled(each) if sorts and i == 0 else _turned(each) for i, each in enumerate(sample.arguments))
    return replace(sample, arguments=tuple(made))


def _turned(argument: Argument) -> Argument:
    host = argument.host
    if argument.kept and host.dtype.kind in "iu":
        return replace(argument, host=np.flip(host, -1).copy(), text="") if host.ndim else argument
    if argument.kept and (host.ndim < 2 or host.dtype.kind not in "fc"):
        return argument
    return replace(argument, host=np.flip(host).copy(), text="")


def _doubled(argument: Argument) -> Argument:
    """Return a sorted table of the elements of another one's first half, each twice."""
    host = argument.host
    return replace(argument, host=np.repeat(host, 2)[: host.size], text="")


def with_observed_reference(s: Subject, sample: Sample) -> Sample:
    """Return a sample whose expected results are observed in a first call; other samples unchanged.

    Its numbers are thirds of the given numbers, if these are whole or have exact results, which would hide a lack of
    precision.
    """
    made = with_inexact_values(sample)
    if made is sample:
        return sample
    try:
        found = made.applied(s.xp, *made.arrays(s))
    except Exception:  # thirds may be rejected
        return sample
    hosts = tuple(map(on_host, as_list(found)))
    with np.errstate(all="ignore"):
        size = sum(float(np.sum(np.abs(host[np.isfinite(host)]))) for host in made.hosts if host.dtype.kind in "fc")
    return replace(
        made,
        reference=lambda *_, **__: hosts,
        scale=lambda *_, **__: tuple(np.maximum(np.abs(y), size) if y.dtype.kind in "fc" else None for y in hosts),
        units=64.0,
        signs=False,
    )


def with_inexact_values(sample: Sample) -> Sample:
    """Return a sample with thirds of the given numbers, which have many digits; unchanged if it has such numbers."""
    arguments = tuple(map(_thirds, sample.arguments))
    same = all(a is b for a, b in zip(arguments, sample.arguments, strict=True))
    if same or sample.derived or (sample.units and not _whole(sample)):
        return sample
    return replace(sample, arguments=arguments)


def _whole(sample: Sample) -> bool:
    """Return whether all numbers of a sample are whole."""
    return all(bool((np.isfinite(x) & (x == np.round(x))).all()) for x in sample.hosts if x.dtype.kind in "fc")


def _thirds(argument: Argument) -> Argument:
    if argument.kept or argument.host.dtype.kind not in "fc" or not argument.host.size:
        return argument
    return replace(argument, host=argument.host / argument.host.dtype.type(3), text="")


def in_dtype(s: Subject, dtype: str) -> Subject:
    """Return the subject in another dtype."""
    return _other(s, s.device, dtype)


def on_another_device(s: Subject) -> Subject | None:
    """Return the subject on another device of its backend; None if no other device supports its function and dtype."""
    for device in s.backend.devices():
        other = _other(s, device, s.dtype)
        facts = () if s.operation is None else s.operation.facts
        if device != s.device and other.has(s.dtype, *facts):
            return other
    return None


def _other(s: Subject, device: Device, dtype: str) -> Subject:
    name = "" if s.operation is None else s.operation.name
    return Subject(
        device, s.capabilities, dtype=dtype, operation=s.operation, name=name, seed=s.seed, quick=s.quick, thin=s.thin
    )


def elements(sample: Sample) -> int:
    """Return the number of elements of all arguments, or of the results of a call without arguments."""
    return sum(host.size for host in (sample.hosts or sample.expected))


def _some(s: Subject, operation: Operation, number: int, bounds: tuple[int, int], count: int) -> Iterator[Sample]:
    draw = Draw(s, operation.name, number, few=bounds[0] > SMALL, most=bounds[1])
    looked_at = islice(operation.samples(draw), LOOKED_AT)
    found = (sample for sample in looked_at if bounds[0] <= elements(sample) <= bounds[1])
    return islice(found, SAMPLES_A_CHOICE[s.quick] * count)


def evenly_spaced(found: list[Item], count: int) -> list[Item]:
    """Return so many of some items, at equal distances."""
    return [found[i * len(found) // count] for i in range(count)] if len(found) > count else found


def _key(sample: Sample) -> Any:
    shapes = tuple((a.host.shape, a.host.dtype, a.layout) for a in sample.arguments)
    return sample.written, shapes


def _equal(one: Sample, two: Sample) -> bool:
    return all(a.tobytes() == b.tobytes() for a, b in zip(one.hosts, two.hosts, strict=True))


def bits(results: Any) -> tuple[bytes, ...]:
    """Return the bytes of one or several results."""
    return tuple(on_host(each).tobytes() for each in as_list(results))


def in_turn(operation: Operation, dtype: str, quick: bool) -> bool:
    """Return whether an operation is called in a dtype: in the quick profile in one, the most precise if it has any."""
    if not quick:
        return True
    wide = [name for name in WIDEST if name in operation.quick]
    return dtype == (wide or [operation.quick[zlib.crc32(operation.name.encode()) % len(operation.quick)]])[0]


def assert_right(s: Subject, sample: Sample, got: Any, when: str) -> None:
    """Raise AssertionError unless the results of a sample's call are right."""
    try:
        wrong = sample.difference(s, got, sample.expected)
    except AssertionError as error:
        wrong = str(error)
    if wrong is not None:
        program = program_of(sample, s.device.name, f"{when}: {wrong}")
        raise AssertionError(f"{sample.written}, {when}: {wrong}\n{program}")


def assert_all_right(s: Subject, samples: Iterable[Sample], results: Iterable[Any], when: str) -> None:
    """Raise AssertionError unless the results of samples' calls are right; equal bits are compared once."""
    known: dict[int, tuple[bytes, ...]] = {}
    for sample, got in zip(samples, results, strict=True):
        found = bits(got)
        if known.get(id(sample)) != found or sample.misplaced(s, got, len(sample.expected)) is not None:
            assert_right(s, sample, got, when)
            known[id(sample)] = found


def with_gradients(operation: Operation, dtype: str, quick: bool) -> bool:
    """Return whether to test gradients of an operation in a dtype: in a complex dtype if it supports no real dtype."""
    real = [each for each in operation.dtypes if each.startswith("float")]
    return in_turn(operation, dtype, quick) and dtype in (real or COMPLEX)


def gradients(s: Subject, sample: Sample, between: Sample | None = None) -> list[bytes]:
    """Return the bytes of the gradients of a sample's call by its floating-point arguments.

    Another sample is called between that call and the sweep, if one is given.
    """
    xs = _variables(s, sample)
    inputs = [x for x in xs if isinstance(x, Variable)]
    ys = sample.applied(s.xp, *xs)
    if between is not None:
        between.applied(s.xp, *_variables(s, between))
    ys = [y for y in as_list(ys) if isinstance(y, Variable) and y.requires_grad]
    if not ys or not inputs:
        return []
    seeds = [Variable(s.array(s.cotangent(y), s.backend.dtype_name(y.array.dtype))) for y in ys]
    return [b"" if g is None else on_host(g).tobytes() for g in grad(ys, inputs, seeds)]


def _variables(s: Subject, sample: Sample) -> list[Any]:
    return [Variable(x) if on_host(x).dtype.kind in "fc" else x for x in sample.arrays(s)]


def assert_equal(s: Subject, sample: Sample, expected: list[bytes], got: list[bytes], when: str) -> None:
    """Raise AssertionError unless gradients equal the gradients of an earlier sweep, bit by bit."""
    for i, (one, other) in enumerate(zip(got, expected, strict=True)):
        if one != other:
            wrong = f"the gradient for argument {i} differs from an earlier sweep"
            raise AssertionError(f"{sample.written}, {when}: {wrong}\n{program_of(sample, s.device.name, wrong)}")
