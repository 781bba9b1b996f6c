"""`call_eagerly`: a call without a program, of Variables in place of arrays, which changes the caller's containers."""

import operator
from collections.abc import Callable
from typing import Any

from xpgrad.backend.plugins import plugins
from xpgrad.graph.variable import Variable
from xpgrad.transforms.leaves import is_array
from xpgrad.transforms.trace.guards.effects import refill
from xpgrad.transforms.trace.guards.guard import contents
from xpgrad.transforms.trees import flatten, map_leaves


def call_eagerly(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the result of a function that takes Variables in place of arrays; of arrays it returns arrays."""
    given = any(isinstance(leaf, Variable) for leaf in flatten((args, kwargs))[0])
    own = lambda x: x._array if not given and isinstance(x, Variable) and not x._node.requires_grad else x  # noqa: E731
    entered = _Entered()
    try:
        return map_leaves(own, f(*map(entered.new, args), **{name: entered.new(x) for name, x in kwargs.items()}))
    finally:
        entered.leave(own)


class _Entered:
    """Arguments in which Variables take the place of arrays."""

    def __init__(self) -> None:
        self._new: dict[int, Any] = {}  # by the identity of the original object
        self._old: dict[int, tuple[Any, Any, dict[str, Any]]] = {}  # by that of the new one, with its first attributes

    def new(self, x: Any) -> Any:
        """Return an argument with Variables in place of arrays; one without arrays is passed as it is."""
        if id(x) not in self._new:
            leaves, structure = flatten(x)
            if type(x) in (list, tuple):
                made = type(x)(map(self.new, x))
            elif type(x) is dict:
                made = {key: self.new(item) for key, item in x.items()}
            else:
                made = _variable(x) if structure.kind is None else structure.build([self.new(leaf) for leaf in leaves])
            if structure.kind is not None and all(map(operator.is_, flatten(made)[0], leaves)):
                made = x
            self._new[id(x)] = made
            self._old[id(made)] = x, made, dict(getattr(made, "__dict__", {}))
        return self._new[id(x)]

    def leave(self, own: Callable[[Any], Any]) -> None:
        """Put what the call has changed in new containers into the original ones."""

        def old(x: Any) -> Any:
            return self._old[id(x)][0] if id(x) in self._old else map_leaves(own, x)

        for x, made, before in list(self._old.values()):
            if isinstance(made, (list, dict)) and made is not x:
                refill(x, tuple(map(old, contents(made))))
            elif not isinstance(made, (Variable, tuple)) and made is not x:
                now = getattr(made, "__dict__", {})
                getattr(x, "__dict__", {}).update({k: old(y) for k, y in now.items() if before.get(k) is not y})


def _variable(leaf: Any) -> Any:
    backend = plugins.backend_of_scalar(leaf)
    if backend is None and (isinstance(leaf, Variable) or not is_array(leaf)):
        return leaf
    return Variable(leaf if backend is None else backend.restore(leaf), requires_grad=False)
