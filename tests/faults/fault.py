"""A seeded fault as data: how it is planted in a correct backend, and which families must kill it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.faults.testbed import Testbed, change

Plant = Callable[[Testbed], None]


@dataclass(frozen=True)
class Fault:
    """One way in which a backend can be wrong.

    Attributes
    ----------
    id : str
        Permanent, in words: ``sum-drops-keepdims``.
    title : str
        What is wrong.
    families : str
        Letters of the families that must each kill it.
    plant : callable
        ``plant(bed)`` changes the correct backend.
    cases : tuple of str
        The cases of the table that the checks of the table run; fewer than a real run has, so a kill here is a kill
        there.
    operations : tuple of str
        The operations with generated inputs that the checks of operations run, likewise.
    lazy : bool
        Its bed computes lazily.
    """

    id: str
    title: str
    families: str
    plant: Plant
    cases: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    lazy: bool = False


@dataclass(frozen=True)
class Freedom:
    """One thing that a correct backend may do, and that no check may hold against it.

    Attributes
    ----------
    id, title : str
    plant : callable
    lazy : bool
    """

    id: str
    title: str
    plant: Plant
    lazy: bool = False


def fault(title: str, families: str, cases: tuple[str, ...] = (), **options: Any) -> Callable[[Plant], Fault]:
    """Return a decorator that makes a `Fault` of the function that plants it, which names it."""
    return lambda plant: Fault(_id(plant), title, families, plant, cases, **options)


def freedom(title: str, *, lazy: bool = False) -> Callable[[Plant], Freedom]:
    """Return a decorator that makes a `Freedom` of the function that plants it, which names it."""
    return lambda plant: Freedom(_id(plant), title, plant, lazy)


_Decorator = Callable[[Callable[..., Any]], Fault]


def replacing(name: str, title: str, families: str, cases: tuple[str, ...] = (), **options: Any) -> _Decorator:
    """Return a decorator that makes a `Fault` of a replacement: ``wrong(original, *args, **kwargs)`` of NumPy arrays.

    Its checks of operations run the replaced function, if `options` have no others.
    """
    options.setdefault("operations", (name,))
    return lambda wrong: Fault(_id(wrong), title, families, replace(name, wrong), cases, **options)


def replacing_both(name: str, title: str, families: str, cases: tuple[str, ...] = (), **options: Any) -> _Decorator:
    """Return a decorator that makes a `Fault` of ``wrong(x1, x2)``, which replaces a function and its operator."""
    return lambda wrong: Fault(_id(wrong), title, families, both(name, wrong), cases, **options)


def giving_kernel(name: str, title: str, families: str, cases: tuple[str, ...] = (), **options: Any) -> _Decorator:
    """Return a decorator that makes a `Fault` of a kernel that is given to the backend."""
    return lambda wrong: Fault(_id(wrong), title, families, kernel(name, wrong), cases, **options)


def giving_operator(name: str, title: str, families: str, cases: tuple[str, ...] = (), **options: Any) -> _Decorator:
    """Return a decorator that makes a `Fault` of a replaced operator: ``wrong(x, *others)`` of NumPy arrays."""
    return lambda wrong: Fault(_id(wrong), title, families, operator(name, wrong), cases, **options)


def _id(function: Callable[..., Any]) -> str:
    return function.__name__.replace("_", "-")


# How a fault of one row is planted


def replace(name: str, function: Callable[..., Any]) -> Plant:
    """Replace a function of the namespace by ``function(original, *args, **kwargs)`` of NumPy arrays."""
    return lambda bed: bed.replace(name, function)


def operator(name: str, function: Callable[..., Any]) -> Plant:
    """Replace an operator, ``__add__``, with ``function(x, *others)`` of NumPy arrays."""
    return lambda bed: bed.operator(name, function)


def both(name: str, function: Callable[..., Any]) -> Plant:
    """Replace a function of two arrays and its operator by ``function(x1, x2)`` of NumPy arrays."""
    return lambda bed: bed.both(name, function)


def kernel(name: str, function: Callable[..., Any]) -> Plant:
    """Give the backend the kernel `name`: ``function(*arrays, **parameters)`` of NumPy arrays."""
    return lambda bed: bed.kernel(name, function)


def install(source: str, **options: Any) -> Plant:
    """Install a distribution whose plugin has these lines."""
    return lambda bed: bed.install(source, **options)


def on_backend(**methods: Any) -> Plant:
    """Replace methods or attributes of the backend."""
    return lambda bed: change(bed.backend, **methods)


def on_library(**methods: Any) -> Plant:
    """Replace methods or attributes of the library."""
    return lambda bed: change(bed.library, **methods)


def on_arrays(**methods: Any) -> Plant:
    """Replace methods of the type of the library's arrays."""
    return lambda bed: change(bed.library.Array, **methods)
