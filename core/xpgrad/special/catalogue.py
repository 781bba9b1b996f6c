"""All special functions, imported by `xpgrad.special` when one of them is first requested.

Names that SciPy lacks are derivatives and families of its functions, which rules call.
"""

import typing as _typing

from xpgrad.array_api.elementwise.exponential import expm1 as expm1
from xpgrad.array_api.elementwise.exponential import log1p as log1p
from xpgrad.special.bessel import *  # noqa: F403  # noqa: F403
from xpgrad.special.beta_functions import *  # noqa: F403
from xpgrad.special.complex_functions import *  # noqa: F403
from xpgrad.special.distributions import *  # noqa: F403
from xpgrad.special.elementary import *  # noqa: F403
from xpgrad.special.elliptic import *  # noqa: F403
from xpgrad.special.entropy import *  # noqa: F403
from xpgrad.special.error_functions import *  # noqa: F403
from xpgrad.special.gamma_functions import *  # noqa: F403
from xpgrad.special.incomplete_beta import *  # noqa: F403
from xpgrad.special.incomplete_gamma import *  # noqa: F403
from xpgrad.special.integrals import *  # noqa: F403
from xpgrad.special.inverses import *  # noqa: F403
from xpgrad.special.kelvin_functions import *  # noqa: F403
from xpgrad.special.logistic import *  # noqa: F403
from xpgrad.special.modified_bessel import *  # noqa: F403
from xpgrad.special.oscillating import *  # noqa: F403
from xpgrad.special.polygamma import *  # noqa: F403
from xpgrad.special.polynomials import *  # noqa: F403
from xpgrad.special.real_orders import *  # noqa: F403
from xpgrad.special.shape_inverses import *  # noqa: F403

if not _typing.TYPE_CHECKING:  # for which only literal lists count
    __all__ = sorted(name for name in vars() if not name.startswith("_"))
