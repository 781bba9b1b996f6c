"""The checks of gradients on generated inputs, against the reference engine element by element."""

from collections.abc import Iterator
from dataclasses import replace

from xpgrad_conformance.cases import CASES
from xpgrad_conformance.check import check
from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.gradients import SweepRequest, folded, gradient_error, gradient_program
from xpgrad_conformance.generated.memory_layouts import with_random_layouts
from xpgrad_conformance.generated.operation import Operation
from xpgrad_conformance.generated.sample import Sample, kind_of
from xpgrad_conformance.generated.shrinking import shrunk
from xpgrad_conformance.generated.stacked import stacks
from xpgrad_conformance.subject import Subject

MADE = "arange", "asarray", "complex_numbers", "eye", "fft.fftfreq", "fft.rfftfreq", "full", "linspace", "ones", "zeros"
"""Operations that make arrays of none."""
LEFT = (
    "astype", "full_like", "ones_like", "zeros_like", "transfer", "linalg.eig", "linalg.eigh", "linalg.eigvals",
    "linalg.qr", "linalg.svd", "unique_all", "unique_counts", "unique_inverse", "unique_values",
)  # fmt: skip
"""Operations whose derivatives only the table compares: dtypes, moves, and results that are unique up to a choice."""
SMOOTH, STEPS = ({case.name.partition("-")[0] for case in CASES if bool(case.order) == smooth} for smooth in (1, 0))
CONSTANT = frozenset({*STEPS - SMOOTH, *MADE, *LEFT})
"""Functions without derivatives for any arguments, and functions whose derivatives are not compared here."""
MAX_SAMPLES = {(1, True): 7, (1, False): 48, (2, True): 3, (2, False): 16}
"""Maximum number of samples of one operation in one dtype, by the order of derivatives and whether the profile is
quick."""
FAR = 4
"""One of so many is of values far from ordinary ones, if there are such."""
LEAST = 3
"""Samples in the profile thin, in all dtypes except one."""
SIMPLE = SweepRequest("ones"), SweepRequest("integers")
"""Sweeps that are tried first for a program that shows a failure."""


def _applies(operation: Operation, dtype: str, quick: bool) -> bool:
    return dtype.startswith(("float", "complex")) and operation.name not in CONSTANT


def _second(operation: Operation, dtype: str, quick: bool) -> bool:
    return _applies(operation, dtype, quick) and (not quick or dtype in ("float64", "complex128"))


@check("G50", scope="operation", applies=_applies)
def generated_gradients(s: Subject) -> None:
    """Gradients agree with the reference engine, element by element, for every size and layout."""
    _compare(s, 1)


@check("H50", scope="operation", applies=_second)
def generated_second_order(s: Subject) -> None:
    """Second derivatives agree with the reference engine, element by element, for every size and layout."""
    _compare(s, 2)


def _compare(s: Subject, order: int) -> None:
    assert s.operation is not None
    draw = Draw(s, s.operation.name, few=True)
    layouts = draw.layouts()
    most = MAX_SAMPLES[order, s.quick] if draw.long or not s.thin else LEAST
    for number, sample in enumerate(with_random_layouts(draw, _chosen(draw, s.operation, most, order))):
        sample = folded(sample, draw) if draw.rng.integers(2) else sample
        kind = "uniform" if draw.rng.integers(3) == 0 else "integers"
        layout = draw.pick(("contiguous", "broadcast", *layouts)) if "broadcast" in layouts else draw.pick(layouts)
        sweep = SweepRequest(kind, layout, recorded=number % 3 == 1, order=order, seed=number)
        wrong = _error(s, sample, sweep)
        if wrong is not None:
            _report(s, sample, sweep, wrong)


def _chosen(draw: Draw, operation: Operation, most: int, order: int) -> Iterator[Sample]:
    """Yield at most `most` samples that have derivatives, including a stack, from small to large.

    Far from ordinary values, only derivatives of first order are sure to be numbers.
    """
    samples = stacks(draw, operation.name, draw.part_of(operation.samples(draw)), 2)
    found = [sample for sample in samples if sample.smooth and (order == 1 or not sample.far)]
    far = draw.rng.permutation([i for i, sample in enumerate(found) if sample.far]).tolist()
    chosen = dict.fromkeys([*far[: max(most // FAR, 1)], *range(len(found))[-1:], *draw.rng.permutation(len(found))])
    kept = sorted(list(chosen)[:most])
    yield from (found[i] for i in kept)


def _error(s: Subject, sample: Sample, sweep: SweepRequest) -> str | None:
    try:
        return gradient_error(s, sample, sweep)
    except AssertionError as error:
        return str(error)


def _report(s: Subject, sample: Sample, sweep: SweepRequest, wrong: str) -> None:
    """Raise AssertionError for the smallest sample and the simplest sweep that fail."""
    for simple in SIMPLE:
        simple = replace(simple, order=sweep.order)
        again = _error(s, sample, simple)
        if again is not None and kind_of(again) == kind_of(wrong):
            sweep, wrong = simple, again
            break

    def failing(each: Sample) -> bool:
        again = _error(s, each, sweep)
        return again is not None and kind_of(again) == kind_of(wrong)

    least = shrunk(sample, failing)
    wrong = _error(s, least, sweep) or wrong
    order = "second derivatives" if sweep.order > 1 else "gradients"
    text = gradient_program(least, sweep, s.device.name, wrong)
    raise AssertionError(f"{order} of {least.written}: {wrong}\n{text}")
