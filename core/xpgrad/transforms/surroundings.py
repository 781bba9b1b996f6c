"""The state, in addition to its arguments, on which a computation depends, saved so that it can be repeated."""

import copy
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from xpgrad.backend import random
from xpgrad.backend.current import call_in, current_device
from xpgrad.backend.device import Device
from xpgrad.backend.plugins import plugins
from xpgrad.config import called_with, config, configured
from xpgrad.errors import GraphError
from xpgrad.graph.variable import Variable
from xpgrad.types import Array
from xpgrad.watch import anomaly

REPLAYED = ("train", "dtype")


class Surroundings:
    """The thread's random streams, current device, and the configuration entries that functions read.

    Parameters
    ----------
    devices : iterable of Device
        Devices on which the computation may draw random numbers, in addition to the devices used by this thread before.
    """

    def __init__(self, devices: Iterable[Device]) -> None:
        self.device = current_device()
        self.config = {name: getattr(config, name) for name in REPLAYED}
        self.states = random.snapshot({self.device, *devices})

    def drawing(self, states: random.Snapshot | None) -> "Surroundings":
        """Return the same surroundings with other random streams; None keeps these."""
        if states is None:
            return self
        other = copy.copy(self)
        other.states = states
        return other

    def again(self, origin: Any, function: Callable[..., Any], *args: Any) -> Any:
        """Return ``function(*args)``, called in the saved state in any thread; ``config.in_recomputing`` is True.

        `origin` is the record, for debug mode, of the rule during which the repeated function was first applied.
        """
        entries = configured(**self.config, in_recomputing=True)
        values = {anomaly.running: origin, **entries, **random.replaying(self.states)}
        return called_with(values, call_in, self.device, function, *args)


def copies(values: Iterable[Variable]) -> list[Array]:
    """Return copies of arrays, for `check_repeated`."""
    return [plugins.backend_of(x._array).copy(x._array) for x in values]


def check_repeated(label: str, first: Sequence[Array], again: Sequence[Variable]) -> None:
    """Raise `GraphError` if the values of a second run differ from the first run by more than rounding errors."""
    for i, (old, x) in enumerate(zip(first, again, strict=True)):
        if not _agree(old, x._array):
            raise GraphError(
                f"{label}: the second run computed other values than the first (number {i}), so gradients are wrong; "
                "it must be repeatable: draw random numbers by xpgrad.random, and change no state"
            )


def _agree(a: Array, b: Array) -> bool:
    backend = plugins.backend_of(a)
    if backend.same_values(a, b):
        return True
    if not backend.is_kind(a.dtype, ("real floating", "complex floating")):
        return False
    xp = backend.xp  # the order of summation varies in some libraries
    scale = xp.max(xp.abs(a))
    return bool(xp.max(xp.abs(xp.subtract(a, b))) <= scale * math.sqrt(float(backend.namespace.finfo(a.dtype).eps)))
