"""SciPy's optimisers and solvers for functions of Variables, with exact derivatives and trees as unknowns.

`minimize`, `least_squares`, `root` and `solve_ivp` are one call each. The other functions make functions of flat
vectors, for any other of SciPy's functions. Only the former import SciPy, when they are first used.

The submodules, such as `linalg`, provide SciPy's functions with derivatives, for arrays of any library.
"""

from typing import TYPE_CHECKING

from xpgrad.scipy.vectors import hess, hvp, jac, ravel, residuals, value_and_grad

__all__ = [
    "fft", "hess", "hvp", "integrate", "interpolate", "jac", "least_squares", "linalg", "minimize", "ndimage", "ravel",
    "residuals", "root", "signal", "solve_ivp", "sparse", "spatial", "stats", "value_and_grad",
]  # fmt: skip

_LATE = {
    "least_squares": "xpgrad.scipy.fitting",
    "minimize": "xpgrad.scipy.minimizing",
    "root": "xpgrad.scipy.fitting",
    "solve_ivp": "xpgrad.scipy.initial_values",
}
"""Functions of modules that import SciPy, an optional library."""

_CHAPTERS = ("fft", "integrate", "interpolate", "linalg", "ndimage", "signal", "sparse", "spatial", "stats")
"""Packages that are imported at their first use."""

if TYPE_CHECKING:
    from xpgrad.scipy import fft, integrate, interpolate, linalg, ndimage, signal, sparse, spatial, stats
    from xpgrad.scipy.fitting import least_squares, root
    from xpgrad.scipy.initial_values import solve_ivp
    from xpgrad.scipy.minimizing import minimize
else:
    from xpgrad.boundary import as_bounded as _as_bounded
    from xpgrad.listing import listed as _listed

    _missing, __dir__ = _listed(__name__, __all__)

    def __getattr__(name: str) -> object:
        """Return a chapter, or a function whose module imports SciPy."""
        import importlib

        if name in _CHAPTERS:
            return importlib.import_module(f"{__name__}.{name}")
        if name not in _LATE:
            _missing(name)
        try:
            module = importlib.import_module(_LATE[name])
        except ModuleNotFoundError as error:
            if str(error.name).partition(".")[0] != "scipy":
                raise
            raise ImportError(f"{name}: needs SciPy, which is not installed; pip install scipy") from None
        globals()[name] = found = _as_bounded(__name__, name, getattr(module, name))
        return found
