"""SciPy's distributions as members of families."""

import typing as _typing
from typing import Any as _Any

from xpgrad.array_api import zeros_like
from xpgrad.distributions.families import counts, half_line, integers, intervals, lifetimes, real_line, unbounded
from xpgrad.scipy.stats.univariate import Continuous, Discrete


def _not_negative(a: _Any) -> tuple[_Any, ...]:
    return (a >= 0,)


def _finite(a: _Any) -> tuple[_Any, ...]:
    return (abs(a) < float("inf"),)


def _probability(p: _Any) -> tuple[_Any, ...]:
    return p >= 0, p <= 1


def _hypergeometric(M: _Any, n: _Any, N: _Any) -> tuple[_Any, ...]:
    return M > 0, n >= 0, N >= 0, n <= M, N <= M, M % 1 == 0, n % 1 == 0, N % 1 == 0


alpha = Continuous("alpha", lifetimes.ALPHA, "a")
anglit = Continuous("anglit", intervals.ANGLIT)
arcsine = Continuous("arcsine", intervals.ARCSINE)
beta = Continuous("beta", half_line.BETA, "a b")
betaprime = Continuous("betaprime", lifetimes.BETA_PRIME, "a b")
bradford = Continuous("bradford", intervals.BRADFORD, "c")
burr = Continuous("burr", lifetimes.BURR, "c d")
burr12 = Continuous("burr12", lifetimes.BURR12, "c d")
cauchy = Continuous("cauchy", real_line.CAUCHY)
chi = Continuous("chi", lifetimes.CHI, "df")
chi2 = Continuous("chi2", half_line.GAMMA, "df", conversion=lambda df: ((0.5 * df,), 2.0))
cosine = Continuous("cosine", intervals.COSINE)
dgamma = Continuous("dgamma", unbounded.DOUBLE_GAMMA, "a")
dweibull = Continuous("dweibull", unbounded.DOUBLE_WEIBULL, "c")
erlang = Continuous("erlang", half_line.GAMMA, "a")
expon = Continuous("expon", half_line.EXPONENTIAL)
exponnorm = Continuous("exponnorm", unbounded.EXPONENTIALLY_MODIFIED_NORMAL, "K")
exponpow = Continuous("exponpow", lifetimes.EXPONENTIAL_POWER, "b")
exponweib = Continuous("exponweib", lifetimes.EXPONENTIATED_WEIBULL, "a c")
f = Continuous("f", half_line.F_RATIO, "dfn dfd")
fatiguelife = Continuous("fatiguelife", lifetimes.FATIGUE_LIFE, "c")
fisk = Continuous("fisk", lifetimes.FISK, "c")
foldcauchy = Continuous("foldcauchy", lifetimes.FOLDED_CAUCHY, "c", _not_negative)
foldnorm = Continuous("foldnorm", lifetimes.FOLDED_NORMAL, "c", _not_negative)
gamma = Continuous("gamma", half_line.GAMMA, "a")
genextreme = Continuous("genextreme", unbounded.GENERALIZED_EXTREME, "c", _finite)
genlogistic = Continuous("genlogistic", unbounded.GENERALIZED_LOGISTIC, "c")
gennorm = Continuous("gennorm", unbounded.GENERALIZED_NORMAL, "beta")
genpareto = Continuous("genpareto", lifetimes.GENERALIZED_PARETO, "c", _finite)
gompertz = Continuous("gompertz", lifetimes.GOMPERTZ, "c")
gumbel_l = Continuous("gumbel_l", unbounded.GUMBEL_OF_MINIMA)
gumbel_r = Continuous("gumbel_r", real_line.GUMBEL)
halfcauchy = Continuous("halfcauchy", lifetimes.HALF_CAUCHY)
halfgennorm = Continuous("halfgennorm", lifetimes.GENERALIZED_HALF_NORMAL, "beta")
halflogistic = Continuous("halflogistic", lifetimes.HALF_LOGISTIC)
halfnorm = Continuous("halfnorm", lifetimes.HALF_NORMAL)
hypsecant = Continuous("hypsecant", unbounded.HYPERBOLIC_SECANT)
invgamma = Continuous("invgamma", lifetimes.INVERSE_GAMMA, "a")
invgauss = Continuous("invgauss", lifetimes.INVERSE_GAUSS, "mu")
invweibull = Continuous("invweibull", lifetimes.INVERSE_WEIBULL, "c")
johnsonsb = Continuous("johnsonsb", intervals.JOHNSON_BOUNDED, "a b", lambda a, b: (a == a, b > 0))
johnsonsu = Continuous("johnsonsu", unbounded.JOHNSON_UNBOUNDED, "a b", lambda a, b: (a == a, b > 0))
laplace = Continuous("laplace", real_line.LAPLACE)
levy = Continuous("levy", lifetimes.LEVY)
levy_l = Continuous("levy_l", lifetimes.LEVY_OF_NEGATIVE)
loggamma = Continuous("loggamma", unbounded.LOG_GAMMA, "c")
logistic = Continuous("logistic", unbounded.LOGISTIC)
loglaplace = Continuous("loglaplace", lifetimes.LOG_LAPLACE, "c")
lognorm = Continuous("lognorm", half_line.LOG_NORMAL, "s", conversion=lambda s: ((zeros_like(s), s), 1.0))
loguniform = Continuous("loguniform", intervals.LOG_UNIFORM, "a b", lambda a, b: (a > 0, b > a))
lomax = Continuous("lomax", lifetimes.LOMAX, "c")
maxwell = Continuous("maxwell", lifetimes.MAXWELL)
mielke = Continuous("mielke", lifetimes.MIELKE, "k s")
moyal = Continuous("moyal", unbounded.MOYAL)
nakagami = Continuous("nakagami", lifetimes.NAKAGAMI, "nu")
norm = Continuous("norm", real_line.NORMAL)
pareto = Continuous("pareto", half_line.PARETO, "b")
powerlaw = Continuous("powerlaw", intervals.POWER_LAW, "a")
powernorm = Continuous("powernorm", unbounded.POWER_NORMAL, "c")
rayleigh = Continuous("rayleigh", lifetimes.RAYLEIGH)
rdist = Continuous("rdist", intervals.R_DISTRIBUTION, "c")
semicircular = Continuous("semicircular", intervals.SEMICIRCULAR)
skewnorm = Continuous("skewnorm", unbounded.SKEW_NORMAL, "a", _finite)
t = Continuous("t", real_line.STUDENT, "df")
triang = Continuous("triang", intervals.TRIANGULAR, "c", _probability)
truncexpon = Continuous("truncexpon", intervals.TRUNCATED_EXPONENTIAL, "b")
truncnorm = Continuous("truncnorm", intervals.TRUNCATED_NORMAL, "a b", lambda a, b: (a < b,))
uniform = Continuous("uniform", half_line.UNIFORM)
weibull_max = Continuous("weibull_max", lifetimes.WEIBULL_OF_MAXIMA, "c")
weibull_min = Continuous("weibull_min", lifetimes.WEIBULL, "c")

