"""`EmbedID`: a learnt vector for each of many integers."""

from collections.abc import Iterator
from typing import Any

from xpgrad.functions.embedding import embed_id
from xpgrad.graph.variable import Variable
from xpgrad.initializers import Normal
from xpgrad.links.parameters import given, weight
from xpgrad.models import Link
from xpgrad.types import AnyArray


class EmbedID(Link):
    """The rows of a matrix by their indices.

    Parameters
    ----------
    in_size : int
        Number of rows.
    out_size : int
        Their length.
    initialW : initializer, optional
        By default standard normal numbers.
    ignore_label : int, optional
        For this index the row is zeros.

    Attributes
    ----------
    W : Parameter, shape (in_size, out_size)
    """

    ignore_label: int | None = None

    def __init__(self, in_size: int, out_size: int, initialW: Any = None, ignore_label: int | None = None) -> None:
        super().__init__()
        self.ignore_label = ignore_label
        with self.init_scope():
            self.W = weight(initialW, (in_size, out_size), Normal(1.0))

    @classmethod
    def from_params(cls, W: Any, ignore_label: int | None = None) -> "EmbedID":
        """Return a link with a copy of this matrix."""
        return cls(W.shape[0], W.shape[1], given(W), ignore_label)

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Names and values of the arguments that `repr` shows."""
        yield from zip(("in_size", "out_size"), self.W.shape, strict=True)
        yield "ignore_label", self.ignore_label

    def forward(self, x: AnyArray) -> Variable:
        """Return the rows with the indices in `x`: its shape, and an axis of length `out_size`."""
        return embed_id(x, self.W, self.ignore_label)
