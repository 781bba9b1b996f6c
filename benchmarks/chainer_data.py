"""Small random data sets in the formats of Chainer's cache and of its examples."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

WORDS = 1000
NAMES, PLACES = ("Mary", "John", "Daniel", "Sandra"), ("office", "kitchen", "garden", "hallway", "bedroom")


def write(folder: Path) -> None:
    """Write MNIST, CIFAR-10, the Penn Treebank, bAbI (``babi-*.txt``) and trees of sentiment (``trees``)."""
    rng = np.random.default_rng(0)
    root = folder / "pfnet/chainer"
    for name in ("mnist", "cifar", "ptb"):
        (root / name).mkdir(parents=True)
    for name, count in (("train", 2000), ("test", 200)):
        np.savez(root / f"mnist/{name}.npz", x=rng.integers(0, 256, (count, 784), np.uint8), y=_labels(rng, count))
    pictures: dict[str, Any] = {}
    for name, count in (("train", 1000), ("test", 100)):
        pictures[f"{name}_x"] = rng.integers(0, 256, (count, 3072), np.uint8)
        pictures[f"{name}_y"] = _labels(rng, count)
    np.savez(root / "cifar/cifar-10.npz", **pictures)
    for name, count in (("train", 30_000), ("valid", 1500), ("test", 500)):
        words = np.minimum(rng.geometric(0.005, count), WORDS) - 1
        words[:WORDS] = np.arange(WORDS)[:count]
        np.savez(root / f"ptb/{name}.npz", x=words.astype(np.int32))
    (root / "ptb/vocab.txt").write_text("".join(f"word{word}\n" for word in range(WORDS)), encoding="utf-8")
    (folder / "trees").mkdir()
    for name, count in (("train", 400), ("dev", 50), ("test", 50)):
        stories = "".join(_story(rng) for _ in range(count))
        (folder / f"babi-{name}.txt").write_text(stories, encoding="utf-8")
        trees = "".join(f"{_tree(rng, int(rng.integers(2, 12)))}\n" for _ in range(count))
        (folder / f"trees/{name}.txt").write_text(trees, encoding="utf-8")


def _labels(rng: np.random.Generator, count: int) -> Any:
    return rng.integers(0, 10, count, np.uint8)


def _chosen(rng: np.random.Generator, words: Sequence[str]) -> str:
    return words[int(rng.integers(len(words)))]


def _story(rng: np.random.Generator) -> str:
    """Return five pairs of a sentence and a question for it."""
    lines = []
    for number in range(1, 11, 2):
        name, place = _chosen(rng, NAMES), _chosen(rng, PLACES)
        lines.append(f"{number} {name} moved to the {place}.\n{number + 1} Where is {name}?\t{place}\t{number}\n")
    return "".join(lines)


def _tree(rng: np.random.Generator, leaves: int) -> str:
    """Return a binary tree of words, each node with a label."""
    label = rng.integers(5)
    if leaves == 1:
        return f"({label} word{rng.integers(WORDS)})"
    left = int(rng.integers(1, leaves))
    return f"({label} {_tree(rng, left)} {_tree(rng, leaves - left)})"
