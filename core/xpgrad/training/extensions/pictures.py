"""A progress bar, curves of observed values, and a drawing of the graph."""

import json
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from typing import Any

from xpgrad.config import using_config
from xpgrad.graph.undo import attributes_restored
from xpgrad.reporter import DictSummary
from xpgrad.serializers.files import written
from xpgrad.training.extension import Extension
from xpgrad.training.triggers import get_trigger, serialize_part
from xpgrad.types import as_list


class ProgressBar(Extension):
    """Progress bars, drawn by rich, for training and the current epoch, with iterations per second and time left.

    Parameters
    ----------
    training_length : (number, "epoch" or "iteration"), optional
        By default the length of the trainer's stop trigger.
    update_interval : int
        The number of iterations between updates.
    bar_length : int
        The width of the bars in characters.
    out : text stream, optional
        By default the standard output. Other output of the program appears above the bars.
    """

    def __init__(
        self, training_length: tuple[float, str] | None = None, update_interval: int = 100, bar_length: int = 50,
        out: Any = None,
    ) -> None:  # fmt: skip
        self._length, self._interval, self._width, self._out = training_length, update_interval, bar_length, out
        self._progress: Any = None

    def initialize(self, trainer: Any) -> None:
        """Show the bars."""
        from rich.console import Console  # takes 50 ms to import
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        if self._length is None:
            length = getattr(trainer.stop_trigger, "get_training_length", None)
            if length is None:
                raise TypeError("ProgressBar: the stop trigger has no length; pass training_length=(n, 'epoch')")
            self._length = length()
        columns = (
            TextColumn("{task.description:>10}"), BarColumn(self._width), TextColumn("{task.percentage:5.1f} %"),
            TextColumn("{task.fields[speed]}"), TimeRemainingColumn(),
        )  # fmt: skip
        self._progress = Progress(*columns, console=Console(file=self._out))
        self._tasks = [self._progress.add_task(title, total=1.0, speed="") for title in ("total", "this epoch")]
        self._start = trainer.updater.iteration, trainer.elapsed_time
        self._progress.start()

    def __call__(self, trainer: Any) -> None:
        """Update the bars."""
        if trainer.updater.iteration % self._interval == 0:
            self._show(trainer)
        self._last = trainer

    def _show(self, trainer: Any) -> None:
        updater, (length, unit) = trainer.updater, self._length or (0, "")
        done, seconds = updater.iteration - self._start[0], trainer.elapsed_time - self._start[1]
        speed = f"{done / seconds:.3g} it/s" if seconds > 0 else ""
        share = (updater.epoch_detail if unit == "epoch" else updater.iteration) / (length or 1)
        total, epoch = self._tasks
        self._progress.update(total, completed=share, speed=f"{updater.iteration} it, {updater.epoch} epochs")
        self._progress.update(epoch, completed=updater.epoch_detail % 1, speed=speed)

    def finalize(self) -> None:
        """Leave the last state of the bars."""
        if self._progress is not None:
            if hasattr(self, "_last"):
                self._show(self._last)
                del self._last
            self._progress.stop()
            self._progress = None


