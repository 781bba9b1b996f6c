"""Chainer's functions (``import xpgrad.functions as F``), by area, built on `xpgrad.array_api`."""

import typing as _typing

from xpgrad.functions.activation import (
    clipped_relu,
    elu,
    hard_sigmoid,
    leaky_relu,
    log_softmax,
    prelu,
    relu,
    selu,
    sigmoid,
    softmax,
    softplus,
    swish,
    tanh,
)
from xpgrad.functions.array import (
    broadcast,
    broadcast_to,
    cast,
    concat,
    copy,
    dstack,
    expand_dims,
    flatten,
    flip,
    fliplr,
    flipud,
    get_item,
    hstack,
    moveaxis,
    repeat,
    reshape,
    rollaxis,
    select_item,
    separate,
    split_axis,
    squeeze,
    stack,
    swapaxes,
    tile,
    transpose,
    vstack,
    where,
)
from xpgrad.functions.connection import linear
from xpgrad.functions.convolution import (
    convolution_1d,
    convolution_2d,
    convolution_3d,
    convolution_nd,
    deconvolution_1d,
    deconvolution_2d,
    deconvolution_3d,
    deconvolution_nd,
    depthwise_convolution_2d,
    dilated_convolution_2d,
)
from xpgrad.functions.evaluation import accuracy
from xpgrad.functions.loss import (
    absolute_error,
    mean_absolute_error,
    mean_squared_error,
    sigmoid_cross_entropy,
    softmax_cross_entropy,
    squared_error,
)
from xpgrad.functions.math import (
    absolute,
    add,
    arccos,
    arcsin,
    arctan,
    arctan2,
    arctanh,
    argmax,
    argmin,
    average,
    batch_matmul,
    ceil,
    clip,
    cos,
    cosh,
    cumprod,
    cumsum,
    exp,
    expm1,
    fix,
    floor,
    identity,
    log,
    log1p,
    log2,
    log10,
    logsumexp,
    matmul,
    max,
    maximum,
    mean,
    min,
    minimum,
    prod,
    rsqrt,
    sign,
    sin,
    sinh,
    sqrt,
    square,
    sum,
    sum_to,
    tan,
    tensordot,
)
from xpgrad.functions.matrices import batch_det, batch_inv, batch_l2_norm_squared, cholesky, det, diagonal, inv
from xpgrad.functions.noise import dropout
from xpgrad.functions.normalization import (
    batch_normalization,
    fixed_batch_normalization,
    group_normalization,
    layer_normalization,
    local_response_normalization,
    normalize,
)
from xpgrad.functions.pooling import (
    average_pooling_1d,
    average_pooling_2d,
    average_pooling_3d,
    average_pooling_nd,
    max_pooling_1d,
    max_pooling_2d,
    max_pooling_3d,
    max_pooling_nd,
    unpooling_1d,
    unpooling_2d,
    unpooling_3d,
    unpooling_nd,
    upsampling_2d,
)
from xpgrad.functions.util import forget
from xpgrad.functions.windows import im2col

if _typing.TYPE_CHECKING:
    from xpgrad.functions.special import (
        digamma,
        einsum,
        erf,
        erfc,
        erfcinv,
        erfcx,
        erfinv,
        fft,
        fmod,
        ifft,
        lgamma,
        log_ndtr,
        ndtr,
        ndtri,
        polygamma,
        zeta,
    )

__all__ = [  # noqa: RUF022 - by area
    "clipped_relu", "elu", "hard_sigmoid", "leaky_relu", "log_softmax", "prelu", "relu", "selu", "sigmoid", "softmax",
    "softplus", "swish", "tanh",
    "broadcast", "broadcast_to", "cast", "concat", "copy", "dstack", "expand_dims", "flatten", "flip", "fliplr",
    "flipud", "get_item", "hstack", "moveaxis", "repeat", "reshape", "rollaxis", "select_item", "separate",
    "split_axis", "squeeze", "stack", "swapaxes", "tile", "transpose", "vstack", "where",
    "linear",
    "accuracy",
    "absolute_error", "mean_absolute_error", "mean_squared_error", "sigmoid_cross_entropy", "softmax_cross_entropy",
    "squared_error",
    "absolute", "add", "arccos", "arcsin", "arctan", "arctan2", "arctanh", "argmax", "argmin", "average",
    "batch_matmul", "ceil", "clip", "cos", "cosh", "cumprod", "cumsum", "exp", "expm1", "fix", "floor", "identity",
    "log", "log1p", "log2", "log10", "logsumexp", "matmul", "max", "maximum", "mean", "min", "minimum", "prod", "rsqrt",
    "sign", "sin", "sinh", "sqrt", "square", "sum", "sum_to", "tan", "tensordot",
    "batch_det", "batch_inv", "batch_l2_norm_squared", "cholesky", "det", "diagonal", "inv",
    "digamma", "einsum", "erf", "erfc", "erfcinv", "erfcx", "erfinv", "fft", "fmod", "ifft", "lgamma", "log_ndtr",
    "ndtr", "ndtri", "polygamma", "zeta",
    "dropout",
    "forget",
    "im2col",
    "convolution_1d", "convolution_2d", "convolution_3d", "convolution_nd", "deconvolution_1d", "deconvolution_2d",
    "deconvolution_3d", "deconvolution_nd", "depthwise_convolution_2d", "dilated_convolution_2d",
    "average_pooling_1d", "average_pooling_2d", "average_pooling_3d", "average_pooling_nd", "max_pooling_1d",
    "max_pooling_2d", "max_pooling_3d", "max_pooling_nd", "unpooling_1d", "unpooling_2d", "unpooling_3d",
    "unpooling_nd", "upsampling_2d",
    "batch_normalization", "fixed_batch_normalization", "group_normalization", "layer_normalization",
    "local_response_normalization", "normalize",
]  # fmt: skip


def __getattr__(name: str) -> object:
    """Import the special functions, which are many, when one of them is first asked for."""
    if name in __all__:
        from xpgrad.functions import special

        found = globals()[name] = getattr(special, name)
        return found
    raise AttributeError(f"module 'xpgrad.functions' has no attribute {name!r}")
