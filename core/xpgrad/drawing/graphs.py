"""`build_computational_graph`: the graph that made some values, under Chainer's names, and its picture."""

import heapq
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from xpgrad.drawing import dot
from xpgrad.drawing.boxes import Arrow, Box
from xpgrad.drawing.picture import MAX_BOXES, Picture
from xpgrad.graph.node import FunctionBase, Implementation, VariableNode, title
from xpgrad.graph.variable import Variable
from xpgrad.utils.pictures import drawer

Node = VariableNode | FunctionBase
Style = Mapping[str, str] | None

VARIABLE_STYLE = {"shape": "octagon", "fillcolor": "#E0E0E0", "style": "filled"}
FUNCTION_STYLE = {"shape": "record", "fillcolor": "#6495ED", "style": "filled"}
DIRECTIONS = "TB", "BT", "LR", "RL"


class ComputationalGraph:
    """The functions and values that some values were computed from, to be drawn.

    `build_computational_graph` makes it.

    Parameters
    ----------
    nodes : sequence of VariableNode or FunctionNode
    edges : sequence of (node, node)
    variable_style, function_style : dict, "default" or None
        Attributes of the DOT language; None is a plain oval or box.
    rankdir : {"TB", "BT", "LR", "RL"}
        Where arrows point: to the top or bottom, left or right.
    remove_variable : bool
        Whether only functions are drawn.
    show_name : bool
        Whether the names of Variables are drawn.
    """

    def __init__(
        self,
        nodes: Sequence[Node],
        edges: Sequence[tuple[Node, Node]],
        variable_style: Style | str = "default",
        function_style: Style | str = "default",
        rankdir: str = "TB",
        remove_variable: bool = False,
        show_name: bool = True,
    ) -> None:
        if rankdir not in DIRECTIONS:
            raise ValueError(f"computational graph: rankdir must be in {', '.join(DIRECTIONS)}; got {rankdir!r}")
        self.nodes, self.edges = list(nodes), list(edges)
        self.variable_style = _style("variable_style", variable_style, VARIABLE_STYLE)
        self.function_style = _style("function_style", function_style, FUNCTION_STYLE)
        self.rankdir, self.remove_variable, self.show_name = rankdir, remove_variable, show_name

    def __repr__(self) -> str:
        count = sum(isinstance(node, FunctionBase) for node in self.nodes)
        return f"<ComputationalGraph: {count:,} functions, {len(self.nodes) - count:,} values>"

    def dump(self, format: str = "dot") -> str:
        """Return the whole graph as text of the DOT language, as Chainer writes it.

        Raises
        ------
        NotImplementedError
            `format` is not "dot".
        """
        if format != "dot":
            raise NotImplementedError(f"dump: the only format is 'dot', got {format!r}; see to_svg() and to_mermaid()")
        nodes, edges = self._drawn()
        texts = [self._node_text(node) for node in nodes]
        texts += [f"{id(tail)} -> {id(head)};" for tail, head in edges]
        return f"digraph graphname{{rankdir={self.rankdir};{''.join(texts)}}}"

    def _drawn(self) -> tuple[list[Node], list[tuple[Node, Node]]]:
        """Return the nodes and edges that are drawn, each once."""
        if not self.remove_variable:
            return list(dict.fromkeys(self.nodes)), list(dict.fromkeys(self.edges))
        functions: list[Node] = [node for node in dict.fromkeys(self.nodes) if isinstance(node, FunctionBase)]
        known = set(functions)
        edges: dict[tuple[Node, Node], None] = {}
        for tail, head in self.edges:
            if isinstance(tail, VariableNode) and isinstance(head, FunctionBase):
                creator = tail.live_creator()
                if creator in known and creator is not None:
                    edges[creator, head] = None
        return functions, list(edges)

    def _node_text(self, node: Node) -> str:
        is_value = isinstance(node, VariableNode)
        style = self.variable_style if is_value else self.function_style
        attributes = {"label": "", "shape": "oval" if is_value else "box", **(style or {})}
        label = (attributes["label"] or ": ".join(self._lines(node))).replace("\\", "\\\\").replace('"', '\\"')
        if attributes["shape"] in ("record", "Mrecord"):  # which divide such a label into fields
            for character in "{}|<>":
                label = label.replace(character, f"\\{character}")
        attributes["label"] = label
        texts = ",".join(f'{key}="{value}"' for key, value in attributes.items())
        return f"{id(node)} [{texts}];"

    def _lines(self, node: Node) -> tuple[str, ...]:
        if isinstance(node, FunctionBase):
            return (title(node),)
        return (node.name, node.label) if self.show_name and node.name is not None else (node.label,)

    def picture(self, max_boxes: int = MAX_BOXES) -> Picture:
        """Return the graph as a picture; repeated parts of a graph of more than `max_boxes` nodes are drawn once."""
        nodes, edges = self._drawn()
        place = {node: i for i, node in enumerate(nodes)}
        inner = {head for _, head in edges}
        boxes = tuple(Box(self._lines(node), kind_of(node, node in inner), fill=self._fill(node)) for node in nodes)
        arrows = tuple(Arrow(place[tail], place[head]) for tail, head in edges)
        return Picture(boxes, arrows, rankdir=self.rankdir).collapsed(max_boxes)

    def _fill(self, node: Node) -> str | None:
        style, default = (
            (self.variable_style, VARIABLE_STYLE)
            if isinstance(node, VariableNode)
            else (self.function_style, FUNCTION_STYLE)
        )
        return None if style == default or style is None else style.get("fillcolor")

    def to_graphviz(self, max_boxes: int = MAX_BOXES) -> Any:
        """Return the graph as a `graphviz.Source`, which notebooks show, and which renders to files.

        Raises
        ------
        ImportError
            The package graphviz is not installed.
        """
        if len(self.nodes) > max_boxes:
            return self.picture(max_boxes).to_graphviz()
        return dot.graphviz_source(self.dump(), "to_graphviz")

    def to_svg(self, engine: str | None = None, max_boxes: int = MAX_BOXES) -> str:
        """Return the graph as SVG, drawn by Graphviz's ``dot`` if installed, or by xpgrad (``engine="own"``)."""
        return self.picture(max_boxes).to_svg(engine)

    def to_mermaid(self, max_boxes: int = MAX_BOXES) -> str:
        """Return the graph as a flowchart of Mermaid, which the Markdown of many sites shows."""
        return self.picture(max_boxes).to_mermaid()

    _repr_html_ = drawer.html("graphs")


