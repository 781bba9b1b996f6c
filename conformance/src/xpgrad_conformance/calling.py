"""The current call of a worker process, in memory that the main process reads if the worker crashes or hangs."""

from typing import Any

SIZE = 400
"""Bytes of the description of a call; longer ones are cut off."""
_memory: list[Any] = []


def share(memory: Any) -> None:
    """Write descriptions of calls into an array of `SIZE` characters from now on."""
    _memory[:] = [memory]


def note(call: bytes) -> None:
    """Record the next call; do nothing in a process without shared memory."""
    for memory in _memory:
        memory.value = call


def described(memory: Any) -> str:
    """Return a description of the last call, to end a sentence with, or an empty text."""
    text = bytes(memory.value).decode(errors="replace")
    return f", in {text}" if text else ""
