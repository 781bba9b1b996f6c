"""Linear algebra with NumPy's names and arguments: `numpy.linalg` of Variables, and the rest of the standard's chapter.

`xpgrad.array_api.linalg` has the standard's functions alone.
"""

from typing import TYPE_CHECKING, Any

from xpgrad.errors import missing_name as _missing_name
from xpgrad.interop.names import chapter as _chapter

if TYPE_CHECKING:
    from xpgrad.array_api.linalg import *  # noqa: F403
    from xpgrad.interop.numpy_chapters import norm as norm
    from xpgrad.interop.numpy_equations import cond as cond
    from xpgrad.interop.numpy_equations import lstsq as lstsq
    from xpgrad.interop.numpy_equations import tensorinv as tensorinv
    from xpgrad.interop.numpy_equations import tensorsolve as tensorsolve
    from xpgrad.interop.numpy_matrices import multi_dot as multi_dot
else:
    globals().update(_chapter("linalg"))
    __all__ = list(_chapter("linalg"))

    def __getattr__(name: str) -> Any:
        """Raise the error for a name that is not there."""
        raise _missing_name(__name__, name, __dir__)


def __dir__() -> list[str]:
    return sorted(__all__)
