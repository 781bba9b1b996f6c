"""Fourier transforms with NumPy's names and arguments: `numpy.fft` of Variables.

`xpgrad.array_api.fft` contains only the functions of the standard.
"""

from typing import TYPE_CHECKING, Any

from xpgrad import array_api as _array_api
from xpgrad.boundary import bound as _bound
from xpgrad.interop.names import chapter as _chapter
from xpgrad.listing import missing_name as _missing_name

if TYPE_CHECKING:
    from xpgrad.array_api.fft import *  # noqa: F403
    from xpgrad.array_api.fft import fftfreq as fftfreq
    from xpgrad.array_api.fft import rfftfreq as rfftfreq

    def fft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any: ...

    ifft2 = rfft2 = irfft2 = fft2
else:
    globals().update(_chapter("fft"))
    __all__ = list(_chapter("fft")) + list(_array_api.fft.CREATORS)
    _bound(__name__, __all__)

    def __getattr__(name: str) -> Any:
        """Return a creation function, which depends on the default device."""
        if name in __all__:
            return getattr(_array_api.fft, name)
        raise _missing_name(__name__, name, __dir__)

    def __dir__() -> list[str]:
        return sorted(__all__)
