"""PyTorch's special functions, with its names of arguments, for Variables; looked up when they are called."""

from typing import Any

from xpgrad import array_api as xp
from xpgrad_torch.functions.table import TABLE, floating, torch_function, variable

MAX_ORDER = 170
"""Highest order of polygamma: beyond, factorials overflow in float64."""
OF_ONE = """entr erf erfc erfcx erfinv exp2 expit expm1 gammaln i0 i0e i1 i1e log1p log_ndtr ndtr ndtri psi"""
OF_TWO = """gammainc gammaincc xlog1py xlogy zeta"""
OURS = {"bessel_j0": "j0", "bessel_j1": "j1", "bessel_y0": "y0", "bessel_y1": "y1", "digamma": "psi",
        "modified_bessel_i0": "i0", "modified_bessel_i1": "i1", "modified_bessel_k0": "k0",
        "modified_bessel_k1": "k1", "scaled_modified_bessel_k0": "k0e", "scaled_modified_bessel_k1": "k1e"}  # fmt: skip
ALIASES = {"erf": ("erf",), "erfc": ("erfc",), "erfinv": ("erfinv",), "exp2": ("exp2",), "expit": ("sigmoid",),
           "gammaln": ("lgamma",), "digamma": ("digamma",), "i0": ("i0",), "xlogy": ("xlogy",)}  # fmt: skip


def _of_one(name: str, ours: str) -> None:
    @torch_function(f"special_{name}", *ALIASES.get(name, ()))
    def special(input: Any) -> Any:
        return getattr(xp.special, ours)(floating(input))


def _of_two(name: str) -> None:
    @torch_function(f"special_{name}", *ALIASES.get(name, ()))
    def special(input: Any, other: Any) -> Any:
        lead = input if hasattr(input, "dtype") else other
        return getattr(xp.special, name)(floating(variable(input, lead)), floating(variable(other, lead)))


for _name in OF_ONE.split():
    _of_one(_name, _name)
for _name, _ours in OURS.items():
    _of_one(_name, _ours)
for _name in OF_TWO.split():
    _of_two(_name)
TABLE["igamma"], TABLE["igammac"] = TABLE["special_gammainc"], TABLE["special_gammaincc"]


@torch_function("logit", "special_logit")
def logit(input: Any, eps: float | None = None) -> Any:
    """Return the inverse of the logistic function, with `input` clipped to [eps, 1 - eps]."""
    x = floating(input)
    if eps is not None and not 0 <= eps <= 0.5:
        raise ValueError(f"torch.logit: expected eps from 0 to 0.5, got {eps}")
    return xp.special.logit(x if eps is None else xp.clip(x, eps, 1 - eps))


@torch_function("polygamma", "special_polygamma")
def polygamma(n: int, input: Any) -> Any:
    """Return the derivative of order `n` of the digamma function."""
    if not 0 <= n <= MAX_ORDER:
        raise ValueError(f"torch.polygamma: expected n from 0 to {MAX_ORDER}, got {n}")
    return xp.special.polygamma(n, floating(input))


@torch_function("mvlgamma", "special_multigammaln")
def mvlgamma(input: Any, p: int) -> Any:
    """Return the logarithm of the gamma function of `p` dimensions."""
    if p < 1:
        raise ValueError(f"torch.mvlgamma: expected p from 1 on, got {p}")
    return xp.special.multigammaln(floating(input), p)
