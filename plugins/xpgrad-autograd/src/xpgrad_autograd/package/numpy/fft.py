"""``numpy.fft`` of arrays whose derivatives are taken."""

from typing import Any

import numpy as np

from xpgrad_autograd.wrapping import namespace

globals().update(namespace(np.fft))


def __getattr__(name: str) -> Any:  # tells checkers that there are more names, the library's
    raise AttributeError(f"{__name__} has no attribute {name!r}")
