"""Cases of special functions. The reference is SciPy, which default kernels do not use."""

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from xpgrad_conformance.table.case import Case, Input

Host = Any
SMALL = (2, 3)


def _scipy(name: str) -> Callable[..., Host]:
    def reference(*args: Host) -> Host:
        library: Any = importlib.import_module("scipy.special")  # late: it takes longer to import than all cases
        return getattr(library, name)(*args)

    return reference


def _case(
    name: str,
    *ranges: tuple[float, float],
    reference: Callable[..., Host] | None = None,
    call: Any = None,
    **options: Any,
) -> Case:
    """Return the case of a function, with inputs from these ranges, which broadcast against each other.

    Parameters
    ----------
    reference : callable, optional
        By default SciPy's function of this name.
    call : dict, tuple or callable, optional
        As for `Case`; by default the function takes the inputs only.
    """
    function, _, variant = name.partition("-")
    inputs = tuple(Input((3,) if i else SMALL, low, high) for i, (low, high) in enumerate(ranges))
    options.setdefault("elementwise", len(ranges) == 1 and not variant)
    return Case(f"special.{name}", call or {}, reference or _scipy(function), inputs, **options)


def _order(name: str, scipy_name: str, n: int, low: float, high: float, **options: Any) -> Case:
    of = _scipy(scipy_name)
    return _case(f"{name}-{n}", (low, high), reference=lambda x: of(n, x), call={"n": n}, **options)


def _at(name: str, numbers: tuple[float, ...], *ranges: tuple[float, float], **options: Any) -> Case:
    """Return a case of a function of Python numbers and, after them, arrays."""
    function = name.partition("-")[0]
    of = _scipy(function)
    return _case(
        name,
        *ranges,
        reference=lambda *xs: of(*numbers, *xs),
        call=lambda xp, *xs: getattr(xp.special, function)(*numbers, *xs),
        elementwise=False,
        **options,
    )


def _by_step(f: Callable[[Host], Host], x: Host, step: float = 1e-3) -> Host:
    """Return the derivative of `f` by central differences of the fourth order."""
    return (8 * (f(x + step) - f(x - step)) - f(x + 2 * step) + f(x - 2 * step)) / (12 * step)


def _excess(x: Host) -> Host:
    log_ndtr = _scipy("log_ndtr")
    return x + np.exp(-x * x / 2 - log_ndtr(x)) / np.sqrt(2 * np.pi)


ERRORS = (
    _case("erf", (-2.5, 2.5), keeps=("x",)),
    _case("erfc", (-2.5, 3.5), keeps=("x",)),
    _case("erfcx", (-1.5, 6.0), keeps=("x", "y")),
    _case("erfinv", (-0.9, 0.9), keeps=("y",)),
    _case("erfcinv", (0.1, 1.8), keeps=("x", "y")),
    _case("ndtr", (-3.0, 3.0), keeps=("x",)),
    _case("log_ndtr", (-6.0, 3.0), keeps=("x",)),
    _case("ndtri", (0.05, 0.95), keeps=("x", "y")),
    _case("inverse_mills", (-6.0, 3.0), reference=lambda x: _excess(x) - x, keeps=("x", "y")),
    _case("mills_excess", (-6.0, 3.0), reference=_excess, keeps=("x", "y")),
)

GAMMA = (
    _case("gammaln", (0.3, 12.0), keeps=("x",)),
    _case("gammaln-negative", (-1.8, -1.2), order=1),
    _case("loggamma", (0.3, 12.0), keeps=("x",)),
    _case("gammasgn", (-5.0, 3.0), keeps=(), order=0),
    _case("gamma", (0.4, 4.0), keeps=("x", "y")),
    _case("rgamma", (0.4, 4.0), keeps=("x",)),
    _case("wofz-complex", (0.2, 2.0), complex=True, order=1, dtype="complex"),
    *(
        _case(f"{name}-complex", (0.2, 2.0), complex=True, order=1)
        for name in ("erf", "erfc", "loggamma", "gamma", "rgamma", "psi")
    ),
    _case("psi", (0.4, 12.0), keeps=("x",)),
    _order("polygamma_of", "polygamma", 1, 0.6, 4.0),
    _case(
        "zeta_moment-2",
        (2.5, 4.0),
        (0.6, 3.0),
        reference=lambda x, q: _by_step(lambda u: _by_step(lambda v: _scipy("zeta")(v, q), u, 2e-2), x, 2e-2),
        call={"m": 2},
        order=2,
        rtol={"float64": 1e-4},  # the reference is a difference of differences
    ),
    _case("beta", (0.5, 3.0), (0.5, 3.0), keeps=("a", "b", "y")),
    _case("betaln", (0.5, 3.0), (0.5, 15.0), keeps=("a", "b")),
    _case("binom", (4.5, 9.0), (0.6, 3.4), keeps=("n", "k", "y")),
    _case("poch", (0.5, 3.0), (0.5, 3.0), keeps=("z", "m", "y")),
)

