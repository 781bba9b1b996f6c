"""Cases of padding in every mode and with every form of its options, and of repetitions of elements."""

from functools import partial
from typing import Any

import numpy as np

from xpgrad_conformance.table.case import Case, of_functions

WIDTHS: Any = ((2, 1), (0, 3))
_case = partial(of_functions, order=2)


def _pad(mode: Any, suffix: str = "", widths: Any = WIDTHS, **options: Any) -> Case:
    return _case(
        f"pad-{mode}{suffix and '-'}{suffix}",
        lambda F, x: F.pad(x, widths, mode, **options),
        lambda x: np.pad(x, _pairs(widths), mode, **options),
        complex=mode not in ("maximum", "median", "minimum"),
    )


def _pairs(widths: Any) -> Any:
    """Return the widths of two axes that a dict gives, which older versions of NumPy do not take."""
    return [widths.get(0, widths.get(-2, 0)), widths.get(1, widths.get(-1, 0))] if isinstance(widths, dict) else widths


PADDING = (
    _pad("constant", "pair", constant_values=(0.5, -1.5)),
    _pad("constant", "by_axis", constant_values=((0.5, 1.5), (2.5, -1.0))),
    _pad("constant", "dict", {0: (1, 2), -1: (3, 0)}),
    _pad("edge", "columns", ((1,), (2,))),
    _case("pad-empty", lambda F, x: F.pad(x, WIDTHS, "empty")[2:-1, :-3], lambda x: x.copy(), complex=True),
    _pad("linear_ramp"),
    _pad("linear_ramp", "end_values", 2, end_values=((0.5, 1.5), (2.5, -1.0))),
    *(_pad(mode) for mode in ("maximum", "mean", "median", "minimum", "wrap")),
    *(_pad(mode, "stat_length", stat_length=((2, 1), (1, 3))) for mode in ("maximum", "mean", "minimum")),
    _pad("median", "stat_length", ((2, 1), (0, 0)), stat_length=2),  # along one axis: medians of medians nearly tie
    _pad("reflect"),
    _pad("reflect", "odd", reflect_type="odd"),
    _pad("symmetric"),
    _pad("symmetric", "odd", (1, 2), reflect_type="odd"),
)

REPETITIONS = (
    _case("repeat-tuple", lambda F, x: F.repeat(x, (2, 0, 3), axis=0), lambda x: x[[0, 0, 2, 2, 2]], complex=True),
    _case("repeat-flat", lambda F, x: F.repeat(x[0, :], (1, 2, 0, 1)),
          lambda x: np.stack([x[0, 0], x[0, 1], x[0, 1], x[0, 3]]), complex=True),
    _case("repeat-one", lambda F, x: F.repeat(x, (2,), axis=-1), lambda x: x[:, [0, 0, 1, 1, 2, 2, 3, 3]],
          complex=True),
)  # fmt: skip

CASES = PADDING + REPETITIONS
