"""Links of normalization over a layer and over groups of channels."""

from typing import Any

from xpgrad.functions import normalization as functions
from xpgrad.graph.variable import Variable
from xpgrad.links.parameters import once, waits, weight
from xpgrad.models import Link
from xpgrad.types import AnyArray


class _Affine(Link):
    """Base of links with a factor and a shift for each feature."""

    def __init__(self, size: int | None, initial_gamma: Any, initial_beta: Any) -> None:
        super().__init__()
        with self.init_scope():
            self.gamma, self.beta = weight(initial_gamma, default=1), weight(initial_beta, default=0)
        if size is not None:
            self._initialize_params(size)

    def _initialize_params(self, size: int) -> None:
        self.beta.initialize((size,))
        self.gamma.initialize((size,))

    def initialize_for(self, x: Any) -> None:
        """Initialise the parameters for inputs like `x` unless already initialised."""
        if waits(self.gamma):
            once(lambda: waits(self.gamma), self._initialize_params, x.shape[1])


class LayerNormalization(_Affine):
    """Each row with mean 0 and variance 1, times `gamma`, plus `beta`.

    Parameters
    ----------
    size : int, optional
        Length of a row; None takes it from the first input.
    eps : float
        Added to the variance.
    initial_gamma, initial_beta : initializer, optional
        By default 1 and 0.

    Attributes
    ----------
    gamma, beta : Parameter, shape (size,)
    """

    def __init__(
        self, size: int | None = None, eps: float = 1e-6, initial_gamma: Any = None, initial_beta: Any = None
    ) -> None:
        self.eps = eps
        super().__init__(size, initial_gamma, initial_beta)

    def forward(self, x: AnyArray) -> Variable:
        """Return the rows of `x`, shape (N, size), normalized."""
        self.initialize_for(x)
        return functions.layer_normalization(x, self.gamma, self.beta, self.eps)


class GroupNormalization(_Affine):
    """Each group of channels of each image with mean 0 and variance 1, times `gamma`, plus `beta`.

    Parameters
    ----------
    groups : int
    size : int, optional
        Number of channels; None takes it from the first input.
    eps : float
        Added to the variance.
    initial_gamma, initial_beta : initializer, optional
        By default 1 and 0.

    Attributes
    ----------
    gamma, beta : Parameter, shape (size,)
    """

    def __init__(
        self, groups: int, size: int | None = None, eps: float = 1e-5, initial_gamma: Any = None,
        initial_beta: Any = None,
    ) -> None:  # fmt: skip
        self.groups, self.eps = groups, eps
        super().__init__(size, initial_gamma, initial_beta)

    def forward(self, x: AnyArray) -> Variable:
        """Return images `x`, shape (N, size, *D), normalized."""
        self.initialize_for(x)
        return functions.group_normalization(x, self.groups, self.gamma, self.beta, self.eps)
