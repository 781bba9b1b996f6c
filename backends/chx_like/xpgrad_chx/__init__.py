"""The chx backend of xpgrad: arrays that carry their own graph, on ``native:0`` (host) and ``cuda:0`` memory.

This is the Array API namespace of these arrays, with ChainerX's interface to devices and gradients:
``import xpgrad_chx as chx``.
"""

from builtins import bool as _bool
from types import ModuleType as _Module

from numpy import bool as bool
from numpy import complex64 as complex64
from numpy import complex128 as complex128
from numpy import e as e
from numpy import float16 as float16
from numpy import float32 as float32
from numpy import float64 as float64
from numpy import inf as inf
from numpy import int8 as int8
from numpy import int16 as int16
from numpy import int32 as int32
from numpy import int64 as int64
from numpy import nan as nan
from numpy import newaxis as newaxis
from numpy import pi as pi
from numpy import uint8 as uint8
from numpy import uint16 as uint16
from numpy import uint32 as uint32
from numpy import uint64 as uint64

from xpgrad.plugin import CHAPTERS as _CHAPTERS
from xpgrad_chx import fft as fft
from xpgrad_chx import linalg as linalg
from xpgrad_chx import random as random
from xpgrad_chx.array import ndarray as ndarray
from xpgrad_chx.backprop import BackpropId as BackpropId
from xpgrad_chx.backprop import anygraph as anygraph
from xpgrad_chx.backprop import backprop_scope as backprop_scope
from xpgrad_chx.backprop import force_backprop_mode as force_backprop_mode
from xpgrad_chx.backprop import is_backprop_required as is_backprop_required
from xpgrad_chx.backprop import no_backprop_mode as no_backprop_mode
from xpgrad_chx.creation import arange as arange
from xpgrad_chx.creation import array as array
from xpgrad_chx.creation import asarray as asarray
from xpgrad_chx.creation import astype as astype
from xpgrad_chx.creation import empty as empty
from xpgrad_chx.creation import empty_like as empty_like
from xpgrad_chx.creation import eye as eye
from xpgrad_chx.creation import from_dlpack as from_dlpack
from xpgrad_chx.creation import full as full
from xpgrad_chx.creation import full_like as full_like
from xpgrad_chx.creation import linspace as linspace
from xpgrad_chx.creation import ones as ones
from xpgrad_chx.creation import ones_like as ones_like
from xpgrad_chx.creation import zeros as zeros
from xpgrad_chx.creation import zeros_like as zeros_like
from xpgrad_chx.data_types import all_dtypes as all_dtypes
from xpgrad_chx.data_types import bool_ as bool_
from xpgrad_chx.data_types import broadcast_shapes as broadcast_shapes
from xpgrad_chx.data_types import can_cast as can_cast
from xpgrad_chx.data_types import finfo as finfo
from xpgrad_chx.data_types import iinfo as iinfo
from xpgrad_chx.data_types import isdtype as isdtype
from xpgrad_chx.data_types import result_type as result_type
from xpgrad_chx.device import Backend as Backend
from xpgrad_chx.device import Context as Context
from xpgrad_chx.device import Device as Device
from xpgrad_chx.device import context_scope as context_scope
from xpgrad_chx.device import get_backend as get_backend
from xpgrad_chx.device import get_default_context as get_default_context
from xpgrad_chx.device import get_default_device as get_default_device
from xpgrad_chx.device import get_device as get_device
from xpgrad_chx.device import set_default_device as set_default_device
from xpgrad_chx.device import using_device as using_device
from xpgrad_chx.errors import AxisOutOfRange as AxisOutOfRange
from xpgrad_chx.errors import BackendError as BackendError
from xpgrad_chx.errors import ChainerxError as ChainerxError
from xpgrad_chx.errors import ContextError as ContextError
from xpgrad_chx.errors import DeviceError as DeviceError
from xpgrad_chx.errors import DimensionError as DimensionError
from xpgrad_chx.errors import DtypeError as DtypeError
from xpgrad_chx.errors import GradientCheckError as GradientCheckError
from xpgrad_chx.errors import GradientError as GradientError
from xpgrad_chx.errors import NotImplementedError as NotImplementedError
from xpgrad_chx.errors import OperandError as OperandError
from xpgrad_chx.information import Information as __array_namespace_info__  # noqa: N813 - the standard's name
from xpgrad_chx.library import functions
from xpgrad_chx.methods import API_VERSIONS
from xpgrad_chx.methods import to_numpy as to_numpy
from xpgrad_chx.routines.activation import clipped_relu as clipped_relu
from xpgrad_chx.routines.activation import crelu as crelu
from xpgrad_chx.routines.activation import elu as elu
from xpgrad_chx.routines.activation import leaky_relu as leaky_relu
from xpgrad_chx.routines.activation import log_softmax as log_softmax
from xpgrad_chx.routines.activation import logsumexp as logsumexp
from xpgrad_chx.routines.activation import lstm as lstm
from xpgrad_chx.routines.activation import relu as relu
from xpgrad_chx.routines.activation import sigmoid as sigmoid
from xpgrad_chx.routines.activation import slstm as slstm
from xpgrad_chx.routines.activation import softmax as softmax
from xpgrad_chx.routines.activation import tree_lstm as tree_lstm
from xpgrad_chx.routines.connection import conv as conv
from xpgrad_chx.routines.connection import conv_transpose as conv_transpose
from xpgrad_chx.routines.connection import embed_id as embed_id
from xpgrad_chx.routines.connection import linear as linear
from xpgrad_chx.routines.creation import asanyarray as asanyarray
from xpgrad_chx.routines.creation import ascontiguousarray as ascontiguousarray
from xpgrad_chx.routines.creation import asfortranarray as asfortranarray
from xpgrad_chx.routines.creation import copy as copy
from xpgrad_chx.routines.creation import diag as diag
from xpgrad_chx.routines.creation import frombuffer as frombuffer
from xpgrad_chx.routines.creation import fromfile as fromfile
from xpgrad_chx.routines.creation import fromfunction as fromfunction
from xpgrad_chx.routines.creation import fromiter as fromiter
from xpgrad_chx.routines.creation import fromstring as fromstring
from xpgrad_chx.routines.creation import identity as identity
from xpgrad_chx.routines.creation import loadtxt as loadtxt
from xpgrad_chx.routines.creation import tri as tri
from xpgrad_chx.routines.loss import absolute_error as absolute_error
from xpgrad_chx.routines.loss import accuracy as accuracy
from xpgrad_chx.routines.loss import gaussian_kl_divergence as gaussian_kl_divergence
from xpgrad_chx.routines.loss import hinge as hinge
from xpgrad_chx.routines.loss import huber_loss as huber_loss
from xpgrad_chx.routines.loss import sigmoid_cross_entropy as sigmoid_cross_entropy
from xpgrad_chx.routines.loss import softmax_cross_entropy as softmax_cross_entropy
from xpgrad_chx.routines.loss import squared_difference as squared_difference
from xpgrad_chx.routines.loss import squared_error as squared_error
from xpgrad_chx.routines.manipulation import copyto as copyto
from xpgrad_chx.routines.manipulation import squeeze as squeeze
from xpgrad_chx.routines.manipulation import tile as tile
from xpgrad_chx.routines.mathematics import erf as erf
from xpgrad_chx.routines.mathematics import rsqrt as rsqrt
from xpgrad_chx.routines.normalization import batch_norm as batch_norm
from xpgrad_chx.routines.normalization import fixed_batch_norm as fixed_batch_norm
from xpgrad_chx.routines.numpy_names import *  # noqa: F403 - made there from their names
from xpgrad_chx.routines.pooling import average_pool as average_pool
from xpgrad_chx.routines.pooling import max_pool as max_pool
from xpgrad_chx.routines.renamed import RENAMED
from xpgrad_chx.routines.rnn import n_step_bigru as n_step_bigru
from xpgrad_chx.routines.rnn import n_step_bilstm as n_step_bilstm
from xpgrad_chx.routines.rnn import n_step_birnn as n_step_birnn
from xpgrad_chx.routines.rnn import n_step_gru as n_step_gru
from xpgrad_chx.routines.rnn import n_step_lstm as n_step_lstm
from xpgrad_chx.routines.rnn import n_step_rnn as n_step_rnn
from xpgrad_chx.routines.sorting import nanargmax as nanargmax
from xpgrad_chx.routines.sorting import nanargmin as nanargmin
from xpgrad_chx.sweeping import backward as backward
from xpgrad_chx.sweeping import grad as grad

__array_api_version__ = API_VERSIONS[-1]

_STANDARD = (name for chapter, names in _CHAPTERS.items() if chapter not in ("fft", "linalg") for name in names)
FUNCTIONS = [name for name in _STANDARD if name not in globals()]
"""The standard's functions that take and return arrays, except those imported above."""

globals().update(functions(FUNCTIONS))
globals().update({new: globals()[old] for new, old in RENAMED.items()})


def is_available() -> _bool:
    """Return whether these arrays can be used: always True, since they need only NumPy."""
    return True


_HELPERS = {"API_VERSIONS", "FUNCTIONS", "RENAMED", "functions"}
__all__ = [  # pyright: ignore[reportUnsupportedDunderAll]  # names of functions that are made
    name
    for name, value in globals().items()
    if not name.startswith("_")
    and name not in _HELPERS
    and (not isinstance(value, _Module) or value in (fft, linalg, random))
]
__all__ += ["__array_namespace_info__"]
