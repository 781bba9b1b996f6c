"""Values that models report while they train, and their means: losses, accuracies and other observed values.

`report` passes values to the current reporter of this thread and has no effect without a reporter, so a model may call
it anywhere. `xpgrad.training` makes a reporter current and reads the reported values.
"""

import copy
import json
import math
import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from xpgrad.backend.levels import innermost
from xpgrad.backend.modules import device_of
from xpgrad.backend.plugins import plugins
from xpgrad.config import at_level, called_with, config
from xpgrad.errors import GraphError
from xpgrad.graph.variable import Variable, constant_variable
from xpgrad.listing import listed as _listed
from xpgrad.types import Array
from xpgrad.utils.threads import InTurn

__all__ = ["DictSummary", "Reporter", "Summary", "get_current_reporter", "report", "report_scope"]


class _Current(threading.local):
    def __init__(self) -> None:
        self.reporters: list[Reporter] = []


_CURRENT = _Current()


class Reporter:
    """Reported values, by name; the names of registered observers are prefixes.

    As a context manager it is the current reporter of the thread.
    """

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._observed: dict[str, Any] = {}
        self._of_thread = threading.local()

    @property
    def observation(self) -> dict[str, Any]:
        """The values reported since it was set, separately in each thread; all threads share the initial dictionary."""
        found: dict[str, Any] = getattr(self._of_thread, "observed", self._observed)
        return found

    @observation.setter
    def observation(self, observation: dict[str, Any]) -> None:
        self._of_thread.observed = observation

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
        """Register an object, identified by identity: names of its values begin with ``name/``."""
        self._names[id(observer)] = name

    def add_observers(self, prefix: str, observers: Iterable[tuple[str, object]]) -> None:
        """Register pairs of name and object, such as `Link.namedlinks` yields, under ``prefix + name``."""
        self._names.update([(id(observer), prefix + name) for name, observer in observers])

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
        kept = {
            prefix + key: value if keep or not isinstance(value, Variable) else constant_variable(value.array)
            for key, value in values.items()
        }
        self.observation.update(kept)


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
    """Report values, by name, to the current reporter, if any.

    A compiled function reports at each run of its program. Within `vmap` and `jvp`, values are not reported.
    """
    if innermost() is None:
        _reported(observer, values)
        return
    from xpgrad.transforms.trace.printing import trace_of  # only for compiled functions
    from xpgrad.transforms.trees import flatten

    leaves, structure = flatten(dict(values))  # pairs of a value and its weight are trees
    are_variables = tuple(isinstance(leaf, Variable) for leaf in leaves)
    arrays = tuple(map(_plain, leaves))
    backend = trace_of(arrays)
    if backend is None:
        return

    def rebuilt(arrays: tuple[Any, ...]) -> None:
        leaves = [constant_variable(x) if wraps else x for x, wraps in zip(arrays, are_variables, strict=True)]
        _reported(observer, structure.build(leaves))

    def run(*arrays: Any) -> None:  # outside of the transformation, while the program is recorded
        called_with(at_level(None), rebuilt, arrays)

    backend.effect("report", run, arrays)


def _reported(observer: object, values: Mapping[str, Any]) -> None:
    if _CURRENT.reporters:
        _CURRENT.reporters[-1].report(values, observer)


@contextmanager
def report_scope(observation: dict[str, Any]) -> Iterator[None]:
    """Let the current reporter write to `observation`."""
    with _observing(get_current_reporter(), observation):
        yield


