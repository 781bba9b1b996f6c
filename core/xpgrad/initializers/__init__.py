"""Initial values of parameters, under Chainer's names (``from xpgrad import initializers``)."""

from xpgrad.initializers.constant import Constant, Identity, NaN, One, Zero
from xpgrad.initializers.filters import DownsamplingConvFilter, UpsamplingDeconvFilter
from xpgrad.initializers.initializer import Initializer, generate_array, get_fans
from xpgrad.initializers.normal import GlorotNormal, HeNormal, LeCunNormal, Normal, _get_initializer
from xpgrad.initializers.orthogonal import Orthogonal
from xpgrad.initializers.uniform import GlorotUniform, HeUniform, LeCunUniform, Uniform
from xpgrad.listing import listed as _listed

__all__ = [
    "Constant", "DownsamplingConvFilter", "GlorotNormal", "GlorotUniform", "HeNormal", "HeUniform", "Identity",
    "Initializer", "LeCunNormal", "LeCunUniform", "NaN", "Normal", "One", "Orthogonal", "Uniform",
    "UpsamplingDeconvFilter", "Zero", "_get_initializer", "generate_array", "get_fans",
]  # fmt: skip
__getattr__, __dir__ = _listed(__name__, [name for name in __all__ if not name.startswith("_")])
