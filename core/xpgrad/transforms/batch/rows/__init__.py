"""How each function of array libraries is computed for a batch, a file for each chapter of the standard."""

from xpgrad.transforms.batch.rows import (
    creation,
    cumulative,
    elementwise,
    fft,
    images,
    indexing,
    linalg,
    networks,
    products,
    scattering,
    searching,
    shapes,
    totals,
)

__all__ = [
    "creation", "cumulative", "elementwise", "fft", "images", "indexing", "linalg", "networks", "products",
    "scattering", "searching", "shapes", "totals",
]  # fmt: skip
