"""A seeded fault as data: how it is planted in a correct backend, and which families must kill it.

Each fault of `tests/faults/seeded` is a wrong function under a decorator, which says what the function is used for:

- `replacing`: ``wrong(right, *args)`` instead of functions of the namespace; `replacing_both` also for an operator
- `misreading`: ``wrong(x, *others)`` instead of the first argument of functions; `misreading_both` of both operands
- `spoiling`: ``wrong(out, *args)`` instead of the results of functions; `spoiling_both` also for an operator
- `giving_operator`: ``wrong(x, *others)`` as an operator
- `giving_kernel`: ``wrong(*arrays)`` as a kernel; `replacing_kernel` gives it the right one, too
- `scattering`: ``wrong(spec, parts)`` as the kernel `scatter_add`
- `changing`: ``wrong(right, *args)`` of pretend arrays, as a method or function; `giving_method` without the right one
- `planted_by`: whatever a file has a plant for, such as transfers from the host
- `fault`: anything else, by changes of the bed
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
from tests.faults.testbed import Testbed, change

from xpgrad.backend.plugins import plugins
from xpgrad.transforms.trace.guards.trust import leave_out
from xpgrad_conformance.modules import members, modules_of

Plant = Callable[[Testbed], None]


@dataclass(eq=False)
class Fault:
    """One way in which a backend can be wrong.

    Attributes
    ----------
    id : str
        Permanent, in words: ``sum-drops-keepdims``. A fault without one is called by the name of its variable.
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


@dataclass(eq=False)
class Freedom:
    """One thing that a correct backend may do, and that no check may hold against it.

    Attributes
    ----------
    id, title : str
        As those of a fault.
    plant : callable
    lazy : bool
    """

    id: str
    title: str
    plant: Plant
    lazy: bool = False


T = TypeVar("T", Fault, Freedom)


def collected(kind: type[T]) -> tuple[T, ...]:
    """Return the faults or the freedoms of all files of tests/faults/seeded, whose functions `compile` does not follow.

    They are parts of array libraries and of plugins.
    """
    for module in modules_of("tests.faults.seeded"):
        for name, value in vars(module).items():
            leave_out(getattr(value, "plant", value))
            if isinstance(value, kind):
                value.id = name.replace("_", "-")
    return members("tests.faults.seeded", kind)


def fault(title: str = "", families: str = "", cases: tuple[str, ...] = (), **options: Any) -> Callable[[Plant], Fault]:
    """Return a decorator that makes a `Fault` of the function that plants it; a long title is its docstring."""
    return lambda plant: Fault("", title or _title(plant), families, plant, cases, **options)


def freedom(title: str, *, lazy: bool = False) -> Callable[[Plant], Freedom]:
    """Return a decorator that makes a `Freedom` of the function that plants it."""
    return lambda plant: Freedom("", title, plant, lazy)


def _title(function: Callable[..., Any]) -> str:
    """Return the docstring of a function in one line."""
    return " ".join((function.__doc__ or "").split())


# Faults of one wrong function

Wrong = Callable[..., Any]
_Decorator = Callable[[Wrong], Fault]
CALLING = {
    "__getitem__": ("getitem",),
    "__setitem__": ("setitem",),
    "convolution": ("F.convolution_nd",),
    "convolution_filter_backward": ("F.convolution_nd",),
    "max_pool": ("F.max_pooling_nd",),
    "max_pool_backward": ("F.max_pooling_nd",),
    "scatter_add": ("scatter_add",),
    "sum_pool": ("F.average_pooling_nd",),
}
"""The operations that call an operator or a kernel, which checks of operations run if a fault names no others."""


def planted_by(
    plant: Callable[[Testbed, Wrong], None],
    title: str = "",
    families: str = "",
    cases: tuple[str, ...] = (),
    *,
    of_bed: bool = False,
    memory: Callable[[], Any] | None = None,
    **options: Any,
) -> _Decorator:
    """Return a decorator that makes a `Fault` of a function that ``plant(bed, function)`` plants.

    Its first arguments are the bed, with `of_bed`, and what it remembers, which ``memory()`` makes for each bed. NumPy
    does not warn of what it computes. A title that is too long for the line of the decorator is its docstring. A short
    function may be a lambda expression, which has the name of its variable:
    ``sin_is_cos = replacing("sin", "sin is cos", "K")(lambda right, x: np.cos(x))``.
    """

    def decorate(wrong: Wrong) -> Fault:
        def planted(bed: Testbed) -> None:
            known = [*([bed] if of_bed else []), *([] if memory is None else [memory()])]

            def quiet(*args: Any, **kwargs: Any) -> Any:
                with np.errstate(all="ignore"):
                    return wrong(*known, *args, **kwargs)

            leave_out(wrong)
            leave_out(quiet)
            plant(bed, quiet)

        return Fault("", title or _title(wrong), families, planted, cases, **options)

    return decorate


def _named(
    plant: Callable[[Testbed, str, Wrong], None],
    names: str,
    operations: tuple[str, ...],
    args: tuple[Any, ...],
    options: dict[str, Any],
) -> _Decorator:
    """Return a decorator that plants by ``plant(bed, name, function)`` for each of some names."""

    def plant_all(bed: Testbed, wrong: Wrong) -> None:
        for name in names.split():
            plant(bed, name, wrong)

    return planted_by(plant_all, *args, **({"operations": operations} | options))


def replacing(names: str, *args: Any, **options: Any) -> _Decorator:
    """Return a decorator that makes a `Fault` of a replacement: ``wrong(right, *args, **kwargs)`` of NumPy arrays.

    It replaces one function or several: ``"sum"``, ``"minimum maximum"``. Checks of operations run these functions, if
    `options` have no others.
    """
    return _named(Testbed.replace, names, tuple(names.split()), args, options)


