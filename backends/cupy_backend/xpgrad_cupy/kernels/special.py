"""Special functions of cupyx.scipy.special, imported on first use."""

import functools
from typing import Any

from xpgrad.types import Array, Kernel

_SAME_NAME = """erf erfc erfcinv erfcx erfinv log_ndtr ndtr ndtri
beta betaln binom gamma gammaln gammasgn loggamma poch psi rgamma
gammainc gammaincc gammainccinv gammaincinv betainc betaincinv
entr huber kl_div pseudo_huber rel_entr xlog1py xlogy expit log_expit logit
i0 i0e i1 i1e j0 j1 k0 k0e k1 k1e y0 y1
boxcox cbrt cosdg cosm1 cotdg exp2 exp10 exprel sindg tandg
ellipkm1 exp1 expi"""
ORDERED = {"expn_of": "expn", "polygamma_of": "polygamma"}
NAMES = frozenset(_SAME_NAME.split()) | ORDERED.keys()


def find(name: str) -> Kernel | None:
    """Return CuPy's function for the kernel `name`, None where it has none."""
    extension, _, own = name.partition(".")
    if extension != "special" or own not in NAMES:
        return None
    found = getattr(_library(), ORDERED.get(own, own), None)
    if found is None:
        return None
    return _of_order(found) if own in ORDERED else found


@functools.cache
def _library() -> Any:
    import cupyx.scipy.special  # a tenth of a second that few programs need

    return cupyx.scipy.special


def _of_order(function: Any) -> Kernel:
    def kernel(x: Array, /, n: int) -> Array:
        return function(n, x).astype(x.dtype, copy=False)  # the order, an integer, could make float64 of it

    return kernel
