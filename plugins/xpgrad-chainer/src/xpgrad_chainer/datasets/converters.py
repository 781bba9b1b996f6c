"""Converters of batches under Chainer's names."""

from collections.abc import Sequence
from typing import Any

from xpgrad import as_array
from xpgrad.backend.modules import device_of
from xpgrad.dataset import Converter, concat_examples
from xpgrad.dataset.convert import _stacked
from xpgrad.functions import cast

concat_examples_func: Any = concat_examples


def stacked(items: Sequence[Any], padding: Any) -> Any:
    """Return examples as one array; with padding, it has the dtype of the first."""
    if padding is not None and device_of(items[0]) is not None:
        items = [as_array(cast(item, items[0].dtype)) for item in items]
    return _stacked(items, padding)


class ConcatWithAsyncTransfer(Converter):
    """`concat_examples`: the copy to a device does not wait for the device.

    Parameters
    ----------
    stream, compute_stream : object, optional
        Not used.
    """

    def __init__(self, stream: Any = None, compute_stream: Any = None) -> None:
        self.stream, self.compute_stream = stream, compute_stream

    def __call__(self, batch: Any, device: Any = None, padding: Any = None) -> Any:
        """Return the examples of a batch, stacked, on a device."""
        return concat_examples_func(batch, device, padding)


def _concat_arrays(arrays: Sequence[Any], padding: Any = None) -> Any:
    """Return arrays or scalars, stacked along a new first axis."""
    return stacked(arrays, padding)


def _concat_arrays_with_padding(arrays: Sequence[Any], padding: Any) -> Any:
    """Return arrays of several shapes, padded to one, stacked along a new first axis."""
    return stacked(arrays, padding)
