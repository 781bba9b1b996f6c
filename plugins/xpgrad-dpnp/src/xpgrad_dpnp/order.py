"""The order of work on a queue, where dpnp and SYCL leave it open."""

from threading import Lock
from typing import Any

import dpctl
import dpctl.utils

from xpgrad.types import Array

_waiting = Lock()


def finish(queue: Any) -> None:
    """Wait until all work that dpnp has submitted to a queue, from any thread, is complete.

    The `wait` of the queue returns immediately, or crashes, while another thread waits for the queue.
    """
    dpctl.SyclEvent.wait_for(dpctl.utils.SequentialOrderManager[queue].submitted_events)


def finish_all(queue: Any) -> None:
    """Wait until all work on a queue is done, whoever has submitted it."""
    finish(queue)
    with _waiting:
        queue.wait()


def settled(y: Array) -> Array:
    """Return `y` after dpnp's final task of indexing by arrays.

    That task runs in one of a few threads of SYCL, each of which then waits for the interpreter's lock. oneMKL's
    functions also wait for such a thread while holding this lock: after some calls in a row, the process would hang.
    """
    events = dpctl.utils.SequentialOrderManager[y.sycl_queue].host_task_events
    dpctl.SyclEvent.wait_for(events)  # the manager's own `wait` crashes if other threads add events meanwhile
    return y
