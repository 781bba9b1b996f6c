"""The beta distribution."""

from scipy.stats import beta

from xpgrad_autograd.densities import methods_of

rvs = beta.rvs
logpdf, pdf, cdf = methods_of(beta, "logpdf", "pdf", "cdf")
