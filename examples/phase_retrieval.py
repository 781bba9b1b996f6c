"""Phase retrieval: a complex image from the magnitudes of its masked Fourier transforms, with complex gradients.

A detector far behind an object counts photons, so it measures |F x|² without the phase. Coded diffraction compensates
for this: the magnitudes are measured for several known masks in front of the object. The object here is complex: its
modulus is a photograph of a pagoda, and its phase a photograph of a flower. Two gradients of real functions of the
complex image find the object:

- the start is the image that sends most of its energy to bright pixels of the detector. It is an eigenvector, found by
  power iteration (Candès, Li, Soltanolkotabi, Phase retrieval via Wirtinger flow, 2015) with the gradient of this
  energy;
- from there Nesterov's descent minimises the misfit of amplitudes (Zhang, Liang, Reshaped Wirtinger flow, 2016).

A gradient is ∂/∂x + i ∂/∂y, the direction of steepest ascent, so a step is `x - rate * gradient`, as for real numbers.

    python examples/phase_retrieval.py --plot pagoda.png

The photographs are scikit-learn's, by danielbuechele (the pagoda) and vultilion (the flower), licensed CC BY 2.0.
"""

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_sample_image

import xpgrad
import xpgrad.array_api as xp
from xpgrad.transforms import grad, value_and_grad

NARROW = {"float64": "float32", "complex128": "complex64", "int64": "int32"}
QUICK = {"size": 52}


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
    """Images, the misfit at each step, and the relative error of the gradient against a difference quotient."""

    original: np.ndarray
    start: np.ndarray
    recovered: np.ndarray
    misfits: list[float]
    gradient_error: float
    ascents: Timed
    descents: Timed

    def error(self, x: np.ndarray) -> float:
        """Return the relative distance of an image from the original."""
        return float(np.linalg.norm(x - self.original) / np.linalg.norm(self.original))


def load(size: int) -> np.ndarray:
    """Return a complex image (size, size), with moduli in [0, 1] and phases in [0, π/2]."""

    def square(name: str) -> np.ndarray:
        gray = load_sample_image(name).mean(axis=2)[:416, 100:516] / 255
        n = 416 // size
        return gray[: n * size, : n * size].reshape(size, n, size, n).mean(axis=(1, 3))

    return square("china.jpg") * np.exp(0.5j * np.pi * square("flower.jpg"))


def fitting(a: np.ndarray, device: xpgrad.Device) -> np.ndarray:
    """Return `a`, converted to 32 bits if `device` lacks its dtype; JAX has 64 bits only if enabled."""
    here = xp.__array_namespace_info__().dtypes(device=device)
    return a if a.dtype.name in here else a.astype(NARROW[a.dtype.name])


def magnitudes(x: Any, masks: Any) -> Any:
    """|F (x · mask)| for each mask, shape (masks, size, size)."""
    return xp.abs(xp.fft.fftn(x * masks, axes=(-2, -1), norm="ortho"))


def misfit(x: Any, masks: Any, measured: Any) -> Any:
    return xp.sum((magnitudes(x, masks) - measured) ** 2) / (2 * masks.shape[0])


def bright_energy(x: Any, masks: Any, bright: Any) -> Any:
    return xp.sum(magnitudes(x, masks) ** 2 * bright) / 2


def aligned(x: np.ndarray, original: np.ndarray) -> np.ndarray:
    """`x` times the phase that brings it closest: magnitudes do not determine a global phase."""
    inner = np.vdot(x, original)
    return x * inner / abs(inner)


