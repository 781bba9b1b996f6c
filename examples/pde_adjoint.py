"""A tsunami's source from tide gauges: the adjoint of the shallow-water equations over a real sea bed.

An uplift of the sea surface in the Strait of Georgia, off Vancouver, sends waves between the islands; gauges on the
coast record them. Which uplift was it? The sea bed is measured, the event invented: a model with half the time step
generates the records, and noise of 1 cm is added. The unknown is the surface of every cell. The gradient of the misfit
is propagated back through all time steps, which is the adjoint method, and L-BFGS-B minimises the misfit. The time
steps are checkpointed in segments, so memory grows with the length of a segment, not with the time. The record of one
gauge is held back.

The equations describe long waves with Manning's friction at the bottom, on a staggered grid with leapfrog steps
(Imamura, Yalciner, Ozyurt, Tsunami modelling manual, 2006).

    python examples/pde_adjoint.py --plot tsunami.png
"""

import argparse
import os
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.cbook import get_sample_data
from scipy.optimize import minimize

import xpgrad
import xpgrad.array_api as xp
from xpgrad.transforms import checkpoint

GRAVITY, CELL = 9.81, 2430.0  # m/s², and m: at this latitude the cells of the map are square
MANNING = 0.025  # s/m^(1/3), for a sandy bottom
NOISE = 0.01  # m, the standard deviation of a reading's error
SMOOTHNESS = 300.0  # weight of squared differences of neighbours against squared misfits, both in standard deviations

GAUGES = {  # longitude east and latitude; the last is held back
    "Comox": (235.25, 49.65), "Texada": (235.55, 49.6), "Sechelt": (236.2, 49.43), "Vancouver": (236.72, 49.3),
    "Nanaimo": (236.15, 49.25), "Galiano": (236.5, 48.97), "Tsawwassen": (236.8, 49.02), "Lasqueti": (235.7, 49.42),
}  # fmt: skip

NARROW = {"float64": "float32", "complex128": "complex64", "int64": "int32"}
QUICK = {"minutes": 25, "dt": 25.0, "iterations": 25}


class Sea(NamedTuple):
    """Depths in m, 0 on land, with the coordinates of columns and rows."""

    depth: np.ndarray
    longitude: np.ndarray
    latitude: np.ndarray

    def sides(self, dt: float) -> list[np.ndarray]:
        """For the sides between neighbours in a row, then in a column: g h (dt/dx)², and the friction of a unit flow.

        Where one neighbour is land, no water passes. Heights, times and flows are in m, steps and m of a cell's water.
        """
        depths = [np.minimum(self.depth[:, 1:], self.depth[:, :-1]), np.minimum(self.depth[1:], self.depth[:-1])]
        speeds = [GRAVITY * (dt / CELL) ** 2 * h for h in depths]
        frictions = [GRAVITY * MANNING**2 * CELL / np.where(h > 0, h, np.inf) ** (7 / 3) for h in depths]
        return speeds + frictions

    def cells(self) -> np.ndarray:
        """The wet cell nearest to each gauge, numbered row by row."""
        x, y = np.meshgrid(self.longitude, self.latitude)
        far = [np.hypot((x - lon) * np.cos(np.radians(lat)), y - lat) for lon, lat in GAUGES.values()]
        return np.asarray([np.argmin(np.where(self.depth > 0, d, np.inf)) for d in far])


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
    """Initial surfaces in m, records with their predictions, and the results of checks."""

    sea: Sea
    truth: np.ndarray
    found: np.ndarray
    records: np.ndarray
    predicted: np.ndarray
    minutes: float
    remainders: list[float]
    plain_peak: float
    peak: float
    gradients: Timed

    @property
    def error(self) -> float:
        return float(np.linalg.norm(self.found - self.truth) / np.linalg.norm(self.truth))

    @property
    def held_back_rms(self) -> float:
        return float(np.sqrt(np.mean(self.records[:, -1] ** 2)))

    @property
    def held_back_rmse(self) -> float:
        return float(np.sqrt(np.mean((self.records[:, -1] - self.predicted[:, -1]) ** 2)))

    @property
    def taylor_order(self) -> float:
        """The order of f(x + h d) − f(x) − h ∇f · d in h: 2 if the gradient is right, 1 if not."""
        return float(np.polyfit(np.arange(len(self.remainders)), -np.log2(self.remainders), 1)[0])


