"""Cases of parameters in float64: the result has the dtype of the input, and each gradient the dtype of its input.

They are other files' cases. Runs in float32 mix dtypes, runs in float64 do not.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

from xpgrad_conformance.cases import convolution, neural, normalization, renormalization
from xpgrad_conformance.table.case import Case

FUNCTIONS = (
    "batch_normalization", "batch_normalization-rows", "fixed_batch_normalization", "layer_normalization",
    "group_normalization", "batch_renormalization", "fixed_decorrelated_batch_normalization", "linear",
    "linear-batch", "convolution_2d", "deconvolution_2d",
)  # fmt: skip


def _widened(call: Callable[..., Any]) -> Callable[..., Any]:
    return lambda F, x, *parameters: call(F, x, *(F.cast(p, "float64") for p in parameters))


def _mixed(case: Case) -> Case:
    call, name = _widened(case.call), f"{case.name}-mixed"
    needs = (*case.needs, "float64")
    return dataclasses.replace(case, name=name, call=call, keeps=None, complex=False, needs=needs, order=2)


CASES = tuple(
    _mixed(case)
    for module in (convolution, neural, normalization, renormalization)
    for case in module.CASES
    if case.area == "F" and case.name.removeprefix("F.") in FUNCTIONS
)
