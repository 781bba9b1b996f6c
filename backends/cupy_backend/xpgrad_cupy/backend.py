"""What the CuPy backend needs, and what of it is missing here."""

import ctypes
from importlib.util import find_spec

_INSTALL = "pip install 'xpgrad[cupy13]' on a machine with a GPU"


def why_unavailable() -> str:
    """One sentence: the first thing that keeps the CuPy backend from working here.

    The cheap questions come first, and CuPy itself, which takes seconds to import, is never imported.
    """
    if find_spec("cupy") is None:
        return f"cupy: CuPy is not installed; {_INSTALL}"
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return f"cupy: no CUDA driver found (libcuda.so.1); {_INSTALL}"
    return "cupy: the CuPy backend of xpgrad 0.1 is not finished; it comes with the next release"
