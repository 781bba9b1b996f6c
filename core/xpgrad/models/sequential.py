"""`Sequential`: links and functions, one after the other."""

import inspect
from collections.abc import Callable, Iterator
from typing import Any

from xpgrad.models.chain import nested
from xpgrad.models.chain_list import ChainList
from xpgrad.models.link import Link

Layer = Callable[..., Any]


class Sequential(ChainList):
    """A model that calls its layers one after the other: links, and any functions.

    Each layer receives the result of the previous layer: a tuple as its arguments, a dictionary as keyword arguments.
    It is a list of layers: an index gives a layer, a slice a Sequential.

    Parameters
    ----------
    *layers : callable
    """

    _layers: list[Layer]

    def __init__(self, *layers: Layer) -> None:
        super().__init__()
        self._layers = []
        for layer in layers:
            self.append(layer)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Return the result of the last layer."""
        if not self._layers:
            if len(args) == 1 and not kwargs:
                return args[0]
            return kwargs if kwargs and not args else args
        y = self._layers[0](*args, **kwargs)
        for layer in self._layers[1:]:
            if isinstance(y, tuple):
                y = layer(*y)
            elif isinstance(y, dict):
                y = layer(**y)
            else:
                y = layer(y)
        return y

    # As a list

    def __len__(self) -> int:
        return len(self._layers)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._layers)

    def __contains__(self, layer: object) -> bool:
        return any(each is layer or each == layer for each in self._layers)

    def __getitem__(self, index: Any) -> Any:
        """Return the layer at an index; a Sequential for a slice."""
        found = self._layers[index]
        return _of(found) if isinstance(found, list) else found

    def clear(self) -> None:
        """Remove all layers."""
        del self[:]

    def remove(self, value: Any) -> None:
        """Remove the first occurrence of a layer."""
        if value not in self:
            raise ValueError(f"remove: there is no layer {_title(value)} in it")
        del self[self.index(value)]

    def remove_by_layer_type(self, type_name: str) -> None:
        """Remove all links whose class has this name, and all functions with this name."""
        self[:] = [layer for layer in self._layers if _type_name(layer) != type_name]

    def count_by_layer_type(self, type_name: str) -> int:
        """Return the number of links whose class has this name, or of functions with this name."""
        return sum(_type_name(layer) == type_name for layer in self._layers)

    def __add__(self, other: Any) -> "Sequential":
        if not isinstance(other, Sequential):
            return NotImplemented
        return _of([*self, *other])

    def __iadd__(self, other: Any) -> Any:
        if not isinstance(other, Sequential):
            raise ValueError(f"+=: expected a Sequential, got {type(other).__name__}; use append or extend")
        self.extend(other)
        return self

    def flatten(self) -> "Sequential":
        """Return a Sequential with nested Sequentials replaced by their layers."""
        made: list[Layer] = []
        for layer in self._layers:
            made += layer.flatten() if isinstance(layer, Sequential) else [layer]
        return _of(made)

    def _contents(self) -> list[Any]:
        return list(self._layers)

    def _check_item(self, item: Any) -> None:
        if not callable(item):
            raise ValueError(f"Sequential: expected layers that can be called, got {item!r}")

    def _settle(self, children: list[Any]) -> None:
        super()._settle([layer for layer in children if isinstance(layer, Link)])
        self._layers[:] = children

    # Copies and text

    def __copy__(self) -> Any:
        made = super().__copy__()
        made.__dict__["_layers"] = list(self._layers)
        return made

    def __reduce_ex__(self, protocol: Any) -> Any:
        for i, layer in enumerate(self._layers):
            if inspect.isfunction(layer) and layer.__name__ == "<lambda>":
                raise ValueError(
                    f"pickle: layer {i} of the Sequential is a lambda, which cannot be pickled; define a function, or "
                    "use functools.partial"
                )
        return super().__reduce_ex__(protocol)

    def __str__(self) -> str:
        return nested(self, ((str(i), _title(layer)) for i, layer in enumerate(self._layers)))

    __repr__ = __str__


def _of(layers: list[Layer]) -> Sequential:
    made: Sequential = Link._sequential(*layers)
    return made


def _type_name(layer: Any) -> str:
    name: str = type(layer).__name__ if isinstance(layer, Link) else getattr(layer, "__name__", type(layer).__name__)
    return name


def _title(layer: Any) -> str:
    if isinstance(layer, Link):
        return str(layer)
    return getattr(layer, "__name__", None) or repr(layer)


Link._sequential = Sequential
