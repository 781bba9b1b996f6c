"""Notebook output, rendered by headless Chromium: texts fit in their boxes, on light and dark pages."""

import numpy as np
import pytest
from tests.core.drawing.browser import chromium, colours, measured
from tests.core.drawing.test_notebooks import Model, compiled

from xpgrad import Parameter, Variable, functions
from xpgrad import array_api as ap
from xpgrad.drawing import Box, Picture, build_computational_graph
from xpgrad.drawing.boxes import FILLS


def loss():
    x = Variable(np.linspace(0, 1, 12, dtype=np.float32).reshape(4, 3), name="x")
    w = Parameter(np.ones((5, 3), np.float32), name="<W> & 'weights'")
    h = functions.relu(functions.linear(x, w))
    return ap.sum(h * h) + 0.1 * ap.sum(w * w)


def long_chain():
    y = Variable(np.ones(3), name="x")
    for _ in range(5000):
        y = ap.tanh(y)
    return y


def everything():
    y = loss()
    f, program = compiled()
    texts = (
        "漢字とかな",
        "é à ü",
        "a very long name of a function that goes on and on, and on, and on",
        "mmmmWWWW",
        "iiii",
    )
    pictures = [Picture(tuple(Box((text, text[:3]), kind) for text in texts), name=kind) for kind in FILLS]
    graphs = [build_computational_graph(y, rankdir=rankdir) for rankdir in ("TB", "BT", "LR", "RL")]
    chain = build_computational_graph(long_chain())
    return [y, Variable(None), *graphs, chain, program, f, Model(), Model(None), *pictures]


def page(objects):
    return "\n".join(f"<section>{each._repr_html_()}</section>" for each in objects)


@pytest.fixture(scope="module")
def body():
    chromium()
    return page(everything()).replace("<details>", "<details open>")


def test_texts_are_within_their_boxes_and_boxes_within_their_pictures(body, tmp_path):
    found = measured(tmp_path, body)
    assert found["overflowing"] == []
    assert found["outside"] == []
    assert found["broken"] == 0
    assert found["boxes"] == body.count("<rect") > 100
    assert found["texts"] > found["boxes"]


@pytest.mark.parametrize(("ground", "ink"), [("#ffffff", "#111111"), ("#111111", "#dddddd")])
def test_light_and_dark_pages_show_boxes_and_text(tmp_path, ground, ink):
    chromium()
    style = f"background:{ground};color:{ink};margin:8px"
    seen = colours(tmp_path, page([loss(), Model()]), style, (700, 800))
    total = sum(seen.values())
    assert 0.3 < seen[bytes.fromhex(ground[1:])] / total < 0.95, "the page is not blank, and not covered"
    for kind in ("function", "parameter", "link"):
        assert seen[bytes.fromhex(FILLS[kind][1:])] > 500, kind
    inks = sum(count for colour, count in seen.items() if max(colour) < 60)
    assert inks > 500 or ground == "#111111"
    assert len(seen) > 50, "edges of letters have many colours"


def test_the_measure_finds_text_that_is_too_long(tmp_path):
    chromium()
    svg = Picture((Box(("short",)), Box(("also short",)))).to_svg("own")
    found = measured(tmp_path, svg.replace(">short</text>", ">much too long for this box</text>"))
    assert found["overflowing"] == ["much too long for this box"]
    assert measured(tmp_path, '<svg width="50" height="50"><g><rect x="40" width="20" height="9"/></g></svg>')[
        "outside"
    ] == [""]
