"""The chi-squared distribution."""

from scipy.stats import chi2

from xpgrad_autograd.densities import methods_of

rvs = chi2.rvs
logpdf, pdf, cdf = methods_of(chi2, "logpdf", "pdf", "cdf")
