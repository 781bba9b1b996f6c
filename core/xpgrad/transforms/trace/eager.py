"""`call_eagerly`: a call without a program, of Variables in place of arrays, which changes the caller's containers."""

import functools
import operator
import types
from collections.abc import Callable, Generator
from typing import Any

from xpgrad.graph.methods.copies import attributes_of
from xpgrad.graph.variable import Variable
from xpgrad.transforms.containers import container_of
from xpgrad.transforms.leaves import backend_among, is_array
from xpgrad.transforms.trace.guards.effects import refill
from xpgrad.transforms.trace.guards.guard import ABSENT, contents
from xpgrad.transforms.trees import Structure, flatten, map_leaves, opened

DEFERRED = map, filter, zip
"""Results whose items are computed later, beside generators."""


def call_eagerly(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the result of a function that takes Variables in place of arrays; of arrays it returns arrays."""
    leaves = flatten((args, kwargs))[0]
    given = any(isinstance(leaf, Variable) for leaf in leaves)

    def own(x: Any) -> Any:
        if given:
            return x
        if isinstance(x, types.GeneratorType):
            return _items(own, x)
        if type(x) in DEFERRED:
            return map(functools.partial(map_leaves, own), x)
        return x._array if isinstance(x, Variable) and not x._node.requires_grad else x

    entered = _Entered(leaves)
    try:
        return map_leaves(own, f(*map(entered.new, args), **{name: entered.new(x) for name, x in kwargs.items()}))
    finally:
        entered.leave(own)


def _items(own: Callable[[Any], Any], x: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
    """Yield the items of a generator, which gets what is sent, and return what it returns."""
    sent = None
    while True:
        try:
            item = x.send(sent)
        except StopIteration as end:
            return map_leaves(own, end.value)
        sent = yield map_leaves(own, item)


class _Entered:
    """Arguments in which Variables take the place of arrays."""

    def __init__(self, leaves: list[Any]) -> None:
        self._leaves = leaves
        self._new: dict[int, Any] = {}  # by the identity of the original object
        self._old: dict[int, tuple[Any, Any, Any]] = {}  # by that of the new one, with its first contents

    def new(self, x: Any) -> Any:
        """Return an argument with Variables in place of arrays; one without arrays is passed as it is."""
        if id(x) not in self._new:
            made, (kind, keys, items) = x, opened(x) or (None, (), ())
            found = [self.new(item) for item in items]
            if kind is None:
                made = self._variable(x)
            elif not all(map(operator.is_, items, found)):
                made = Structure(kind, keys, (Structure(),) * len(keys), flatten(x)[1].empty).build(found)
            whole = made is not x and container_of(type(x)) is not None
            self._new[id(x)] = made
            self._old[id(made)] = x, made, flatten(made) if whole else attributes_of(made)
        return self._new[id(x)]

    def leave(self, own: Callable[[Any], Any]) -> None:
        """Put what the call has changed in new containers into the original ones."""

        def old(x: Any) -> Any:
            return self._old[id(x)][0] if id(x) in self._old else map_leaves(own, x)

        for x, made, before in list(self._old.values()):
            if made is x or isinstance(made, (Variable, tuple)):
                continue
            if isinstance(made, (list, dict)):
                refill(x, tuple(map(old, contents(made))))
            container = container_of(type(x))
            if container is not None:
                leaves, structure = before
                same = structure.keys == container.keys(made) and container.same(made, structure.empty)
                if same and all(map(operator.is_, leaves, flatten(made)[0])):
                    continue
                before, made = {}, map_leaves(own, made)
            now = attributes_of(made)
            for name in (n for n in before.keys() | now.keys() if before.get(n, ABSENT) is not now.get(n, ABSENT)):
                if name in now:
                    object.__setattr__(x, name, old(now[name]))
                else:
                    object.__delattr__(x, name)

    def _variable(self, leaf: Any) -> Any:
        backend = backend_among(self._leaves, leaf)
        if backend is None and (isinstance(leaf, Variable) or not is_array(leaf)):
            return leaf
        return Variable(leaf if backend is None else backend.restore(leaf), requires_grad=False)
