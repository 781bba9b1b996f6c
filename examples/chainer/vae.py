"""A variational autoencoder of handwritten digits (Kingma, Welling, Auto-encoding variational Bayes, 2014).

Pixels are probabilities; the bound is in nats per scan. It is compared with a code that uses the mean of each pixel,
and with the entropy of the gray pixels, which is a lower limit for every code.

    python examples/chainer/vae.py --plot vae.png
"""

from typing import Any, NamedTuple

import common
import numpy as np

import xpgrad as chainer
import xpgrad.functions as F
import xpgrad.links as L

BATCH = 64
QUICK = {"epochs": 1}


class VAE(chainer.Chain):
    """Encoder to `latent` normal numbers, and decoder to logits of the pixels."""

    def __init__(self, latent: int = 8, hidden: int = 256, pixels: int = 64) -> None:
        super().__init__()
        self.latent = latent
        with self.init_scope():
            self.encoder = L.Linear(pixels, hidden)
            self.mean = L.Linear(hidden, latent)
            self.ln_var = L.Linear(hidden, latent)
            self.decoder1 = L.Linear(latent, hidden)
            self.decoder2 = L.Linear(hidden, pixels)

    def encode(self, x: Any) -> tuple[chainer.Variable, chainer.Variable]:
        h = F.tanh(self.encoder(x))
        return self.mean(h), self.ln_var(h)

    def decode(self, z: Any) -> chainer.Variable:
        return self.decoder2(F.tanh(self.decoder1(z)))

    def forward(self, x: Any, samples: int = 1) -> chainer.Variable:
        """Return the negative evidence lower bound, in nats per scan."""
        mean, ln_var = self.encode(x)
        misfit: Any = 0.0
        for _ in range(samples):
            misfit = misfit + F.bernoulli_nll(x, self.decode(F.gaussian(mean, ln_var)))
        return (misfit / samples + F.gaussian_kl_divergence(mean, ln_var)) / len(x)


class Result(NamedTuple):
    """Bounds at each step, and held-out bounds after each epoch; nats for pixel means and entropy; scans and
    samples."""

    losses: list[float]
    bounds: list[float]
    by_means: float
    entropy: float
    originals: np.ndarray
    decoded: np.ndarray
    samples: np.ndarray


def nats(x: np.ndarray, p: np.ndarray) -> float:
    """Return the nats per scan that it takes to code pixels by probabilities."""
    p = np.clip(p, 1e-6, 1 - 1e-6, dtype=np.float64)
    return float(-(x * np.log(p) + (1 - x) * np.log(1 - p)).sum() / len(x))


def run(
    device: str = "@numpy", epochs: int = 120, seed: int = 0, *, compiled: bool = False, quiet: bool = True
) -> Result:
    """Train the autoencoder, and draw samples."""
    target, rng = chainer.get_device(device), np.random.default_rng(seed)
    chainer.random.seed(seed)
    x, _, x_test, _ = (a.reshape(len(a), -1) if a.ndim > 1 else a for a in common.digits())
    held_out = target.send(x_test)
    model = VAE()
    model.to_device(target)
    optimizer = chainer.optimizers.Adam(alpha=1e-3).setup(model)
    step = common.stepper(optimizer, model, compiled)
    curve: list[float] = []
    bounds: list[float] = []
    bar = common.Bar(quiet)
    for _ in bar.over(range(epochs), epochs, lambda: f"bound {bounds[-1]:.2f} nats"):
        for batch in common.batches(len(x), BATCH, rng):
            curve.append(float(step(target.send(x[batch]))))
        with chainer.using_config("train", False), chainer.no_backprop_mode():
            bounds.append(float(model(held_out, samples=4).array))

    host = chainer.get_device("@numpy")
    with chainer.no_backprop_mode():
        decoded = F.sigmoid(model.decode(model.encode(held_out[:20])[0])).array
        z = target.send(rng.standard_normal((40, model.latent)).astype(np.float32))
        samples = F.sigmoid(model.decode(z)).array
    images = [a.reshape(-1, 1, 8, 8) for a in (x_test[:20], *host.send((decoded, samples)))]
    return Result(curve, bounds, nats(x_test, x.mean(axis=0)), nats(x_test, x_test), *images)


def draw(result: Result, plot: Any) -> None:
    """Draw the bounds, held-out scans with their reconstructions, and samples."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 2.8), layout="constrained")
    left, middle, right = figure.subplots(1, 3, width_ratios=(1.2, 1, 1))
    left.plot(range(1, len(result.bounds) + 1), result.bounds, label="held out")
    left.axhline(result.by_means, color="gray", ls=":", label="pixel means")
    left.axhline(result.entropy, color="gray", ls="--", label="entropy of the pixels")
    left.set(xlabel="epoch", ylabel="nats per scan")
    left.legend()
    pairs = np.concatenate([result.originals.reshape(2, 10, 1, 8, 8), result.decoded.reshape(2, 10, 1, 8, 8)], axis=1)
    common.pictures(middle, pairs.reshape(40, 1, 8, 8))
    middle.set_title("scans, and below them decoded", fontsize=9)
    common.pictures(right, result.samples)
    right.set_title("samples", fontsize=9)
    figure.savefig(plot, dpi=80)


def main() -> None:
    options = common.options(__doc__, epochs=120)
    epochs = QUICK["epochs"] if options.quick else options.epochs
    result = run(options.device, epochs, options.seed, compiled=options.compile, quiet=False)
    print(f"bound on the scans held out: {result.bounds[-1]:.2f} nats")
    print(f"by pixel means: {result.by_means:.2f} nats, entropy of the pixels: {result.entropy:.2f}")
    if options.plot:
        draw(result, options.plot)


if __name__ == "__main__":
    main()
