"""Linear algebra with NumPy's names and arguments: `numpy.linalg` of Variables, and the rest of the standard's chapter.

`xpgrad.array_api.linalg` contains only the functions of the standard.
"""

from typing import TYPE_CHECKING

from xpgrad.interop.names import chapter as _chapter
from xpgrad.listing import listed as _listed

if TYPE_CHECKING:
    from xpgrad.array_api.linalg import *  # noqa: F403
    from xpgrad.interop.numpy.chapters import norm as norm
    from xpgrad.interop.numpy.equations import cond as cond
    from xpgrad.interop.numpy.equations import lstsq as lstsq
    from xpgrad.interop.numpy.equations import tensorinv as tensorinv
    from xpgrad.interop.numpy.equations import tensorsolve as tensorsolve
    from xpgrad.interop.numpy.matrices import multi_dot as multi_dot
else:
    globals().update(_chapter("linalg"))
    __all__ = list(_chapter("linalg"))
    __getattr__, __dir__ = _listed(__name__, __all__)
