"""Gaussian-process regression of the Mauna Loa CO2 record: hyperparameters by gradients, a forecast with its error.

The kernel is the sum of Rasmussen and Williams, Gaussian Processes for Machine Learning (2006), section 5.4.3: a smooth
trend, a season that may change over decades, irregularities of some years, and noise that is correlated over months.
SciPy's L-BFGS-B maximises the likelihood of the monthly means before the held-back years over its eleven
hyperparameters; the gradient goes through the Cholesky factor of the covariance matrix.

    python examples/gaussian_process.py --plot co2.png
"""

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from statsmodels.datasets import co2

import xpgrad
import xpgrad.array_api as xp

# Start of the search: values estimated from a plot of the record, in ppm and years.
START = {
    "trend": 50.0, "trend years": 50.0,
    "season": 2.0, "season years": 100.0, "season smoothness": 1.0,
    "medium": 0.5, "medium years": 1.0, "medium shape": 1.0,
    "noise": 0.2, "noise years": 0.1, "white noise": 0.2,
}  # fmt: skip

NARROW = {"float64": "float32", "complex128": "complex64", "int64": "int32"}
QUICK = {"first": 1976, "split": 1992, "last": 1995}


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
    """The forecast of the held-back months, and its errors."""

    hyperparameters: dict[str, float]
    log_likelihood: float
    gradient_error: float
    gradients: Timed
    years: np.ndarray
    held_back: np.ndarray
    mean: np.ndarray
    deviation: np.ndarray

    @property
    def rmse(self) -> float:
        return float(np.sqrt(np.mean((self.mean - self.held_back) ** 2)))

    @property
    def coverage(self) -> float:
        """The share of the held-back months that lie in the 95 % band."""
        return float(np.mean(np.abs(self.mean - self.held_back) < 1.96 * self.deviation))


def load() -> tuple[np.ndarray, np.ndarray]:
    """Years and CO2 in ppm: means of the months that have a measurement."""
    months = co2.load_pandas().data["co2"].resample("MS").mean().dropna()
    return months.index.year.to_numpy() + (months.index.month.to_numpy() - 0.5) / 12, months.to_numpy()


def fitting(a: np.ndarray, device: xpgrad.Device) -> np.ndarray:
    """Return `a`, converted to 32 bits if `device` lacks its dtype; JAX has 64 bits only if enabled."""
    here = xp.__array_namespace_info__().dtypes(device=device)
    return a if a.dtype.name in here else a.astype(NARROW[a.dtype.name])


def distances(t1: Any, t2: Any) -> Any:
    return xp.abs(t1[:, None] - t2[None, :])


def covariance(p: dict[str, Any], d: Any) -> Any:
    """The kernel at distances `d` in years; `p` holds the logarithms of its hyperparameters."""
    q = {name: xp.exp(value) for name, value in p.items()}
    d2 = d**2
    trend = q["trend"] ** 2 * xp.exp(-d2 / (2 * q["trend years"] ** 2))
    wave = 2 * (xp.sin(np.pi * d) / q["season smoothness"]) ** 2
    season = q["season"] ** 2 * xp.exp(-d2 / (2 * q["season years"] ** 2) - wave)
    shape = q["medium shape"]
    medium = q["medium"] ** 2 * (1 + d2 / (2 * shape * q["medium years"] ** 2)) ** -shape
    noise = q["noise"] ** 2 * xp.exp(-d2 / (2 * q["noise years"] ** 2))
    # Makes the matrix positive definite in 32 bits; negligible in 64 bits.
    jitter = 1000 * xp.finfo(d.dtype).eps * q["trend"] ** 2
    white = (q["white noise"] ** 2 + jitter) * xp.astype(d == 0, d.dtype)
    return trend + season + medium + noise + white


def negative_log_likelihood(p: dict[str, Any], t: Any, y: Any) -> Any:
    """−log N(y | 0, K), Rasmussen and Williams' equation 2.30."""
    L = xp.linalg.cholesky(covariance(p, distances(t, t)))
    z = xp.linalg.solve(L, y)
    return xp.sum(z**2) / 2 + xp.sum(xp.log(xp.linalg.diagonal(L))) + np.log(2 * np.pi) / 2 * y.shape[0]