def replacing_both(name: str, *args: Any, **options: Any) -> _Decorator:
    """Return a decorator that makes a `Fault` of ``wrong(x1, x2)``, which replaces a function and its operator."""
    return _named(Testbed.both, name, (name,), args, options)


def misreading(names: str, *args: Any, **options: Any) -> _Decorator:
    """Return a decorator that makes a `Fault` of ``wrong(x, *others, **kwargs)``, which replaces the first argument."""

    def plant(bed: Testbed, name: str, wrong: Wrong) -> None:
        bed.replace(name, lambda right, *args, **kwargs: right(wrong(*args, **kwargs), *args[1:], **kwargs))

    return _named(plant, names, tuple(names.split()), args, options)


def misreading_both(name: str, *args: Any, **options: Any) -> _Decorator:
    """Return a decorator that makes a `Fault` of ``wrong(x1, x2)``, which replaces the operands, the operator's too."""

    def plant(bed: Testbed, name: str, wrong: Wrong) -> None:
        right = bed.original(name)
        bed.both(name, lambda x1, x2: right(*wrong(x1, x2)))

    return _named(plant, name, (name,), args, options)


def spoiling(names: str, *args: Any, **options: Any) -> _Decorator:
    """Return a decorator that makes a `Fault` of ``wrong(out, *args, **kwargs)``, which changes the right results."""

    def plant(bed: Testbed, name: str, wrong: Wrong) -> None:
        bed.replace(name, lambda right, *args, **kwargs: wrong(_array(right(*args, **kwargs)), *args, **kwargs))

    return _named(plant, names, tuple(names.split()), args, options)


def spoiling_both(name: str, *args: Any, **options: Any) -> _Decorator:
    """Return a decorator that makes a `Fault` of ``wrong(out, x1, x2)``, for a function and its operator."""

    def plant(bed: Testbed, name: str, wrong: Wrong) -> None:
        right = bed.original(name)
        bed.both(name, lambda x1, x2: wrong(_array(right(x1, x2)), x1, x2))

    return _named(plant, name, (name,), args, options)


def _array(out: Any) -> Any:
    return np.asarray(out) if isinstance(out, np.generic) else out


def giving_kernel(name: str, *args: Any, **options: Any) -> _Decorator:
    """Return a decorator that makes a `Fault` of a kernel that is given to the backend."""
    return _named(Testbed.kernel, name, CALLING.get(name, ()), args, options)


def replacing_kernel(name: str, *args: Any, **options: Any) -> _Decorator:
    """Return a decorator that makes a `Fault` of a kernel that knows the host's: ``wrong(right, *arrays)``."""

    def plant(bed: Testbed, name: str, wrong: Wrong) -> None:
        bed.kernel(name, partial(wrong, plugins.host.xp.kernel(name)))

    return _named(plant, name, CALLING.get(name, ()), args, options)


def giving_operator(name: str, *args: Any, **options: Any) -> _Decorator:
    """Return a decorator that makes a `Fault` of a replaced operator: ``wrong(x, *others)`` of NumPy arrays."""
    return _named(Testbed.operator, name, CALLING.get(name, ()), args, options)


def changing(names: str, *args: Any, **options: Any) -> _Decorator:
    """Return a decorator that makes a `Fault` of ``wrong(right, *args)``, of pretend arrays: see `Testbed.method`.

    It replaces one method or function, or several: ``"Array.__mul__ multiply"``.
    """
    return _named(Testbed.method, names, (), args, options)


def giving_method(name: str, *args: Any, **options: Any) -> _Decorator:
    """Return a decorator that makes a `Fault` of a method that does without the right one: ``wrong(*args)``."""

    def plant(bed: Testbed, name: str, wrong: Wrong) -> None:
        bed.method(name, lambda right, *args, **kwargs: wrong(*args, **kwargs))

    return _named(plant, name, (), args, options)


def scattering(*args: Any, **options: Any) -> _Decorator:
    """Return a decorator that makes a `Fault` of the kernel `scatter_add`, ``wrong(spec, parts)`` of NumPy arrays."""

    def plant(bed: Testbed, name: str, wrong: Wrong) -> None:
        bed.kernels[name] = bed.backend._scatter_add(wrong)

    return _named(plant, "scatter_add", CALLING["scatter_add"], args, options)


# Plants for `planted_by`


def accumulate(least: int = 0) -> Callable[[Testbed, Wrong], None]:
    """Return the plant of ``function(total, g)`` as the kernel `accumulate`, for sums of so many elements or more."""

    def plant(bed: Testbed, function: Wrong) -> None:
        bed.backend.in_place_from = least
        bed.kernel("accumulate", function)

    return plant


def from_host(bed: Testbed, values: Wrong) -> None:
    """Let transfers from the host return ``values(x)`` of the NumPy array."""
    change(bed.backend, from_host=lambda array, device: bed.library.array(np.asarray(values(array)), device.handle))


def to_host(bed: Testbed, values: Wrong) -> None:
    """Let transfers to the host return ``values(x)``."""
    change(bed.backend, to_host=lambda array: np.asarray(values(array.inner)))


def to_device(bed: Testbed, values: Wrong) -> None:
    """Let transfers to another device return ``values(x)`` of the NumPy array."""
    change(bed.backend, move=lambda array, device: bed.library.array(np.asarray(values(array.inner)), device.handle))


def uniform(bed: Testbed, function: Wrong) -> None:
    """Let ``function(generator, shape, dtype)`` give uniform numbers, the kernel `random_uniform`."""
    bed.kernels["random_uniform"] = lambda shape, dtype, device, generator: bed.library.array(
        np.asarray(function(generator, shape, dtype)).astype(dtype), device
    )
