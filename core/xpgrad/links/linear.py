"""`Linear`: an affine map of feature vectors."""

import math
from collections.abc import Iterator
from typing import Any

from xpgrad.functions.connection import linear
from xpgrad.graph.variable import Variable
from xpgrad.links.parameters import bias, given, once, waits, weight
from xpgrad.models import Link
from xpgrad.types import AnyArray


class Linear(Link):
    """``x @ W.T + b``.

    Parameters
    ----------
    in_size : int or None
        Number of features of the input; None takes it from the first input. A single size is the size of the output.
    out_size : int, optional
    nobias : bool
    initialW, initial_bias : initializer, optional
        By default `LeCunNormal` and 0.

    Attributes
    ----------
    W : Parameter, shape (out_size, in_size)
    b : Parameter, shape (out_size,), or None
    """

    def __init__(
        self, in_size: int | None, out_size: int | None = None, nobias: bool = False, initialW: Any = None,
        initial_bias: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if out_size is None:
            in_size, out_size = None, in_size
        if out_size is None:
            raise TypeError("Linear: expected out_size to be an int, got None")
        self.in_size, self.out_size = in_size, out_size
        with self.init_scope():
            self.W = weight(initialW)
            if in_size is not None:
                self._initialize_params(in_size)
            self.b = bias(initial_bias, out_size, nobias)

    @classmethod
    def from_params(cls, W: Any, b: Any = None, nobias: bool = False) -> "Linear":
        """Return a link with copies of these parameters."""
        return cls(W.shape[1], W.shape[0], nobias, given(W), None if b is None else given(b))

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Names and values of the arguments that `repr` shows."""
        yield from (("in_size", self.in_size), ("out_size", self.out_size), ("nobias", self.b is None))

    def _initialize_params(self, in_size: int) -> None:
        self.W.initialize((self.out_size, in_size))

    def initialize_for(self, x: Any, n_batch_axes: int = 1) -> None:
        """Initialise the weight for inputs like `x` unless already initialised."""
        if waits(self.W):
            once(lambda: waits(self.W), self._initialize_params, math.prod(x.shape[n_batch_axes:]))

    def forward(self, x: AnyArray, n_batch_axes: int = 1) -> Variable:
        """Return the map of `x`, whose axes after the first `n_batch_axes` are one vector of features."""
        self.initialize_for(x, n_batch_axes)
        return linear(x, self.W, self.b, n_batch_axes=n_batch_axes)
