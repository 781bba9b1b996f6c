"""Initial values of parameters, under Chainer's names (``from xpgrad import initializers``)."""

from xpgrad.initializers.constant import (
    Constant,
    DownsamplingConvFilter,
    Identity,
    NaN,
    One,
    UpsamplingDeconvFilter,
    Zero,
)
from xpgrad.initializers.initializer import Initializer, generate_array, get_fans
from xpgrad.initializers.normal import GlorotNormal, HeNormal, LeCunNormal, Normal
from xpgrad.initializers.normal import _get_initializer as _get_initializer  # Chainer's name
from xpgrad.initializers.uniform import GlorotUniform, HeUniform, LeCunUniform, Orthogonal, Uniform
from xpgrad.listing import listed as _listed

__all__ = [
    "Constant", "DownsamplingConvFilter", "GlorotNormal", "GlorotUniform", "HeNormal", "HeUniform", "Identity",
    "Initializer", "LeCunNormal", "LeCunUniform", "NaN", "Normal", "One", "Orthogonal", "Uniform",
    "UpsamplingDeconvFilter", "Zero", "generate_array", "get_fans",
]  # fmt: skip
__getattr__, __dir__ = _listed(__name__, __all__)
