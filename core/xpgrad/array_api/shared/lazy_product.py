"""`Product`: a matrix product over few rows, kept as its factors until the total is needed.

A weight that is used at every step of a recurrence gets one small product for each step. The concatenated factors of
these products give one large product, which equals their sum: for 200 steps of 16 rows it takes three fifths of the
time of separate products and sums.
"""

from collections.abc import Sequence
from typing import Any, Self

from xpgrad.backend.spec import Spec
from xpgrad.graph.lazy import Lazy
from xpgrad.graph.rules import recorded_namespace
from xpgrad.types import Namespace

MAX_ROWS = 32  # from 64 on, separate products are as fast
MAX_PRODUCTS = 32  # collected at a time: many more are slower again, and keep more memory alive


class Product(Lazy):
    """The cotangent ``left.T @ right``.

    Parameters
    ----------
    left : array or Variable, shape (rows, M)
    right : array or Variable, shape (rows, N)
    spec : Spec
        Spec of the product.
    """

    __slots__ = ("left", "right")

    cost = 1
    limit = MAX_PRODUCTS - 1

    def __init__(self, left: Any, right: Any, spec: Spec) -> None:
        self.spec, self.shape, self.dtype = spec, spec.shape, spec.dtype
        self.left, self.right = left, right

    @classmethod
    def total(cls, items: Sequence[Self], recorded: bool) -> Any:
        """Return the sum of the products, as one product."""
        backend = items[0].spec.backend
        xp = recorded_namespace(backend) if recorded else backend.xp
        if len(items) == 1:
            return xp.transposed_matmul(items[0].left, items[0].right)
        left = xp.concat([each.left for each in items], axis=0)
        return xp.transposed_matmul(left, xp.concat([each.right for each in items], axis=0))


def product(xp: Namespace, left: Any, right: Any, spec: Spec) -> Any:
    """Return ``left.T @ right``, lazy if it has few rows, as the gradient of a weight.

    Parameters
    ----------
    xp : module
        The namespace that the rule was given.
    left : array or Variable, shape (rows, M)
    right : array or Variable, shape (rows, N)
    spec : Spec
        Of the weight, whose shape is (M, N).

    Returns
    -------
    array, Variable or Product
    """
    dtype = spec.dtype
    same = left.dtype is dtype is right.dtype or left.dtype == dtype == right.dtype
    if same and right.shape[0] <= MAX_ROWS:
        return Product(left, right, spec)
    return xp.transposed_matmul(left, right)
