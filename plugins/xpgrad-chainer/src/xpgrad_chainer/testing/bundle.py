"""Classes generated from one class of tests, and decorators that generate them, which may be stacked."""

import sys
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple


class Case(NamedTuple):
    """A class of tests, and the module in which pytest and unittest find it."""

    cls: type
    module: str


class Bundle(list[Case]):
    """The classes that a decorator has generated; it takes the name of the decorated class in the module."""


def make_decorator(generate: Callable[[type], Iterable[tuple[str, dict[str, Any], Any]]]) -> Callable[[Any], Bundle]:
    """Return a decorator of classes of tests, and of the results of such decorators.

    Parameters
    ----------
    generate : callable
        Called with a class; returns the name, the members and a method of each class to derive from it. The method
        replaces every inherited one that it is called with, or is None.
    """

    def decorate(cases: Any) -> Bundle:
        given = cases if isinstance(cases, Bundle) else [Case(cases, cases.__module__)]
        bundle = Bundle()
        for cls, module in given:
            names = vars(sys.modules[module])
            if names.get(cls.__name__) is cls:
                del names[cls.__name__]
            for name, members, replace in generate(cls):
                made = type(name, (cls,), {"__module__": module, "__qualname__": name, **members})
                if replace is not None:
                    replace(made)
                names[name] = made
                bundle.append(Case(made, module))
        return bundle

    return decorate
