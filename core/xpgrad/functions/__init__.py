"""Chainer's functions (``import xpgrad.functions as F``), by area, built on `xpgrad.array_api`.

The package is imported when it is first asked for: ``import xpgrad`` alone does not load it.
"""

import typing as _typing

from xpgrad.functions.activation import *  # noqa: F403
from xpgrad.functions.array import *  # noqa: F403
from xpgrad.functions.blocks import *  # noqa: F403
from xpgrad.functions.connection import *  # noqa: F403
from xpgrad.functions.convolution import *  # noqa: F403
from xpgrad.functions.correlation import *  # noqa: F403
from xpgrad.functions.crf import *  # noqa: F403
from xpgrad.functions.ctc import *  # noqa: F403
from xpgrad.functions.embedding import *  # noqa: F403
from xpgrad.functions.evaluation import *  # noqa: F403
from xpgrad.functions.likelihood import *  # noqa: F403
from xpgrad.functions.loss import *  # noqa: F403
from xpgrad.functions.margin import *  # noqa: F403
from xpgrad.functions.math import *  # noqa: F403
from xpgrad.functions.matrices import *  # noqa: F403
from xpgrad.functions.n_step import *  # noqa: F403
from xpgrad.functions.noise import *  # noqa: F403
from xpgrad.functions.normalization import *  # noqa: F403
from xpgrad.functions.pooling import *  # noqa: F403
from xpgrad.functions.regression import *  # noqa: F403
from xpgrad.functions.rnn import *  # noqa: F403
from xpgrad.functions.sequences import *  # noqa: F403
from xpgrad.functions.special import *  # noqa: F403
from xpgrad.functions.util import *  # noqa: F403
from xpgrad.functions.windows import *  # noqa: F403
from xpgrad.listing import listed as _listed

if not _typing.TYPE_CHECKING:
    __all__ = [name for name, value in vars().items() if callable(value) and not name.startswith("_")]
    __getattr__, __dir__ = _listed(__name__, __all__)
