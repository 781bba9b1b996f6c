"""Base classes of iterators and data sets."""

import numpy as np
import pytest

from xpgrad.dataset import DatasetMixin, Iterator


class Squares(DatasetMixin):
    def __len__(self):
        return 5

    def get_example(self, i):
        return i * i


@pytest.mark.parametrize(
    ("index", "expected"),
    [(2, 4), (slice(1, None, 2), [1, 9]), ([0, 3], [0, 9]), (np.array([4, 1]), [16, 1]),
     (slice(None, None, -1), [16, 9, 4, 1, 0])],
)  # fmt: skip
def test_a_data_set_is_indexed_by_numbers_slices_lists_and_arrays(index, expected) -> None:
    assert Squares()[index] == expected


def test_a_subclass_without_required_methods_raises() -> None:
    with pytest.raises(NotImplementedError, match=r"^Iterator: define __next__$"):
        next(Iterator())
    with pytest.raises(NotImplementedError, match=r"^DatasetMixin: define get_example$"):
        DatasetMixin()[0]
    with pytest.raises(NotImplementedError, match=r"^DatasetMixin: define __len__$"):
        len(DatasetMixin())


def test_an_iterator_is_finalized_at_the_end_of_its_block() -> None:
    class Counting(Iterator):
        finalized = 0

        def finalize(self):
            self.finalized += 1

    with Counting() as iterator:
        assert iter(iterator) is iterator
    assert iterator.finalized == 1
