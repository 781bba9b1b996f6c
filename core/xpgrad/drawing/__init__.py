"""Pictures of graphs, programs and models (``xpgrad.drawing``)."""

from typing import TYPE_CHECKING, Any

from xpgrad.drawing import models, programs
from xpgrad.drawing.boxes import Arrow, Box
from xpgrad.drawing.graphs import ComputationalGraph, build_computational_graph
from xpgrad.drawing.picture import Picture
from xpgrad.listing import listed as _listed
from xpgrad.models.link import Link
from xpgrad.transforms.trace.program import Program

__all__ = ["Arrow", "Box", "ComputationalGraph", "Picture", "build_computational_graph", "draw"]


def draw(shown: Any) -> Picture:
    """Return a picture, which has `to_svg`, `to_mermaid`, `to_dot` and `to_graphviz`, and which notebooks show.

    Parameters
    ----------
    shown : Variable, VariableNode, FunctionNode, a list of these, Program or Link
        Values, whose graph `build_computational_graph` finds; a program of `compile`; a model.

    Raises
    ------
    TypeError
        It is something else.
    """
    if isinstance(shown, Program):
        return programs.picture(shown).collapsed()
    if isinstance(shown, Link):
        return models.picture(shown)
    if isinstance(shown, ComputationalGraph):
        return shown.picture()
    return build_computational_graph(shown).picture()


if not TYPE_CHECKING:
    __getattr__, __dir__ = _listed(__name__, __all__)
