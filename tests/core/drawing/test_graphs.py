"""`build_computational_graph`: which nodes and edges it finds, and Chainer's DOT text."""

import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from tests.building import variable

import xpgrad
from xpgrad import Variable, computational_graph
from xpgrad import array_api as ap
from xpgrad.drawing import ComputationalGraph, build_computational_graph, draw

VALUE = 'shape="octagon",fillcolor="#E0E0E0",style="filled"'
FUNCTION = 'shape="record",fillcolor="#6495ED",style="filled"'


def labels(text):
    return re.findall(r'label="((?:[^"\\]|\\.)*)"', text)


def named_edges(text):
    """Return the edges of DOT text as pairs of labels."""
    names = dict(re.findall(r'(\d+) \[label="((?:[^"\\]|\\.)*)"', text))
    return sorted((names[a], names[b]) for a, b in re.findall(r"(\d+) -> (\d+);", text))


def test_the_module_has_chainers_names():
    assert xpgrad.computational_graph is computational_graph
    assert computational_graph.build_computational_graph is build_computational_graph
    assert dir(computational_graph) == ["ComputationalGraph", "build_computational_graph"]


def test_the_text_is_chainers(device):
    x = variable(device, [[1.0, 2.0, 3.0]], name="x")
    y = ap.tanh(x)
    f = y.creator_node
    assert build_computational_graph([y]).dump() == (
        "digraph graphname{rankdir=TB;"
        f'{id(x.node)} [label="x: (1, 3), float32",{VALUE}];'
        f'{id(f)} [label="tanh",{FUNCTION}];'
        f'{id(y.node)} [label="(1, 3), float32",{VALUE}];'
        f"{id(f)} -> {id(y.node)};{id(x.node)} -> {id(f)};}}"
    )


def test_styles_are_attributes_and_none_is_plain():
    x = Variable(np.ones(2))
    y = ap.tanh(x)
    plain = build_computational_graph(y, variable_style=None, function_style=None).dump()
    assert '[label="(2,), float64",shape="oval"];' in plain
    assert '[label="tanh",shape="box"];' in plain
    given = build_computational_graph(y, variable_style={"shape": "diamond"}, function_style={"label": "f"}).dump()
    assert '[label="(2,), float64",shape="diamond"];' in given
    assert '[label="f",shape="box"];' in given


def test_the_given_colour_is_used_in_the_image():
    y = ap.tanh(Variable(np.ones(2)))
    svg = build_computational_graph(y, function_style={"fillcolor": "#123456"}).to_svg("own")
    assert svg.count("#123456") == 1


def test_names_can_be_left_out():
    y = ap.tanh(Variable(np.ones(2), name="x"))
    assert labels(build_computational_graph(y, show_name=False).dump())[0] == "(2,), float64"


def test_a_function_of_one_variable_twice_has_one_edge():
    x = Variable(np.ones(2), name="x")
    assert named_edges(build_computational_graph(x * x).dump()) == [
        ("_ * _", "(2,), float64"),
        ("x: (2,), float64", "_ * _"),
    ]


def test_several_outputs_share_their_function():
    x = Variable(np.ones(2), name="x")
    h = ap.exp(x)
    y, z = ap.sin(h), ap.cos(h)
    assert sorted(labels(build_computational_graph((y, z)).dump())) == sorted(
        ["x: (2,), float64", "exp", "sin", "cos", *["(2,), float64"] * 3]
    )
    assert "cos" not in labels(build_computational_graph(y).dump())


def test_functions_are_connected_without_variables():
    x = Variable(np.ones(2), name="x")
    h = ap.exp(x)
    y = ap.sin(h) + ap.cos(h)
    text = build_computational_graph(y, remove_variable=True).dump()
    assert sorted(labels(text)) == ["_ + _", "cos", "exp", "sin"]
    assert named_edges(text) == [("cos", "_ + _"), ("exp", "cos"), ("exp", "sin"), ("sin", "_ + _")]


@pytest.mark.parametrize("start", [lambda y: y, lambda y: y.node, lambda y: y.creator_node, lambda y: y.creator])
def test_outputs_are_variables_nodes_or_functions(start):
    y = ap.tanh(Variable(np.ones(2)))
    assert "tanh" in labels(build_computational_graph(start(y)).dump())


def test_functions_of_chainers_old_kind_are_drawn():
    class Doubled(xpgrad.Function):
        def forward(self, inputs):
            return (2 * inputs[0],)

    y = Doubled()(Variable(np.ones(2)))
    assert "Doubled" in labels(build_computational_graph(y).dump())
    assert "Doubled" in labels(build_computational_graph(y.creator).dump())


def test_the_graph_ends_where_it_was_cut():
    x = Variable(np.ones(2), name="x")
    h = ap.exp(x)
    y = ap.sin(h)
    h.unchain()
    assert labels(build_computational_graph(y).dump()) == ["(2,), float64", "sin", "(2,), float64"]


