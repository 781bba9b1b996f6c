"""`Sequential` with the names that Chainer gives to its links."""
# pyright: reportIncompatibleMethodOverride=false
# Methods have Chainer's names of arguments.

from collections import Counter
from typing import Any

from xpgrad import models
from xpgrad.models import ChainList, Link


class Sequential(models.Sequential):
    """Layers one after the other, whose links have the names of Chainer's files.

    In Chainer, a new link that is not in front becomes the second of the links, or a later one if functions precede
    all links. Of four layers that are links, the second is thus named 3, the third 2, and the last 1.
    """

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Return the result of the last layer; only a tuple is taken apart into the arguments of the next."""
        if not self._layers:
            return super().forward(*args, **kwargs)
        y = self._layers[0](*args, **kwargs)
        for layer in self._layers[1:]:
            y = layer(*y) if isinstance(y, tuple) else layer(y)
        return y

    def _settle(self, children: list[Any]) -> None:
        added = Counter(id(layer) for layer in children if isinstance(layer, Link))
        links = []
        for link in self._children:
            if added[id(link)]:
                added[id(link)] -= 1
                links.append(link)
        first = next((i for i, layer in enumerate(children) if isinstance(layer, Link)), 0)
        for i, layer in enumerate(children):
            if added[id(layer)]:
                added[id(layer)] -= 1
                links.insert((first if first < i else 0) + 1 if i else 0, layer)
        ChainList._settle(self, links)
        self._layers[:] = children

    # Methods of lists, whose arguments have Chainer's names

    def append(self, layer: Any) -> None:
        """Append a layer."""
        super().append(layer)

    def count(self, layer: Any) -> int:
        """Return how often a layer occurs."""
        return super().count(layer)

    def extend(self, sequential: Any) -> None:
        """Append the layers of another Sequential."""
        super().extend(sequential)

    def index(self, layer: Any, start: int = 0, end: int | None = None) -> int:
        """Return the index of the first occurrence of a layer from `start` on, before `end`."""
        return super().index(layer, start, len(self) if end is None else end)

    def insert(self, i: int, layer: Any) -> None:
        """Insert a layer before an index."""
        super().insert(i, layer)

    def pop(self, i: int = -1) -> Any:
        """Remove a layer, by default the last, and return it."""
        return super().pop(i)

    def remove(self, layer: Any) -> None:
        """Remove the first occurrence of a layer."""
        super().remove(layer)
