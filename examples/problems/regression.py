"""A Gaussian process by its Cholesky factor: a length for each feature, by the likelihood's gradient."""

import numpy as np
from picture import plot
from sklearn.datasets import load_diabetes

import xpgrad.array_api as xp
from xpgrad.scipy import linalg, minimize
from xpgrad.scipy.spatial.distance import cdist


def kernel(p, a, b):
    return xp.exp(2 * p["size"]) * xp.exp(-0.5 * cdist(a * xp.exp(p["rates"]), b * xp.exp(p["rates"]), "sqeuclidean"))


def factored(p, x):
    return linalg.cho_factor(kernel(p, x, x) + (xp.exp(2 * p["noise"]) + 1e-8) * np.eye(len(x)), lower=True)


def loss(p, x, y):
    factor, lower = factored(p, x)
    return 0.5 * xp.sum(y * linalg.cho_solve((factor, lower), y)) + xp.sum(xp.log(xp.linalg.diagonal(factor)))


def run():
    x, y = load_diabetes(return_X_y=True)
    x, y = x / x.std(axis=0), (y - y.mean()) / y.std()
    start = {"size": np.array(0.0), "noise": np.array(-0.5), "rates": np.full(10, -2.0)}
    p = minimize(loss, start, args=(x[:300], y[:300]), method="L-BFGS-B").x
    weights = linalg.cho_solve(factored(p, x[:300]), y[:300])
    return y[300:], (kernel(p, x[300:], x[:300]) @ weights).array, p


if __name__ == "__main__":
    y, mean, p = run()
    print(f"held-out patients: error {np.sqrt(np.mean((y - mean) ** 2)):.3f} standard deviations")
    print("features by weight:", *np.array(load_diabetes().feature_names)[np.argsort(-p["rates"])])
    plot(lambda ax: [ax.plot(mean, y, "."), ax.set(xlabel="forecast", ylabel="progression of diabetes")], size=(4, 3.5))
