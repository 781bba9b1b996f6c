"""Maximum likelihood with exact standard errors: visits to the doctor in the RAND Health Insurance Experiment.

A negative binomial regression (NB2) of 20,190 person-years on cost sharing and health. Newton steps in a trust region
find the maximum, with exact Hessians; the standard errors come from the inverse of the last Hessian. No derivative is
written by hand. statsmodels, which has hand-written derivatives, gives the same numbers. The profile of the likelihood
in the coefficient of coinsurance shows the range in which the parabola behind a standard error is a good approximation.

The data were published by Newhouse and others, New England Journal of Medicine 305 (1981); the likelihood is in Cameron
and Trivedi, Regression Analysis of Count Data (1998), section 3.3.

    python examples/maximum_likelihood.py --plot visits.png
"""

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from statsmodels.datasets import randhie
from statsmodels.discrete.discrete_model import NegativeBinomial, Poisson

import xpgrad
import xpgrad.array_api as xp

COINSURANCE = 1  # the column "lncoins", the logarithm of the share that the patient pays, in percent and 1

NARROW = {"float64": "float32", "complex128": "complex64", "int64": "int32"}
QUICK = {"rows": 2000, "points": 5}


class Timed:
    """A function, with the seconds that its calls took, and their number."""

    def __init__(self, f: Callable[..., Any]) -> None:
        self.f, self.seconds, self.calls = f, 0.0, 0

    def __call__(self, *args: Any) -> Any:
        begin = time.perf_counter()
        result = self.f(*args)
        self.seconds, self.calls = self.seconds + time.perf_counter() - begin, self.calls + 1
        return result

    def __str__(self) -> str:
        return f"{self.calls} in {self.seconds:.2f} s"


class Result(NamedTuple):
    """Estimates and standard errors, also by statsmodels; the last parameter is the logarithm of the dispersion."""

    names: list[str]
    estimates: np.ndarray
    errors: np.ndarray
    log_likelihood: float
    peer_estimates: np.ndarray
    peer_errors: np.ndarray
    peer_log_likelihood: float
    poisson_log_likelihood: float
    profile: np.ndarray  # of the coefficient of coinsurance: its values, and log-likelihoods below the maximum
    gradients: Timed
    hessians: Timed

    @property
    def disagreement(self) -> float:
        """The largest difference from statsmodels in an estimate or an error, in standard errors."""
        pairs = (self.estimates, self.peer_estimates), (self.errors, self.peer_errors)
        return max(float(np.max(np.abs(ours - theirs) / self.errors)) for ours, theirs in pairs)


