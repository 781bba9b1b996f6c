"""Large graphs with few boxes."""

import random

import numpy as np
import pytest

from xpgrad import Variable
from xpgrad import array_api as ap
from xpgrad.drawing import Arrow, Box, Picture, build_computational_graph, draw
from xpgrad.drawing.layered import layers_of


def text(box):
    return " ".join(box.lines)


def test_a_long_chain_is_a_box_with_its_length():
    y = Variable(np.ones(3, np.float32), name="x")
    for _ in range(5000):
        y = ap.tanh(y)
    picture = draw(ap.sum(y))
    repeated = [box for box in picture.boxes if box.kind == "repeated"]
    assert [box.lines for box in repeated] == [("repeated × 4,998", "tanh", "(3,), float32")]
    assert sum(text(box) == "tanh" for box in picture.boxes) == 2, "the first and the last step are on their own"
    assert picture.notes == ("10,003 nodes, drawn as 8 boxes: what repeats is drawn once, with how often",)
    layers_of(len(picture.boxes), picture.arrows)  # no circles


def test_steps_of_a_recurrent_network_are_one_box():
    x, w = Variable(np.ones((2, 3), np.float32), name="x"), Variable(np.eye(3, dtype=np.float32), name="w")
    h = Variable(np.zeros((2, 3), np.float32), name="h")
    for _ in range(500):
        h = ap.tanh(ap.matmul(h, w) + x)
    picture = draw(h)
    (repeated,) = (box for box in picture.boxes if box.kind == "repeated")
    assert {line.partition(" ×")[0].strip() for line in repeated.lines} == {
        "repeated",
        "_ @ _",
        "_ + _",
        "tanh",
        "(2, 3), float32",
    }
    names = [box.lines[0] for box in picture.boxes]
    assert {"x", "w", "h"} <= set(names)
    pointing = {names[arrow.tail] for arrow in picture.arrows if picture.boxes[arrow.head] is repeated}
    assert {"x", "w"} <= pointing


def test_small_graphs_are_not_collapsed():
    picture = draw(ap.tanh(ap.exp(Variable(np.ones(3)))))
    assert len(picture.boxes) == 5
    assert picture.notes == ()
    assert picture.collapsed(5) is picture
    assert len(picture.collapsed(4).boxes) <= 4


def test_the_whole_text_stays_chainers():
    y = Variable(np.ones(3))
    for _ in range(300):
        y = ap.tanh(y)
    graph = build_computational_graph(y)
    assert graph.dump().count("[label=") == 601
    assert graph.to_mermaid().count("Box\n") == len(graph.picture().boxes)
    assert graph.to_svg("own", max_boxes=1000).count("<rect") == 601


def random_picture(count, texts):
    rng = random.Random(0)
    boxes = tuple(Box((f"f{rng.randrange(texts)}", f"({rng.randrange(9)},)"), "function") for _ in range(count))
    arrows = tuple(Arrow(rng.randrange(max(0, i - 50), i), i) for i in range(1, count) for _ in range(2))
    return Picture(boxes, arrows)


@pytest.mark.parametrize("texts", [1, 3, 300, 10**9])
def test_graphs_without_repetition_are_cut_into_parts(texts):
    picture = random_picture(5000, texts).collapsed()
    assert len(picture.boxes) <= 200
    assert picture.notes[0].startswith("5,000 nodes, drawn as ")
    layers_of(len(picture.boxes), picture.arrows)
    assert "<svg" in picture.to_svg("own")


def test_parts_hold_all_nodes():
    picture = random_picture(5000, 300).collapsed()
    assert picture.boxes[0].lines[0] == "part 1 of 40: 125 nodes"
    assert len(picture.boxes) == 40
    assert picture.notes == ("5,000 nodes, drawn as 40 boxes: each box is a part",)


def test_equal_boxes_without_a_circle_are_counted():
    boxes = (*(Box(("x",), "input") for _ in range(300)), Box(("stack",), "function"))
    picture = Picture(boxes, tuple(Arrow(i, 300) for i in range(300))).collapsed()
    assert [box.lines for box in picture.boxes] == [("x", "× 300"), ("stack",)]
    assert picture.arrows == (Arrow(0, 1),)
