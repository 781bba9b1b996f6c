"""Links of affine and bilinear maps, of sums and products with learnt arrays, and of learnt vectors."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from xpgrad import functions
from xpgrad.functions.connection import embed_id, linear
from xpgrad.graph.parameter import Parameter as _Parameter
from xpgrad.graph.variable import Variable, as_array
from xpgrad.initializers import Normal
from xpgrad.links.parameters import bias, fitted, given, once, waits, weight
from xpgrad.models import Chain, Link
from xpgrad.types import AnyArray, integers


class Bias(Link):
    """The sum with a learnt array, from an axis on.

    Parameters
    ----------
    axis : int
        The first axis of the input that the array is added to.
    shape : tuple of int, optional
        Shape of the array; None means that it is an argument of each call.

    Attributes
    ----------
    b : Parameter, shape `shape`, if there is one
    """

    def __init__(self, axis: int = 1, shape: Sequence[int] | None = None) -> None:
        super().__init__()
        self.axis = axis
        if shape is not None:
            with self.init_scope():
                self.b = weight(0, integers(shape))

    def forward(self, *xs: AnyArray) -> Variable:
        """Return the sum of ``x`` and the parameter or the argument ``b``."""
        return fitted(xs[0], functions.bias(*_operands(self, "b", xs), axis=self.axis))


class Scale(Chain):
    """The product with a learnt array, from an axis on, and a learnt sum after it.

    Parameters
    ----------
    axis : int
        The first axis of the input that the array multiplies.
    W_shape : tuple of int, optional
        Shape of the array; None means that it is an argument of each call.
    bias_term : bool
    bias_shape : tuple of int, optional
        Shape of the bias, if `W_shape` is None.

    Attributes
    ----------
    W : Parameter, shape `W_shape`, if there is one
    bias : Bias, if there is one
    """

    def __init__(
        self, axis: int = 1, W_shape: Sequence[int] | None = None, bias_term: bool = False,
        bias_shape: Sequence[int] | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.axis = axis
        shape = bias_shape if W_shape is None else W_shape
        if bias_term and shape is None:
            raise ValueError("Scale: bias_term needs W_shape or bias_shape, got neither")
        with self.init_scope():
            if W_shape is not None:
                self.W = weight(1, integers(W_shape))
            if bias_term:
                self.bias = Bias(axis, shape)

    def forward(self, *xs: AnyArray) -> Variable:
        """Return the product of ``x`` and the parameter or the argument ``W``, plus the bias."""
        z = fitted(xs[0], functions.scale(*_operands(self, "W", xs), axis=self.axis))
        return self.bias(z) if "bias" in self.__dict__ else z


def _operands(link: Link, name: str, xs: tuple[Any, ...]) -> tuple[Any, Any]:
    own = (link.__dict__[name],) if name in link.__dict__ else ()
    if len(xs) + len(own) != 2:
        expected = f"x, as the link has {name}" if own else f"x and {name}"
        raise TypeError(f"{type(link).__name__}: expected {expected}, got {len(xs)} arguments")
    return (*xs, *own)


class Bilinear(Link):
    """A bilinear form of two vectors, plus an affine map of both.

    Parameters
    ----------
    left_size, right_size, out_size : int
    nobias : bool
        Leave the affine map out.
    initialW : initializer, optional
        For W.
    initial_bias : tuple of three initializers, optional
        For V1, V2 and b.

    Attributes
    ----------
    W : Parameter, shape (left_size, right_size, out_size)
    V1, V2 : Parameter, shapes (left_size, out_size) and (right_size, out_size), unless `nobias`
    b : Parameter, shape (out_size,), unless `nobias`

    References
    ----------
    Socher and others: Reasoning with neural tensor networks for knowledge base completion, 2013.
    """

    def __init__(
        self, left_size: int, right_size: int, out_size: int, nobias: bool = False, initialW: Any = None,
        initial_bias: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.in_sizes, self.nobias = (left_size, right_size), nobias
        if initial_bias is not None and (not isinstance(initial_bias, tuple) or len(initial_bias) != 3):
            raise ValueError(f"Bilinear: initial_bias must be a tuple for V1, V2 and b, got {initial_bias!r:.60}")
        of_left, of_right, of_b = initial_bias or (None, None, 0)
        with self.init_scope():
            self.W = weight(initialW, (left_size, right_size, out_size))
            if not nobias:
                self.V1 = weight(of_left, (left_size, out_size))
                self.V2, self.b = weight(of_right, (right_size, out_size)), weight(of_b, (out_size,))

    def forward(self, e1: AnyArray, e2: AnyArray) -> Variable:
        """Return the form of the rows of `e1` and `e2`, shape (N, out_size)."""
        affine = () if self.nobias else (self.V1, self.V2, self.b)
        return fitted(e1, functions.bilinear(e1, e2, self.W, *affine))


class Parameter(Link):
    """A link that consists of a single trainable array.

    Parameters
    ----------
    array : array

    Attributes
    ----------
    W : xpgrad.Parameter
    """

    def __init__(self, array: Any) -> None:
        super().__init__()
        with self.init_scope():
            self.W = _Parameter(as_array(array))

    def forward(self) -> Variable:
        """Return the parameter."""
        return self.W


class SimplifiedDropconnect(Link):
    """An affine map with random weights dropped in training.

    Parameters
    ----------
    in_size : int or None
        None takes it from the first input.
    out_size : int
    ratio : float
        Probability with which a weight is dropped.
    nobias : bool
    initialW, initial_bias : initializer, optional

    Attributes
    ----------
    W : Parameter, shape (out_size, in_size)
    b : Parameter, shape (out_size,), or None

    References
    ----------
    Wan, Zeiler, Zhang, LeCun, Fergus: Regularization of neural networks using DropConnect, 2013.
    """

    def __init__(
        self, in_size: int | None, out_size: int, ratio: float = 0.5, nobias: bool = False, initialW: Any = None,
        initial_bias: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.out_size, self.ratio = out_size, ratio
        with self.init_scope():
            self.W = weight(initialW)
            if in_size is not None:
                self._initialize_params(in_size)
            self.b = bias(initial_bias, (out_size,), nobias)

    def _initialize_params(self, in_size: int) -> None:
        self.W.initialize((self.out_size, in_size))

    def initialize_for(self, x: Any, *_: Any, **__: Any) -> None:
        """Initialise the weight for inputs like `x` unless already initialised."""
        if waits(self.W):
            once(lambda: waits(self.W), self._initialize_params, math.prod(x.shape[1:]))

    def forward(
        self, x: AnyArray, train: bool = True, mask: AnyArray | None = None, use_batchwise_mask: bool = True
    ) -> Variable:
        """Return the map of `x`, with all weights if `train` is False; see `F.simplified_dropconnect`."""
        self.initialize_for(x)
        return functions.simplified_dropconnect(x, self.W, self.b, self.ratio, train, mask, use_batchwise_mask)


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
