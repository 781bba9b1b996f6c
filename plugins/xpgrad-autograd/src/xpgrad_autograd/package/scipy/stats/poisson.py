"""The Poisson distribution; derivatives are by its rate."""

from scipy.stats import poisson

from xpgrad_autograd.densities import methods_of

rvs = poisson.rvs
logpmf, pmf, cdf = methods_of(poisson, "logpmf", "pmf", "cdf")
