"""Special functions under SciPy's names, of Variables of any backend; most are imported when one is first asked for.

They are what SciPy looks for when it is handed arrays of a library that it does not know, so its statistics and
p-values are differentiable. Derivatives by shape parameters exist too. `catalogue` lists them all.
"""

import importlib as _importlib
import typing as _typing

from xpgrad.special.logistic import expit as expit
from xpgrad.special.logistic import log_expit as log_expit
from xpgrad.special.logistic import log_softmax as log_softmax
from xpgrad.special.logistic import logit as logit
from xpgrad.special.logistic import logsumexp as logsumexp
from xpgrad.special.logistic import softmax as softmax

if _typing.TYPE_CHECKING:
    from xpgrad.special.catalogue import *  # noqa: F403
    from xpgrad.special.catalogue import __all__ as __all__


if not _typing.TYPE_CHECKING:

    def __getattr__(name):
        """Import the catalogue, whose names then are this module's, too."""
        if name.startswith("__") and name != "__all__":
            raise AttributeError(name)
        catalogue = _importlib.import_module("xpgrad.special.catalogue")
        globals().update({each: getattr(catalogue, each) for each in ("__all__", *catalogue.__all__)})
        if name not in globals():
            raise AttributeError(f"module 'xpgrad.special' has no attribute {name!r}")
        return globals()[name]

    def __dir__():
        """List the functions, those included that have not been imported yet."""
        return sorted(__getattr__("__all__"))
