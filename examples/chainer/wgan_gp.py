"""A generator of handwritten digits: Wasserstein GAN with gradient penalty (Gulrajani et al., 2017).

The penalty is a function of the critic's gradient, so the critic's step differentiates a gradient. Samples are judged
by the energy distance to scans that neither net has seen; the energy distance of the training scans is the best
possible value.

    python examples/chainer/wgan_gp.py --plot wgan.png
"""

from typing import Any, NamedTuple

import common
import numpy as np

import xpgrad as chainer
import xpgrad.functions as F
import xpgrad.links as L

BATCH, LATENT, CRITIC_STEPS, PENALTY = 64, 16, 3, 10.0
QUICK = {"steps": 3}


class Generator(chainer.Chain):
    """Map normal numbers to images, with two transposed convolutions."""

    def __init__(self) -> None:
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(LATENT, 64 * 2 * 2)
            self.deconv2 = L.Deconvolution2D(64, 32, ksize=4, stride=2, pad=1)
            self.deconv3 = L.Deconvolution2D(32, 1, ksize=4, stride=2, pad=1)
            self.bn1 = L.BatchNormalization(64 * 2 * 2)
            self.bn2 = L.BatchNormalization(32)

    def forward(self, z: Any) -> chainer.Variable:
        h = F.relu(self.bn1(self.l1(z)))
        h = F.relu(self.bn2(self.deconv2(F.reshape(h, (len(z), 64, 2, 2)))))
        return F.sigmoid(self.deconv3(h))


class Critic(chainer.Chain):
    """Map images to numbers, with two convolutions; normalization would make images of a batch depend on each other."""

    def __init__(self) -> None:
        super().__init__()
        with self.init_scope():
            self.conv1 = L.Convolution2D(1, 32, ksize=3, stride=2, pad=1)
            self.conv2 = L.Convolution2D(32, 64, ksize=3, stride=2, pad=1)
            self.l3 = L.Linear(None, 1)

    def forward(self, x: Any) -> chainer.Variable:
        h = F.leaky_relu(self.conv1(x))
        return self.l3(F.leaky_relu(self.conv2(h)))


class Result(NamedTuple):
    """Estimated Wasserstein distances at the critic's steps, energy distances to held-out scans, and samples."""

    distances: list[float]
    energies: list[float]
    energy_of_training: float
    energy_of_noise: float
    samples: np.ndarray


def critic_loss(generator: Generator, critic: Critic, x: Any, z: Any, mix: Any) -> chainer.Variable:
    """Return minus the estimated distance, plus the penalty of gradients whose norm is not 1."""
    fake = generator(z)
    fake.unchain_backward()
    between = mix * x + (1 - mix) * fake
    (slope,) = chainer.grad([critic(between)], [between], enable_double_backprop=True)
    norms = F.sqrt(F.sum(slope**2, axis=(1, 2, 3)))
    return F.mean(critic(fake)) - F.mean(critic(x)) + PENALTY * F.mean((norms - 1) ** 2)


def energy_distance(a: np.ndarray, b: np.ndarray) -> float:
    """Return the energy distance of two sets of images, shape (N, ...), which is 0 for equal distributions."""
    a, b = a.reshape(len(a), -1), b.reshape(len(b), -1)

    def mean_distance(p: np.ndarray, q: np.ndarray) -> float:
        squares = (p**2).sum(1)[:, None] + (q**2).sum(1) - 2 * p @ q.T
        return float(np.sqrt(np.maximum(squares, 0)).mean())

    return 2 * mean_distance(a, b) - mean_distance(a, a) - mean_distance(b, b)


def run(
    device: str = "@numpy", steps: int = 1500, seed: int = 0, *, compiled: bool = False, quiet: bool = True
) -> Result:
    """Train both nets, the critic `CRITIC_STEPS` times as often."""
    target, host = chainer.get_device(device), chainer.get_device("@numpy")
    rng = np.random.default_rng(seed)
    chainer.random.seed(seed)
    x, _, x_test, _ = common.digits()
    generator, critic = Generator(), Critic()
    for model in (generator, critic):
        model.to_device(target)
    of_generator = chainer.optimizers.Adam(alpha=1e-3, beta1=0.5, beta2=0.9).setup(generator)
    of_critic = chainer.optimizers.Adam(alpha=1e-3, beta1=0.5, beta2=0.9).setup(critic)
    criticise = common.stepper(of_critic, lambda *args: critic_loss(generator, critic, *args), compiled)
    generate = common.stepper(of_generator, lambda z: -F.mean(critic(generator(z))), compiled)

    def noise(count: int) -> Any:
        return target.send(rng.standard_normal((count, LATENT)).astype(np.float32))

    def samples(count: int) -> np.ndarray:
        with chainer.using_config("train", False), chainer.no_backprop_mode():
            made: np.ndarray = host.send(generator(noise(count)).array)
        return made

    distances: list[float] = []
    energies: list[float] = []
    bar = common.Bar(quiet)
    for step in bar.over(range(steps), steps, lambda: f"energy distance {energies[-1]:.3f}"):
        for _ in range(CRITIC_STEPS):
            images = target.send(x[rng.choice(len(x), BATCH)])
            mix = target.send(rng.random((BATCH, 1, 1, 1), np.float32))
            distances.append(-float(criticise(images, noise(BATCH), mix)))
        generate(noise(BATCH))
        if step % 50 == 0 or step == steps - 1:
            energies.append(energy_distance(samples(len(x_test)), x_test))
    unlike = rng.random(x_test.shape, np.float32)
    return Result(distances, energies, energy_distance(x, x_test), energy_distance(unlike, x_test), samples(60))


def draw(result: Result, plot: Any) -> None:
    """Draw both distances, and samples."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 2.8), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    common.losses(left, result.distances, "critic's distance")
    middle.semilogy(
        np.minimum(50 * np.arange(len(result.energies)), len(result.distances) // CRITIC_STEPS), result.energies
    )
    middle.axhline(result.energy_of_training, color="gray", ls=":", label="training scans")
    middle.set(xlabel="step of the generator", ylabel="energy distance, held out")
    middle.legend()
    common.pictures(right, result.samples)
    right.set_title("samples", fontsize=9)
    figure.savefig(plot, dpi=80)


def main() -> None:
    options = common.options(__doc__, steps=1500)
    steps = QUICK["steps"] if options.quick else options.steps
    result = run(options.device, steps, options.seed, compiled=options.compile, quiet=False)
    print(f"energy distance to the scans held out: {result.energies[0]:.3f} at the start, {result.energies[-1]:.3f}")
    print(f"that of the training scans: {result.energy_of_training:.3f}, of noise: {result.energy_of_noise:.3f}")
    if options.plot:
        draw(result, options.plot)


if __name__ == "__main__":
    main()
