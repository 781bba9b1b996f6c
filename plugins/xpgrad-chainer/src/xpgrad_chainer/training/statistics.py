"""Statistics of parameters and Variables during training: reported, or drawn by Matplotlib."""

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from xpgrad import Link, Parameter, Variable, get_array_module, get_array_types
from xpgrad.backends.cuda import to_cpu
from xpgrad.reporter import DictSummary, report
from xpgrad.training import PRIORITY_WRITER, Extension, get_trigger
from xpgrad_chainer.utils.argument import parse_kwargs

SIGMAS = 0.13, 2.28, 15.87, 50, 84.13, 97.72, 99.87
"""Percentages of a normal distribution below -3, -2, -1, 0, 1, 2 and 3 standard deviations."""


def _of_xp(name: str, *args: Any) -> Callable[[Any], Any]:
    return lambda x: getattr(get_array_module(x), name)(x, *args)


class ParameterStatistics(Extension):
    """Reports statistics of the parameters of links, and of their gradients, as ``prefix/link/param/data/mean``.

    Parameters
    ----------
    links : Link or sequence of Link
    statistics : dict of functions of a vector, or "default"
        By default mean, std, min, max, zeros and percentiles.
    report_params, report_grads : bool
    prefix : str, optional
    trigger : trigger
        When the means are reported.
    skip_nan_params : bool
        Whether NaN is reported for parameters that contain NaN.
    """

    _default_name = "parameter_statistics"
    priority = PRIORITY_WRITER
    report_key_template = "{prefix}{link_name}{param_name}/{attr_name}/{function_name}"
    default_statistics: dict[str, Callable[[Any], Any]] = {  # noqa: RUF012 - a table, which instances copy
        "mean": _of_xp("mean"),
        "std": _of_xp("std"),
        "min": _of_xp("min"),
        "max": _of_xp("max"),
        "zeros": lambda x: get_array_module(x).count_nonzero(x == 0),
        "percentile": _of_xp("percentile", SIGMAS),
    }

    def __init__(
        self,
        links: Any,
        statistics: Any = "default",
        report_params: bool = True,
        report_grads: bool = True,
        prefix: str | None = None,
        trigger: Any = (1, "epoch"),
        skip_nan_params: bool = False,
    ) -> None:
        self._links = links if isinstance(links, (list, tuple)) else (links,)
        chosen = self.default_statistics if isinstance(statistics, str) else statistics or {}
        self._statistics: dict[str, Callable[[Any], Any]] = dict(chosen)
        wanted = ("data", report_params), ("grad", report_grads)
        self._attrs = [name for name, is_wanted in wanted if is_wanted]
        self._prefix, self._trigger, self._skips = prefix, get_trigger(trigger), skip_nan_params
        self._summary = DictSummary()

    def __call__(self, trainer: Any) -> None:
        """Add the present values, and report the means when the trigger fires."""
        found: dict[str, Any] = {}
        for link in self._links:
            name = getattr(link, "name", "None")
            for path, param in link.namedparams():
                for attribute in self._attrs:
                    self._add(found, name, path, attribute, getattr(param, attribute).ravel())
        self._summary.add(found)
        if self._trigger(trainer):
            report(self._summary.compute_mean())
            self._summary = DictSummary()

    def _add(self, found: dict[str, Any], link: str, path: str, attribute: str, x: Any) -> None:
        has_nan = self._skips and bool(get_array_module(x).isnan(x).any())
        for name, function in self._statistics.items():
            value: Any = np.nan if has_nan else function(x)
            key = self.report_key_template.format(
                prefix=f"{self._prefix}/" if self._prefix else "",
                link_name=link,
                param_name=path,
                attr_name=attribute,
                function_name=name,
            )
            if type(value) in get_array_types() and value.size > 1:
                found |= {f"{key}/{i}": each for i, each in enumerate(value)}
            else:
                found[key] = value

    def register_statistics(self, name: str, function: Callable[[Any], Any]) -> None:
        """Add a statistic: a function of a vector."""
        self._statistics[name] = function


class Reservoir:
    """A uniform sample of fixed size from a sequence of arrays of one shape.

    Parameters
    ----------
    size : int
    data_shape : tuple of int
    dtype : dtype
    """

    def __init__(self, size: int, data_shape: Sequence[int], dtype: Any = np.float32) -> None:
        self.size, self.counter = size, 0
        self.data = np.zeros((size, *data_shape), dtype=dtype)
        self.idxs = np.zeros((size,), dtype=np.int32)

    def add(self, x: Any, idx: int | None = None) -> None:
        """Add an array, or leave it out."""
        place: int | None = self.counter
        if self.counter >= self.size:
            kept = np.random.random() < self.size / (self.counter + 1)
            place = int(np.random.randint(self.size)) if kept else None
        if place is not None:
            self.data[place], self.idxs[place] = x, idx or self.counter
        self.counter += 1

    def get_data(self) -> tuple[Any, Any]:
        """Return the positions of the sample, sorted, and the sample."""
        positions = self.idxs[: min(self.counter, self.size)]
        order = np.argsort(positions)
        return positions[order], self.data[order]


