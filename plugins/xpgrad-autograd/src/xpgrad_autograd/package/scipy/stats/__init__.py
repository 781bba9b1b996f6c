"""Distributions of ``scipy.stats`` of arrays whose derivatives are taken."""

from xpgrad_autograd.package.scipy.stats import beta, chi2, dirichlet, gamma, multivariate_normal, norm, poisson, t

__all__ = ["beta", "chi2", "dirichlet", "gamma", "multivariate_normal", "norm", "poisson", "t"]
