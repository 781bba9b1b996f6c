"""Functions that dask cannot support: shapes that depend on values are known only after computing."""

from collections.abc import Callable
from typing import Any, NoReturn

from xpgrad.types import Array

UNKNOWN = "dask does not know the shape of x[mask] before it computes"


def refused(what: str, advice: str) -> IndexError:
    """Return the error for a function whose result has an unknown shape."""
    return IndexError(f"{what}: dask does not know the shape of the result before it computes; {advice}")


def refusing(name: str) -> Callable[[Array], Any]:
    """Return a function with one of the standard's names that raises an error."""

    def refuse(x: Array, /) -> NoReturn:
        raise refused(f"{name}(x)", "compute x first, or use where with a mask")

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "Refuse: the shape of the result depends on values."
    return refuse


nonzero = refusing("nonzero")
unique_all = refusing("unique_all")
unique_counts = refusing("unique_counts")
unique_inverse = refusing("unique_inverse")
unique_values = refusing("unique_values")
