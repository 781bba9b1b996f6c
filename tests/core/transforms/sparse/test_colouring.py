"""Colourings: columns of one colour share no row, and there are few colours."""

import random

import pytest

from xpgrad.transforms.sparse.pattern import coloured


def banded(size, below, above):
    return [[i for i in range(j - above, j + below + 1) if 0 <= i < size] for j in range(size)]


def arrow(size):
    return [list(range(size)), *([0, j] for j in range(1, size))]


def scattered(rows, columns, count, seed):
    draw = random.Random(seed)
    return [sorted(draw.sample(range(rows), count)) for _ in range(columns)]


@pytest.mark.parametrize(
    ("columns", "rows", "count"),
    [
        pytest.param([[j] for j in range(9)], 9, 1, id="diagonal"),
        pytest.param(banded(12, 1, 1), 12, 3, id="tridiagonal"),
        pytest.param(banded(20, 2, 1), 20, 4, id="banded"),
        pytest.param(arrow(7), 7, 7, id="arrow"),
        pytest.param([[0], [], [0, 1], []], 2, 2, id="empty columns"),
        pytest.param([[], []], 3, 0, id="nothing"),
        pytest.param([], 3, 0, id="no columns"),
        pytest.param([[0], [0, 1], [1, 2], [2], [3]], 4, 2, id="bipartite path"),
    ],
)
def test_structured_matrices_have_the_least_number_of_colours(columns, rows, count):
    found = coloured(True, columns, rows)
    assert found.count == count
    assert_valid(found, columns)


@pytest.mark.parametrize("seed", range(20))
def test_columns_of_one_colour_share_no_row(seed):
    columns = scattered(30, 40, 1 + seed % 4, seed)
    found = coloured(True, columns, 30)
    assert_valid(found, columns)
    assert found.count >= max(sum(i in column for column in columns) for i in range(30))
    assert found.count <= 1 + max(
        len({j for j, other in enumerate(columns) if set(other) & set(column)}) - 1 for column in columns
    )


def assert_valid(found, columns):
    for colour in range(found.count):
        rows = [i for column, its in zip(columns, found.colours, strict=True) if its == colour for i in column]
        assert rows
        assert len(rows) == len(set(rows))
    assert [colour == -1 for colour in found.colours] == [not column for column in columns]
