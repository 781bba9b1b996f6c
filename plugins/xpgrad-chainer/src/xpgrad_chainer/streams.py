"""NumPy's global generator as the stream of random numbers, as in Chainer: ``np.random.seed`` seeds parameters too."""

import sys
import zlib
from typing import Any

import numpy as np

from xpgrad.backend import random
from xpgrad.backend.plugins import plugins
from xpgrad.functions import n_step

MAX_SEED = 2**32
"""One more than the greatest seed of a `numpy.random.RandomState`."""
GLOBAL = 2**64 - 1
"""The seed of a stream that is NumPy's global generator; with a seed, a snapshot of the streams draws none from it."""

LEAST = sys.float_info.min
"""A ratio of dropout that drops nothing, but draws."""
_run: Any = n_step._run


def _run_with_draws(unit: Any, n_layers: int, dropout_ratio: float, *args: Any, **kwargs: Any) -> Any:
    """Run recurrent layers; as in Chainer, numbers are drawn between layers even if the ratio of dropout is 0."""
    return _run(unit, n_layers, dropout_ratio or LEAST, *args, **kwargs)


class NumpyStream:
    """A stream for `xpgrad.random`: NumPy's global generator, or a generator with a seed of its own.

    Parameters
    ----------
    seed : int or None
        None or `GLOBAL` for the global generator.
    """

    library = "numpy"
    """The module whose global random numbers these are, so that programs repeat them."""

    def __init__(self, seed: int | None) -> None:
        self._source: Any = None
        if seed is not None and seed != GLOBAL:
            self._source = np.random.RandomState(seed if seed < MAX_SEED else [seed % MAX_SEED, seed // MAX_SEED])
        numbers: Any = np.random if self._source is None else self._source
        self.random, self.standard_normal, self._randint = (
            numbers.random_sample,
            numbers.standard_normal,
            numbers.randint,
        )

    def integers(self, high: int) -> int:
        """Return a number from 0 to below `high`, at most 2**64."""
        return int(self._randint(0, high, dtype=np.uint64))

    @property
    def bit_generator(self) -> "NumpyStream":
        """The object that has the state: this one."""
        return self

    @property
    def state(self) -> dict[str, Any]:
        """The state, as JSON can hold it."""
        host: Any = plugins.host
        found: dict[str, Any] = host.random_state(self._source)
        return found

    @state.setter
    def state(self, value: dict[str, Any]) -> None:
        host: Any = plugins.host
        if value["bit_generator"] != "MT19937":  # of a program that ran without this package
            value = np.random.RandomState(zlib.crc32(repr(value).encode())).get_state(legacy=False)
        host.set_random_state(self._source, value)


def install() -> None:
    """Let `xpgrad.random` draw from NumPy's global generator."""
    host: Any = plugins.host
    host.generator = NumpyStream
    n_step._run = _run_with_draws
    random.seed(GLOBAL)
    random.get_state("@numpy")  # starts the stream, so that resuming a snapshot sets the global generator


def uninstall() -> None:
    """Restore the streams of `xpgrad.random`, with a new random seed."""
    del vars(plugins.host)["generator"]
    n_step._run = _run
    random.seed(None)
