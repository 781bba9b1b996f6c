"""A seeded fault as data: how it is planted in a correct backend, and which families must kill it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from tests.faults.testbed import Testbed

from xpgrad.backend.plugins import plugins
from xpgrad.transforms.trace.guards.trust import leave_out

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


def planted_by(
    plant: Callable[[Testbed, Callable[..., Any]], None],
    title: str,
    families: str,
    cases: tuple[str, ...] = (),
    *,
    of_bed: bool = False,
    memory: Callable[[], Any] | None = None,
    **options: Any,
) -> _Decorator:
    """Return a decorator that makes a `Fault` of a function that ``plant(bed, function)`` plants, and that names it.

    Its first arguments are the bed, with `of_bed`, and what it remembers, which ``memory()`` makes for each bed.
    """

    def decorate(wrong: Callable[..., Any]) -> Fault:
        def planted(bed: Testbed) -> None:
            leave_out(wrong)
            known = [*([bed] if of_bed else []), *([] if memory is None else [memory()])]
            plant(bed, partial(wrong, *known))

        return Fault(_id(wrong), title, families, planted, cases, **options)

    return decorate


def replacing(name: str, *args: Any, **options: Any) -> _Decorator:
    """Return a decorator that makes a `Fault` of a replacement: ``wrong(original, *args, **kwargs)`` of NumPy arrays.

    Its checks of operations run the replaced function, if `options` have no others.
    """
    options.setdefault("operations", (name,))
    return planted_by(lambda bed, wrong: bed.replace(name, wrong), *args, **options)


def replacing_both(name: str, *args: Any, **options: Any) -> _Decorator:
    """Return a decorator that makes a `Fault` of ``wrong(x1, x2)``, which replaces a function and its operator."""
    return planted_by(lambda bed, wrong: bed.both(name, wrong), *args, **options)


def giving_kernel(name: str, *args: Any, **options: Any) -> _Decorator:
    """Return a decorator that makes a `Fault` of a kernel that is given to the backend."""
    return planted_by(lambda bed, wrong: bed.kernel(name, wrong), *args, **options)


def replacing_kernel(name: str, *args: Any, **options: Any) -> _Decorator:
    """Return a decorator that makes a `Fault` of a kernel that knows the host's: ``wrong(right, *arrays)``."""

    def plant(bed: Testbed, wrong: Callable[..., Any]) -> None:
        bed.kernel(name, partial(wrong, plugins.host.xp.kernel(name)))

    return planted_by(plant, *args, **options)


def giving_operator(name: str, *args: Any, **options: Any) -> _Decorator:
    """Return a decorator that makes a `Fault` of a replaced operator: ``wrong(x, *others)`` of NumPy arrays."""
    return planted_by(lambda bed, wrong: bed.operator(name, wrong), *args, **options)


def giving_method(name: str, *args: Any, **options: Any) -> _Decorator:
    """Return a decorator that makes a `Fault` of a method of the bed's backend, library or arrays: ``backend.copy``."""
    return planted_by(
        lambda bed, wrong: bed.method(name, lambda right, *args, **kwargs: wrong(*args, **kwargs)), *args, **options
    )


def changing(name: str, *args: Any, **options: Any) -> _Decorator:
    """Return a decorator that makes a `Fault` of a method that knows the right one: ``wrong(right, *args)``."""
    return planted_by(lambda bed, wrong: bed.method(name, wrong), *args, **options)


def scatter_add(bed: Testbed, function: Callable[..., Any]) -> None:
    """Let ``function(spec, parts)``, of NumPy arrays, be the kernel `scatter_add`."""
    bed.kernels["scatter_add"] = bed.backend._scatter_add(function)


def _id(function: Callable[..., Any]) -> str:
    return function.__name__.replace("_", "-")
