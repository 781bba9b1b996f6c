"""Functions beyond the Array API standard, on Variables of every backend and differentiable to any order.

They follow array-api-extra where that has a function, else NumPy. Functions of the standard are in `xpgrad.array_api`.
"""

from typing import TYPE_CHECKING

from xpgrad.listing import listed as _listed
from xpgrad.ops.choice import apply_where
from xpgrad.ops.contraction import einsum
from xpgrad.ops.covariance import corrcoef, cov
from xpgrad.ops.diagonals import create_diagonal, diag, diag_indices, tril_indices, triu_indices
from xpgrad.ops.dtypes import default_dtype, is_same_dtype
from xpgrad.ops.elementwise import allclose, angle, deg2rad, fmod, isclose, logaddexp2, rad2deg
from xpgrad.ops.encoding import one_hot, unravel_index
from xpgrad.ops.interpolation import interp, trapezoid
from xpgrad.ops.missing import nan_to_num, nancumprod, nancumsum, nanmax, nanmean, nanmin, nanprod, nansum, nanvar
from xpgrad.ops.order import (
    argpartition,
    median,
    nanmedian,
    nanpercentile,
    nanquantile,
    nunique,
    partition,
    percentile,
    quantile,
    setdiff1d,
    union1d,
)
from xpgrad.ops.padding import atleast_nd, pad
from xpgrad.ops.products import convolve, kron, polyval
from xpgrad.ops.scattering import bincount, index_add, scatter_add, segment_max, segment_mean, segment_min, segment_sum
from xpgrad.special import expit, logit, logsumexp
from xpgrad.special.elementary import sinc

__all__ = [  # noqa: RUF022 - by module
    "angle", "deg2rad", "rad2deg", "sinc",
    "apply_where",
    "allclose", "isclose",
    "einsum",
    "convolve",
    "corrcoef", "cov",
    "create_diagonal", "diag", "diag_indices", "tril_indices", "triu_indices",
    "default_dtype", "is_same_dtype",
    "fmod", "logaddexp2",
    "one_hot", "unravel_index",
    "expit", "logit", "logsumexp",
    "interp", "trapezoid",
    "nan_to_num", "nancumprod", "nancumsum", "nanmax", "nanmean", "nanmin", "nanprod", "nansum", "nanvar",
    "argpartition", "median", "nanmedian", "nanpercentile", "nanquantile", "partition", "percentile", "quantile",
    "pad",
    "kron", "polyval",
    "bincount", "index_add", "scatter_add", "segment_max", "segment_mean", "segment_min", "segment_sum",
    "nunique", "setdiff1d", "union1d",
    "atleast_nd",
]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__, __dir__ = _listed(__name__, __all__)
