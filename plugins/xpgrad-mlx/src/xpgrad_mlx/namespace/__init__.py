"""MLX's functions under the names and with the arguments of the Array API standard, 2025.12."""

import mlx.core as _mx

from xpgrad_mlx.memory import DTYPES as _DTYPES
from xpgrad_mlx.namespace import fft, linalg
from xpgrad_mlx.namespace.creation import *
from xpgrad_mlx.namespace.dtypes import *
from xpgrad_mlx.namespace.dtypes import __array_namespace_info__
from xpgrad_mlx.namespace.elementwise import *
from xpgrad_mlx.namespace.manipulation import *
from xpgrad_mlx.namespace.products import *
from xpgrad_mlx.namespace.searching import *
from xpgrad_mlx.namespace.statistics import *
globals().update(_DTYPES)
for _name in """abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_invert bitwise_or bitwise_xor ceil conj
cosh divide equal floor greater greater_equal isfinite isinf isnan less less_equal log log10 log1p log2
logical_and logical_not logical_or logical_xor maximum minimum multiply negative not_equal positive pow real reciprocal
remainder sinh sqrt square subtract tan tanh trunc e inf nan newaxis pi""".split():
    globals()[_name] = getattr(_mx, _name)
__version__ = _mx.__version__
__array_api_version__ = "2025.12"