def load(rows: int | None, seed: int) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Names of the columns, the design matrix, and visits: `rows` of them by lot, or all."""
    table = randhie.load_pandas()
    visits, X = table.endog.to_numpy(np.float64), table.exog.to_numpy(np.float64)
    pick = slice(None) if rows is None else np.random.default_rng(seed).permutation(len(visits))[:rows]
    X = np.column_stack([np.ones(len(X)), X])[pick]
    return ["constant", *table.exog.columns], X, visits[pick]


def fitting(a: np.ndarray, device: xpgrad.Device) -> np.ndarray:
    """Return `a`, converted to 32 bits if `device` lacks its dtype; JAX has 64 bits only if enabled."""
    here = xp.__array_namespace_info__().dtypes(device=device)
    return a if a.dtype.name in here else a.astype(NARROW[a.dtype.name])


def log_likelihood(p: Any, X: Any, y: Any, j: Any, above: Any) -> Any:
    """The log-likelihood of visits `y` with mean m = exp(X β) and variance m + α m²; `p` is β and log α.

    Visits are whole numbers, so log Γ(y + 1/α) − log Γ(1/α) is the sum of log(j + 1/α) over whole `j` < y, and so is
    log y! with 1 for 1/α; `above` counts the rows with y > j.
    """
    log_odds = xp.matmul(X, p[:-1]) + p[-1]
    r = xp.exp(-p[-1])
    return xp.sum(above * xp.log((j + r) / (j + 1))) + xp.sum(y * log_odds - (y + r) * xp.log1p(xp.exp(log_odds)))


def loss(p: Any, X: Any, y: Any, j: Any, above: Any) -> Any:
    """Minus the log-likelihood for each row."""
    return -log_likelihood(p, X, y, j, above) / y.shape[0]


def fit(
    start: np.ndarray, free: np.ndarray, value_and_grad: Timed, hess: Timed, args: Any, gtol: float
) -> tuple[np.ndarray, float, np.ndarray]:
    """Maximise over the parameters that are `free`: all parameters, log-likelihood, and the Hessian of its negative."""
    rows = args[1].shape[0]

    def full(x: np.ndarray) -> np.ndarray:
        p = start.copy()
        p[free] = x
        return p

    def value_and_part(x: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = value_and_grad(full(x), *args)
        return value, gradient[free]

    found = minimize(
        value_and_part,
        start[free],
        jac=True,
        hess=lambda x: hess(full(x), *args)[np.ix_(free, free)],
        method="trust-exact",
        options={"gtol": gtol},
    )
    return full(found.x), -rows * found.fun, rows * hess(full(found.x), *args)


def run(
    device: str | None = None, rows: int | None = None, points: int = 13, seed: int = 0, *, compiled: bool = False
) -> Result:
    """Fit `rows` person-years (None: all), and the profile at so many points."""
    names, X, y = load(rows, seed)
    j = np.arange(y.max())
    target = xpgrad.get_device(device)
    data = [fitting(a, target) for a in (X, y, j, np.sum(y[:, None] > j, axis=0, dtype=np.float64))]
    args = [xpgrad.Variable(a, requires_grad=False) for a in target.send(data)]

    free = np.ones(len(names) + 1, dtype=bool)
    start = np.append(np.log(y.mean()), np.zeros(len(names)))
    objective, like = xpgrad.compile(loss) if compiled else loss, fitting(start, target)
    gradients = Timed(xpgrad.scipy.value_and_grad(objective, like, target))
    hessians = Timed(xpgrad.scipy.hess(objective, like, target))
    rest = gradients, hessians, args, 1e-10 if like.dtype == np.float64 else 1e-5
    estimates, best, information = fit(start, free, *rest)
    errors = np.sqrt(np.diag(np.linalg.inv(information)))

    free[COINSURANCE] = False
    profile = []
    for z in np.linspace(-3, 3, points):
        start = estimates.copy()
        start[COINSURANCE] += z * errors[COINSURANCE]
        profile.append([start[COINSURANCE], fit(start, free, *rest)[1] - best])

    peer = NegativeBinomial(y, X).fit(start_params=np.append(estimates[:-1], 1.0), method="newton", disp=False)
    alpha = peer.params[-1]  # the dispersion itself; the error of its logarithm is the relative one
    return Result(
        [*names, "log dispersion"],
        estimates,
        errors,
        best,
        np.append(peer.params[:-1], np.log(alpha)),
        np.append(peer.bse[:-1], peer.bse[-1] / alpha),
        peer.llf,
        Poisson(y, X).fit(disp=False).llf,
        np.asarray(profile),
        gradients,
        hessians,
    )


def picture(name: str) -> Path:
    """File for the drawing; a path that cannot be written is rejected before the computation."""
    from matplotlib.figure import Figure

    path, formats = Path(name), Figure().canvas.get_supported_filetypes()
    if (path.suffix[1:].lower() or "png") in formats and path.parent.is_dir() and os.access(path.parent, os.W_OK):
        return path
    raise argparse.ArgumentTypeError(f"{name} cannot be written: expected one of {', '.join(formats)}, in a folder")


def draw(result: Result, plot: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    rows = np.arange(len(result.names))
    left.errorbar(result.estimates, rows, xerr=1.96 * result.errors, fmt="o", markersize=3, capsize=2, label="xpgrad")
    left.plot(result.peer_estimates, rows, "x", color="tab:red", label="statsmodels")
    left.axvline(0, color="gray", linewidth=0.5)
    left.set(yticks=rows, yticklabels=result.names, title="estimates, 95 % intervals")
    left.invert_yaxis()
    left.legend()
    values, heights = result.profile.T
    z = (values - result.estimates[COINSURANCE]) / result.errors[COINSURANCE]
    right.plot(values, heights, "o-", markersize=3, label="profile")
    right.plot(values, -(z**2) / 2, "--", label="from the standard error")
    right.set(xlabel=f"coefficient of {result.names[COINSURANCE]}", title="log-likelihood below its maximum")
    right.legend()
    figure.savefig(plot, dpi=80)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", help="where to compute; by default XPGRAD_DEVICE, or NumPy (see `xpgrad devices`)")
    parser.add_argument("--quick", action="store_true", help="2,000 rows, drawn by --seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plot", type=picture, help="draw estimates and profile into this file")
    parser.add_argument(
        "--compile", action="store_true", help="run gradients and Hessians as programs; the results are the same"
    )
    options = parser.parse_args()
    result = run(options.device, seed=options.seed, **(QUICK if options.quick else {}), compiled=options.compile)
    print(f"{'':16}{'estimate':>12}{'error':>12}{'statsmodels':>14}{'its error':>12}")
    columns = result.names, result.estimates, result.errors, result.peer_estimates, result.peer_errors
    for name, *numbers in zip(*columns, strict=True):
        print("{:16}{:12.7f}{:12.7f}{:14.7f}{:12.7f}".format(name, *numbers))
    print(f"largest difference: {result.disagreement:.1e} standard errors")
    print(f"log-likelihood {result.log_likelihood:.4f}; Poisson regression, which knows no dispersion: ", end="")
    print(f"{result.poisson_log_likelihood:.4f}")
    print(f"gradients: {result.gradients}; Hessians: {result.hessians}")
    if options.plot:
        draw(result, options.plot)


if __name__ == "__main__":
    main()
