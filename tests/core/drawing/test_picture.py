"""Pictures as SVG, DOT and Mermaid."""

import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest

from xpgrad.drawing import Arrow, Box, Picture
from xpgrad.drawing.svg import CHARACTER, shortened, size_of, wide

SVG = "{http://www.w3.org/2000/svg}"
NASTY = 'a <b> & "c" \\ [x] {y} | # _z_ *'
PICTURE = Picture(
    (Box(("x", NASTY), "input"), Box(("f",), "function")), (Arrow(0, 1, dashed=True),), 'na"me', "LR", (NASTY,)
)
NESTED = Picture((Box((NASTY,), "link"), Box(("inner",), "link", 0), Box(("W", "(2,)"), "parameter", 1)))


@pytest.mark.parametrize("picture", [PICTURE, NESTED, Picture(())])
def test_svg_is_well_formed_and_shows_the_text(picture):
    root = ElementTree.fromstring(picture.to_svg("own"))
    shown = [element.text for element in root.iter(f"{SVG}text")]
    assert shown == [line for box in picture.boxes for line in box.lines] + list(picture.notes)
    assert len(root.findall(f".//{SVG}rect")) == len(picture.boxes)
    assert len(root.findall(f"{SVG}polygon")) == len(picture.arrows)
    assert not root.findall(f".//{SVG}script")


def test_svg_holds_all_its_boxes():
    root = ElementTree.fromstring(PICTURE.to_svg("own"))
    left, top, width, height = map(float, root.attrib["viewBox"].split())
    for rect in root.iter(f"{SVG}rect"):
        x, y, w, h = (float(rect.attrib[key]) for key in ("x", "y", "width", "height"))
        assert left <= x
        assert top <= y
        assert x + w <= left + width
        assert y + h <= top + height


def test_colours_do_not_depend_on_the_page():
    svg = PICTURE.to_svg("own")
    assert "currentColor" not in svg
    assert all("fill=" in element for element in re.findall(r"<(?:text|rect|polygon|path)[^>]*>", svg))


def test_long_and_wide_texts_fit_their_boxes():
    assert wide("漢字") == 4
    assert wide("é") == 1
    assert size_of(Box(("漢" * 10,)))[0] >= 20 * CHARACTER
    long = shortened("word " * 100)
    assert wide(long) <= 60
    assert long.endswith("…")
    assert wide(shortened("漢" * 100)) <= 60
    assert shortened("a\nb\x00\x1b") == "a b  "
    ElementTree.fromstring(Picture((Box(("a\x00b\x1b[1m",)),)).to_svg("own"))


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz's program dot is not installed")
@pytest.mark.parametrize("picture", [PICTURE, NESTED])
def test_graphviz_takes_the_text(picture):
    root = ElementTree.fromstring(picture.to_svg("dot"))
    shown = "".join(root.itertext()).replace("\xa0", " ")
    assert all(line in shown for box in picture.boxes for line in box.lines)


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz's program dot is not installed")
def test_an_error_of_graphviz_is_shown(monkeypatch):
    monkeypatch.setattr(
        "subprocess.run", lambda *_, **__: subprocess.CompletedProcess([], 1, stdout="", stderr="syntax error")
    )
    with pytest.raises(RuntimeError, match="dot failed: syntax error"):
        PICTURE.to_svg("dot")


def test_mermaid_has_boxes_arrows_and_classes():
    assert Picture((Box(("x",), "input"), Box(("f", "(2,)"), "function")), (Arrow(0, 1),)).to_mermaid() == (
        "flowchart TB\n"
        '  n0(["x"]):::inputBox\n'
        '  n1["f<br>(2,)"]:::functionBox\n'
        "  n0 --> n1\n"
        "  classDef inputBox fill:#cdeccf,stroke:#7d8590,color:#1b1f24\n"
        "  classDef functionBox fill:#b6d0ff,stroke:#7d8590,color:#1b1f24\n"
    )


def test_mermaid_nests_and_escapes():
    text = NESTED.to_mermaid()
    assert text.count("subgraph") == text.count("  end\n") == 2
    assert "a #60;b#62; #38; #34;c#34;" in text
    assert "-.->" in PICTURE.to_mermaid()
    assert "%% a <b>" in PICTURE.to_mermaid()


def test_notebooks_get_a_frame_and_the_note():
    page = PICTURE._repr_html_()
    assert page.startswith('<div style="overflow:auto')
    assert "<svg" in page
    assert repr(PICTURE) == '<Picture na"me: 2 boxes, 1 arrows>'
