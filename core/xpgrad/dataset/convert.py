"""Converters: how lists of examples become arrays on a device."""

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from xpgrad.backend.current import get_device
from xpgrad.backend.device import Device
from xpgrad.backend.modules import device_of
from xpgrad.backend.plugins import plugins
from xpgrad.boundary import bounded
from xpgrad.listing import listed as _listed
from xpgrad.types import Array

__all__ = ["Converter", "concat_examples", "converter", "to_device"]


class Converter:
    """Base class of converters, which are called with a batch and a `Device` or None."""

    def __call__(self, batch: Any, device: Device | None = None) -> Any:
        """Return the converted batch."""
        raise NotImplementedError(f"{type(self).__name__}: define __call__(batch, device)")


class _FunctionConverter(Converter):
    def __init__(self, function: Callable[..., Any]) -> None:
        if not callable(function):
            raise TypeError(f"converter: expected a function (batch, device), got {type(function).__name__}")
        self.function = function
        functools.update_wrapper(self, function)

    def __call__(self, batch: Any, device: Any = None, *args: Any, **kwargs: Any) -> Any:
        return self.function(batch, device_or_none(device), *args, **kwargs)


def converter() -> Callable[[Callable[..., Any]], _FunctionConverter]:
    """Return a decorator that makes a `Converter` of a function of a batch and a `Device`.

    Called with a specifier such as ``-1`` or ``"native:0"``, the function still gets the `Device`.
    """
    return _FunctionConverter


def device_or_none(specifier: Any) -> Device | None:
    """Return the device of a specifier, or None for None."""
    return None if specifier is None else get_device(specifier)


def to_device(device: Any, x: Any) -> Any:
    """Return the array `x` on a device; None returns it unchanged."""
    found = device_or_none(device)
    return x if found is None else found.send(x)


@converter()
@functools.partial(bounded, name="concat_examples")
def concat_examples(batch: Sequence[Any], device: Any = None, padding: Any = None) -> Any:
    """Examples stacked along a new first axis: an array, or for tuples and dictionaries one array for each member.

    Parameters
    ----------
    batch : list of arrays, scalars or lists, or of tuples or dictionaries of these
    device : device specifier, optional
        Where the arrays are sent; by default they are not moved.
    padding : scalar, or a tuple or dictionary of them, optional
        Arrays of different shapes are filled up to the largest size of each axis with this value.

    Raises
    ------
    ValueError
        If the batch is empty, or the shapes differ and there is no `padding`.
    """
    if len(batch) == 0:
        raise ValueError("concat_examples: the batch is empty")
    first, device = batch[0], device_or_none(device)
    if isinstance(first, tuple):
        paddings = padding if isinstance(padding, tuple) else (padding,) * len(first)
        columns = zip(zip(*batch, strict=True), paddings, strict=True)
        return tuple(to_device(device, _stacked(column, value)) for column, value in columns)
    if isinstance(first, dict):
        by_key = padding if isinstance(padding, dict) else dict.fromkeys(first, padding)
        return {key: to_device(device, _stacked([example[key] for example in batch], by_key[key])) for key in first}
    return to_device(device, _stacked(batch, padding))


def _stacked(items: Sequence[Any], padding: Any) -> Array:
    """Return the items as one array; numbers and nested lists are first made arrays of the host library."""
    if device_of(items[0]) is None:
        if padding is None:
            return plugins.host.asarray(list(items))
        items = [plugins.host.asarray(item) for item in items]
    xp = plugins.backend_of(items[0]).xp
    shapes = {tuple(item.shape) for item in items}
    if len(shapes) > 1:
        if padding is None or len({len(shape) for shape in shapes}) > 1:
            some = ", ".join(map(str, sorted(shapes)[:3]))
            raise ValueError(f"concat_examples: expected examples of one shape, got {some}; pass padding=")
        items = [_padded(xp, item, tuple(map(max, zip(*shapes, strict=True))), padding) for item in items]
    return xp.stack(items)


def _padded(xp: Any, x: Array, shape: tuple[int, ...], value: Any) -> Array:
    device = plugins.backend_of(x).handle_of(x)
    for axis, size in enumerate(shape):
        missing = (*x.shape[:axis], size - x.shape[axis], *x.shape[axis + 1 :])
        if missing[axis]:
            x = xp.concat([x, xp.full(missing, value, dtype=x.dtype, device=device)], axis=axis)
    return x


if not TYPE_CHECKING:
    __getattr__, __dir__ = _listed(__name__, __all__)
