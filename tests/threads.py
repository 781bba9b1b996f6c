"""Functions that run in other threads, all at once; their errors are raised here."""

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def at_once(*functions: Callable[[], Any]) -> list[Any]:
    """Return the results of functions that start at once, each in a new thread."""
    start = threading.Barrier(len(functions))

    def run(function: Callable[[], Any]) -> Any:
        start.wait(60)
        return function()

    with ThreadPoolExecutor(len(functions)) as pool:
        return list(pool.map(run, functions))


def for_each(function: Callable[[Any], Any], arguments: Any) -> list[Any]:
    """Return the results of a function of one argument, each computed in a new thread."""
    return at_once(*[lambda argument=argument: function(argument) for argument in arguments])


def in_thread(function: Callable[..., Any], *args: Any) -> Any:
    """Return the result of a function that runs in a new thread."""
    return at_once(lambda: function(*args))[0]


@contextlib.contextmanager
def switching_often(seconds: float = 1e-6) -> Iterator[None]:
    """Let the interpreter switch between threads every few instructions."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(seconds)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
