"""Chainer's functions (``import xpgrad.functions as F``), by area, built on `xpgrad.array_api`.

The public names are listed in ``__all__`` of each module. The package is imported at its first use, not by ``import
xpgrad``.

Functions raise `InvalidType` for arguments of other shapes, dtypes or numbers than described, and ValueError for other
values of an option. The section "Raises" of a function has its further errors.
"""

# ruff: noqa: F403
import typing as _typing

from xpgrad.functions.activation import *
from xpgrad.functions.array import *
from xpgrad.functions.attention import *
from xpgrad.functions.blocks import *
from xpgrad.functions.connection import *
from xpgrad.functions.convolution import *
from xpgrad.functions.correlation import *
from xpgrad.functions.crf import *
from xpgrad.functions.ctc import *
from xpgrad.functions.evaluation import *
from xpgrad.functions.loss import *
from xpgrad.functions.margin import *
from xpgrad.functions.math import *
from xpgrad.functions.matrices import *
from xpgrad.functions.n_step import *
from xpgrad.functions.noise import *
from xpgrad.functions.normalization import *
from xpgrad.functions.pooling import *
from xpgrad.functions.regression import *
from xpgrad.functions.renormalization import *
from xpgrad.functions.rnn import *
from xpgrad.functions.rois import *
from xpgrad.functions.samplers import *
from xpgrad.functions.sampling import *
from xpgrad.functions.sequences import *
from xpgrad.functions.sparse import *
from xpgrad.functions.util import *
from xpgrad.functions.whitening import *
from xpgrad.functions.windows import *
from xpgrad.listing import listed as _listed

if not _typing.TYPE_CHECKING:
    __all__ = [name for name, value in vars().items() if callable(value) and not name.startswith("_")]
    __getattr__, __dir__ = _listed(__name__, __all__)
