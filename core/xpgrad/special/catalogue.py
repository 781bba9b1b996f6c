"""All special functions, which `xpgrad.special` imports when one of them is first asked for."""

from xpgrad.array_api.elementwise.exponential import expm1, log1p
from xpgrad.special.bessel import j0, j1, jn, y0, y1, yn
from xpgrad.special.beta_functions import beta, betaln, binom, multigammaln, poch
from xpgrad.special.distributions import (
    bdtr,
    bdtrc,
    bdtri,
    fdtr,
    fdtrc,
    fdtri,
    kolmogorov,
    nbdtr,
    nbdtrc,
    nbdtri,
    stdtr,
    stdtrit,
)
from xpgrad.special.elementary import (
    boxcox,
    boxcox1p,
    cbrt,
    cosdg,
    cosm1,
    cotdg,
    exp2,
    exp10,
    exprel,
    inv_boxcox,
    inv_boxcox1p,
    radian,
    sinc,
    sindg,
    tandg,
)
from xpgrad.special.elliptic import (
    agm,
    ellipe,
    ellipeinc,
    ellipj,
    ellipkinc,
    elliprc,
    elliprd,
    elliprf,
)
from xpgrad.special.entropy import entr, huber, kl_div, pseudo_huber, rel_entr, xlog1py, xlogy
from xpgrad.special.error_functions import (
    erf,
    erfc,
    erfcinv,
    erfcx,
    erfinv,
    inverse_mills,
    log_ndtr,
    mills_excess,
    ndtr,
    ndtri,
)
from xpgrad.special.gamma_functions import gamma, gammaln, gammasgn, loggamma, rgamma
from xpgrad.special.incomplete_beta import betainc, betaincc, betaincinv
from xpgrad.special.incomplete_gamma import (
    chdtr,
    chdtrc,
    chdtri,
    gammainc,
    gammaincc,
    gammainccinv,
    gammaincinv,
    gdtr,
    gdtrc,
    pdtr,
    pdtrc,
    pdtri,
)
from xpgrad.special.integrals import ellipk, ellipkm1, exp1, expi, expn, hyp1f1, spence
from xpgrad.special.inverses import (
    betainccinv,
    gdtria,
    gdtrix,
    hyp0f1,
    hyp2f1,
    ndtri_exp,
    powm1,
    wrightomega,
)
from xpgrad.special.kelvin_functions import bei, beip, ber, berp, kei, keip, kelvin, ker, kerp
from xpgrad.special.logistic import expit, log_expit, log_softmax, logit, logsumexp, softmax
from xpgrad.special.modified_bessel import i0, i0e, i1, i1e, k0, k0e, k1, k1e
from xpgrad.special.oscillating import dawsn, erfi, fresnel, owens_t, shichi, sici
from xpgrad.special.polygamma import digamma, polygamma, psi, zeta, zetac
from xpgrad.special.polynomials import (
    eval_chebyc,
    eval_chebys,
    eval_chebyt,
    eval_chebyu,
    eval_gegenbauer,
    eval_genlaguerre,
    eval_hermite,
    eval_hermitenorm,
    eval_jacobi,
    eval_laguerre,
    eval_legendre,
    eval_sh_chebyt,
    eval_sh_chebyu,
    eval_sh_jacobi,
    eval_sh_legendre,
)
from xpgrad.special.real_orders import hankel1, hankel2, iv, ive, jv, kn, kv, kve, modstruve, struve, yv

