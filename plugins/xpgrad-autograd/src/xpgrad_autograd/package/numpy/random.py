"""``numpy.random``; its functions take no arrays whose derivatives are taken."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from xpgrad_autograd.wrapping import has_box


def _of_values(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except (TypeError, ValueError) as error:
            if has_box(args) or has_box(kwargs.values()):
                raise TypeError(
                    f"random.{function.__name__}: samples have no derivatives by an argument; write them as a function "
                    "of samples without parameters, such as mean + width * randn(), or pass the value of the argument"
                ) from error
            raise

    return call


for _name in dir(np.random):
    if not _name.startswith("_"):
        _found = getattr(np.random, _name)
        _is_sampler = callable(_found) and not isinstance(_found, type) and _name not in ("default_rng", "test")
        globals()[_name] = _of_values(_found) if _is_sampler else _found
