"""The order of work on a queue, where dpnp and SYCL leave it open."""

from threading import Lock
from typing import Any

import dpctl
import dpctl.utils

from xpgrad.types import Array

_waiting = Lock()


def wait(queue: Any) -> None:
    """Wait until all work on a queue is done; while one thread waits for it, SYCL would let a second one go on."""
    with _waiting:
        queue.wait()


def settled(y: Array) -> Array:
    """Return `y` after what dpnp does at the end of indexing by arrays.

    That runs in one of a few threads of SYCL, each of which then waits for the interpreter's lock. oneMKL's functions
    wait for such a thread, too, with this lock held: after some calls in a row, the process would hang.
    """
    events = dpctl.utils.SequentialOrderManager[y.sycl_queue].host_task_events
    dpctl.SyclEvent.wait_for(events)  # the manager's own `wait` crashes if other threads add events meanwhile
    return y
