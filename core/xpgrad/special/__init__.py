"""Special functions with the names of SciPy, for Variables of any backend; most are imported at the first use.

SciPy uses them for arrays of unknown libraries, so its statistics and p-values are differentiable. Derivatives by shape
parameters exist too. `catalogue` lists them all.
"""

import typing as _typing

from xpgrad.boundary import bound as _bound
from xpgrad.special.logistic import expit as expit
from xpgrad.special.logistic import log_expit as log_expit
from xpgrad.special.logistic import log_softmax as log_softmax
from xpgrad.special.logistic import logit as logit
from xpgrad.special.logistic import logsumexp as logsumexp
from xpgrad.special.logistic import softmax as softmax

if _typing.TYPE_CHECKING:
    from xpgrad.special.catalogue import *  # noqa: F403

    __all__: list[str]

if not _typing.TYPE_CHECKING:
    import importlib as _importlib

    from xpgrad.listing import missing_name as _missing_name

    _bound(__name__, list(vars()))

    def __getattr__(name):
        """Import the catalogue, whose names then are names of this module as well."""
        if not name.startswith("__") or name == "__all__":
            catalogue = _importlib.import_module("xpgrad.special.catalogue")
            globals().update({each: getattr(catalogue, each) for each in ("__all__", *catalogue.__all__)})
            _bound(__name__, catalogue.__all__)
            if name in globals():
                return globals()[name]
        raise _missing_name(__name__, name, __dir__)

    def __dir__():
        """List the functions, those included that have not been imported yet."""
        return sorted(globals().get("__all__") or __getattr__("__all__"))
