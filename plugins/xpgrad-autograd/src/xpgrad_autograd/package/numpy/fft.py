"""``numpy.fft`` of arrays whose derivatives are taken."""

from typing import Any

import numpy as np

from xpgrad_autograd.wrapping import namespace

globals().update(namespace(np.fft))


def __getattr__(name: str) -> Any:  # for type checkers: other names come from the library
    raise AttributeError(f"{__name__} has no attribute {name!r}")
