"""`xpgrad demo`: programs on real data that run on any device."""

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from xpgrad.backend.current import get_device
from xpgrad.errors import BackendUnavailable, SpecifierError

if TYPE_CHECKING:
    from xpgrad.cli.digits import Epoch


class Unusable(click.ClickException):
    """A device that cannot be used; printed in one line, without the command's usage."""

    exit_code = 2


@click.group()
def demo() -> None:
    """Run a program on real data."""


def drawable(_context: click.Context, _parameter: click.Parameter, plot: Path | None) -> Path | None:
    """Return the file of the plot; raise before the training if it cannot be written."""
    if plot is None:
        return None
    try:
        from matplotlib.figure import Figure  # an extra; without pyplot no window system is touched
    except ImportError:
        raise click.ClickException("matplotlib is missing; pip install 'xpgrad[demo]'") from None
    formats = Figure().canvas.get_supported_filetypes()
    if plot.suffix and plot.suffix[1:].lower() not in formats:
        raise click.BadParameter(f"Matplotlib cannot write {plot.suffix}; expected one of {', '.join(sorted(formats))}")
    if not plot.parent.is_dir():
        raise click.BadParameter(f"the folder {plot.parent} does not exist")
    if not os.access(plot if plot.exists() else plot.parent, os.W_OK):
        raise click.BadParameter(f"{plot} cannot be written")
    return plot


@demo.command(short_help="Train a perceptron on scans of digits.")
@click.option("--device", default="@numpy", show_default=True, help="Where to train; `xpgrad devices` lists them.")
@click.option("--epochs", default=30, show_default=True, type=click.IntRange(min=1))
@click.option(
    "--seed", default=0, show_default=True, help="Seed of the initial weights, the order of the scans, and dropout."
)
@click.option(
    "--plot",
    type=click.Path(dir_okay=False, path_type=Path),
    callback=drawable,
    help="Draw the loss curve into this file.",
)
@click.option("--compile", "compiled", is_flag=True, help="Compile the training step; the results are the same.")
def digits(device: str, epochs: int, seed: int, plot: Path | None, compiled: bool) -> None:
    """Train a perceptron on 1,437 scans of handwritten digits, and test it on 360 held-out scans."""
    try:
        target = get_device(device)
    except (SpecifierError, BackendUnavailable, TypeError) as error:
        raise Unusable(str(error)) from None
    try:
        import sklearn  # noqa: F401 - so that a missing library is reported before the progress bar appears
        from threadpoolctl import threadpool_limits  # comes with scikit-learn

        from xpgrad.cli.digits import train
    except ImportError as error:
        raise click.ClickException(f"{error.name} is missing; pip install 'xpgrad[demo]'") from None
    console = Console()
    count, text = TextColumn("epoch {task.completed}/{task.total}"), TextColumn("{task.description}")
    history: list[Epoch] = []
    started = time.perf_counter()
    console.print(f"Learning digits on {target}")
    bar = Progress(count, BarColumn(), text, TimeElapsedColumn(), console=console, transient=True)
    with threadpool_limits(1), bar:  # more threads for matrices this small cost twenty times the time on a busy machine
        task = bar.add_task("", total=epochs)
        for epoch in train(target, epochs, seed, compiled=compiled):
            history.append(epoch)
            line = f"loss {epoch.loss:.4f}  test accuracy {epoch.accuracy:.2%}"
            bar.console.print(f"epoch {epoch.number:3d}  {line}", highlight=False)
            bar.update(task, advance=1, description=line)
    seconds = time.perf_counter() - started
    console.print(f"Test accuracy {history[-1].accuracy:.2%} after {epochs} epochs, {seconds:.1f} s", highlight=False)
    if plot is not None:
        _draw(history, plot, str(target))
        console.print(f"Loss curve: {plot}", highlight=False)


def _draw(history: Sequence["Epoch"], plot: Path, device: str) -> None:
    """Draw loss and accuracy over the epochs."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    left = figure.add_subplot()
    numbers = [epoch.number for epoch in history]
    left.plot(numbers, [epoch.loss for epoch in history], "o-", color="tab:blue", markersize=3)
    left.set(xlabel="epoch", title=f"Handwritten digits on {device}", yscale="log")
    left.set_ylabel("training loss (cross entropy, nats)", color="tab:blue")
    right = left.twinx()
    right.plot(numbers, [100 * epoch.accuracy for epoch in history], "s--", color="tab:orange", markersize=3)
    right.set_ylabel("accuracy on held-out scans (%)", color="tab:orange")
    left.grid(alpha=0.3)
    figure.savefig(plot, dpi=150)
