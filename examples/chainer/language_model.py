"""An LSTM predicts the next word of the Python Language Reference: backpropagation through time, truncated.

The state passes from one window of words to the next; `unchain_backward` ends the graph between windows. The result is
the perplexity of the last tenth of the text, compared with the perplexity of predictions from the words' frequencies.

    python examples/chainer/language_model.py --plot text.png
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import common
import numpy as np

import xpgrad as chainer
import xpgrad.functions as F
import xpgrad.links as L

BATCH, WINDOW, UNITS, UNKNOWN = 20, 25, 160, "<unknown>"
QUICK = {"epochs": 1, "limit": 3}


class RNNForLM(chainer.Chain):
    """Word vectors, two layers of LSTM, and logits of the next word."""

    def __init__(self, words: int, units: int = UNITS) -> None:
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(words, units)
            self.l1 = L.LSTM(units, units)
            self.l2 = L.LSTM(units, units)
            self.l3 = L.Linear(units, words)
        for param in self.params():
            param.array[...] = np.random.default_rng(0).uniform(-0.1, 0.1, param.shape)

    def reset_state(self) -> None:
        """Forget all words."""
        self.l1.reset_state()
        self.l2.reset_state()

    def forward(self, x: Any) -> chainer.Variable:
        h1 = self.l1(F.dropout(self.embed(x), ratio=0.4))
        h2 = self.l2(F.dropout(h1, ratio=0.4))
        return self.l3(F.dropout(h2, ratio=0.4))


class Result(NamedTuple):
    """Losses of windows, perplexities of the held-out text after each epoch and for frequencies, and a sample."""

    losses: list[float]
    perplexities: list[float]
    by_frequency: float
    sample: str


def text() -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Return the text to learn and that held out, as numbers of words, and the words; rare ones are one word."""
    found = common.words()
    cut = len(found) * 9 // 10
    frequent = [word for word, n in Counter(found[:cut]).items() if n >= 3]
    vocabulary = [UNKNOWN, *sorted(frequent)]
    number = {word: i for i, word in enumerate(vocabulary)}
    numbers = np.asarray([number.get(word, 0) for word in found], np.int32)
    return numbers[:cut], numbers[cut:], vocabulary