class Summary:
    """Mean and standard deviation of scalars, summed on their devices: no synchronisation until they are read.

    Sums of float32 and narrower numbers have dtype float64 on the host. Any number of threads may add values.
    """

    def __init__(self) -> None:
        self._in_turn = InTurn()
        self._x: Any = 0.0
        self._x2: Any = 0.0
        self._n: Any = 0

    def add(self, value: Any, weight: float = 1) -> None:
        """Add a number or a 0-d array."""
        value = plugins.array_of(value)
        device = device_of(value)
        if device is not None:
            xp, wide = device.backend.namespace, device.backend.wide(value.dtype)
            value = xp.astype(value, xp.float64 if device.backend is plugins.host and wide == xp.float32 else wide)
        with self._in_turn.lock:
            x, x2 = self._x, self._x2
            if device is not None and device_of(x) not in (None, device):  # loaded, or values on another device
                x, x2 = device.send(x), device.send(x2)
            self._x, self._x2, self._n = x + weight * value, x2 + weight * value * value, self._n + weight

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
        """Save or load the sums, and the dtype to which a mean is rounded."""
        x, x2 = (float(serialized(serializer, key, float(getattr(self, key)), 0.0)) for key in ("_x", "_x2"))
        n = serialized_number(serializer, "_n", as_number(self._n))
        dtype = ""
        with suppress(KeyError):  # not saved by Chainer
            dtype = str(serializer("_dtype", dtype_name(self._x)))
        if dtype:
            host = plugins.host
            x, x2 = (host.asarray(each, getattr(host.namespace, dtype)) for each in (x, x2))
        self._x, self._x2, self._n = x, x2, n


class DictSummary:
    """Means and standard deviations of the scalars of dictionaries, by key; several threads may add values."""

    def __init__(self) -> None:
        self._in_turn = InTurn()
        self._summaries: dict[str, Summary] = {}

    def add(self, d: Mapping[str, Any]) -> None:
        """Add the values that are numbers, 0-d arrays or such Variables, or pairs of one and its weight."""
        with self._in_turn.lock:
            summaries = dict(self._summaries)
            for key, value in d.items():
                weight: Any = 1
                if isinstance(value, tuple) and len(value) == 2:
                    value, weight = map(_plain, value)
                value = _plain(value)
                if getattr(weight, "ndim", 0):
                    raise ValueError(f"DictSummary.add: expected the weight of {key!r} as a number, got {weight!r:.60}")
                if isinstance(value, (int, float)) or getattr(value, "ndim", -1) == 0:
                    summary = summaries[key] = copy.copy(summaries.get(key) or Summary())
                    summary.add(value, weight)
            self._summaries = summaries

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
        names = json.loads(str(serialized(serializer, "_names", json.dumps(list(self._summaries)), "[]")))
        found = {name: copy.copy(self._summaries.get(name, Summary())) for name in names}
        for index, name in enumerate(names):
            found[name].serialize(serializer["_summaries"][str(index)])
        self._summaries = found


def dtype_name(value: Any) -> str:
    """Return the name of the dtype of an array or a library's scalar; empty for Python's numbers."""
    array = plugins.array_of(value)
    return plugins.backend_of(array).dtype_name(array.dtype) if device_of(array) is not None else ""


def as_number(value: Any) -> float:
    """Return the value of a number, a 0-d array or such a Variable, as an int if it is integral, else as a float."""
    number = float(_plain(value))
    return int(number) if number.is_integer() else number


def serialized(serializer: Any, name: str, value: Any, missing: Any) -> Any:
    """Save or load a value; return `missing`, with a warning, for a file without it, as of Chainer before version 4."""
    try:
        return serializer(name, value)
    except KeyError as error:
        warnings.warn(f"{error.args[0]}: this value starts anew", stacklevel=3)
        return missing


def serialized_number(serializer: Any, name: str, value: float) -> float:
    """Save or load a number; an int may be loaded from a float, and is saved as an int, as in Chainer."""
    try:
        found = serialized(serializer, name, value, 0)
    except TypeError:
        found = serializer(name, float(value))
    return value if found is None else as_number(found)


def _plain(value: Any) -> float | Array:
    return value._array if isinstance(value, Variable) else value


if not TYPE_CHECKING:
    __getattr__, __dir__ = _listed(__name__, __all__)
