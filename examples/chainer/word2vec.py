"""Word vectors: skip-grams with negative sampling (Mikolov et al., 2013) on the Python Language Reference.

The result is the fraction of held-out pairs of neighbouring words that score higher than the same word with a word
drawn from the distribution of the negative samples: 50 % by chance.

    python examples/chainer/word2vec.py --plot words.png
"""

from collections import Counter
from typing import Any, NamedTuple

import common
import numpy as np

import xpgrad as chainer
import xpgrad.links as L

BATCH, WINDOW, UNITS, NEGATIVES, POWER = 512, 4, 64, 5, 0.75
QUICK = {"steps": 5}
SHOWN = ("list", "function", "class", "import", "except", "integer", "loop", "string")


class SkipGram(chainer.Chain):
    """Vectors of words, and of words as neighbours."""

    def __init__(self, counts: np.ndarray) -> None:
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(len(counts), UNITS, initialW=chainer.initializers.Uniform(1.0 / UNITS))
            self.loss_func = L.NegativeSampling(UNITS, counts, NEGATIVES, POWER)

    def forward(self, x: Any, context: Any) -> chainer.Variable:
        return self.loss_func(self.embed(x), context) / len(x)


class Result(NamedTuple):
    """Losses, the share of held-out pairs that score higher, the words, and their vectors."""

    losses: list[float]
    share: float
    share_before: float
    vocabulary: list[str]
    vectors: np.ndarray

    def near(self, word: str, count: int = 6) -> list[str]:
        """Return the words whose vectors have the smallest angles with the vector of `word`."""
        units = self.vectors / np.linalg.norm(self.vectors, axis=1, keepdims=True)
        order = np.argsort(-units @ units[self.vocabulary.index(word)])
        return [self.vocabulary[i] for i in order[1 : count + 1]]


def text() -> tuple[np.ndarray, list[str], np.ndarray]:
    """Return the text as numbers of words, the words, and how often each occurs; rare words are left out."""
    found = [word for word in common.words() if word[0].isalpha()]
    counts = Counter(found)
    vocabulary = sorted(word for word, n in counts.items() if n >= 5)
    number = {word: i for i, word in enumerate(vocabulary)}
    return (
        np.asarray([number[word] for word in found if word in number], np.int32),
        vocabulary,
        np.asarray([counts[word] for word in vocabulary]),
    )


def pairs(numbers: np.ndarray) -> np.ndarray:
    """Return all pairs of words that are at most `WINDOW` apart, shape (N, 2)."""
    near = [np.stack([numbers[d:], numbers[:-d]], 1) for d in range(1, WINDOW + 1)]
    return np.concatenate([*near, *(pair[:, ::-1] for pair in near)])


def run(
    device: str = "@numpy", steps: int = 6000, seed: int = 0, *, compiled: bool = False, quiet: bool = True
) -> Result:
    """Learn the vectors on nine tenths of the text, and test them on the last tenth."""
    target, host = chainer.get_device(device), chainer.get_device("@numpy")
    rng = np.random.default_rng(seed)
    chainer.random.seed(seed)
    numbers, vocabulary, counts = text()
    cut = len(numbers) * 9 // 10
    train, held_out = pairs(numbers[:cut]), pairs(numbers[cut:])
    model = SkipGram(counts)
    model.to_device(target)
    optimizer = chainer.optimizers.Adam(alpha=3e-3).setup(model)
    step = common.stepper(optimizer, model, compiled)

    chances = counts**POWER / (counts**POWER).sum()
    others = rng.choice(len(counts), len(held_out), p=chances)

    def share() -> float:
        vectors, neighbours = (host.send(W.array) for W in (model.embed.W, model.loss_func.W))
        given = vectors[held_out[:, 0]]
        right, wrong = (np.einsum("ij,ij->i", given, neighbours[i]) for i in (held_out[:, 1], others))
        return float((right > wrong).mean() + (right == wrong).mean() / 2)

    before, curve = share(), list[float]()
    bar = common.Bar(quiet)
    for i in bar.over(range(steps), steps, lambda: f"loss {np.mean(curve[-100:]):.3f}"):
        optimizer.alpha = 3e-3 * (1 - i / steps)
        batch = target.send(train[rng.integers(len(train), size=BATCH)])
        curve.append(float(step(batch[:, 0], batch[:, 1])))
    return Result(curve, share(), before, vocabulary, host.send(model.embed.W.array))


def draw(result: Result, plot: Any) -> None:
    """Draw the losses, and the vectors of frequent words on their two main axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.6))
    common.losses(left, result.losses, "loss", 100)
    chosen = sorted({near for word in SHOWN for near in (word, *result.near(word, 4))})
    rows = result.vectors[[result.vocabulary.index(word) for word in chosen]]
    centred = rows - rows.mean(axis=0)
    places = centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T
    right.scatter(*places.T, s=4)
    for word, (x, y) in zip(chosen, places, strict=True):
        right.annotate(word, (x, y), fontsize=7)
    right.set_xticks([])
    right.set_yticks([])
    figure.savefig(plot, dpi=80)


def main() -> None:
    options = common.options(__doc__, steps=6000)
    steps = QUICK["steps"] if options.quick else options.steps
    result = run(options.device, steps, options.seed, compiled=options.compile, quiet=False)
    print(f"held-out neighbours that score higher than others: {result.share:.1%} ({result.share_before:.1%} before)")
    for word in SHOWN:
        print(f"{word:10} {', '.join(result.near(word))}")
    if options.plot:
        draw(result, options.plot)


if __name__ == "__main__":
    main()