class Statistician:
    """Computes mean, standard deviation and percentiles.

    Parameters
    ----------
    collect_mean, collect_std : bool
    percentile_sigmas : float or sequence of float
    """

    def __init__(self, collect_mean: bool, collect_std: bool, percentile_sigmas: Any) -> None:
        self.collect_mean, self.collect_std, self.percentile_sigmas = collect_mean, collect_std, percentile_sigmas

    def __call__(self, x: Any, axis: Any = 0, dtype: Any = None, xp: Any = None) -> dict[str, Any]:
        """Return a dictionary of statistics of an array along axes."""
        xp, found = xp or get_array_module(x), {}
        if axis is None:
            axis = tuple(range(x.ndim))
        elif not isinstance(axis, (tuple, list)):
            axis = (axis,)
        if self.collect_mean:
            found["mean"] = xp.mean(x, axis=axis)
        if self.collect_std:
            found["std"] = xp.std(x, axis=axis)
        if self.percentile_sigmas:
            found["percentile"] = xp.percentile(x, self.percentile_sigmas, axis=axis)
        return found


class VariableStatisticsPlot(Extension):
    """Draws mean, standard deviation and percentiles of Variables and of their gradients over the iterations.

    Parameters
    ----------
    targets : Link, Variable or list of these
    max_sample_size : int
        Iterations drawn, a sample of all.
    report_data, report_grad : bool
    plot_mean, plot_std : bool
    percentile_sigmas : sequence of float
        Percentages.
    trigger : trigger
        When the file is written.
    filename : str
    figsize, marker, grid
        As for Matplotlib.
    """

    def __init__(
        self,
        targets: Any,
        max_sample_size: int = 1000,
        report_data: bool = True,
        report_grad: bool = True,
        plot_mean: bool = True,
        plot_std: bool = True,
        percentile_sigmas: Any = (0, *SIGMAS, 100),
        trigger: Any = (1, "epoch"),
        filename: str | None = None,
        figsize: Any = None,
        marker: Any = None,
        grid: bool = True,
        **kwargs: Any,
    ) -> None:
        (file_name,) = parse_kwargs(kwargs, ("file_name", "statistics.png"))
        self._filename = file_name if filename is None else filename
        self._vars = _variables(targets)
        if not self._vars:
            raise ValueError("Need at least one variables for which to collect statistics.")
        if not (plot_mean or plot_std or bool(percentile_sigmas)):
            raise ValueError("Nothing to plot")
        self._keys = [name for name, wanted in (("data", report_data), ("grad", report_grad)) if wanted]
        self._statistician = Statistician(plot_mean, plot_std, percentile_sigmas)
        self._plot_mean, self._plot_std, self._plot_percentile = plot_mean, plot_std, bool(percentile_sigmas)
        self._trigger, self._figsize, self._marker, self._grid = get_trigger(trigger), figsize, marker, grid
        several = isinstance(percentile_sigmas, (list, tuple))
        percentiles = len(percentile_sigmas) if several else int(self._plot_percentile)
        shape = len(self._keys), int(plot_mean) + int(plot_std) + percentiles
        self._samples = Reservoir(max_sample_size, shape)

    @staticmethod
    def available() -> bool:
        """Return whether Matplotlib is installed."""
        try:
            import matplotlib.pyplot  # noqa: F401 - only whether Matplotlib can be imported
        except ImportError:
            return False
        return True

    def __call__(self, trainer: Any) -> None:
        """Add the present values, and draw when the trigger fires."""
        if not self.available():
            return
        rows = np.zeros(self._samples.data.shape[1:], dtype=np.float32)
        for i, key in enumerate(self._keys):
            values = [getattr(x, key) for x in self._vars]
            flat = [np.asarray(to_cpu(value)).ravel() for value in values if value is not None]
            found = self._statistician(np.concatenate(flat)) if flat else {}
            numbers = [np.atleast_1d(found[name]) for name in ("mean", "std", "percentile") if name in found]
            rows[i] = np.concatenate(numbers) if numbers else np.nan
        self._samples.add(rows, idx=trainer.updater.iteration)
        if self._trigger(trainer):
            self.save_plot_using_module(os.path.join(trainer.out, self._filename))

    def save_plot_using_module(self, path: str, plt: Any = None) -> None:
        """Draw the sample into a file."""
        if plt is None:
            import matplotlib.pyplot as plt
        titles = [name for name in ("mean", "std", "percentile") if getattr(self, f"_plot_{name}")]
        figure, axes = plt.subplots(len(titles), len(self._keys), sharex=True, squeeze=False, figsize=self._figsize)
        positions, data = self._samples.get_data()
        for column, key in enumerate(self._keys):
            start = 0
            for row, title in enumerate(titles):
                end = start + 1 if title != "percentile" else data.shape[-1]
                axes[row, column].plot(positions, data[:, column, start:end], marker=self._marker)
                axes[row, column].set_ylabel(title)
                axes[row, column].grid(self._grid)
                start = end
            axes[0, column].set_title(key)
            axes[-1, column].set_xlabel("iteration")
        figure.savefig(path)
        plt.close(figure)

    def finalize(self) -> None:
        """Close the figures."""
        if self.available():
            import matplotlib.pyplot as plt

            plt.close("all")


def _variables(targets: Any) -> list[Any]:
    """Return the Variables of Variables, links and sequences of these."""
    if isinstance(targets, Link):
        return list(targets.params())
    if isinstance(targets, (Variable, Parameter)):
        return [targets]
    if isinstance(targets, Iterable):
        return [x for each in targets for x in _variables(each)]
    raise TypeError(f"expected Variables, links or sequences of these, got {type(targets).__name__}")
