"""Arguments with Chainer's names, and errors with remedies for arguments that Chainer removed."""

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

P = ParamSpec("P")
Result = TypeVar("Result")

REMOVED = {
    "deterministic": "delete it",
    "train": "use xpgrad.using_config('train', ...)",
    "use_cudnn": "delete it",
}
"""Arguments that Chainer dropped in version 2, and what to do."""


def without_removed(function: Callable[P, Result]) -> Callable[P, Result]:
    """Wrap `function` so that an argument removed from Chainer raises a ValueError with a remedy."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> Result:
        for name in REMOVED.keys() & kwargs:
            raise ValueError(f"{function.__name__}: the argument {name!r} was removed in Chainer 2; {REMOVED[name]}")
        return function(*args, **kwargs)

    return call


def named(function: Callable[P, Result], name: str, *names: str) -> Callable[P, Result]:
    """Return a function of the standard under Chainer's name, which takes its first arguments by `names` too."""
    plain = cast("Callable[..., Result]", function)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Result:
        if kwargs:
            args += tuple(kwargs.pop(each) for each in names[len(args) :] if each in kwargs)
        return plain(*args, **kwargs)

    call.__name__ = call.__qualname__ = name
    call.__module__ = "xpgrad.functions"  # where pickle finds it
    return cast("Callable[P, Result]", call)