def windows(numbers: np.ndarray, batch: int, length: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield words and the words after them, shape (length, batch): `batch` parts of the text are read at a time."""
    rows = len(numbers) // batch
    columns = numbers[: rows * batch].reshape(batch, rows).T
    for start in range(0, rows - length, length):
        yield columns[start : start + length], columns[start + 1 : start + length + 1]


class State:
    """States of both layers in Variables, which a program reads and stores at each call."""

    def __init__(self, model: RNNForLM, device: Any) -> None:
        self.layers = (model.l1, model.l2)
        zeros = np.zeros((BATCH, UNITS), np.float32)
        self.kept = [[chainer.Variable(device.send(zeros), requires_grad=False) for _ in range(2)] for _ in self.layers]

    def enter(self) -> None:
        """Give each layer its state."""
        for layer, state in zip(self.layers, self.kept, strict=True):
            layer.set_state(*state)

    def keep(self) -> None:
        """Store the states of the layers."""
        for layer, state in zip(self.layers, self.kept, strict=True):
            for kept, new in zip(state, (layer.c, layer.h), strict=True):
                kept.array = new.array

    def clear(self) -> None:
        """Forget all words."""
        for state in self.kept:
            for kept in state:
                kept.array = 0.0 * kept.array


def perplexity(model: L.Classifier, numbers: np.ndarray, device: Any) -> float:
    """Return the exponential of the mean loss of a word."""
    model.predictor.reset_state()
    with chainer.using_config("train", False), chainer.no_backprop_mode():
        found = [float(model(*device.send((xs[0], ts[0]))).array) for xs, ts in windows(numbers, 4, 1)]
    return float(np.exp(np.mean(found)))


def written(model: RNNForLM, vocabulary: list[str], device: Any, rng: np.random.Generator, count: int = 40) -> str:
    """Return words drawn one after the other."""
    host = chainer.get_device("@numpy")
    model.reset_state()
    made = ["the"]
    with chainer.using_config("train", False), chainer.no_backprop_mode():
        for _ in range(count):
            x = device.send(np.asarray([vocabulary.index(made[-1])], np.int32))
            p = np.array(host.send(F.softmax(model(x)).array)[0], np.float64)
            p[0] = 0
            made.append(vocabulary[rng.choice(len(p), p=p / p.sum())])
    return " ".join(made)


def run(
    device: str = "@numpy",
    epochs: int = 8,
    seed: int = 0,
    limit: int | None = None,
    *,
    compiled: bool = False,
    quiet: bool = True,
) -> Result:
    """Train the model; `limit` is the maximum number of steps in an epoch."""
    target, rng = chainer.get_device(device), np.random.default_rng(seed)
    chainer.random.seed(seed)
    train, held_out, vocabulary = text()
    model = L.Classifier(RNNForLM(len(vocabulary)))
    model.compute_accuracy = False
    model.to_device(target)
    rnn = model.predictor
    optimizer = chainer.optimizers.Adam(alpha=3e-3).setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.GradientClipping(5))
    state = State(rnn, target)

    def window(xs: Any, ts: Any) -> Any:
        loss: Any = 0.0
        for i in range(WINDOW):
            loss = loss + model(xs[i], ts[i])
        return loss / WINDOW

    def step(xs: Any, ts: Any) -> Any:
        loss = window(xs, ts)
        model.cleargrads()
        loss.backward()
        loss.unchain_backward()
        optimizer.update()
        return loss.array

    def whole(xs: Any, ts: Any) -> Any:
        state.enter()
        loss = window(xs, ts)
        state.keep()
        return loss

    program = optimizer.compile(whole) if compiled else step
    counts = np.bincount(train, minlength=len(vocabulary)) + 1.0
    by_frequency = float(np.exp(-np.log(counts / counts.sum())[held_out].mean()))

    curve: list[float] = []
    perplexities: list[float] = []
    parts = list(windows(train, BATCH, WINDOW))[:limit]
    bar = common.Bar(quiet)
    steps = bar.over(range(epochs * len(parts)), epochs * len(parts), lambda: f"loss {np.mean(curve[-100:]):.3f}")
    for i in steps:
        if i % len(parts) == 0:
            rnn.reset_state()
            state.clear()
            optimizer.alpha = 3e-3 * 0.8 ** (i // len(parts))
        curve.append(float(program(*target.send(parts[i % len(parts)]))))
        if (i + 1) % len(parts) == 0:
            held = held_out if limit is None else held_out[:100]
            perplexities.append(perplexity(model, held, target))
            rnn.reset_state()
    return Result(curve, perplexities, by_frequency, written(rnn, vocabulary, target, rng))


def draw(result: Result, plot: Any) -> None:
    """Draw losses and perplexities."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 2.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    common.losses(left, result.losses, "loss", 50)
    right.plot(range(1, len(result.perplexities) + 1), result.perplexities, ".-", label="LSTM")
    right.axhline(result.by_frequency, color="gray", ls=":", label="frequencies")
    right.set(xlabel="epoch", ylabel="perplexity, held out", yscale="log")
    right.legend()
    figure.savefig(plot, dpi=80)


def main() -> None:
    options = common.options(__doc__, epochs=8)
    size = QUICK if options.quick else {"epochs": options.epochs}
    result = run(options.device, seed=options.seed, compiled=options.compile, quiet=False, **size)
    print(f"perplexity of the text held out: {result.perplexities[-1]:.1f}, by frequency {result.by_frequency:.1f}")
    print(result.sample)
    if options.plot:
        draw(result, options.plot)


if __name__ == "__main__":
    main()