def load() -> Sea:
    """The Strait of Georgia from Matplotlib's sample of the world's topography; shallows of 5 m count as land."""
    data = get_sample_data("topobathy.npz")
    rows, columns = slice(40, 91), slice(20, 101)
    topography = data["topo"][rows, columns].astype(np.float64)
    return Sea(np.where(topography < -5, -topography, 0.0), data["longitude"][columns], data["latitude"][rows])


def fitting(a: np.ndarray, device: xpgrad.Device) -> np.ndarray:
    """Return `a`, converted to 32 bits if `device` lacks its dtype; JAX has 64 bits only if enabled."""
    here = xp.__array_namespace_info__().dtypes(device=device)
    return a if a.dtype.name in here else a.astype(NARROW[a.dtype.name])


def simulate(surface: Any, sides: list[Any], cells: Any, steps: int, segment: int | None) -> Any:
    """Readings of the surface at `cells`, shape (steps, gauges), from water at rest; checkpointed by `segment`."""
    speed_u, speed_v, friction_u, friction_v = sides
    rim_u, rim_v = xp.zeros_like(surface[:, :1]), xp.zeros_like(surface[:1, :])

    def advance(surface: Any, u: Any, v: Any, steps: int) -> tuple[Any, Any, Any, Any]:
        readings = []
        for _ in range(steps):
            u = (u - xp.diff(surface, axis=1) * speed_u) / (1 + xp.abs(u) * friction_u)
            v = (v - xp.diff(surface, axis=0) * speed_v) / (1 + xp.abs(v) * friction_v)
            surface = surface - xp.diff(u, axis=1, prepend=rim_u, append=rim_u)
            surface = surface - xp.diff(v, axis=0, prepend=rim_v, append=rim_v)
            readings.append(xp.take(xp.reshape(surface, (-1,)), cells))
        return surface, u, v, xp.stack(readings)

    run = advance if segment is None else checkpoint(advance)
    u, v, records = xp.zeros_like(speed_u), xp.zeros_like(speed_v), []
    for begin in range(0, steps, segment or steps):
        surface, u, v, record = run(surface, u, v, min(segment or steps, steps - begin))
        records.append(record)
    return xp.concat(records)


def objective(surface: Any, wet: Any, sides: list[Any], cells: Any, records: Any, segment: int | None) -> Any:
    """Half the squared misfit to `records`, in standard deviations, and a price for steep and for high surfaces."""
    surface = surface * wet
    misfit = (simulate(surface, sides, cells, records.shape[0], segment) - records) / NOISE
    slopes = xp.sum(xp.diff(surface, axis=0) ** 2) + xp.sum(xp.diff(surface, axis=1) ** 2)
    return (xp.sum(misfit**2) + SMOOTHNESS * (slopes + xp.sum(surface**2) / 25)) / 2


def source(sea: Sea) -> np.ndarray:
    """Return the invented event: an uplift of 1 m in the middle of the strait, next to a trough of 0.6 m."""
    bells = []
    for longitude, latitude in ((236.42, 49.2), (236.2, 49.32)):
        east, north = (sea.longitude - longitude) * np.cos(np.radians(latitude)), sea.latitude - latitude
        bells.append(np.exp(-(east**2 + north[:, None] ** 2) / (2 * 0.06**2)))
    return (bells[0] - 0.6 * bells[1]) * (sea.depth > 0)


