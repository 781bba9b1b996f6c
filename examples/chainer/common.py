"""Common parts of the programs in this directory: data, command line, progress bar, and a plot of the losses."""

import argparse
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from sklearn.datasets import load_digits

HELD_OUT = 360  # scans for the test only


def digits() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return images (N, 1, 8, 8) from 0 to 1 and labels to train with, then those held out; the split is fixed."""
    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(labels))
    x, t = (images[order] / 16).astype(np.float32).reshape(-1, 1, 8, 8), labels[order].astype(np.int32)
    return x[HELD_OUT:], t[HELD_OUT:], x[:HELD_OUT], t[:HELD_OUT]


def shifted(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return images (N, 1, 8, 8) that are shifted by up to one pixel, three times in ten not at all."""
    framed = np.pad(x[:, 0], ((0, 0), (1, 1), (1, 1)))
    down, right = np.where(rng.random(len(x)) < 0.3, 1, rng.integers(0, 3, (2, len(x))))[..., None]
    rows, columns = np.arange(8) + down, np.arange(8) + right
    return framed[np.arange(len(x))[:, None, None], rows[:, :, None], columns[:, None, :]][:, None]


def words() -> list[str]:
    """Return the words of the Python Language Reference, which every Python carries for `help` (PSF licence).

    In Python 3.11, the text has some 80,000 words, numbers and punctuation marks, 3,500 of them distinct.
    """
    import re
    from pydoc_data.topics import topics

    text = "\n".join(topics[name] for name in sorted(topics))
    return re.findall(r"[a-z_]+|[0-9]+|[.,;:()]", text.lower())


def batches(count: int, size: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Yield the numbers below `count` in random order, `size` at a time, without a smaller last batch."""
    order = rng.permutation(count)
    for start in range(0, count - size + 1, size):
        yield order[start : start + size]


def stepper(optimizer: Any, lossfun: Callable[..., Any], compiled: bool) -> Callable[..., Any]:
    """Return a function that makes one step of training and returns the loss; `compiled`: as one program."""
    if compiled:
        return optimizer.compile(lossfun)

    def step(*args: Any) -> Any:
        optimizer.target.cleargrads()
        loss = lossfun(*args)
        loss.backward()
        optimizer.update()
        return loss.array

    return step


class Bar:
    """A progress bar with the latest value; `quiet` hides it."""

    def __init__(self, quiet: bool) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._progress = Progress(*columns, disable=quiet)

    def over(self, steps: Iterable[Any], total: int, note: Callable[[], str]) -> Iterator[Any]:
        """Yield `steps`, showing ``note()`` after each."""
        with self._progress as progress:
            task = progress.add_task("", total=total)
            for each in steps:
                yield each
                progress.update(task, advance=1, description=note())


def options(document: str | None, **more: Any) -> argparse.Namespace:
    """Return the options of the command line, which all programs have, and `more`: names and defaults."""
    parser = argparse.ArgumentParser(description=(document or "").split("\n")[0])
    parser.add_argument("--device", default="@numpy", help="where to compute; `xpgrad devices` lists them")
    parser.add_argument("--compile", action="store_true", help="run a training step as one program")
    parser.add_argument("--quick", action="store_true", help="a few steps only")
    parser.add_argument("--seed", type=int, default=0, help="of initial weights, order and noise")
    parser.add_argument("--plot", type=Path, help="draw the result into this file")
    for name, default in more.items():
        parser.add_argument(f"--{name}", type=type(default), default=default)
    return parser.parse_args()


def losses(axes: Any, curve: list[float], name: str, window: int = 20) -> None:
    """Plot a curve of losses, averaged over `window` steps."""
    window = min(window, len(curve))
    axes.plot(np.convolve(curve, np.ones(window) / window, "valid"), lw=1)
    axes.set(xlabel="step", ylabel=name)


def pictures(axes: Any, images: np.ndarray, columns: int = 10) -> None:
    """Draw images of shape (N, 1, 8, 8) side by side."""
    rows = len(images) // columns
    tiles = np.pad(images[: rows * columns, 0], ((0, 0), (1, 0), (1, 0)), constant_values=0.3)
    axes.imshow(tiles.reshape(rows, columns, 9, 9).swapaxes(1, 2).reshape(rows * 9, columns * 9), cmap="gray")
    axes.set_axis_off()
