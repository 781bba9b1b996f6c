"""A convolutional net recognizes handwritten digits: Chain, Classifier and Adam, in Chainer's style.

The data are the 1,797 scans of 8 x 8 pixels that scikit-learn carries; 360 of them are held out.

    python examples/chainer/convnet.py --plot convnet.png
"""

from typing import Any, NamedTuple

import common
import numpy as np

import xpgrad as chainer
import xpgrad.functions as F
import xpgrad.links as L

BATCH = 64
QUICK = {"epochs": 1}


class ConvNet(chainer.Chain):
    """Two convolutions of 3 x 3, a maximum over 2 x 2, and two linear layers."""

    def __init__(self) -> None:
        super().__init__()
        with self.init_scope():
            self.conv1 = L.Convolution2D(1, 16, ksize=3, pad=1)
            self.conv2 = L.Convolution2D(16, 32, ksize=3, pad=1)
            self.l1 = L.Linear(None, 128)
            self.l2 = L.Linear(128, 10)

    def forward(self, x: Any) -> chainer.Variable:
        h = F.relu(self.conv1(x))
        h = F.max_pooling_2d(F.relu(self.conv2(h)), 2)
        h = F.dropout(F.relu(self.l1(h)), ratio=0.5)
        return self.l2(h)


class Result(NamedTuple):
    """Losses of the steps, accuracy on the scans held out after each epoch, and the trained model."""

    losses: list[float]
    accuracies: list[float]
    model: L.Classifier


def run(
    device: str = "@numpy", epochs: int = 25, seed: int = 0, *, compiled: bool = False, quiet: bool = True
) -> Result:
    """Train the net."""
    target, rng = chainer.get_device(device), np.random.default_rng(seed)
    chainer.random.seed(seed)
    x, t, x_test, t_test = common.digits()
    held_out = target.send((x_test, t_test))
    model = L.Classifier(ConvNet())
    model.to_device(target)
    optimizer = chainer.optimizers.Adam(alpha=3e-3).setup(model)
    step = common.stepper(optimizer, model, compiled)

    found = Result([], [], model)
    bar = common.Bar(quiet)
    for epoch in bar.over(range(epochs), epochs, lambda: f"accuracy {found.accuracies[-1]:.2%}"):
        optimizer.alpha = 3e-3 * 0.92**epoch
        for batch in common.batches(len(t), BATCH, rng):
            loss = step(*target.send((common.shifted(x[batch], rng), t[batch])))
            found.losses.append(float(loss))
        with chainer.using_config("train", False), chainer.no_backprop_mode():
            model(*held_out)
        found.accuracies.append(float(model.accuracy.array))
    return found


def draw(result: Result, plot: Any) -> None:
    """Draw the losses, the accuracies, and the filters of the first layer."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 2.8), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    common.losses(left, result.losses, "loss")
    left.set_yscale("log")
    middle.plot(range(1, len(result.accuracies) + 1), result.accuracies, ".-")
    middle.set(xlabel="epoch", ylabel="accuracy, held out")
    filters = chainer.get_device("@numpy").send(result.model.predictor.conv1.W.array)
    tiles = np.pad(filters[:, 0], ((0, 0), (1, 0), (1, 0)), constant_values=np.nan)
    right.imshow(tiles.reshape(2, 8, 4, 4).swapaxes(1, 2).reshape(8, 32), cmap="gray")
    right.set_axis_off()
    right.set_title("filters", fontsize=9)
    figure.savefig(plot, dpi=80)


def main() -> None:
    options = common.options(__doc__, epochs=25)
    epochs = QUICK["epochs"] if options.quick else options.epochs
    result = run(options.device, epochs, options.seed, compiled=options.compile, quiet=False)
    print(f"accuracy on the 360 scans held out: {result.accuracies[-1]:.2%}")
    if options.plot:
        draw(result, options.plot)


if __name__ == "__main__":
    main()
