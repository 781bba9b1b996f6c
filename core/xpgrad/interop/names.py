"""The functions at the root of the package, which dispatchers such as opt_einsum and autoray use.

Those call ``xpgrad.tensordot``, ``xpgrad.linalg.norm`` and so on with NumPy's arguments.
"""

from typing import Any

from xpgrad import array_api, ops
from xpgrad.interop.numpy.functions import FUNCTIONS


def find(name: str) -> Any:
    """Return the function for ``numpy.name``: from NumPy's table, else from `xpgrad.ops`, else from the standard.

    Raises
    ------
    AttributeError
        The function does not exist.
    """
    try:
        return beyond(name)
    except AttributeError:
        return getattr(array_api, name)


def beyond(name: str) -> Any:
    """Return the function `name` of NumPy's table, or else of `xpgrad.ops`.

    Raises
    ------
    AttributeError
        The function does not exist.
    """
    if name in FUNCTIONS:
        return FUNCTIONS[name]
    if name in ops.__all__:
        return getattr(ops, name)
    raise AttributeError(f"neither NumPy's functions for Variables nor xpgrad.ops have {name!r}")


def beyond_names() -> set[str]:
    """Return the names that `beyond` finds, without those of submodules such as ``linalg.norm``."""
    return {name for name in FUNCTIONS if "." not in name}.union(ops.__all__)


def chapter(name: str) -> dict[str, Any]:
    """Return the functions of `numpy.linalg` or `numpy.fft` and of the standard's extension, with names as keys."""
    standard = getattr(array_api, name)
    found = {each: getattr(standard, each) for each in standard.__all__}
    return found | {key.partition(".")[2]: f for key, f in FUNCTIONS.items() if key.startswith(f"{name}.")}
