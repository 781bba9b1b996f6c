"""NumPy's functions of arrays whose derivatives are taken."""

from numpy import __version__ as __version__

from xpgrad_autograd.arrays import OWN, names
from xpgrad_autograd.package.numpy import fft, linalg, numpy_boxes, numpy_vspaces, random

_own = {name: made for name, made in OWN.items() if not name.startswith("_")}
globals().update(names | _own)

__all__ = ["fft", "linalg", "numpy_boxes", "numpy_vspaces", "random"]
__all__ += [*names, *_own]
