"""`Space`: rows and columns of a fused group, and positions of arrays in it by shape."""

import math

from xpgrad.types import Shape


class Unfusible(Exception):
    """A call cannot be fused with other calls; the text gives the reason."""


class Space:
    """The shape of the largest arrays of a group, cut into leading axes, the rows, and trailing ones, the columns.

    Attributes
    ----------
    shape : tuple of int
    split : int or None
        The number of leading axes; None while the group has neither rows nor columns.
    """

    __slots__ = ("shape", "split")

    def __init__(self, shape: Shape, split: int | None = None) -> None:
        self.shape, self.split = shape, split

    @property
    def size(self) -> int:
        """Number of points."""
        return math.prod(self.shape)

    def counts(self) -> tuple[int, int]:
        """Return the numbers of rows and columns."""
        split = self.split or 0
        return math.prod(self.shape[:split]), math.prod(self.shape[split:])

    def cut(self, split: int) -> None:
        """Take `split` axes as rows, or raise `Unfusible` if another number of axes is known to be rows."""
        if self.split is None:
            self.split = split
        elif self.split != split:
            raise Unfusible(f"rows are the first {self.split} axes, not {split}")

    def level(self, shape: Shape) -> str:
        """Return the level of an array of `shape`, or raise if it does not broadcast along all rows or all columns."""
        if shape == self.shape and self.size != 1:
            return "point"
        if math.prod(shape) == 1:
            return "one"
        ndim = len(self.shape)
        whole = (1,) * (ndim - len(shape)) + shape
        if len(whole) != ndim or any(n not in (1, m) for n, m in zip(whole, self.shape, strict=True)):
            raise Unfusible(f"shape {shape} does not broadcast to {self.shape}")
        if whole == self.shape:
            return "point"
        used = [i for i in range(ndim) if whole[i] != 1]  # axes of length 1 belong to either side
        missing = [i for i in range(ndim) if self.shape[i] != 1 and whole[i] == 1]
        for split in [self.split] if self.split is not None else range(1, ndim):
            if all(i >= split for i in used) and all(i < split for i in missing):
                self.cut(split)
                return "column"
            if all(i < split for i in used) and all(i >= split for i in missing):
                self.cut(split)
                return "row"
        raise Unfusible(f"shape {whole} is neither of the rows nor of the columns of {self.shape}")

    def kept(self) -> Shape:
        """Return the shape of an array of the rows, with axes of length 1 for the columns."""
        split = self.split or 0
        return self.shape[:split] + (1,) * (len(self.shape) - split)