bernoulli = Discrete("bernoulli", integers.BERNOULLI, "p", _probability)
betabinom = Discrete("betabinom", integers.BETA_BINOMIAL, "n a b", lambda n, a, b: (n >= 0, a > 0, b > 0, n % 1 == 0))
binom = Discrete("binom", counts.BINOMIAL, "n p", lambda n, p: (n >= 0, n % 1 == 0, p >= 0, p <= 1))
boltzmann = Discrete("boltzmann", integers.BOLTZMANN, "lambda_ N", lambda r, n: (r > 0, n > 0, n % 1 == 0))
dlaplace = Discrete("dlaplace", integers.DISCRETE_LAPLACE, "a")
geom = Discrete("geom", counts.GEOMETRIC, "p", lambda p: (p > 0, p <= 1))
hypergeom = Discrete("hypergeom", integers.HYPERGEOMETRIC, "M n N", _hypergeometric)
logser = Discrete("logser", integers.LOG_SERIES, "p", lambda p: (p > 0, p < 1))
nbinom = Discrete("nbinom", integers.NEGATIVE_BINOMIAL, "n p", lambda n, p: (n > 0, p > 0, p <= 1))
planck = Discrete("planck", integers.PLANCK, "lambda_")
poisson = Discrete("poisson", counts.POISSON, "mu", _not_negative)
randint = Discrete("randint", integers.UNIFORM_INTEGER, "low high", lambda a, b: (b > a, a % 1 == 0, b % 1 == 0))
skellam = Discrete("skellam", integers.SKELLAM, "mu1 mu2")
yulesimon = Discrete("yulesimon", integers.YULE_SIMON, "alpha")
zipf = Discrete("zipf", integers.ZIPF, "a", lambda a: (a > 1,))

if not _typing.TYPE_CHECKING:  # for which only literal lists count
    __all__ = [name for name, value in vars().items() if isinstance(value, (Continuous, Discrete))]