def predict(p: dict[str, Any], t: Any, y: Any, t_new: Any) -> tuple[Any, Any]:
    """Mean and standard deviation of measurements at times `t_new`, algorithm 2.1."""
    L = xp.linalg.cholesky(covariance(p, distances(t, t)))
    v = xp.linalg.solve(L, covariance(p, distances(t, t_new)))
    mean = xp.matmul(xp.linalg.solve(L, y), v)
    return mean, xp.sqrt(covariance(p, xp.zeros_like(t_new)) - xp.sum(v**2, axis=0))


def gradient_error(f: Callable[..., Any], start: dict[str, Any], device: xpgrad.Device, *args: Any) -> float:
    """The distance of the gradient from central differences, relative to its length."""
    x, _ = xpgrad.scipy.ravel(start)
    _, gradient = xpgrad.scipy.value_and_grad(f, start, device)(x, *args)
    value = xpgrad.scipy.residuals(f, start, device)  # values only, without a graph
    step = 1e-4 if fitting(x, device).dtype == np.float64 else 1e-1
    steps = step * np.eye(len(x))
    quotients = [(value(x + h, *args) - value(x - h, *args))[0] / (2 * step) for h in steps]
    return float(np.linalg.norm(gradient - quotients) / np.linalg.norm(gradient))


def run(
    device: str | None = None, first: float = 1958, split: float = 1992, last: float = 2002, *, compiled: bool = False
) -> Result:
    """Fit the months in [first, split), and forecast the months in [split, last)."""
    years, ppm = load()
    old, new = (years >= first) & (years < split), (years >= split) & (years < last)
    level = ppm[old].mean()
    target = xpgrad.get_device(device)
    data = [fitting(a, target) for a in (years[old] - split, ppm[old] - level, years[new] - split)]
    t, y, t_new = target.send(data)

    start = {name: fitting(np.asarray(np.log(value)), target) for name, value in START.items()}
    x, unravel = xpgrad.scipy.ravel(start, target)
    objective = xpgrad.compile(negative_log_likelihood) if compiled else negative_log_likelihood
    loss = Timed(xpgrad.scipy.value_and_grad(objective, like=start, device=target))
    found = minimize(loss, x, args=(t, y), jac=True, method="L-BFGS-B")
    with xpgrad.no_backprop_mode():
        best = {name: xpgrad.Variable(value) for name, value in unravel(found.x).items()}
        mean, deviation = (v.to_cpu().array for v in predict(best, t, y, t_new))
    return Result(
        hyperparameters={name: float(np.exp(value)) for name, value in zip(START, found.x, strict=True)},
        log_likelihood=-found.fun,
        gradient_error=gradient_error(negative_log_likelihood, start, target, t, y),
        gradients=loss,
        years=years[new],
        held_back=ppm[new],
        mean=mean + level,
        deviation=deviation,
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

    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.add_subplot()
    axes.plot(*load(), "k.", markersize=1.5, label="monthly means, Mauna Loa")
    low, high = result.mean - 1.96 * result.deviation, result.mean + 1.96 * result.deviation
    axes.fill_between(result.years, low, high, color="tab:orange", alpha=0.4, label="forecast, 95 % band")
    axes.plot(result.years, result.mean, color="tab:red", linewidth=0.8, label="forecast, mean")
    axes.set(xlabel="year", ylabel="CO2 (ppm)", title=f"Held back: RMSE {result.rmse:.2f} ppm")
    axes.legend()
    figure.savefig(plot, dpi=80)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", help="where to compute; by default XPGRAD_DEVICE, or NumPy (see `xpgrad devices`)")
    parser.add_argument("--quick", action="store_true", help="learn from 1976 to 1992 only, forecast three years")
    parser.add_argument("--plot", type=picture, help="draw the record and the forecast into this file")
    parser.add_argument(
        "--compile", action="store_true", help="run the gradients as programs; the results are the same"
    )
    options = parser.parse_args()
    result = run(options.device, **(QUICK if options.quick else {}), compiled=options.compile)
    for name, value in result.hyperparameters.items():
        print(f"{name:24}{value:11.4g}")
    print(f"log marginal likelihood {result.log_likelihood:11.2f}")
    print(f"gradient − differences  {result.gradient_error:11.1e} of its length")
    print(f"gradients for the fit   {result.gradients}")
    print(f"held back: {len(result.years)} months, RMSE {result.rmse:.2f} ppm, {result.coverage:.0%} in the 95 % band")
    if options.plot:
        draw(result, options.plot)


if __name__ == "__main__":
    main()