INCOMPLETE_GAMMA = (
    _case("gammainc", (0.6, 5.0), (0.5, 6.0), keeps=("a", "x"), order=2),
    _case("gammaincc", (0.6, 5.0), (0.5, 6.0), keeps=("a", "x"), order=2),
)

INCOMPLETE_BETA = (
    _case("betainc", (0.7, 4.0), (0.7, 4.0), (0.1, 0.9), order=2),
    _case("betaincc", (0.7, 4.0), (0.7, 4.0), (0.1, 0.9), order=2),
    _case("stdtr", (1.2, 9.0), (0.2, 3.0), keeps=("df", "t"), order=2),
    _at("stdtr-t", (5,), (-3.0, 3.0)),
)

SHAPE_INVERSES = (
    _case("btdtria", (0.1, 0.9), (0.7, 4.0), (0.2, 0.8), order=2),
    _case("btdtrib", (0.7, 4.0), (0.1, 0.9), (0.2, 0.8), order=2),
    _case("stdtridf", (0.26, 0.3), (-1.3, -0.7), order=1, rtol={"float64": 1e-6}),
    _case("tklmbda", (-1.0, 1.0), (0.1, 0.7), order=2),
)

ENTROPY = (
    _case("entr", (0.2, 3.0), keeps=("x",)),
    _case("rel_entr", (0.2, 3.0), (0.2, 3.0), keeps=("x1", "x2"), elementwise=True),
    _case("kl_div", (0.2, 3.0), (0.2, 3.0), keeps=("x1", "x2"), elementwise=True),
    _case("xlogy", (-2.0, 2.0), (0.2, 3.0), keeps=("x1", "x2"), elementwise=True),
    _case("xlog1py", (-2.0, 2.0), (-0.7, 3.0), keeps=("x1", "x2"), elementwise=True),
    _case("huber", (0.5, 1.0), (-3.0, 3.0), keeps=("delta", "r")),
    _case("pseudo_huber", (0.5, 1.0), (-3.0, 3.0), keeps=("delta", "r")),
    _case("expit", (-4.0, 6.0), keeps=("x", "y")),
    _case("log_expit", (-4.0, 4.0), keeps=("x",)),
    _case("logit", (0.1, 0.9), keeps=("x",)),
    _case("logit-complex", (0.1, 0.9), reference=lambda x: np.log(x / (1 - x)), complex=True),
    _case("softmax", (-2.0, 2.0), keeps=("y",), elementwise=False),
    _case("softmax-axes", (-2.0, 2.0), call={"axis": (0, 1)}),
    _case("log_softmax", (-2.0, 2.0), keeps=("y",), elementwise=False),
    _case("logsumexp-weights", (-2.0, 2.0), (0.3, 2.0),
          reference=lambda x, b: np.log(np.sum(b * np.exp(x), 1, keepdims=True)),
          call=lambda xp, x, b: xp.special.logsumexp(x, 1, b=b, keepdims=True)),
)  # fmt: skip

BESSEL = (
    _case("i0", (-4.0, 4.0), keeps=("x",)),
    _case("i1", (-4.0, 4.0), keeps=("x",)),
    _case("i0e", (0.5, 50.0), keeps=("x", "y")),
    _case("i1e", (0.5, 50.0), keeps=("x", "y")),
    _order("iv_of", "iv", 2, -4.0, 4.0, order=2),
    _order("ive_of", "ive", 2, 0.5, 50.0, order=2),
    _case("j0", (-6.0, 30.0), keeps=("x",)),
    _case("j1", (-6.0, 30.0), keeps=("x",)),
    _order("jn_of", "jv", 2, -6.0, 30.0, order=2),
    _case("k0", (0.4, 6.0), keeps=("x",)),
    _case("k1", (0.4, 6.0), keeps=("x", "y")),
    _case("k0e", (0.4, 60.0), keeps=("x", "y")),
    _case("k1e", (0.4, 60.0), keeps=("x", "y")),
    _case("y0", (0.6, 30.0), keeps=("x",)),
    _case("y1", (0.6, 30.0), keeps=("x", "y")),
)

