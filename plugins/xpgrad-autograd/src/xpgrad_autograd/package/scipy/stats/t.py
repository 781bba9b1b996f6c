"""Student's t distribution."""

from scipy.stats import t

from xpgrad_autograd.densities import methods_of

rvs = t.rvs
logpdf, pdf, cdf, logcdf = methods_of(t, "logpdf", "pdf", "cdf", "logcdf")
