"""Batches in order, shuffled, and read ahead."""

import copy
import pickle
from itertools import chain

import numpy as np
import pytest
from tests.core.stores import Store

from xpgrad.iterators import MultiprocessIterator, MultithreadIterator, SerialIterator, ShuffleOrderSampler

KINDS = pytest.mark.parametrize("kind", [SerialIterator, MultithreadIterator])


@KINDS
def test_batches_run_on_into_the_next_sweep(kind) -> None:
    with kind(range(5), 2, shuffle=False) as iterator:
        assert (iterator.epoch_detail, iterator.previous_epoch_detail) == (0, None)
        seen = [(iterator.next(), iterator.epoch, iterator.is_new_epoch, iterator.epoch_detail) for _ in range(5)]
    assert seen == [
        ([0, 1], 0, False, 0.4), ([2, 3], 0, False, 0.8), ([4, 0], 1, True, 1.2), ([1, 2], 1, False, 1.6),
        ([3, 4], 2, True, 2.0),
    ]  # fmt: skip
    assert iterator.previous_epoch_detail == 1.6


@KINDS
def test_one_sweep_ends_with_a_smaller_batch_and_can_be_repeated(kind) -> None:
    iterator = kind(range(5), 2, repeat=False, shuffle=False)
    for _ in range(2):
        assert list(iterator) == [[0, 1], [2, 3], [4]]
        assert (iterator.epoch, iterator.is_new_epoch) == (1, True)
        with pytest.raises(StopIteration):
            iterator.next()
        iterator.reset()
    iterator.finalize()


@KINDS
def test_an_order_is_drawn_after_the_only_sweep_too(kind) -> None:
    np.random.seed(0)  # noqa: NPY002 - the order of batches depends on the host's global generator
    iterator = kind(range(4), 2, repeat=False)
    first = [*iterator]
    iterator.reset()
    second = [*iterator]
    iterator.finalize()
    np.random.seed(0)  # noqa: NPY002
    drawn = [np.random.permutation(4).tolist() for _ in range(3)]  # noqa: NPY002
    assert [[*chain(*first)], [*chain(*second)]] == [drawn[0], drawn[2]]


@KINDS
def test_each_sweep_has_its_own_order_with_each_example_once(kind) -> None:
    np.random.seed(0)  # noqa: NPY002 - as in Chainer's programs
    with kind(range(20), 10) as iterator:
        sweeps = [iterator.next() + iterator.next() for _ in range(3)]
    assert all(sorted(sweep) == list(range(20)) for sweep in sweeps)
    assert sweeps[0] != sweeps[1] != sweeps[2]


def test_a_batch_may_be_larger_than_the_data_set() -> None:
    iterator = SerialIterator(range(3), 8, shuffle=False)
    assert (iterator.next(), iterator.epoch) == ([0, 1, 2, 0, 1, 2, 0, 1], 2)


def test_an_order_sampler_decides_on_the_order() -> None:
    iterator = SerialIterator(range(4), 2, order_sampler=lambda order, position: [3, 1])
    assert [iterator.next() for _ in range(2)] == [[3, 1], [3, 1]]
    assert iterator.epoch == 2
    orders = [SerialIterator(range(9), 9, order_sampler=ShuffleOrderSampler(np.random.RandomState(4))).next()
              for _ in range(2)]  # fmt: skip
    assert orders[0] == orders[1]
    with pytest.raises(ValueError, match=r"expected shuffle= or order_sampler=, got both"):
        SerialIterator([1], 1, shuffle=True, order_sampler=ShuffleOrderSampler())


def test_bad_sizes_are_errors() -> None:
    with pytest.raises(ValueError, match=r"^SerialIterator: batch_size must be positive, got 0$"):
        SerialIterator([1], 0)
    with pytest.raises(ValueError, match=r"^SerialIterator: the data set is empty$"):
        SerialIterator([], 1).next()


@KINDS
def test_a_loaded_iterator_resumes_where_it_was_saved(kind) -> None:
    iterator, store = kind(range(10), 3), Store()
    for _ in range(2):
        iterator.next()
    iterator.serialize(store)
    other = kind(range(10), 3)
    other.next()
    other.serialize(store.loaded())
    assert (other.epoch_detail, other.previous_epoch_detail) == (0.6, 0.3)
    assert other.next() == iterator.next()
    for each in iterator, other:
        each.finalize()


def test_an_error_of_an_example_is_raised_by_its_batch() -> None:
    class Broken(list):
        def __getitem__(self, i):
            return 1 / (2 - i)

    with MultithreadIterator(Broken(range(4)), 2, shuffle=False) as iterator:
        iterator.next()
        with pytest.raises(ZeroDivisionError):
            iterator.next()


def test_an_iterator_with_threads_is_copied_and_pickled_without_them() -> None:
    with MultithreadIterator(range(4), 2, shuffle=False, n_threads=2) as iterator:
        iterator.next()
        for other in (copy.copy(iterator), pickle.loads(pickle.dumps(iterator))):
            assert (other.next(), other.epoch) == ([2, 3], 1)
            other.finalize()
        assert iterator.next() == [2, 3]


def test_processes_read_the_same_batches() -> None:
    with MultiprocessIterator(np.arange(5), 2, shuffle=False, n_processes=1, n_prefetch=2) as iterator:
        assert [iterator.next() for _ in range(3)] == [[0, 1], [2, 3], [4, 0]]
        assert iterator.epoch_detail == 1.2
