"""`drawer`: notebook display for classes of lower layers, implemented in the layer `xpgrad.drawing`."""

import importlib
from collections.abc import Callable
from typing import Any


class Drawer:
    """Finds the function that draws an object at its first display, so that xpgrad imports quickly.

    Attributes
    ----------
    package : str
        The package whose modules have the functions ``html`` and ``picture``; the root sets it.
    """

    package: str

    def find(self, module: str, function: str) -> Callable[[Any], Any]:
        """Return a function of a module of the package."""
        found: Callable[[Any], Any] = getattr(importlib.import_module(f"{self.package}.{module}"), function)
        return found

    def html(self, module: str) -> Callable[[Any], str]:
        """Return a ``_repr_html_`` that a module of the package writes; it never raises."""

        def _repr_html_(self: Any) -> str:
            """Return HTML for notebooks."""
            try:
                return str(drawer.find(module, "html")(self))
            except Exception as error:
                return _plain(self, error)

        return _repr_html_


drawer = Drawer()


def _plain(obj: Any, error: Exception) -> str:
    try:
        text = repr(obj)
    except Exception:  # a failing `repr` must not hide the object
        text = f"<{type(obj).__name__}>"
    import html  # its table of entities takes a millisecond

    return f"<pre>{html.escape(text)}\n({type(error).__name__} while it was drawn)</pre>"