class PlotReport(Extension):
    """Curves of the means of observed values over intervals, saved as a picture.

    Parameters
    ----------
    y_keys : str or sequence of str
        The values.
    x_key : {"iteration", "epoch"}
    trigger : tuple or function of the trainer
        The interval.
    postprocess : function of figure, axes and summary, optional
        It may change the figure before it is saved.
    filename : str
        Below the trainer's directory. `file_name` is Chainer's older name for this argument.
    marker : str or None
        Of matplotlib.
    grid : bool
    """

    writes = True

    def __init__(
        self, y_keys: str | Sequence[str], x_key: str = "iteration", trigger: Any = (1, "epoch"),
        postprocess: Callable[[Any, Any, Any], None] | None = None, filename: str = "plot.png",
        marker: str | None = "x", grid: bool = True, *, file_name: str | None = None,
    ) -> None:  # fmt: skip
        self._keys, self._x_key = [y_keys] if isinstance(y_keys, str) else as_list(y_keys, "keys"), x_key
        self._interval, self._postprocess, self._filename = get_trigger(trigger), postprocess, file_name or filename
        self._marker, self._grid, self._summary = marker, grid, DictSummary()
        self._data: dict[str, list[tuple[float, float]]] = {key: [] for key in self._keys}

    @staticmethod
    def available() -> bool:
        """Return whether matplotlib is installed."""
        from importlib.util import find_spec

        return find_spec("matplotlib") is not None

    def __call__(self, trainer: Any) -> None:
        """Add the observed values; at the end of an interval save the picture."""
        with attributes_restored(self):
            self._summary.add({key: trainer.observation[key] for key in self._keys if key in trainer.observation})
            if self._interval(trainer):
                means = self._summary.compute_mean()
                x = getattr(trainer.updater, "epoch_detail" if self._x_key == "epoch" else self._x_key)
                more = {key: [(float(x), float(value))] for key, value in means.items()}
                self._data = {key: [*points, *more.get(key, [])] for key, points in self._data.items()}
                rest = DictSummary()
                self._draw(os.path.join(trainer.out, self._filename))
                self._summary = rest

    def _draw(self, path: str) -> None:
        try:
            from matplotlib.figure import Figure
        except ImportError:
            raise ImportError("PlotReport: matplotlib is not installed; pip install matplotlib") from None
        figure = Figure()
        axes = figure.add_subplot(xlabel=self._x_key)
        for key, points in self._data.items():
            if points:
                axes.plot(*zip(*points, strict=True), marker=self._marker, label=key)
        axes.grid(self._grid)
        if self._postprocess is not None:
            self._postprocess(figure, axes, self._summary)
        if any(self._data.values()):
            axes.legend()
        with written(path, settled=False) as file:
            kind = os.path.splitext(path)[1].removeprefix(".")
            figure.savefig(file, bbox_inches="tight", format=kind or None)

    def serialize(self, serializer: Any) -> None:
        """Save or load the points, and the sums of the interval."""
        serialize_part(self._interval, serializer, "_trigger")
        self._summary.serialize(serializer["_summary"])
        text = json.dumps(self._data)
        try:
            text = str(serializer(f"_plot_{self._filename}", text))  # the name that it has in Chainer
        except KeyError:
            text = str(serializer("_plot", text))
        self._data = json.loads(text)


class DumpGraph(Extension):
    """The graph of an observed Variable at the first iteration, as DOT text.

    Parameters
    ----------
    root_name : str
        The observed value, such as "main/loss".
    filename : str
        Below the trainer's directory. `out_name` is Chainer's older name for this argument.
    variable_style, function_style : dict, optional
        Of `xpgrad.computational_graph.build_computational_graph`.
    """

    writes = True
    _default_name = "dump_graph"

    def __init__(
        self, root_name: str, filename: str = "cg.dot", variable_style: Any = None, function_style: Any = None, *,
        out_name: str | None = None,
    ) -> None:  # fmt: skip
        self._root, self._filename, self._done, self._keeping = root_name, out_name or filename, False, ExitStack()
        styles = {"variable_style": variable_style, "function_style": function_style}
        self._styles = {key: style for key, style in styles.items() if style is not None}

    def initialize(self, trainer: Any) -> None:
        """Let the reporter keep graphs until the first graph is drawn."""
        if not self._done:
            self._keeping.enter_context(using_config("keep_graph_on_report", True))

    def trigger(self, trainer: Any) -> bool:
        """Return whether no graph has been drawn yet."""
        return not self._done

    def __call__(self, trainer: Any) -> None:
        """Write the DOT text."""
        from xpgrad.computational_graph import build_computational_graph  # imported only if a graph is drawn

        if self._root not in trainer.observation:
            raise KeyError(f"DumpGraph: {self._root!r} was not reported; got {sorted(trainer.observation)}")
        text = build_computational_graph([trainer.observation[self._root]], **self._styles).dump()
        with written(os.path.join(trainer.out, self._filename), settled=False) as file:
            file.write(text.encode())
        self._done = True
        self._keeping.close()

    def finalize(self) -> None:
        """Let the reporter drop graphs again."""
        self._keeping.close()

    def serialize(self, serializer: Any) -> None:
        """Save or load whether the graph was drawn."""
        self._done = bool(serializer("_flag_called", self._done))
        with suppress(KeyError):  # Chainer needs the old value of `keep_graph_on_report`, which is always restored here
            serializer("_original_flag", False)
