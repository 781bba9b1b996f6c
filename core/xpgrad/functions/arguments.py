"""Arguments with Chainer's names."""

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

P = ParamSpec("P")
Result = TypeVar("Result")


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