def run(
    device: str | None = None,
    size: int = 104,
    masks: int = 6,
    steps: int = 100,
    seed: int = 0,
    *,
    compiled: bool = False,
) -> Result:
    """Recover an image of size × size pixels from the magnitudes for the given number of masks, with 0.1 % noise."""
    rng, target, host = np.random.default_rng(seed), xpgrad.get_device(device), xpgrad.get_device("@numpy")
    original = load(size)
    codes = rng.choice([1, -1, 1j, -1j], (masks, size, size))
    clean = np.abs(np.fft.fft2(codes * original, norm="ortho"))
    measured = np.abs(clean + 1e-3 * clean.mean() * rng.standard_normal(clean.shape))
    bright = 1 - np.exp(-(measured**2) / np.mean(measured**2))  # bounded: few very bright pixels must not decide
    noise = rng.standard_normal((2, size, size)) + 1j * rng.standard_normal((2, size, size))
    codes, measured, bright, x, d = target.send([fitting(a, target) for a in (codes, measured, bright, *noise)])

    ascend, descend = grad(bright_energy), value_and_grad(misfit)
    if compiled:
        ascend, descend = xpgrad.compile(ascend), xpgrad.compile(descend)
    ascend, descend = Timed(ascend), Timed(descend)
    for _ in range(steps):
        x = ascend(x, codes, bright)  # the energy is quadratic in x, so its gradient is linear
        x = x / float(xp.linalg.vector_norm(x))
    x = start = x * (float(xp.sum(measured**2)) / masks) ** 0.5  # masks and transform preserve the energy

    gradient = descend(x, codes, measured)[1]
    slope = float(xp.sum(xp.real(xp.conj(gradient) * d)))
    step = 1e-5 if fitting(clean, target).dtype == np.float64 else 1e-3
    ahead, behind = (float(misfit(xpgrad.Variable(x + h * d), codes, measured).array) for h in (step, -step))

    before, misfits = x, []
    for k in range(steps):
        y = x + k / (k + 3) * (x - before)
        value, gradient = descend(y, codes, measured)
        before, x = x, y - gradient
        misfits.append(float(value))
    pictures = [aligned(host.send(p), original) for p in (start, x)]
    return Result(original, *pictures, misfits, abs((ahead - behind) / (2 * step) / slope - 1), ascend, descend)


def picture(name: str) -> Path:
    """File for the drawing; a path that cannot be written is rejected before the computation."""
    from matplotlib.figure import Figure

    path, formats = Path(name), Figure().canvas.get_supported_filetypes()
    if (path.suffix[1:].lower() or "png") in formats and path.parent.is_dir() and os.access(path.parent, os.W_OK):
        return path
    raise argparse.ArgumentTypeError(f"{name} cannot be written: expected one of {', '.join(formats)}, in a folder")


def draw(result: Result, plot: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.8), layout="constrained")
    for column, name in zip(figure.subplots(2, 3).T, ("original", "start", "recovered"), strict=True):
        picture = getattr(result, name)
        for axes, part in zip(column, (np.abs(picture), np.angle(picture)), strict=True):
            axes.imshow(part, cmap="gray", vmin=0, vmax=np.pi / 2 if axes is column[1] else 1)
            axes.set_axis_off()
        column[0].set_title(f"{name}, error {result.error(picture):.1e}", fontsize=9)
    figure.savefig(plot, dpi=80)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", help="where to compute; by default XPGRAD_DEVICE, or NumPy (see `xpgrad devices`)")
    parser.add_argument("--quick", action="store_true", help="an image of 52 × 52 pixels")
    parser.add_argument("--seed", type=int, default=0, help="of masks, noise and start")
    parser.add_argument("--plot", type=picture, help="draw original, start and recovered image into this file")
    parser.add_argument(
        "--compile", action="store_true", help="run the gradients as programs; the results are the same"
    )
    options = parser.parse_args()
    result = run(options.device, seed=options.seed, **(QUICK if options.quick else {}), compiled=options.compile)
    print(f"gradient against differences   {result.gradient_error:.1e}")
    print(f"error of the start             {result.error(result.start):.1e}")
    for step in range(0, len(result.misfits), 20):
        print(f"misfit at step {step:3}             {result.misfits[step]:.2e}")
    print(f"error of the recovered picture {result.error(result.recovered):.1e}")
    print(f"gradients for the start        {result.ascents}")
    print(f"gradients from there           {result.descents}")
    if options.plot:
        draw(result, options.plot)


if __name__ == "__main__":
    main()