# What rules call and SciPy has under no name of its own: derivatives and families of the functions above.
from xpgrad.special.bessel import jn_of  # isort: skip
from xpgrad.special.modified_bessel import iv_of, ive_of  # isort: skip
from xpgrad.special.elementary import exprel_of, log1prel_of, sinc_of  # isort: skip
from xpgrad.special.polygamma import polygamma_of, zeta_moment  # isort: skip
from xpgrad.special.incomplete_beta import betainc_moment  # isort: skip
from xpgrad.special.incomplete_gamma import gammainc_moment  # isort: skip
from xpgrad.special.integrals import ellipkm1_of, expn_of  # isort: skip
from xpgrad.special.elliptic import carlson, ellipe_of, elliptic_of, jacobi_am  # isort: skip
from xpgrad.special.kelvin_functions import bei_of, ber_of, kei_of, ker_of  # isort: skip
from xpgrad.special.oscillating import (  # isort: skip
    cosine_integral,
    fresnel_cosine,
    fresnel_sine,
    hyperbolic_cosine_integral,
    hyperbolic_sine_integral,
    sine_integral,
)
from xpgrad.special.real_orders import kve_moment  # isort: skip

__all__ = [  # noqa: RUF022 - by family
    "erf", "erfc", "erfcinv", "erfcx", "erfinv", "log_ndtr", "ndtr", "ndtri", "inverse_mills", "mills_excess",
    "beta", "betaln", "binom", "digamma", "gamma", "gammaln", "gammasgn", "loggamma", "multigammaln", "poch",
    "polygamma", "polygamma_of", "psi", "rgamma", "zeta", "zeta_moment", "zetac",
    "gammainc", "gammaincc", "gammainccinv", "gammaincinv", "gammainc_moment", "chdtr", "chdtrc", "chdtri", "gdtr",
    "gdtrc", "pdtr", "pdtrc", "pdtri",
    "betainc", "betaincc", "betaincinv", "betainc_moment",
    "bdtr", "bdtrc", "bdtri", "fdtr", "fdtrc", "fdtri", "kolmogorov", "nbdtr", "nbdtrc", "nbdtri", "stdtr", "stdtrit",
    "entr", "huber", "kl_div", "pseudo_huber", "rel_entr", "xlog1py", "xlogy",
    "expit", "log_expit", "log_softmax", "logit", "logsumexp", "softmax",
    "i0", "i0e", "i1", "i1e", "iv_of", "ive_of", "j0", "j1", "jn", "jn_of", "k0", "k0e", "k1", "k1e", "y0", "y1", "yn",
    "boxcox", "boxcox1p", "cbrt", "cosdg", "cosm1", "cotdg", "exp2", "exp10", "expm1", "exprel", "exprel_of",
    "inv_boxcox", "inv_boxcox1p", "log1p", "log1prel_of", "radian", "sinc", "sinc_of", "sindg", "tandg",
    "ellipk", "ellipkm1", "ellipkm1_of", "exp1", "expi", "expn", "expn_of", "hyp1f1", "spence",
    "agm", "carlson", "ellipe", "ellipe_of", "ellipeinc", "ellipj", "ellipkinc", "elliprc", "elliprd", "elliprf",
    "elliptic_of", "jacobi_am",
    "betainccinv", "gdtria", "gdtrix", "hyp0f1", "hyp2f1", "ndtri_exp", "powm1", "wrightomega",
    "bei", "bei_of", "beip", "ber", "ber_of", "berp", "kei", "kei_of", "keip", "kelvin", "ker", "ker_of", "kerp",
    "cosine_integral", "dawsn", "erfi", "fresnel", "fresnel_cosine", "fresnel_sine", "hyperbolic_cosine_integral",
    "hyperbolic_sine_integral", "owens_t", "shichi", "sici", "sine_integral",
    "eval_chebyc", "eval_chebys", "eval_chebyt", "eval_chebyu", "eval_gegenbauer", "eval_genlaguerre", "eval_hermite",
    "eval_hermitenorm", "eval_jacobi", "eval_laguerre", "eval_legendre", "eval_sh_chebyt", "eval_sh_chebyu",
    "eval_sh_jacobi", "eval_sh_legendre",
    "hankel1", "hankel2", "iv", "ive", "jv", "kn", "kv", "kve", "kve_moment", "modstruve", "struve", "yv",
]  # fmt: skip
