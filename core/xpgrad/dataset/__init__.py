"""Base classes of data sets and iterators, and converters (Chainer's ``chainer.dataset``)."""

from typing import TYPE_CHECKING

from xpgrad.dataset import convert
from xpgrad.dataset.convert import Converter, concat_examples, converter, to_device
from xpgrad.dataset.iterator import DatasetMixin, Iterator
from xpgrad.listing import listed as _listed

__all__ = ["Converter", "DatasetMixin", "Iterator", "concat_examples", "convert", "converter", "to_device"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = _listed(__name__, __all__)
