"""Places in layers."""

import random

import pytest

from xpgrad.drawing import Arrow
from xpgrad.drawing.layered import layered, layers_of


def problem(seed, count=40):
    rng = random.Random(seed)
    sizes = [(rng.uniform(20, 160), rng.uniform(20, 60)) for _ in range(count)]
    arrows = [Arrow(rng.randrange(i), i) for i in range(1, count) for _ in range(rng.randrange(3))]
    return sizes, list(dict.fromkeys(arrows))


@pytest.mark.parametrize("rankdir", ["TB", "BT", "LR", "RL"])
@pytest.mark.parametrize("seed", range(4))
def test_boxes_do_not_overlap_and_arrows_point_one_way(rankdir, seed):
    sizes, arrows = problem(seed)
    layout = layered(sizes, arrows, rankdir)
    sides = [(x - w / 2, x + w / 2, y - h / 2, y + h / 2) for (x, y), (w, h) in zip(layout.places, sizes, strict=True)]
    for i, (a, b, c, d) in enumerate(sides):
        assert min(a, c) >= -1e-6
        assert b <= layout.width + 1e-6
        assert d <= layout.height + 1e-6
        for p, q, r, s in sides[:i]:
            assert b <= p or q <= a or d <= r or s <= c
    axis, sign = {"TB": (1, 1), "BT": (1, -1), "LR": (0, 1), "RL": (0, -1)}[rankdir]
    for arrow, path in zip(arrows, layout.paths, strict=True):
        along = [sign * point[axis] for point in path]
        assert along == sorted(along)
        (x, y), (w, h) = layout.places[arrow.tail], sizes[arrow.tail]
        assert abs(path[0][0] - x) <= w / 2 + 1e-6
        assert abs(path[0][1] - y) <= h / 2 + 1e-6
        (x, y), (w, h) = layout.places[arrow.head], sizes[arrow.head]
        assert abs(path[-1][0] - x) <= w / 2 + 1e-6
        assert abs(path[-1][1] - y) <= h / 2 + 1e-6


def test_a_chain_is_straight():
    layout = layered([(30, 20), (90, 20), (50, 20)], [Arrow(0, 1), Arrow(1, 2)], "TB")
    assert len({x for x, _ in layout.places}) == 1


def test_an_arrow_over_several_layers_avoids_the_boxes():
    layout = layered([(30, 20)] * 3, [Arrow(0, 1), Arrow(1, 2), Arrow(0, 2)], "TB")
    middle = layout.paths[2][1:3]
    assert middle[0][0] == middle[1][0]
    assert abs(middle[0][0] - layout.places[1][0]) > 15


def test_layer_of_a_source_is_next_to_its_consumer():
    assert layers_of(4, [Arrow(0, 1), Arrow(1, 2), Arrow(3, 2)]) == [0, 1, 2, 1]


def test_no_boxes_and_circles():
    assert layered([], [], "TB").paths == []
    with pytest.raises(ValueError, match="no circles"):
        layers_of(2, [Arrow(0, 1), Arrow(1, 0)])
