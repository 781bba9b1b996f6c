"""Iterators over batches of a data set: in this thread, ahead in other threads, or in other processes."""

from typing import TYPE_CHECKING

from xpgrad.iterators.ahead import MultiprocessIterator, MultithreadIterator
from xpgrad.iterators.serial import SerialIterator, ShuffleOrderSampler
from xpgrad.listing import listed as _listed

__all__ = ["MultiprocessIterator", "MultithreadIterator", "SerialIterator", "ShuffleOrderSampler"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = _listed(__name__, __all__)
