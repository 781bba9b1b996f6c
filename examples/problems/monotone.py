"""A spline fitted with a shape constraint: a B-spline that only rises, because its coefficients do."""

import numpy as np
from picture import plot

import xpgrad.array_api as xp
from xpgrad.scipy import interpolate, minimize
from xpgrad.special import log_expit

COUNT = 12
KNOTS = np.concatenate([np.zeros(3), np.linspace(0, 10, COUNT - 2), np.full(3, 10.0)])


def curve(p, x):
    """Return the spline, whose coefficients grow by positive steps."""
    return interpolate.BSpline(KNOTS, p["start"] + xp.cumulative_sum(-log_expit(-p["steps"])), 3)(x)


def fitted(model, start, x, y):
    return minimize(lambda p: xp.mean((model(p, x) - y) ** 2), start, method="BFGS").x


def run():
    rng = np.random.default_rng(1)
    x = np.sort(rng.uniform(0, 10, 80))
    y = 1 / (1 + np.exp(-2 * (x - 3))) + 0.5 / (1 + np.exp(-3 * (x - 7))) + rng.normal(scale=0.15, size=80)
    risen = fitted(curve, {"start": np.zeros(()), "steps": np.full(COUNT, -2.0)}, x, y)
    free = fitted(lambda c, x: interpolate.BSpline(KNOTS, c, 3)(x), np.zeros(COUNT), x, y)
    return x, y, lambda x: curve(risen, x).array, lambda x: interpolate.BSpline(KNOTS, free, 3)(x).array


if __name__ == "__main__":
    x, y, rising, free = run()
    at = np.linspace(0, 10, 300)
    for name, spline in {"with the constraint": rising, "without": free}.items():
        print(f"smallest slope {name}: {np.diff(spline(at)).min() * 30:.3f}")
    plot(lambda ax: [ax.plot(x, y, ".", at, rising(at), at, free(at), "--"), ax.legend(["data", "rising", "free"])])
