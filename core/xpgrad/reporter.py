"""Values that models report while they train, and their means: losses, accuracies and whatever else is watched.

`report` hands values to the reporter that is current in this thread, and does nothing where there is none, so that a
model may call it anywhere. `xpgrad.training` makes a reporter current and reads what was reported.
"""

import json
import math
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from xpgrad.backend.levels import innermost
from xpgrad.backend.modules import device_of
from xpgrad.config import at_level, called_with, config
from xpgrad.errors import GraphError
from xpgrad.graph.variable import Variable, constant_variable
from xpgrad.listing import listed as _listed
from xpgrad.types import Array

__all__ = ["DictSummary", "Reporter", "Summary", "get_current_reporter", "report", "report_scope"]


class _Current(threading.local):
    def __init__(self) -> None:
        self.reporters: list[Reporter] = []


_CURRENT = _Current()


class Reporter:
    """What has been reported, by name; the names of registered observers are prefixes.

    As a context manager it is the current reporter of the thread.

    Attributes
    ----------
    observation : dict
        The values reported since it was set.
    """

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self.observation: dict[str, Any] = {}

    def __enter__(self) -> None:
        _CURRENT.reporters.append(self)

    def __exit__(self, *_: object) -> None:
        _CURRENT.reporters.pop()

    @contextmanager
    def scope(self, observation: dict[str, Any]) -> Iterator[None]:
        """Make this reporter current, and let it write to `observation`."""
        with self, _observing(self, observation):
            yield

    def add_observer(self, name: str, observer: object) -> None:
        """Register an object, known by its identity: the names of what it reports begin with ``name/``."""
        self._names[id(observer)] = name

    def add_observers(self, prefix: str, observers: Iterable[tuple[str, object]]) -> None:
        """Register pairs of name and object, such as `Link.namedlinks` yields, under ``prefix + name``."""
        for name, observer in observers:
            self._names[id(observer)] = prefix + name

    def report(self, values: Mapping[str, Any], observer: object = None) -> None:
        """Store values; Variables are stored without their graph unless `config.keep_graph_on_report` is set.

        Raises
        ------
        KeyError
            If `observer` is not registered.
        """
        prefix = ""
        if observer is not None:
            if id(observer) not in self._names:
                raise KeyError(f"report: {type(observer).__name__} is not registered; call reporter.add_observer first")
            prefix = f"{self._names[id(observer)]}/"
        keep = config.keep_graph_on_report
        self.observation.update(
            (prefix + key, value if keep or not isinstance(value, Variable) else constant_variable(value.array))
            for key, value in values.items()
        )


@contextmanager
def _observing(reporter: Reporter, observation: dict[str, Any]) -> Iterator[None]:
    before, reporter.observation = reporter.observation, observation
    try:
        yield
    finally:
        reporter.observation = before


def get_current_reporter() -> Reporter:
    """Return the reporter that is current in this thread."""
    if not _CURRENT.reporters:
        raise GraphError("get_current_reporter: no reporter is current; enter one: `with Reporter():`")
    return _CURRENT.reporters[-1]


def report(values: Mapping[str, Any], observer: object = None) -> None:
    """Report values, by name, to the current reporter; without one, nothing happens.

    A compiled function reports at each run of its program. Within `vmap` and `jvp`, nothing is reported.
    """
    if innermost() is None:
        _reported(observer, tuple(values), tuple(values.values()))
        return
    from xpgrad.transforms.trace.printing import trace_of  # only for compiled functions

    are_variables = tuple(isinstance(value, Variable) for value in values.values())
    arrays = tuple(map(_plain, values.values()))
    backend = trace_of(arrays)
    if backend is not None:
        backend.effect("report", partial(_run, observer, tuple(values), are_variables), arrays)


def _run(observer: object, names: tuple[str, ...], are_variables: tuple[bool, ...], *arrays: Any) -> None:
    """Report the arrays of one run; while the program is recorded, outside of the transformation."""
    called_with(at_level(None), _reported, observer, names, arrays, are_variables)


def _reported(
    observer: object, names: tuple[str, ...], values: tuple[Any, ...], wraps: tuple[bool, ...] | None = None
) -> None:
    if _CURRENT.reporters:
        wrapped = values if wraps is None else map(_wrapped, values, wraps)
        _CURRENT.reporters[-1].report(dict(zip(names, wrapped, strict=True)), observer)


def _wrapped(value: Any, wraps: bool) -> Any:
    return constant_variable(value) if wraps else value


@contextmanager
def report_scope(observation: dict[str, Any]) -> Iterator[None]:
    """Let the current reporter write to `observation`."""
    with _observing(get_current_reporter(), observation):
        yield


class Summary:
    """Mean and standard deviation of scalars, summed where they are: nothing waits for a device until they are read."""

    def __init__(self) -> None:
        self._x: Any = 0.0
        self._x2: Any = 0.0
        self._n: Any = 0

    def add(self, value: Any, weight: float = 1) -> None:
        """Add a number or a 0-d array."""
        device = device_of(value)
        if device is not None:
            value = device.backend.namespace.astype(value, device.backend.wide(value.dtype))
        self._x = self._x + weight * value
        self._x2 = self._x2 + weight * value * value
        self._n += weight

    @property
    def count(self) -> float:
        """The number of values, or the sum of their weights."""
        return float(self._n)

    def compute_mean(self) -> Any:
        """Return the mean, as a number or 0-d array."""
        return self._x / self._n

    def make_statistics(self) -> tuple[Any, Any]:
        """Return mean and standard deviation."""
        mean = self.compute_mean()
        return mean, math.sqrt(max(float(self._x2 / self._n - mean * mean), 0.0))

    def serialize(self, serializer: Any) -> None:
        """Save or load the sums."""
        self._x, self._x2 = serializer("_x", float(self._x)), serializer("_x2", float(self._x2))
        self._n = serializer("_n", self._n)


class DictSummary:
    """Means and standard deviations of the scalars of dictionaries, by key."""

    def __init__(self) -> None:
        self._summaries: dict[str, Summary] = {}

    def add(self, d: Mapping[str, Any]) -> None:
        """Add the values that are numbers, 0-d arrays or such Variables, or pairs of one and its weight."""
        for key, value in d.items():
            weight: Any = 1
            if isinstance(value, tuple) and len(value) == 2:
                value, weight = map(_plain, value)
            value = _plain(value)
            if isinstance(value, (int, float)) or getattr(value, "ndim", -1) == 0:
                self._summaries.setdefault(key, Summary()).add(value, weight)

    def compute_mean(self) -> dict[str, Any]:
        """Return the means."""
        return {key: summary.compute_mean() for key, summary in self._summaries.items()}

    def make_statistics(self) -> dict[str, Any]:
        """Return the means, and the standard deviations under ``key.std``."""
        found: dict[str, Any] = {}
        for key, summary in self._summaries.items():
            found[key], found[f"{key}.std"] = summary.make_statistics()
        return found

    def serialize(self, serializer: Any) -> None:
        """Save or load the sums of all keys."""
        names = json.loads(str(serializer("_names", json.dumps(list(self._summaries)))))
        self._summaries = {name: self._summaries.get(name, Summary()) for name in names}
        for index, name in enumerate(names):
            self._summaries[name].serialize(serializer["_summaries"][str(index)])


def _plain(value: Any) -> float | Array:
    return value._array if isinstance(value, Variable) else value


if not TYPE_CHECKING:
    __getattr__, __dir__ = _listed(__name__, __all__)
