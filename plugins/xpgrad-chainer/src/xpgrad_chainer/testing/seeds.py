"""Tests with repeatable random numbers."""

import functools
import random
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

import xpgrad
from xpgrad_chainer.testing.bundle import Bundle

T = TypeVar("T")
_saved: list[tuple[Any, Any]] = []


def generate_seed() -> int:
    """Return a seed drawn from NumPy's global generator."""
    return int(np.random.randint(0, 2**31 - 1))


def do_setup(deterministic: bool = True) -> None:
    """Seed the generators of Python, NumPy and xpgrad, and remember their states."""
    _saved.append((random.getstate(), np.random.get_state()))
    if deterministic:
        seed = 0
    else:
        np.random.seed()
        seed = generate_seed()
    random.seed(seed)
    np.random.seed(seed)
    xpgrad.random.seed(seed)


def do_teardown() -> None:
    """Restore the states of Python's and NumPy's generators."""
    if not _saved:
        raise AssertionError("do_teardown: do_setup was not called")
    state, numpy_state = _saved.pop()
    random.setstate(state)
    np.random.set_state(numpy_state)


def fix_random(*, setup_method: str = "setUp", teardown_method: str = "tearDown") -> Callable[[T], T]:
    """Return a decorator that runs a test, or each test of a class or of several, with the same random numbers."""

    def decorate(test: Any) -> Any:
        if isinstance(test, Bundle):
            for case in test:
                decorate(case.cls)
            return test
        if not isinstance(test, type):
            return _fixed(test)
        for method, wrap in ((setup_method, _seeded), (teardown_method, _restored)):
            setattr(test, method, wrap(getattr(test, method, lambda self: None)))
        return test

    return decorate


def _fixed(test: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(test)
    def fixed(*args: Any, **kwargs: Any) -> Any:
        do_setup()
        try:
            return test(*args, **kwargs)
        finally:
            do_teardown()

    return fixed


def _seeded(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def set_up(self: Any) -> None:
        do_setup()
        method(self)

    return set_up


def _restored(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def tear_down(self: Any) -> None:
        try:
            method(self)
        finally:
            do_teardown()

    return tear_down
