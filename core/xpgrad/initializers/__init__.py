"""Initial values of parameters, under Chainer's names (``from xpgrad import initializers``)."""

from xpgrad.initializers.constant import Constant, Identity, NaN, One, Zero
from xpgrad.initializers.filters import DownsamplingConvFilter, UpsamplingDeconvFilter
from xpgrad.initializers.initializer import Initializer, generate_array, get_fans
from xpgrad.initializers.normal import GlorotNormal, HeNormal, LeCunNormal, Normal
from xpgrad.initializers.normal import _get_initializer as _get_initializer  # Chainer's name
from xpgrad.initializers.orthogonal import Orthogonal
from xpgrad.initializers.uniform import GlorotUniform, HeUniform, LeCunUniform, Uniform
from xpgrad.listing import listed as _listed

__all__ = [
    "Constant", "DownsamplingConvFilter", "GlorotNormal", "GlorotUniform", "HeNormal", "HeUniform", "Identity",
    "Initializer", "LeCunNormal", "LeCunUniform", "NaN", "Normal", "One", "Orthogonal", "Uniform",
    "UpsamplingDeconvFilter", "Zero", "generate_array", "get_fans",
]  # fmt: skip
__getattr__, __dir__ = _listed(__name__, __all__)
