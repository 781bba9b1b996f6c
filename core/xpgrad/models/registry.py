"""`Registry`: the attributes of a link that are its parameters and persistent values."""

import types
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from xpgrad.backend.device import Device
from xpgrad.graph.assignments import note_assignment
from xpgrad.graph.parameter import Parameter
from xpgrad.graph.variable import Variable
from xpgrad.initializers import NaN
from xpgrad.models.link_hook import LinkHook


class _MissingAttribute:
    """Descriptor in place of an attribute that `Link.__init__` has not set yet."""

    def __get__(self, link: Any, owner: type | None = None) -> Any:
        if link is None:
            return self
        raise link._not_initialized()


class Registry:
    """Base class of links: it registers parameters and persistent values.

    Parameters
    ----------
    **params : shape, or tuple of shape and dtype
        Parameters to add; deprecated, use `init_scope`.
    """

    __slots__ = ("__dict__", "__weakref__", "_plan")  # slots are neither copied nor pickled

    name: str | None
    _params: Any = _MissingAttribute()  # sets of names
    _persistent: Any = _MissingAttribute()
    _device: Device | None
    _local_link_hooks: dict[str, LinkHook]
    _ties: dict[str, object]
    _link_ready = False
    _within_init_scope = False

    def __init__(self, **params: Any) -> None:
        self._params, self._persistent = set(), set()
        self._device, self._local_link_hooks, self.name = None, {}, None
        self._link_ready = True
        for name, value in params.items():
            pair = isinstance(value, tuple) and len(value) == 2 and (value[0] is None or isinstance(value[0], tuple))
            self.add_param(name, *(value if pair else (value,)))

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__

    def _named_children(self) -> Iterable[tuple[str, Any]]:
        """Return the child links and their names."""
        return ()

    @property
    def within_init_scope(self) -> bool:
        """Whether assignments register parameters and links."""
        return self._within_init_scope

    @contextmanager
    def init_scope(self) -> Iterator[None]:
        """Context manager that registers assigned parameters, and in a chain assigned links, with this link."""
        if not self._link_ready:
            raise self._not_initialized()
        before, self._within_init_scope = self._within_init_scope, True
        try:
            yield
        finally:
            self._within_init_scope = before

    def __setattr__(self, name: str, value: Any) -> None:
        note_assignment(self, name)
        if isinstance(value, Parameter):
            if self._within_init_scope:
                self._register(name, value)
            elif name not in self.__dict__.get("_params", ()):
                self._check_registered(name, value)
        elif name in self.__dict__.get("_params", ()):
            self._check_stand_in(name, value)
        super().__setattr__(name, value)
        if "_ties" in self.__dict__:
            self._ties.pop(name, None)

    def _register(self, name: str, parameter: Parameter) -> None:
        if isinstance(getattr(type(self), name, None), (property, types.FunctionType)):
            raise AttributeError(f"{type(self).__name__}: the class has {name!r}; choose another name")
        parameter.name = name
        if self._device is not None:
            parameter.to_device(self._device)
        self._params.add(name)
        self._persistent.discard(name)

    def _check_stand_in(self, name: str, value: Any) -> None:
        """Raise TypeError unless a value may replace a parameter: a Variable, or a value set by a transform."""
        if not isinstance(value, Variable):
            raise TypeError(
                f"{type(self).__name__}.{name}: expected a Parameter or Variable, got {type(value).__name__}; assign "
                f"link.{name}.array, or delete the attribute first"
            )

    def _has(self, value: Any) -> bool:
        """Return whether a parameter or link is registered here or below; not by methods, which users override."""
        return any(vars(self)[name] is value for name in self._params) or any(
            child is value or child._has(value) for _, child in self._named_children()
        )

    def _check_registered(self, name: str, value: Any, level: int = 3) -> None:
        """Warn if a parameter or link is not part of this link, under any name."""
        if not self._has(value):
            warnings.warn(
                f"{type(self).__name__}.{name}: a {type(value).__name__} assigned outside of init_scope() belongs to "
                "no model: optimizers and serializers do not see it. Assign it within `with self.init_scope():`, or "
                "put it in a tuple if it shall stay outside",
                UserWarning,
                stacklevel=level,
            )

    def _not_initialized(self) -> RuntimeError:
        name = type(self).__name__
        return RuntimeError(f"{name}: Link.__init__() has not been called; call super().__init__() first in __init__")

    def __delattr__(self, name: str) -> None:
        super().__delattr__(name)
        self._params.discard(name)
        self._persistent.discard(name)

    def add_param(self, name: str, shape: Any = None, dtype: Any = "float32", initializer: Any = None) -> None:
        """Register a parameter. Deprecated: assign a `Parameter` within `init_scope`.

        Parameters
        ----------
        name : str
        shape : tuple of int or int, optional
            Without it the parameter is initialised later.
        dtype : dtype
            Of a parameter without `initializer`, which is filled with NaN.
        initializer : as `Parameter` takes it
        """
        self._check_new(name, "parameter")
        with self.init_scope():
            setattr(self, name, Parameter(NaN(dtype) if initializer is None else initializer, shape))

    def add_persistent(self, name: str, value: Any) -> None:
        """Register a value that is saved and moved with the parameters: an array, a Variable, a number or a string."""
        self._check_new(name, "persistent value")
        self.__dict__[name] = value
        self.register_persistent(name)

    def register_persistent(self, name: str) -> None:
        """Make an attribute a persistent value."""
        if not hasattr(self, name):
            raise AttributeError(
                f"register_persistent: {type(self).__name__} has no attribute {name!r}; assign it first"
            )
        self._persistent.add(name)
        self._params.discard(name)

    def _check_new(self, name: str, what: str) -> None:
        if not self._link_ready:
            raise self._not_initialized()
        if name in self.__dict__ or hasattr(type(self), name):
            raise AttributeError(f"cannot register a new {what} {name!r} of {type(self).__name__}: attribute exists")
