"""How each function of array libraries is computed for a batch, a file for each chapter of the standard."""

from xpgrad.transforms.batch.rows import elementwise, reductions, shapes

__all__ = ["elementwise", "reductions", "shapes"]
