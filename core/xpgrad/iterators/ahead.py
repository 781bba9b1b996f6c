"""Batches of a data set that threads or processes read ahead while the program computes."""

import multiprocessing
import os
from collections import deque
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any, NamedTuple

from xpgrad.iterators.serial import Sampler, SerialIterator, State, read

_DATASETS: list[Any] = []  # the data set of a worker process, a single item


class _Pending(NamedTuple):
    """A batch that is being read, and the states before and after it."""

    begin: State
    futures: list[Future[Any]]
    end: State


class _Ahead(SerialIterator):
    """Iterators that read ahead; their state follows the last returned batch, so pending batches are not saved."""

    def __init__(self, dataset: Any, batch_size: int, prefetch: int, *args: Any) -> None:
        self._executor: Executor | None = None
        self._pending: deque[_Pending] = deque()
        self._prefetch = prefetch
        super().__init__(dataset, batch_size, *args)

    def __next__(self) -> Any:
        with self._in_turn.lock:
            if self._pending and self._pending[0].begin is not self._state:  # the last batch failed, or is read again
                self._pending.clear()
            while len(self._pending) <= self._prefetch:
                begin = self._pending[-1].end if self._pending else self._state
                try:
                    indices, end = self._advance(begin)
                except StopIteration:
                    break
                self._executor = self._executor or self._start()
                self._pending.append(
                    _Pending(begin, [self._read(self._executor, part) for part in self._parts(indices)], end)
                )
            if not self._pending:
                raise StopIteration
            parts = [future.result() for future in self._pending[0].futures]
            batch = parts[0] if self._reads_batches else parts
            self._go_on(self._pending.popleft().end)
        return batch

    def _start(self) -> Executor:
        raise NotImplementedError

    def _read(self, executor: Executor, part: Any) -> Future[Any]:
        return executor.submit(read, self.dataset, part)

    def finalize(self) -> None:
        """Stop the threads or processes; the next batch starts new workers."""
        self._pending.clear()
        if self._executor is not None:
            self._executor.shutdown(cancel_futures=True)
            self._executor = None

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"_executor": None, "_pending": deque()}


class MultithreadIterator(_Ahead):
    """Batches like those of `SerialIterator`, whose examples threads read one batch ahead.

    Parameters
    ----------
    dataset, batch_size, repeat, shuffle, order_sampler
        As of `SerialIterator`; the data set must be safe to read from several threads.
    n_threads : int
    """

    def __init__(
        self, dataset: Any, batch_size: int, repeat: bool = True, shuffle: bool | None = None, n_threads: int = 1,
        order_sampler: Sampler | None = None,
    ) -> None:  # fmt: skip
        self.n_threads = n_threads
        super().__init__(dataset, batch_size, 1, repeat, shuffle, order_sampler)

    def _start(self) -> Executor:
        return ThreadPoolExecutor(self.n_threads, thread_name_prefix="xpgrad-iterator")


class MultiprocessIterator(_Ahead):
    """Batches like those of `SerialIterator`, whose examples other processes read ahead.

    The processes are started anew (not forked), so a program that uses it needs ``if __name__ == "__main__":``, and
    the data set is pickled once for each.

    Parameters
    ----------
    dataset, batch_size, repeat, shuffle, order_sampler
        As of `SerialIterator`.
    n_processes : int, optional
        By default the number of processors.
    n_prefetch : int
        The number of batches that are read ahead.

    Attributes
    ----------
    start_method : str or None
        Start method of `multiprocessing`: "spawn", or None for the system's default.
    """

    start_method: str | None = "spawn"

    def __init__(
        self, dataset: Any, batch_size: int, repeat: bool = True, shuffle: bool | None = None,
        n_processes: int | None = None, n_prefetch: int = 1, order_sampler: Sampler | None = None,
    ) -> None:  # fmt: skip
        self.n_processes = n_processes or os.cpu_count() or 1
        super().__init__(dataset, batch_size, n_prefetch, repeat, shuffle, order_sampler)

    def _start(self) -> Executor:
        context: Any = multiprocessing.get_context(self.start_method)
        return ProcessPoolExecutor(self.n_processes, context, _keep, (self.dataset,))

    def _read(self, executor: Executor, part: Any) -> Future[Any]:
        return executor.submit(_example, part)


def _keep(dataset: Any) -> None:
    _DATASETS[:] = [dataset]


def _example(part: Any) -> Any:
    return read(_DATASETS[0], part)
