"""Chainer's functions (``import xpgrad.functions as F``), by area, built on `xpgrad.array_api`."""

import importlib as _importlib
import typing as _typing

from xpgrad.backend.kernels import table as _table
from xpgrad.functions.activation import (
    clipped_relu,
    crelu,
    elu,
    hard_sigmoid,
    leaky_relu,
    log_softmax,
    maxout,
    prelu,
    relu,
    relu6,
    rrelu,
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
from xpgrad.functions.evaluation import accuracy
from xpgrad.functions.loss import sigmoid_cross_entropy, softmax_cross_entropy
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
from xpgrad.functions.regression import (
    absolute_error,
    huber_loss,
    mean_absolute_error,
    mean_squared_error,
    squared_difference,
    squared_error,
)
from xpgrad.functions.util import forget

if _typing.TYPE_CHECKING:
    from xpgrad.functions.blocks import depth2space, space2depth
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
    from xpgrad.functions.correlation import cross_covariance, decov
    from xpgrad.functions.crf import argmax_crf1d, crf1d
    from xpgrad.functions.ctc import connectionist_temporal_classification
    from xpgrad.functions.embedding import embed_id
    from xpgrad.functions.likelihood import bernoulli_nll, gaussian_kl_divergence, gaussian_nll
    from xpgrad.functions.margin import contrastive, hinge, triplet
    from xpgrad.functions.n_step import n_step_bigru, n_step_bilstm, n_step_birnn, n_step_gru, n_step_lstm, n_step_rnn
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
    from xpgrad.functions.rnn import lstm, slstm, tree_lstm
    from xpgrad.functions.sequences import pad, pad_sequence, permutate, scatter_add, transpose_sequence
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
    from xpgrad.functions.windows import im2col

__all__ = [  # noqa: RUF022 - by area
    "clipped_relu", "crelu", "elu", "hard_sigmoid", "leaky_relu", "log_softmax", "maxout", "prelu", "relu", "relu6",
    "rrelu", "selu", "sigmoid", "softmax", "softplus", "swish", "tanh",
    "broadcast", "broadcast_to", "cast", "concat", "copy", "dstack", "expand_dims", "flatten", "flip", "fliplr",
    "flipud", "get_item", "hstack", "moveaxis", "repeat", "reshape", "rollaxis", "select_item", "separate",
    "split_axis", "squeeze", "stack", "swapaxes", "tile", "transpose", "vstack", "where",
    "linear",
    "accuracy",
    "absolute_error", "huber_loss", "mean_absolute_error", "mean_squared_error", "sigmoid_cross_entropy",
    "softmax_cross_entropy", "squared_difference", "squared_error",
    "absolute", "add", "arccos", "arcsin", "arctan", "arctan2", "arctanh", "argmax", "argmin", "average",
    "batch_matmul", "ceil", "clip", "cos", "cosh", "cumprod", "cumsum", "exp", "expm1", "fix", "floor", "identity",
    "log", "log1p", "log2", "log10", "logsumexp", "matmul", "max", "maximum", "mean", "min", "minimum", "prod", "rsqrt",
    "sign", "sin", "sinh", "sqrt", "square", "sum", "sum_to", "tan", "tensordot",
    "batch_det", "batch_inv", "batch_l2_norm_squared", "cholesky", "det", "diagonal", "inv",
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
    "depth2space", "space2depth",
    "cross_covariance", "decov",
    "argmax_crf1d", "crf1d",
    "connectionist_temporal_classification",
    "embed_id",
    "bernoulli_nll", "gaussian_kl_divergence", "gaussian_nll",
    "contrastive", "hinge", "triplet",
    "n_step_bigru", "n_step_bilstm", "n_step_birnn", "n_step_gru", "n_step_lstm", "n_step_rnn",
    "lstm", "slstm", "tree_lstm",
    "pad", "pad_sequence", "permutate", "scatter_add", "transpose_sequence",
    "digamma", "einsum", "erf", "erfc", "erfcinv", "erfcx", "erfinv", "fft", "fmod", "ifft", "lgamma", "log_ndtr",
    "ndtr", "ndtri", "polygamma", "zeta",
]  # fmt: skip

_LATE = {
    "convolution": """
        convolution_1d convolution_2d convolution_3d convolution_nd deconvolution_1d deconvolution_2d
        deconvolution_3d deconvolution_nd depthwise_convolution_2d dilated_convolution_2d""",
    "normalization": """
        batch_normalization fixed_batch_normalization group_normalization layer_normalization
        local_response_normalization normalize""",
    "pooling": """
        average_pooling_1d average_pooling_2d average_pooling_3d average_pooling_nd max_pooling_1d
        max_pooling_2d max_pooling_3d max_pooling_nd unpooling_1d unpooling_2d unpooling_3d unpooling_nd
        upsampling_2d""",
    "windows": "im2col",
    "blocks": "depth2space space2depth",
    "correlation": "cross_covariance decov",
    "crf": "argmax_crf1d crf1d",
    "ctc": "connectionist_temporal_classification",
    "embedding": "embed_id",
    "likelihood": "bernoulli_nll gaussian_kl_divergence gaussian_nll",
    "margin": "contrastive hinge triplet",
    "n_step": "n_step_bigru n_step_bilstm n_step_birnn n_step_gru n_step_lstm n_step_rnn",
    "rnn": "lstm slstm tree_lstm",
    "sequences": "pad pad_sequence permutate scatter_add transpose_sequence",
    "special": "digamma einsum erf erfc erfcinv erfcx erfinv fft fmod ifft lgamma log_ndtr ndtr ndtri polygamma zeta",
}
"""From modules that many programs do not need to their functions: imported when one is first asked for."""
_KERNELS = {
    "convolution": "convolution transposed_convolution window_products",
    "normalization": "inverse_deviation projected standardized moments scaled",
    "pooling": "window_maxima dealt collected window_argmax upsampled picked",
    "windows": "windows fold window_sums spread",
}
"""From such modules to the kernels that they declare, for backends that have them."""
_table.late |= {name: f"xpgrad.functions.{module}" for module, names in _KERNELS.items() for name in names.split()}
_MODULES = {name: module for module, names in _LATE.items() for name in names.split()}


def __getattr__(name: str) -> object:
    """Import what is loaded late."""
    if name in _MODULES:
        module = _importlib.import_module(f"xpgrad.functions.{_MODULES[name]}")
        found = globals()[name] = getattr(module, name)
        return found
    raise AttributeError(f"module 'xpgrad.functions' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the functions, those included that have not been imported yet."""
    return sorted(__all__)
