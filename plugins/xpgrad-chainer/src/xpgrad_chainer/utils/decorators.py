"""Decorators and a metaclass for classes and functions."""

import functools
import sys
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from xpgrad import config

T = TypeVar("T")

cached_property = functools.cached_property


def experimental(api_name: str) -> None:
    """Warn that an interface may change, unless ``chainer.disable_experimental_feature_warning`` is set."""
    if not getattr(sys.modules.get("chainer"), "disable_experimental_feature_warning", False):
        warnings.warn(
            f"{api_name} is experimental. The interface can change in the future.", FutureWarning, stacklevel=2
        )


def nondeterministic(f_name: str) -> None:
    """Warn, where ``config.warn_nondeterministic`` is set, that a function is not deterministic."""
    if getattr(config, "warn_nondeterministic", False):
        warnings.warn(f"Potentially non-deterministic code is being executed: {f_name}", stacklevel=2)


def final(*args: Any, **kwargs: Any) -> Any:
    """Mark a method that subclasses of `enable_final` classes must not override.

    Parameters
    ----------
    action : exception type or function, optional
        Raised, or called, with the message; by default TypeError.
    """

    def decorate(method: Any) -> Any:
        method.__override_action = kwargs.get("action", TypeError)
        return method

    return decorate(args[0]) if args else decorate


class _Final(type):
    def __new__(cls, name: str, bases: tuple[type, ...], members: dict[str, Any]) -> "_Final":
        for base in bases:
            for key in members:
                action = getattr(getattr(base, key, None), "__override_action", None)
                if action is None:
                    continue
                message = f"method {key!r} is final in {base.__name__}; {name} overrides it"
                if isinstance(action, type) and issubclass(action, Exception):
                    raise action(message)
                action(message)
        return super().__new__(cls, name, bases, members)


def enable_final(base: Any = (), meta_base: Any = ()) -> type:
    """Return a base class whose subclasses check methods that are marked by `final`.

    Parameters
    ----------
    base : type or tuple of types
        Its bases.
    meta_base : type or tuple of types
        Bases of its metaclass.
    """
    bases = base if isinstance(base, tuple) else (base,)
    metas = meta_base if isinstance(meta_base, tuple) else (meta_base,)
    meta: Callable[..., type] = type("enable_final_meta", (_Final, *metas), {})
    return meta("enable_final", bases, {})
