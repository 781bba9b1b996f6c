"""The gamma distribution."""

from scipy.stats import gamma

from xpgrad_autograd.densities import methods_of

rvs = gamma.rvs
logpdf, pdf, cdf = methods_of(gamma, "logpdf", "pdf", "cdf")
