"""Moves of links whose classes override `to_cpu` or `to_gpu`, as programs for older versions of Chainer do."""

import functools
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from xpgrad.backend.plugins import plugins
from xpgrad.errors import BackendUnavailable
from xpgrad.models.residence import Resident, Visitor

_moving: ContextVar[frozenset[int]] = ContextVar("_moving", default=frozenset())
"""The links whose method `to_cpu` or `to_gpu` is running, by `id`."""
_visit: Callable[[Visitor, Any], None] = Visitor.visit_device_resident


class DeviceResidentsVisitor:
    """Base class of objects that `device_resident_accept` passes the contents of a link to."""

    def visit_device_resident(self, device_resident: Any) -> None:
        """Visit a link."""
        raise NotImplementedError

    def visit_array(self, arr: Any) -> Any:
        """Return the array that replaces an array."""
        raise NotImplementedError

    def visit_variable(self, param: Any) -> None:
        """Visit a Variable."""
        raise NotImplementedError


def marked(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method during which its link is among those that move."""

    @functools.wraps(method)
    def call(link: Any, *args: Any, **kwargs: Any) -> Any:
        token = _moving.set(_moving.get() | {id(link)})
        try:
            return method(link, *args, **kwargs)
        finally:
            _moving.reset(token)

    return call


def visit_device_resident(visitor: Visitor, link: Any) -> None:
    """Set the device of a link, and call its own method that moves it there."""
    _visit(visitor, link)
    if visitor._move != "to_device" or id(link) in _moving.get():
        return
    (target,) = visitor._arguments
    if target.backend is plugins.host and type(link).to_cpu not in OWN:
        marked(type(link).to_cpu)(link)
    elif _is_gpu(target) and type(link).to_gpu not in OWN:
        marked(type(link).to_gpu)(link, int(target.name.rpartition(":")[2]))


def _is_gpu(device: Any) -> bool:
    try:
        return bool(device.backend is plugins.backend_of_prefix("gpu"))
    except BackendUnavailable:
        return False


MEMBERS: tuple[tuple[type, str, Any], ...] = (
    (Resident, "to_cpu", marked(Resident.to_cpu)),
    (Resident, "to_gpu", marked(Resident.to_gpu)),
    (Visitor, "visit_device_resident", visit_device_resident),
)
"""Methods of links as Chainer has them."""
OWN = {Resident.to_cpu, Resident.to_gpu, *(value for _, _, value in MEMBERS)}
"""Methods that no class of a program has overridden."""