ELEMENTARY = (
    _case("cbrt", (0.3, 3.0), keeps=("y",)),
    _case("exp2", (-2.0, 2.0), reference=lambda x: 2.0**x, keeps=("y",), complex=True),
    _case("exp10", (-1.0, 1.0), keeps=("y",)),
    _case("cosm1", (-2.0, 2.0), keeps=("x",)),
    _case("exprel", (-3.0, 6.0), keeps=("x",)),
    _case("exprel_of-0", (-3.0, 6.0), reference=_scipy("exprel"), call={"n": 0}),
    _case("log1prel_of-0", (-0.7, 3.0), reference=lambda x: np.log1p(x) / x, call={"n": 0}),
    _case("sinc", (-4.0, 4.0), reference=np.sinc, keeps=("x",)),
    _case("sinc-complex", (0.2, 2.0), reference=np.sinc, complex=True, order=1),
    _case(
        "sinc-zero",
        (-2e-3, 2e-3),
        reference=lambda x: 1 - (np.pi * x) ** 2 / 6 + (np.pi * x) ** 4 / 120 - (np.pi * x) ** 6 / 5040,
    ),
    _case("sinc_of-0", (-4.0, 4.0), reference=np.sinc, call={"n": 0}),
    _case("boxcox", (0.3, 3.0), (-1.0, 2.0), keeps=("x", "lmbda")),
    _case("sindg", (-400.0, 400.0), keeps=("x",)),
    _case("cosdg", (-400.0, 400.0), keeps=("x",)),
    _case("tandg", (-70.0, 70.0), keeps=("y",)),
    _case("cotdg", (20.0, 160.0), keeps=("y",)),
)

INTEGRALS = (
    _case("exp1", (0.2, 4.0), keeps=("x",)),
    _case("expi", (0.6, 4.0), keeps=("x",)),
    _order("expn_of", "expn", 2, 0.2, 4.0, order=2),
    _case("spence", (0.2, 4.0), keeps=("x",)),
    _case("ellipkm1", (0.1, 2.0), keeps=("x",)),
    _case("ellipkm1_of-0", (0.1, 2.0), reference=_scipy("ellipkm1"), call={"n": 0}, order=2),
    _at("hyp1f1", (0.7, 1.6), (-3.0, 3.0)),
)


REAL_ORDERS = (
    *(_at(f"{name}-0.7", (0.7,), (0.5, 9.0)) for name in ("jv", "yv", "iv", "ive", "struve", "modstruve")),
    *(_at(f"{name}-2", (2,), (0.5, 9.0)) for name in ("jv", "yv", "iv", "ive", "struve", "modstruve")),
    _at("jv--1.3", (-1.3,), (0.7, 30.0), order=2),
    _case("kv", (0.2, 2.5), (0.3, 6.0)),
    _case("kve", (0.2, 2.5), (0.3, 6.0), keeps=("v", "x")),
    _at("kn-3", (3,), (0.5, 6.0)),
    _at("hankel1-0.7", (0.7,), (0.5, 9.0), dtype="complex"),
    _at("hankel2-0.7", (0.7,), (0.5, 9.0), dtype="complex"),
    *(_case(name, (-6.0, 6.0)) for name in ("ber", "bei", "berp", "beip")),
    *(_case(name, (0.4, 6.0)) for name in ("ker", "kei", "kerp", "keip")),
    _case("airy", (-6.0, 3.0)),
    _case("kelvin", (0.4, 6.0), dtype=("complex",) * 4),
)

ELLIPTIC = (
    _case("ellipe", (-2.0, 0.9), keeps=("m",)),
    _case("ellipkinc", (-3.0, 3.0), (-2.0, 0.9), keeps=("phi", "m"), order=2),
    _case("ellipeinc", (-3.0, 3.0), (-2.0, 0.9), keeps=("phi", "m"), order=2),
    _case("ellipj", (-3.0, 3.0), (0.1, 0.9), order=2),
    _case("agm", (0.3, 3.0), (0.3, 3.0)),
    _case("elliprf", (0.2, 3.0), (0.2, 3.0), (0.2, 3.0)),
    _case("elliprd", (0.2, 3.0), (0.2, 3.0), (0.2, 3.0), order=2),
    _case("elliprc", (0.2, 3.0), (0.2, 3.0), order=2),
)

