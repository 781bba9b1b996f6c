"""Keyword arguments of functions that take ``**kwargs``."""

import inspect
from typing import Any


def check_unexpected_kwargs(kwargs: dict[str, Any], **unexpected: str) -> None:
    """Raise ValueError with the message given for a keyword argument that is no longer taken."""
    for name, message in unexpected.items():
        if name in kwargs:
            raise ValueError(message)


def parse_kwargs(kwargs: dict[str, Any], *names_and_values: Any, **unexpected: str) -> Any:
    """Return the values of keyword arguments, or their defaults.

    Parameters
    ----------
    kwargs : dict
    *names_and_values : tuple of str and object
        The name and the default of each.
    **unexpected : str
        As for `check_unexpected_kwargs`.

    Raises
    ------
    TypeError
        `kwargs` has other names.
    """
    check_unexpected_kwargs(kwargs, **unexpected)
    remaining = dict(kwargs)
    values = tuple(remaining.pop(name, default) for name, default in names_and_values)
    assert_kwargs_empty(remaining)
    return values


def assert_kwargs_empty(kwargs: dict[str, Any]) -> None:
    """Raise TypeError, which names the caller of the calling function's arguments, if there are any."""
    if kwargs:
        frame = inspect.currentframe()
        while frame is not None and frame.f_globals.get("__name__") == __name__:
            frame = frame.f_back
        caller = "the function" if frame is None else f"{frame.f_code.co_name}()"
        names = ", ".join(repr(name) for name in sorted(kwargs))
        raise TypeError(f"{caller} got unexpected keyword argument(s) {names}")
