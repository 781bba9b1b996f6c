"""The sizes at which NumPy's kernels take another path, for the conformance suite."""

from collections.abc import Mapping, Sequence
from typing import Final

from xpgrad_numpy import blocks, buffers, elementwise
from xpgrad_numpy.kernels import direct, gathers, linear, patches, rows
from xpgrad_numpy.kernels.elementwise import IN_PLACE_FROM

DOUBLE, SINGLE = 8, 4
"""Bytes of a number."""
WINDOWS = (
    *(patches.MIN_COLUMNS, patches.LONG, patches.MAX_SHEARED, patches.MIN_SHEARED, patches.MIN_FILTERS),
    *(patches.MIN_LINE, direct.MIN_WIDTH, direct.MIN_SUMMED),
)
GATHERS = gathers.MANY, gathers.WIDE
ROWS = rows.FEW_CLASSES, IN_PLACE_FROM
ANY = tuple(
    sorted(
        {
            buffers.LARGE,
            *(limit // size for limit in (blocks.FROM, elementwise.PARTS_FROM) for size in (SINGLE, DOUBLE)),
        }
    )
)
THRESHOLDS: Final[Mapping[str, Sequence[int]]] = {
    "": ANY,
    "matmul": (linear.OUTER_FROM,),
    "take": GATHERS,
    "getitem": GATHERS,
    "scatter_add": GATHERS,
    "softmax": ROWS,
    "log_softmax": ROWS,
    "logsumexp": ROWS,
    "convolution": WINDOWS,
}
"""Lengths of axes by kernel; those under "" are numbers of elements, for all."""