def run(
    device: str | None = None,
    minutes: int = 40,
    dt: float = 20.0,
    iterations: int = 60,
    seed: int = 0,
    *,
    compiled: bool = False,
) -> Result:
    """Find the source from so many minutes of records, in time steps of `dt` seconds."""
    rng, target = np.random.default_rng(seed), xpgrad.get_device(device)
    sea, steps = load(), round(60 * minutes / dt)
    truth, segment = source(sea), max(1, round((steps / 2) ** 0.5))

    def sent(*arrays: np.ndarray) -> list[Any]:
        return target.send([fitting(a, target) for a in arrays])

    (surface, wet, cells), sides = sent(truth, (sea.depth > 0) * 1.0, sea.cells()), sent(*sea.sides(dt))
    with xpgrad.no_backprop_mode():
        finer = simulate(xpgrad.Variable(surface), sent(*sea.sides(dt / 2)), cells, 2 * steps, None)
        records = finer.to_cpu().array[1::2] + NOISE * rng.standard_normal((steps, len(GAUGES)))
    args = (wet, sides, cells[:-1], *sent(records[:, :-1]))

    like = fitting(truth, target)
    f = xpgrad.compile(objective) if compiled else objective
    loss = gradients = Timed(xpgrad.scipy.value_and_grad(f, like=like, device=target))
    rest, unravel = xpgrad.scipy.ravel(np.zeros_like(like), target)
    options = {"maxiter": iterations, "maxcor": 30}
    x = minimize(loss, rest, args=(*args, segment), jac=True, method="L-BFGS-B", options=options).x
    with xpgrad.no_backprop_mode():
        found = xpgrad.Variable(unravel(x)) * wet
        predicted = simulate(found, sides, cells, steps, None).to_cpu().array

    halfway = x / 2  # at the minimum a gradient that is too long would not show
    (value, gradient), remainders = loss(halfway, *args, segment), []
    direction = rng.standard_normal(x.shape)
    for h in (1e-5 if like.dtype == np.float64 else 1e-1) / 2.0 ** np.arange(5):
        ahead, _ = loss(halfway + h * direction, *args, segment)
        remainders.append(abs(ahead - value - h * float(gradient @ direction)))
    peaks = []
    for size in (None, segment):
        if compiled:
            for _ in range(2):  # a compiled function is traced in two calls
                loss(x, *args, size)
        tracemalloc.start()
        loss(x, *args, size)
        peaks.append(tracemalloc.get_traced_memory()[1] / 2**20)
        tracemalloc.stop()
    return Result(sea, truth, found.to_cpu().array, records, predicted, minutes, remainders, *peaks, gradients)


def picture(name: str) -> Path:
    """File for the drawing; a path that cannot be written is rejected before the computation."""
    from matplotlib.figure import Figure

    path, formats = Path(name), Figure().canvas.get_supported_filetypes()
    if (path.suffix[1:].lower() or "png") in formats and path.parent.is_dir() and os.access(path.parent, os.W_OK):
        return path
    raise argparse.ArgumentTypeError(f"{name} cannot be written: expected one of {', '.join(formats)}, in a folder")


def draw(result: Result, plot: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 5.5), layout="constrained")
    maps, below = figure.subfigures(2, 1, height_ratios=(3, 2))
    sea, cells = result.sea, result.sea.cells()
    rows, columns = np.divmod(cells, len(sea.longitude))
    for axes, name in zip(maps.subplots(1, 2), ("truth", "found"), strict=True):
        water = np.where(sea.depth > 0, getattr(result, name), np.nan)
        image = axes.pcolormesh(sea.longitude - 360, sea.latitude, water, cmap="RdBu_r", vmin=-1, vmax=1)
        axes.plot(sea.longitude[columns[:-1]] - 360, sea.latitude[rows[:-1]], "k^", markersize=4)
        axes.plot(sea.longitude[columns[-1:]] - 360, sea.latitude[rows[-1:]], "g^", markersize=6)
        axes.set(title=f"surface at the start, {name}", facecolor="lightgray", aspect=1.5)
    maps.colorbar(image, ax=axes, label="m")
    axes = below.subplots()
    minutes = np.linspace(0, result.minutes, len(result.records) + 1)[1:]
    axes.plot(minutes, result.records[:, -1], "k.", markersize=2, label="record that was held back")
    axes.plot(minutes, result.predicted[:, -1], color="tab:green", label="from the source that was found")
    axes.set(xlabel="minutes", ylabel="m", title=f"{list(GAUGES)[-1]} (green triangle)")
    axes.legend()
    figure.savefig(plot, dpi=70)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", help="where to compute; by default XPGRAD_DEVICE, or NumPy (see `xpgrad devices`)")
    parser.add_argument("--quick", action="store_true", help="25 minutes, fewer iterations")
    parser.add_argument("--seed", type=int, default=0, help="of the noise")
    parser.add_argument("--plot", type=picture, help="draw the source and the record that was held back into this file")
    parser.add_argument(
        "--compile", action="store_true", help="run the gradients as programs; the results are the same"
    )
    options = parser.parse_args()
    result = run(options.device, seed=options.seed, **(QUICK if options.quick else {}), compiled=options.compile)
    print(f"Taylor remainders of the gradient fall with step^{result.taylor_order:.3f}")
    print(f"peak memory of a gradient: plain {result.plain_peak:.1f} MiB, checkpointed {result.peak:.1f} MiB")
    print(f"error of the source: {result.error:.3f} of its length")
    print(f"held-back gauge: RMSE {100 * result.held_back_rmse:.1f} cm of {100 * result.held_back_rms:.1f} cm")
    print(f"gradients for the fit: {result.gradients}")
    if options.plot:
        draw(result, options.plot)


if __name__ == "__main__":
    main()
