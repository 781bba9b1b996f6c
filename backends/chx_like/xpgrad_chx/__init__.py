"""The chx backend of xpgrad: arrays that carry their own graph, on ``native:0`` (host) and ``cuda:0`` memory.

This is the Array API namespace of these arrays, with ChainerX's interface to devices and gradients:
``import xpgrad_chx as chx``.
"""

from builtins import bool as _bool

import array_api_compat.numpy as _host
from numpy import (
    bool,
    complex64,
    complex128,
    e,
    float16,
    float32,
    float64,
    inf,
    int8,
    int16,
    int32,
    int64,
    nan,
    newaxis,
    pi,
    uint8,
    uint16,
    uint32,
    uint64,
)

from xpgrad import array_api as _array_api
from xpgrad_chx import fft, linalg, random
from xpgrad_chx.array import ndarray
from xpgrad_chx.backprop import (
    BackpropId,
    anygraph,
    backprop_scope,
    force_backprop_mode,
    is_backprop_required,
    no_backprop_mode,
)
from xpgrad_chx.creation import (
    arange,
    array,
    asarray,
    astype,
    empty,
    empty_like,
    eye,
    from_dlpack,
    full,
    full_like,
    linspace,
    ones,
    ones_like,
    zeros,
    zeros_like,
)
from xpgrad_chx.data_types import all_dtypes, bool_, broadcast_shapes, can_cast, finfo, iinfo, isdtype, result_type
from xpgrad_chx.device import (
    Backend,
    Context,
    Device,
    context_scope,
    get_backend,
    get_default_context,
    get_default_device,
    get_device,
    set_default_device,
    using_device,
)
from xpgrad_chx.errors import (
    BackendError,
    ChainerxError,
    ContextError,
    DeviceError,
    DimensionError,
    DtypeError,
    GradientCheckError,
    GradientError,
    NotImplementedError,
    OperandError,
)
from xpgrad_chx.information import Information as __array_namespace_info__  # noqa: N813 - the standard's name
from xpgrad_chx.library import functions
from xpgrad_chx.methods import to_numpy
from xpgrad_chx.routines.activation import (
    clipped_relu,
    crelu,
    elu,
    leaky_relu,
    log_softmax,
    logsumexp,
    lstm,
    relu,
    sigmoid,
    slstm,
    softmax,
    tree_lstm,
)
from xpgrad_chx.routines.connection import (
    conv,
    conv_transpose,
    embed_id,
    linear,
)
from xpgrad_chx.routines.creation import (
    asanyarray,
    ascontiguousarray,
    asfortranarray,
    copy,
    diag,
    frombuffer,
    fromfile,
    fromfunction,
    fromiter,
    fromstring,
    identity,
    loadtxt,
    tri,
)
from xpgrad_chx.routines.loss import (
    absolute_error,
    accuracy,
    gaussian_kl_divergence,
    hinge,
    huber_loss,
    sigmoid_cross_entropy,
    softmax_cross_entropy,
    squared_difference,
    squared_error,
)
from xpgrad_chx.routines.manipulation import (
    copyto,
    squeeze,
    tile,
)
from xpgrad_chx.routines.mathematics import (
    erf,
    rsqrt,
)
from xpgrad_chx.routines.normalization import (
    batch_norm,
    fixed_batch_norm,
)
from xpgrad_chx.routines.numpy_names import *  # noqa: F403 - made there from their names
from xpgrad_chx.routines.numpy_names import NAMES as _NUMPY_NAMES
from xpgrad_chx.routines.pooling import (
    average_pool,
    max_pool,
)
from xpgrad_chx.routines.renamed import RENAMED
from xpgrad_chx.routines.rnn import (
    n_step_bigru,
    n_step_bilstm,
    n_step_birnn,
    n_step_gru,
    n_step_lstm,
    n_step_rnn,
)
from xpgrad_chx.routines.sorting import (
    nanargmax,
    nanargmin,
)
from xpgrad_chx.sweeping import backward, grad

API_VERSIONS = "2021.12", "2022.12", "2023.12", "2024.12", "2025.12"
"""Versions of the standard that the namespace follows."""
__array_api_version__ = API_VERSIONS[-1]

FUNCTIONS = [name for name in _array_api.__all__ if hasattr(_host, name) and name not in globals()]
"""The functions of `xpgrad.array_api` that the library of the buffers has, too, and that are not made above."""

globals().update(functions(FUNCTIONS))
globals().update({new: globals()[old] for new, old in RENAMED.items()})


def is_available() -> _bool:
    """Tell whether these arrays can be used, which they can wherever NumPy can."""
    return True


__all__ = [  # pyright: ignore[reportUnsupportedDunderAll]  # names of functions that are made
    *FUNCTIONS,
    "bool", "complex64", "complex128", "e", "float16", "float32", "float64", "inf", "int8", "int16", "int32", "int64",
    "nan", "newaxis", "pi", "uint8", "uint16", "uint32", "uint64",
    "fft", "linalg", "ndarray",
    "BackpropId", "anygraph", "backprop_scope", "force_backprop_mode", "is_backprop_required", "no_backprop_mode",
    "arange", "array", "asarray", "astype", "empty", "empty_like", "eye", "from_dlpack", "full", "full_like",
    "linspace", "ones", "ones_like", "zeros", "zeros_like",
    "broadcast_shapes", "can_cast", "finfo", "iinfo", "isdtype", "result_type",
    "Backend", "Context", "Device", "context_scope", "get_backend", "get_default_context", "get_default_device",
    "get_device", "set_default_device", "using_device",
    "BackendError", "ChainerxError", "ContextError", "DeviceError", "DimensionError", "DtypeError",
    "GradientCheckError", "GradientError", "NotImplementedError", "OperandError",
    "__array_namespace_info__", "backward", "grad", "to_numpy",
    *RENAMED, *_NUMPY_NAMES,
    "clipped_relu", "crelu", "elu", "leaky_relu", "log_softmax", "logsumexp", "lstm", "relu", "sigmoid", "slstm",
    "softmax", "tree_lstm",
    "conv", "conv_transpose", "embed_id", "linear",
    "asanyarray", "ascontiguousarray", "asfortranarray", "copy", "diag", "frombuffer", "fromfile", "fromfunction",
    "fromiter", "fromstring", "identity", "loadtxt", "tri",
    "absolute_error", "accuracy", "gaussian_kl_divergence", "hinge", "huber_loss", "sigmoid_cross_entropy",
    "softmax_cross_entropy", "squared_difference", "squared_error",
    "copyto", "squeeze", "tile",
    "erf", "rsqrt",
    "batch_norm", "fixed_batch_norm",
    "average_pool", "max_pool",
    "n_step_bigru", "n_step_bilstm", "n_step_birnn", "n_step_gru", "n_step_lstm", "n_step_rnn",
    "nanargmax", "nanargmin",
    "all_dtypes", "bool_", "is_available", "random",
]  # fmt: skip
