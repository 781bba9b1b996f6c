"""What a computation depends on besides its arguments, remembered so that it can be repeated."""

from collections.abc import Callable, Iterable
from typing import Any

from xpgrad.backend import random
from xpgrad.backend.current import call_in, current_device
from xpgrad.backend.device import Device
from xpgrad.config import called_with, config, configured
from xpgrad.graph import anomaly

REPLAYED = ("train", "dtype")


class Surroundings:
    """The thread's random streams, current device, and the entries of the configuration that functions read.

    Parameters
    ----------
    devices : iterable of Device
        Where the computation may draw random numbers, besides the devices on which this thread has drawn before.
    """

    def __init__(self, devices: Iterable[Device]) -> None:
        self.device = current_device()
        self.config = {name: getattr(config, name) for name in REPLAYED}
        self.states = random.snapshot({self.device, *devices})

    def again(self, origin: Any, function: Callable[..., Any], *args: Any) -> Any:
        """Return ``function(*args)``, called with all as it was then, in any thread; ``config.in_recomputing`` is True.

        `origin` is what the function to be repeated notes of the rule during which it was applied, for debug mode.
        """
        entries = configured(**self.config, in_recomputing=True)
        values = {anomaly.running: origin, **entries, **random.replaying(self.states)}
        return called_with(values, call_in, self.device, function, *args)
