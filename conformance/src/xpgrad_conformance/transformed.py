"""Transformed subjects: the suite on arrays of `compile`, `vmap` or `jvp` over arrays of another backend.

Their backends are named ``trace(numpy)``, ``batch(strict)``, ``trace(batch(numpy))``. Each check runs in a separate
transformed function, which may return values as side effects.
"""

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from xpgrad import Device, get_device
from xpgrad.backend.levels import Level, around
from xpgrad.backend.plugins import plugins
from xpgrad.plugin import Backend, Capabilities
from xpgrad.transforms.enclosing.backend import TransformedBackend, backend_over
from xpgrad.transforms.trace.backend import TraceBackend
from xpgrad_conformance import members, tangents, traced
from xpgrad_conformance.virtual import registered, virtual


class Transformation(NamedTuple):
    """A transformation under test: its backends, the level that a check runs in, and its limitations.

    Attributes
    ----------
    backend : callable
        ``backend(base, depth)`` returns a new backend over `base`, with `depth` transformations.
    level : callable
        ``level(number)`` returns the level for a check; each check has a different number.
    missing, expected : mapping
        Missing facts as in `Capabilities`, in addition to the facts that the base lacks.
    provides : frozenset of str
        Facts that the transformation provides even where the base lacks them.
    """

    backend: Callable[[Backend, int], TransformedBackend]
    level: Callable[[int], Level]
    missing: Mapping[str, str]
    expected: Mapping[str, str]
    provides: frozenset[str]


TRANSFORMATIONS = {
    "trace": Transformation(TraceBackend, traced.level, traced.MISSING, traced.EXPECTED, traced.PROVIDES),
    "batch": Transformation(
        members.MembersBackend, members.MembersLevel, members.MISSING, members.EXPECTED, members.PROVIDES
    ),
    "dual": Transformation(
        tangents.TangentsBackend, tangents.TangentsLevel, tangents.MISSING, tangents.EXPECTED, tangents.PROVIDES
    ),
}
NAME = re.compile(rf"({'|'.join(TRANSFORMATIONS)})\(([^:]+)\)")
"""The name of a backend of transformed arrays: the transformation, and the name of the base."""


@functools.cache
def transformed(name: str, base: Backend) -> Backend:
    """Return the backend of a transformation's arrays over arrays of `base`, registered by its name."""
    kind, given = TRANSFORMATIONS[name], base.capabilities
    backend = backend_over(kind.backend, base, len(transformations_of(base)) + 1)
    missing = {fact: why for fact, why in {**given.missing, **kind.missing}.items() if fact not in kind.provides}
    expected = {**given.expected, **kind.expected}
    backend.declared = Capabilities(missing, given.missing_on, given.tolerances, expected)
    return registered(backend)


def known(name: str) -> str:
    """Return `name` of a backend or device; register a backend of transformed arrays first."""
    text = name.removeprefix("@")
    _backend(text[: text.rfind(")") + 1])
    return name


def _backend(name: str) -> Backend | None:
    """Return the backend of transformed arrays with a name, or None if it is of no transformation."""
    found = NAME.fullmatch(name)
    if found is None:
        return None
    inner = _backend(found[2])
    return transformed(found[1], plugins.backend(found[2]) if inner is None else inner)


def device_named(name: str) -> Device:
    """Return the device with a name, also one of transformed arrays."""
    return get_device(known(name))


def is_transformed(backend: Backend) -> bool:
    """Return whether a backend computes with arrays of a transformation."""
    return isinstance(backend, TransformedBackend)


def transformations_of(backend: Backend) -> list[str]:
    """Return the names of the transformations of a backend's arrays, the outermost level first."""
    if not isinstance(backend, TransformedBackend):
        return []
    return [*transformations_of(backend.base), backend.name.partition("(")[0]]


def within(backend: Backend, function: Callable[..., Any], /, *args: Any, number: int = 0) -> Any:
    """Return ``function(*args)``, called in a transformed function if `backend` is one of transformed arrays.

    Parameters
    ----------
    number : int
        Number of the check, which seeds the random values of the transformation.
    """
    if not is_transformed(backend) or around() is not None:
        return function(*args)
    return _at_levels(transformations_of(backend), number, function, args)


def _at_levels(names: Sequence[str], number: int, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    if not names:
        return function(*args)
    return TRANSFORMATIONS[names[0]].level(number).run(_at_levels, names[1:], number, function, args)


def foreign_device(backend: Backend) -> Device:
    """Return a device of another library; within a transformed function, the device there over it."""
    host, level = plugins.host, around()
    found = host.default_device if backend.root is not host else virtual(host)[0]
    return found if level is None else level.device(found)


def pair_of(backend: Backend) -> tuple[Device, Device]:
    """Return two virtual devices over the arrays of a backend; transformed ones are over virtual ones of their root."""
    first, second = _over_virtual(backend)
    return first, second


def _over_virtual(backend: Backend) -> Sequence[Device]:
    if not isinstance(backend, TransformedBackend):
        return virtual(backend)
    below = _over_virtual(backend.base)[0].backend
    return transformed(backend.name.partition("(")[0], below).devices()