OSCILLATING = (
    _case("dawsn", (-9.0, 9.0), keeps=("x", "y")),
    _case("erfi", (-2.0, 2.0), keeps=("x",)),
    _case("owens_t", (-3.0, 3.0), (-2.5, 2.5), keeps=("h", "a")),
    *(_case(name, (0.4, 12.0)) for name in ("sici", "shichi")),
    _case("fresnel", (-6.5, 6.5), order=2),
)

INVERSES = (
    _case("wrightomega", (-6.0, 6.0), keeps=("y",)),
    _case("ndtri_exp", (-9.0, -0.05), keeps=("x", "y"), order=2),
    _case("powm1", (0.3, 3.0), (-2.0, 2.0)),
    _at("hyp0f1-1.3", (1.3,), (-6.0, 6.0)),
    _at("hyp2f1", (0.7, 1.2, 1.9), (-4.0, 0.7), order=2),
)

POLYNOMIALS = (
    *(_at(f"eval_{name}-{n}", (n,), (-0.9, 0.9)) for n in (1, 5)
      for name in ("legendre", "chebyt", "chebyu", "chebyc", "chebys", "hermite", "hermitenorm", "laguerre")),
    *(_at(f"eval_sh_{name}-4", (4,), (0.1, 0.9)) for name in ("legendre", "chebyt", "chebyu")),
    _at("eval_genlaguerre-4", (4,), (0.2, 2.0), (-1.0, 3.0)),
)  # fmt: skip


def _parts(x: Host) -> tuple[Host, Host]:
    return x.real, x.imag


def _chainers(name: str, low: float, high: float, scipys: str | None = None) -> Case:
    return Case(
        f"F.{name}",
        {},
        _scipy(scipys or name),
        (Input(SMALL, low, high),),
        order=1,
        area="F",
        complex=name in ("digamma", "erf", "erfc"),
    )


FIRST: dict[str, Any] = {"order": 1, "area": "F"}
SECOND: dict[str, Any] = FIRST | {"order": 2}
_PAIR = (Input(SMALL), Input(SMALL))

CHAINERS = (
    _chainers("digamma", 0.5, 4.0, "psi"),
    _chainers("erf", -2.0, 2.0),
    _chainers("erfc", -2.0, 2.0),
    _chainers("erfcinv", 0.2, 1.8),
    _chainers("erfcx", -1.0, 2.0),
    _chainers("erfinv", -0.9, 0.9),
    _chainers("lgamma", 0.5, 4.0, "gammaln"),
    _chainers("log_ndtr", -3.0, 2.0),
    _chainers("ndtr", -2.0, 2.0),
    _chainers("ndtri", 0.1, 0.9),
    Case(
        "F.polygamma",
        lambda F, x: F.polygamma(2, x),
        lambda x: _scipy("polygamma")(2, x),
        (Input(SMALL, 0.5, 3.0),),
        **FIRST,
    ),
    Case("F.zeta", {}, _scipy("zeta"), (Input(SMALL, 1.5, 4.0), Input(SMALL, 0.5, 2.0)), **FIRST),
    Case("F.fmod", {}, np.fmod, (Input(SMALL, 3.1, 3.9), Input(SMALL, 1.1, 1.4)), **FIRST),
    Case("F.fft", lambda F, a, b: F.fft((a, b)), lambda a, b: _parts(np.fft.fft(a + 1j * b)), _PAIR,
         needs=("complex",), **SECOND),
    Case("F.ifft", lambda F, a, b: F.ifft((a, b)), lambda a, b: _parts(np.fft.ifft(a + 1j * b)), _PAIR,
         needs=("complex",), **SECOND),
    Case("F.einsum", lambda F, a, b: F.einsum("ij,kj->ik", a, b), lambda a, b: a @ b.T, _PAIR, **SECOND, complex=True),
)  # fmt: skip

CASES = (
    ERRORS
    + GAMMA
    + INCOMPLETE_GAMMA
    + INCOMPLETE_BETA
    + SHAPE_INVERSES
    + ENTROPY
    + BESSEL
    + REAL_ORDERS
    + ELEMENTARY
    + INTEGRALS
    + ELLIPTIC
    + OSCILLATING
    + INVERSES
    + POLYNOMIALS
    + CHAINERS
)
