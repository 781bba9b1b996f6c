"""The functions at the root of the package, under which dispatchers such as opt_einsum and autoray look for them.

They call ``xpgrad.tensordot``, ``xpgrad.linalg.norm`` and so on with NumPy's arguments.
"""

import functools
import types
from typing import Any

from xpgrad import array_api, ops
from xpgrad.interop.numpy_functions import FUNCTIONS

CHAPTERS = ("linalg", "fft")


def find(name: str) -> Any:
    """Return what stands for ``numpy.name``: NumPy's function, else the standard's, else that of `xpgrad.ops`.

    Raises
    ------
    AttributeError
        There is none.
    """
    if name in CHAPTERS:
        return _chapter(name)
    try:
        return beyond(name)
    except AttributeError:
        return getattr(array_api, name)


def beyond(name: str) -> Any:
    """Return NumPy's function `name`, else that of `xpgrad.ops`.

    Raises
    ------
    AttributeError
        There is none.
    """
    if name in FUNCTIONS:
        return FUNCTIONS[name]
    if name in ops.__all__:
        return getattr(ops, name)
    raise AttributeError(f"neither NumPy's functions of Variables nor xpgrad.ops have {name!r}")


def beyond_names() -> set[str]:
    """Return the names that `beyond` knows, less those of functions in chapters, ``linalg.norm``."""
    return {name for name in FUNCTIONS if "." not in name}.union(ops.__all__)


@functools.cache
def _chapter(name: str) -> types.ModuleType:
    """Return a module with the functions of one chapter, NumPy's form of them first."""
    made = types.ModuleType(f"xpgrad.{name}", f"The functions of `xpgrad.array_api.{name}`, with NumPy's arguments.")
    standard = getattr(array_api, name)
    vars(made).update({key: getattr(standard, key) for key in standard.__all__})
    vars(made).update({key.partition(".")[2]: f for key, f in FUNCTIONS.items() if key.startswith(f"{name}.")})
    return made
