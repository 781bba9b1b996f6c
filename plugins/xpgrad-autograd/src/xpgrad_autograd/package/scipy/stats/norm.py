"""The normal distribution."""

from scipy.stats import norm

from xpgrad_autograd.densities import methods_of

rvs = norm.rvs
logpdf, pdf, cdf, sf, logcdf, logsf, ppf = methods_of(norm, "logpdf", "pdf", "cdf", "sf", "logcdf", "logsf", "ppf")
