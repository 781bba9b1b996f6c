"""Data sets in memory, and subsets."""

import numpy as np
import pytest

from xpgrad import datasets
from xpgrad.datasets import ConcatenatedDataset, DictDataset, SubDataset, TransformDataset, TupleDataset


def test_examples_of_a_tuple_data_set_are_tuples() -> None:
    data = TupleDataset(np.arange(4), np.arange(4) * 10)
    assert len(data) == 4
    assert data[1] == (1, 10)
    assert data[1:3] == data[[1, 2]] == [(1, 10), (2, 20)]


def test_examples_of_a_dictionary_data_set_are_dictionaries() -> None:
    data = DictDataset(x=[1, 2], y="ab")
    assert data[:] == [{"x": 1, "y": "a"}, {"x": 2, "y": "b"}]


@pytest.mark.parametrize("kind", [TupleDataset, lambda *xs: DictDataset(**dict(zip("ab", xs, strict=True)))])
def test_members_have_one_length(kind) -> None:
    with pytest.raises(ValueError, match=r"Dataset: expected members of one length, got lengths \[1, 2\]"):
        kind([1], [1, 2])


def test_concatenated_data_sets() -> None:
    data = ConcatenatedDataset([1, 2], [], [3])
    assert (len(data), data[:], data[-1], data[-3]) == (3, [1, 2, 3], 3, 1)
    for index in (3, -4):
        with pytest.raises(IndexError, match="is out of range for 3 examples"):
            data[index]


def test_examples_are_transformed_when_they_are_read() -> None:
    calls = []
    data = TransformDataset([1, 2, 3], lambda x: calls.append(x) or -x)
    assert (len(data), data[1], calls) == (3, -2, [2])


def test_parts_are_ranges_of_an_order() -> None:
    first, rest = datasets.split_dataset("abcde", 2, order=[4, 3, 2, 1, 0])
    assert ("".join(first[:]), "".join(rest[:]), rest[-1]) == ("ed", "cba", "a")
    with pytest.raises(IndexError, match=r"^SubDataset: index 2 is out of range for 2 examples$"):
        first[2]
    with pytest.raises(ValueError, match="split_at must be an int from 0 to 5, got 6"):
        datasets.split_dataset("abcde", 6)
    with pytest.raises(ValueError, match=r"^SubDataset: expected a part of 0 to 3, got 1 to 4$"):
        SubDataset("abc", 1, 4)
    with pytest.raises(ValueError, match=r"^SubDataset: expected an order of 3 indices, got 2$"):
        SubDataset("abc", 0, 2, order=[1, 0])
    with pytest.raises(TypeError, match=r"^split_dataset: split_at must be an int, got 1\.5$"):
        datasets.split_dataset("abcde", 1.5)


def test_random_parts_hold_each_example_once_and_follow_their_seed() -> None:
    first, rest = datasets.split_dataset_random(range(9), 4, seed=0)
    assert sorted(first[:] + rest[:]) == list(range(9))
    assert first[:] == datasets.split_dataset_random(range(9), 4, seed=0)[0][:] != [0, 1, 2, 3]
    assert [len(part) for part in datasets.split_dataset_n(range(9), 4)] == [2, 2, 2, 2]
    parts = datasets.split_dataset_n_random(range(9), 3, seed=1)
    assert sorted(i for part in parts for i in part[:]) == list(range(9))


@pytest.mark.parametrize("seed", [None, 3])
def test_each_example_is_held_out_once(seed) -> None:
    pairs = datasets.get_cross_validation_datasets_random(range(7), 3, seed)
    assert sorted(i for _, held_out in pairs for i in held_out[:]) == list(range(7))
    for training, held_out in pairs:
        assert sorted(training[:] + held_out[:]) == list(range(7))
    folds = [(rest[:], held_out[:]) for rest, held_out in datasets.get_cross_validation_datasets(range(7), 3)]
    assert folds == [([0, 1, 2, 3], [4, 5, 6]), ([4, 5, 6, 0, 1], [2, 3]), ([2, 3, 4, 5, 6], [0, 1])]


def test_the_digits_are_scans_and_labels() -> None:
    pytest.importorskip("sklearn")
    train, test = datasets.get_digits()
    assert (len(train), len(test)) == (1437, 360)
    x, t = train[0]
    assert (x.shape, x.dtype, t.dtype) == ((64,), np.float32, np.int32)
    scans = datasets.get_digits(withlabel=False, ndim=3, scale=16.0)[1]
    assert (scans[0].shape, max(scan.max() for scan in scans[:])) == ((1, 8, 8), 16)
    np.testing.assert_array_equal(scans[0].ravel() / 16, test[0][0])
    with pytest.raises(ValueError, match=r"^get_digits: ndim must be 1, 2 or 3, got 4$"):
        datasets.get_digits(ndim=4)
