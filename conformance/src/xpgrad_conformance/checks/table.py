"""The checks of families K, G, H, N, A and M that run every case of the case table in every dtype."""

from collections.abc import Callable
from typing import Any

from xpgrad_conformance.check import Check, check
from xpgrad_conformance.generated.operations import OPERATIONS
from xpgrad_conformance.subject import Subject
from xpgrad_conformance.table.case import Case
from xpgrad_conformance.table.scenario import Scenario
from xpgrad_conformance.table.table import assertions_of, variants_for, verify

QUICK: dict[str, tuple[str, ...]] = {
    "value": ("float64", "float32", "complex128"),
    "small": ("float64",),
    "special": ("float64",),
    "ties": ("float64",),
    "gradient": ("float64", "complex128"),
    "recorded": ("float64",),
    "aliasing": ("float64",),
    "second_order": ("float64",),
}
"""The assertions of the quick profile, by dtype; all except values are made only for the plain variant, and values in
float32 only where no operation calls the function."""
WIDE = "float64", "complex128"
GENERATED = frozenset(operation.name.rpartition(".")[2] for operation in OPERATIONS)
FULL: dict[str, tuple[str, ...]] = {
    "recorded": WIDE, "second_order": WIDE, "aliasing": ("float64",), "compiled_derivative": ("float64",),
    "special_derivative": ("float64",),
}  # fmt: skip
"""Assertions that the full profile makes only in these dtypes, because other dtypes would give the same result."""


def is_generated(case: Case) -> bool:
    """Return whether an operation calls the function of a case on generated inputs."""
    return case.name.partition("-")[0].rpartition(".")[2] in GENERATED


def _applies(name: str) -> Callable[[Case, str, bool], bool]:
    def applies(case: Case, dtype: str, quick: bool) -> bool:
        chosen = QUICK.get(name, ()) if quick else FULL.get(name, (dtype,))
        if quick and dtype == "float32" and is_generated(case):
            return False
        return name in assertions_of(case, dtype) and dtype in chosen

    return applies


def _run(s: Subject, name: str) -> None:
    assert s.case is not None
    variants = variants_for(name, s.case, s.widest)
    if s.quick and name != "value":
        variants = [variants[s.seed % len(variants)]] if name == "small" and variants else variants[:1]
    for variant in variants:
        empty = variant.shapes is not None and any(0 in shape for shape in variant.shapes)
        if not empty or s.has("empty_arrays"):
            verify(name, Scenario(s.case, s.device, s.dtype, variant, seed=s.seed, capabilities=s.capabilities))


def _of_cases(id: str, name: str, title: str, **options: Any) -> Check:
    """Return the check that verifies an assertion of the table."""

    def verified(s: Subject) -> None:
        _run(s, name)

    verified.__name__, verified.__doc__ = name, title
    return check(id, scope="case", applies=_applies(name), **options)(verified)


CHECKS = (
    _of_cases("K01", "value", "Values, dtype and device of results agree with the reference, and inputs do not change"),
    _of_cases(
        "H09",
        "small",
        "Arrays of one or zero elements or axes: values, first- and second-order derivatives, or a clear error",
    ),
    _of_cases(
        "H10",
        "special",
        "At special values, no element's derivatives depend on its neighbours, nor on the order of two inputs",
    ),
    _of_cases(
        "H11",
        "compiled_derivative",
        "Reverse and forward mode, each over each, in batches and compiled, give the same derivatives",
        quick=False,
    ),
    _of_cases(
        "H12",
        "special_derivative",
        "At zeros, ones, ties and singular matrices, the derivatives of all modes are equal, or all undefined",
        quick=False,
        one_in=10,
    ),
    _of_cases(
        "N07",
        "ties",
        "Equal elements share a gradient: its sum is the derivative along equal moves, and equals forward mode",
    ),
    _of_cases(
        "G01", "gradient", "Gradients agree with finite differences of the reference, for each input and for all inputs"
    ),
    _of_cases("G02", "recorded", "Raw and recorded sweeps give the same gradients to the bit"),
    _of_cases(
        "G03", "modes", "Debug mode, releasing sweeps and no_backprop_mode give the same bits", quick=False, one_in=10
    ),
    _of_cases("H01", "second_order", "Second derivatives agree with finite differences of the first"),
    _of_cases(
        "H02", "third_order", "Third derivatives agree with finite differences of the second", quick=False, one_in=5
    ),
    _of_cases("A01", "aliasing", "No gradient shares memory with another, its seed, an input or an output"),
    _of_cases("M01", "keeps", "The graph retains exactly the arrays that the rules require", quick=False, one_in=10),
)
