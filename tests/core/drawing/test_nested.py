"""Boxes within boxes."""

import random

from xpgrad.drawing import Box
from xpgrad.drawing.svg import MAX_WIDTH, nested


def test_boxes_contain_exactly_their_nodes():
    rng = random.Random(0)
    withins = [None, *(rng.choice([None, *range(i)]) for i in range(1, 60))]
    boxes = [Box(("text",), within=within) for within in withins]
    sizes = [(rng.uniform(40, 200), rng.uniform(20, 40)) for _ in boxes]
    places = nested(boxes, sizes)
    for i, (x, y, w, h) in enumerate(places):
        assert w >= sizes[i][0]
        assert h >= sizes[i][1]
        within = withins[i]
        if within is not None:
            a, b, c, d = places[within]
            assert a <= x
            assert x + w <= a + c + 1e-6
            assert b + sizes[within][1] <= y
            assert y + h <= b + d + 1e-6
        for j in range(i):
            if withins[j] == within:
                a, b, c, d = places[j]
                assert x + w <= a or a + c <= x or y + h <= b or b + d <= y


def test_lines_are_broken():
    places = nested([Box(("x",)) for _ in range(30)], [(100.0, 20.0)] * 30)
    assert max(x + w for x, _, w, _ in places) <= MAX_WIDTH
    assert len({y for _, y, _, _ in places}) == 5