def _style(name: str, style: Style | str, default: dict[str, str]) -> Style:
    if isinstance(style, str):
        if style != "default":
            raise ValueError(
                f"computational graph: {name} must be 'default', a dict of DOT attributes or None; got {style!r}"
            )
        return default
    return None if style is None else dict(style)


def kind_of(node: Node, inner: bool = False) -> str:
    """Return the kind of box for a node; `inner` is whether an arrow points to the node."""
    if isinstance(node, FunctionBase):
        return "function"
    if inner or node.live_creator() is not None:
        return "variable"
    return "parameter" if node.requires_grad else "input"


def build_computational_graph(
    outputs: Any,
    remove_split: bool = True,
    variable_style: Style | str = "default",
    function_style: Style | str = "default",
    rankdir: str = "TB",
    remove_variable: bool = False,
    show_name: bool = True,
) -> ComputationalGraph:
    """Return the graph of all functions and values that `outputs` were computed from.

    Parameters
    ----------
    outputs : Variable, VariableNode or FunctionNode, or a list or tuple of these
    remove_split : bool
        True; accepted for older programs.
    variable_style, function_style : dict, "default" or None
        Attributes of the DOT language, such as ``{"shape": "box", "fillcolor": "#FFFFFF"}``.
    rankdir : {"TB", "BT", "LR", "RL"}
        Where arrows point.
    remove_variable : bool
        Whether only functions are drawn.
    show_name : bool
        Whether the names of Variables are drawn.

    Raises
    ------
    TypeError
        An output is something else.
    ValueError
        `remove_split` is False, or `rankdir` is no direction.

    Notes
    -----
    It ends where the graph was cut (`unchain_backward`). Constants are in no graph, and are not drawn.
    """
    if not remove_split:
        raise ValueError("build_computational_graph: remove_split=False is not supported; leave it out")
    starts = [_node(each) for each in (outputs if isinstance(outputs, (list, tuple)) else (outputs,))]
    nodes: dict[Node, None] = dict.fromkeys(starts)
    edges: dict[tuple[Node, Node], None] = {}
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        for tail in before(node):
            edges[tail, node] = None
            if tail not in nodes:
                nodes[tail] = None
                waiting.append(tail)
    ordered = sorted(nodes, key=lambda node: (node.rank, isinstance(node, FunctionBase)))
    return ComputationalGraph(ordered, list(edges), variable_style, function_style, rankdir, remove_variable, show_name)


def before(node: Node) -> list[Node]:
    """Return the nodes from which arrows point to a node."""
    if isinstance(node, VariableNode):
        creator = node.live_creator()
        return [] if creator is None else [creator]
    return [each for each in node.input_nodes or () if each is not None]


def _node(output: Any) -> Node:
    if isinstance(output, Variable):
        return output._node
    if isinstance(output, Implementation):
        return output.node
    if not isinstance(output, (VariableNode, FunctionBase)):
        raise TypeError(
            f"build_computational_graph: outputs must be Variables, VariableNodes or FunctionNodes, got "
            f"{type(output).__name__}; xpgrad.drawing.draw draws programs and models"
        )
    return output


def nearest(variable: Variable, most: int) -> Picture:
    """Return a picture of the history of a Variable: the `most` nearest functions, with their inputs."""
    counter = itertools.count()
    start = variable._node
    boxes: list[Box] = []
    arrows: list[Arrow] = []
    place: dict[Node, int] = {}
    waiting: list[tuple[int, int, VariableNode]] = [(-start.rank, next(counter), start)]
    wanted: dict[Node, list[int]] = {}
    functions, cut = 0, False
    while waiting:
        _, _, node = heapq.heappop(waiting)
        creator = node.live_creator()
        own: Node = node if creator is None else creator
        if own not in place:
            lines: tuple[str, ...] = tuple(text for text in (node.name, node.label) if text)
            if creator is None:
                kind = kind_of(node)
            elif functions == most:
                kind, lines, cut = "more", ("…", *lines), True
            else:
                functions += 1
                kind, lines = "function", (title(creator), *lines)
                for tail in before(creator):
                    if isinstance(tail, VariableNode):
                        heapq.heappush(waiting, (-tail.rank, next(counter), tail))
                        wanted.setdefault(tail, []).append(len(boxes))
            place[own] = len(boxes)
            boxes.append(Box(lines, kind))
        arrows += (Arrow(place[own], head) for head in wanted.pop(node, ()))
    notes = (f"the nearest {most} functions",) if cut else ()
    return Picture(tuple(boxes), tuple(dict.fromkeys(arrows)), "what made it", "LR", notes)


def html(graph: ComputationalGraph) -> str:
    """Return the HTML of a graph for notebooks."""
    return graph.picture()._repr_html_()