def test_functions_with_several_outputs_are_one_node():
    class Split(xpgrad.FunctionNode):
        def forward(self, inputs):
            return inputs[0] * 2, inputs[0] * 3

    y, z = Split().apply((Variable(np.ones(2)),))
    assert labels(build_computational_graph([y, z]).dump()).count("Split") == 1


def test_constants_and_released_functions_do_no_harm():
    x = Variable(np.ones(2))
    y = ap.sum(x * np.ones(2) + 3)
    assert "_ * constant array" in labels(build_computational_graph(y).dump())
    y.backward(retain_graph=False)
    assert "a released function" in labels(build_computational_graph(y).dump())


def test_labels_are_escaped_for_strings_and_records():
    class Quoted(xpgrad.FunctionNode):
        label = 'a "b" |c| {d} <e> \\'

        def forward(self, inputs):
            return (2 * inputs[0],)

    (y,) = Quoted().apply((Variable(np.ones(2)),))
    graph = build_computational_graph(y)
    assert r'label="a \"b\" \|c\| \{d\} \<e\> \\"' in graph.dump()
    if shutil.which("dot"):
        done = subprocess.run(["dot", "-Tsvg"], input=graph.dump(), capture_output=True, text=True, check=True)
        assert 'a "b" |c| {d} <e>' in "".join(ElementTree.fromstring(done.stdout).itertext()).replace("\xa0", " ")


def test_invalid_options_raise_with_the_expected_values():
    y = ap.tanh(Variable(np.ones(2)))
    with pytest.raises(ValueError, match="remove_split=False is not supported"):
        build_computational_graph(y, remove_split=False)
    with pytest.raises(ValueError, match="rankdir must be in TB, BT, LR, RL; got 'XY'"):
        build_computational_graph(y, rankdir="XY")
    with pytest.raises(ValueError, match="variable_style must be 'default', a dict of DOT attributes or None; got 'x'"):
        build_computational_graph(y, variable_style="x")
    with pytest.raises(TypeError, match="outputs must be Variables, VariableNodes or FunctionNodes, got int"):
        build_computational_graph([y, 3])
    with pytest.raises(NotImplementedError, match="the only format is 'dot', got 'png'"):
        build_computational_graph(y).dump("png")
    with pytest.raises(ValueError, match="engine must be 'dot', 'own' or None; got 'x'"):
        build_computational_graph(y).to_svg("x")


def test_nodes_and_edges_agree_with_the_graph():
    x = Variable(np.ones(2))
    y = ap.tanh(x)
    graph = build_computational_graph(y)
    f = y.creator_node
    assert graph.nodes == [x.node, f, y.node]
    assert set(graph.edges) == {(x.node, f), (f, y.node)}
    assert repr(graph) == "<ComputationalGraph: 1 functions, 2 values>"
    again = ComputationalGraph(graph.nodes, graph.edges * 2)
    assert again.dump() == graph.dump()


def test_to_graphviz_is_the_packages_object():
    graphviz = pytest.importorskip("graphviz")
    graph = build_computational_graph(ap.tanh(Variable(np.ones(2))))
    source = graph.to_graphviz()
    assert isinstance(source, graphviz.Source)
    assert source.source.strip() == graph.dump()


def test_without_the_package_the_error_names_the_package_to_install(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ImportError, match="pip install graphviz, or use to_svg"):
        build_computational_graph(ap.tanh(Variable(np.ones(2)))).to_graphviz()


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz's program dot is not installed")
def test_graphviz_draws_svg_where_it_is_installed():
    graph = build_computational_graph(ap.tanh(Variable(np.ones(2), name="<x>")))
    for svg in (graph.to_svg(), graph.to_svg("dot")):
        root = ElementTree.fromstring(svg)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert "<x>" in "".join(root.itertext())


def test_without_graphviz_ours_draws(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    graph = build_computational_graph(ap.tanh(Variable(np.ones(2))))
    assert graph.to_svg() == graph.to_svg("own")
    with pytest.raises(RuntimeError, match="Graphviz's program dot is not installed; install Graphviz, or pass engine"):
        graph.to_svg("dot")


def test_kinds_of_boxes():
    x, data = Variable(np.ones(2), name="x"), Variable(np.ones(2), name="data", requires_grad=False)
    picture = draw(ap.tanh(x * data))
    kinds = {" ".join(box.lines): box.kind for box in picture.boxes}
    assert kinds["x (2,), float64"] == "parameter"
    assert kinds["data (2,), float64"] == "input"
    assert kinds["tanh"] == "function"
    assert kinds["(2,), float64"] == "variable"


def test_draw_accepts_only_graphs():
    y = ap.tanh(Variable(np.ones(2)))
    assert draw(build_computational_graph(y)) == draw([y]) == draw(y)
    with pytest.raises(TypeError, match="got str"):
        draw("text")
