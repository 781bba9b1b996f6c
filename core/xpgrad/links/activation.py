"""Links with an activation function that has trainable parameters."""

from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.backend.plugins import plugins
from xpgrad.functions.activation import maxout, prelu, relu, sigmoid, swish
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.links.connection import Linear
from xpgrad.links.parameters import fitted, once, waits, weight
from xpgrad.models import Chain, Link
from xpgrad.types import AnyArray, integers


class PReLU(Link):
    """Parametric rectified linear unit.

    Parameters
    ----------
    shape : tuple of int
        Shape of the slopes: the first axes of the input after the batch.
    init : initializer

    Attributes
    ----------
    W : Parameter, shape `shape`
    """

    def __init__(self, shape: Sequence[int] = (), init: Any = 0.25) -> None:
        super().__init__()
        with self.init_scope():
            self.W = weight(init, integers(shape))

    def forward(self, x: AnyArray) -> Variable:
        """Return `x` where it is positive, else ``W * x``."""
        return fitted(x, prelu(x, self.W))


class Swish(Link):
    """``x * sigmoid(beta * x)`` with a learnt `beta`.

    Parameters
    ----------
    beta_shape : tuple of int, optional
        Shape of `beta`: the first axes of the input after the batch. None takes all axes from the first input.
    beta_init : initializer

    Attributes
    ----------
    beta : Parameter, shape `beta_shape`
    """

    def __init__(self, beta_shape: Sequence[int] | None = (), beta_init: Any = 1.0) -> None:
        super().__init__()
        with self.init_scope():
            self.beta = weight(beta_init, None if beta_shape is None else integers(beta_shape))

    def initialize_for(self, x: Any) -> None:
        """Initialise `beta` for inputs like `x` unless already initialised."""
        if waits(self.beta):
            once(lambda: waits(self.beta), self.beta.initialize, tuple(x.shape[1:]))

    def forward(self, x: AnyArray) -> Variable:
        """Return the activation of `x`."""
        self.initialize_for(x)
        x = as_variable(x)
        return fitted(x, swish(x, self.beta))


class Maxout(Chain):
    """The maximum of each group of outputs of an affine map.

    Parameters
    ----------
    in_size : int or None
        None takes it from the first input.
    out_size : int
    pool_size : int
        Number of linear outputs per maximum.
    initialW : initializer, optional
        An array has the shape (out_size, pool_size, in_size).
    initial_bias : initializer or None
        None means no bias; an array has the shape (out_size, pool_size).

    Attributes
    ----------
    linear : Linear
    """

    def __init__(
        self, in_size: int | None, out_size: int, pool_size: int, initialW: Any = None, initial_bias: Any = 0
    ) -> None:
        super().__init__()
        self.out_size, self.pool_size = out_size, pool_size
        rows, nobias = out_size * pool_size, initial_bias is None
        initialW, initial_bias = _flat(initialW, (rows, -1)), _flat(initial_bias, (rows,))
        with self.init_scope():
            self.linear = Linear(in_size, rows, nobias=nobias, initialW=initialW, initial_bias=initial_bias)

    def forward(self, x: AnyArray) -> Variable:
        """Return the maxima, shape (N, out_size)."""
        return maxout(self.linear(x), self.pool_size)


def _flat(initializer: Any, shape: tuple[int, ...]) -> Any:
    """Return an initial array in another shape, and any other initializer unchanged."""
    if initializer is None or callable(initializer) or plugins.is_scalar(initializer):
        return initializer
    return plugins.backend_of(initializer).xp.reshape(initializer, shape)


class Highway(Chain):
    """A mixture of an activation and of the input itself, in a ratio that depends on the input.

    Parameters
    ----------
    in_out_size : int
    nobias : bool
    activate : callable
    init_Wh, init_Wt, init_bh, init_bt : initializer, optional
        Weights and biases of the activation and of the ratio.

    Attributes
    ----------
    plain, transform : Linear

    References
    ----------
    Srivastava, Greff, Schmidhuber: Highway networks, 2015.
    """

    def __init__(
        self, in_out_size: int, nobias: bool = False, activate: Callable[[Any], Any] = relu, init_Wh: Any = None,
        init_Wt: Any = None, init_bh: Any = None, init_bt: Any = -1,
    ) -> None:  # fmt: skip
        super().__init__()
        self.activate = activate
        with self.init_scope():
            self.plain = Linear(in_out_size, in_out_size, nobias, init_Wh, init_bh)
            self.transform = Linear(in_out_size, in_out_size, nobias, init_Wt, init_bt)

    def forward(self, x: AnyArray) -> Variable:
        """Return ``t * activate(plain(x)) + (1 - t) * x`` where t is ``sigmoid(transform(x))``."""
        t = sigmoid(self.transform(x))
        mixed: Variable = t * self.activate(self.plain(x)) + (1.0 - t) * x
        return mixed
