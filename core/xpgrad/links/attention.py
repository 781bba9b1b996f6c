"""`MultiHeadAttention`: attention in several subspaces."""

from typing import Any

from xpgrad.array_api import permute_dims, reshape
from xpgrad.functions.attention import scaled_dot_product_attention
from xpgrad.graph.variable import Variable
from xpgrad.links.connection import Linear
from xpgrad.models import Chain
from xpgrad.types import AnyArray


class MultiHeadAttention(Chain):
    """Attention of several heads, each on its own part of an affine map of queries, keys and values.

    Chainer has no such link.

    Parameters
    ----------
    n_heads : int
    size : int
        Number of features of queries and results, a multiple of `n_heads`.
    key_size, value_size : int, optional
        Number of features of keys and values; None takes it from the first input.
    nobias : bool
    initialW, initial_bias : initializer, optional

    Attributes
    ----------
    query, key, value, out : Linear
        The maps of queries, keys and values, and of the concatenated results of the heads.

    Raises
    ------
    ValueError
        `size` is no multiple of `n_heads`.

    References
    ----------
    Vaswani and others: Attention is all you need, 2017.
    """

    def __init__(
        self, n_heads: int, size: int, key_size: int | None = None, value_size: int | None = None,
        nobias: bool = False, initialW: Any = None, initial_bias: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if n_heads < 1 or size % n_heads:
            raise ValueError(f"MultiHeadAttention: size must be a multiple of n_heads, got {size} and {n_heads}")
        self.n_heads, self.size = n_heads, size
        options = {"nobias": nobias, "initialW": initialW, "initial_bias": initial_bias}
        with self.init_scope():
            self.query, self.out = Linear(size, size, **options), Linear(size, size, **options)
            self.key, self.value = Linear(key_size, size, **options), Linear(value_size, size, **options)

    def forward(
        self, q: AnyArray, k: AnyArray | None = None, v: AnyArray | None = None, mask: AnyArray | None = None
    ) -> Variable:
        """Return for each query a mean of the values of the keys that it is like.

        Parameters
        ----------
        q : Variable or array, shape (B, N, size)
        k : Variable or array, shape (B, M, K), optional
            By default `q`: self-attention.
        v : Variable or array, shape (B, M, V), optional
            By default `k`.
        mask : Variable or array, broadcasts to (B, n_heads, N, M), optional
            As `xpgrad.functions.scaled_dot_product_attention` takes it.

        Returns
        -------
        Variable, shape (B, N, size)
        """
        k = q if k is None else k
        v = k if v is None else v
        by_head = self._heads(self.query, q), self._heads(self.key, k), self._heads(self.value, v)
        y = permute_dims(scaled_dot_product_attention(*by_head, mask), axes=(0, 2, 1, 3))
        found: Variable = self.out(reshape(y, shape=(*y.shape[:2], self.size)), n_batch_axes=2)
        return found

    def _heads(self, link: Linear, x: AnyArray) -> Variable:
        """Return the output of a link for `x`, split by head: shape (B, n_heads, N, size / n_heads)."""
        parts = reshape(link(x, n_batch_axes=2), shape=(*x.shape[:2], self.n_heads, self.size // self.n_heads))
        return permute_dims(parts, axes=(0, 2, 1, 3))
