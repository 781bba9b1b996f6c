"""NumPy's functions of boxes, under the name that programs import them by."""

import numpy as _numpy

from xpgrad_autograd.arrays import OWN, names
from xpgrad_autograd.wrapping import wrapped as primitive

globals().update(names | OWN)
numpy_version = _numpy.__version__


def wrap_namespace(old: dict[str, object], new: dict[str, object]) -> None:
    """Wrap the functions of one namespace so that they accept boxes, and store these in another namespace."""
    for name, found in old.items():
        if callable(found) and not isinstance(found, type):
            new[name] = primitive(found, name)
        elif isinstance(found, (type, int, float, type(None))):
            new[name] = found
