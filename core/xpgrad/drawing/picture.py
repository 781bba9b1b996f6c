"""`Picture`: boxes and arrows, as DOT, SVG, Mermaid and HTML."""

from typing import Any

from xpgrad.drawing import collapse, dot, mermaid, page, svg
from xpgrad.drawing.boxes import Boxes

MAX_BOXES = 200


class Picture(Boxes):
    """Boxes and arrows, and how to draw them.

    Attributes
    ----------
    boxes : tuple of Box
    arrows : tuple of Arrow
    name : str
    rankdir : str
    notes : tuple of str
    """

    __slots__ = ()

    def to_dot(self) -> str:
        """Return the picture in the language of Graphviz."""
        return dot.dot_text(self)

    def to_graphviz(self) -> Any:
        """Return the picture as a `graphviz.Source`, which notebooks show, and which renders to files.

        Raises
        ------
        ImportError
            The package graphviz is not installed.
        """
        return dot.graphviz_source(self.to_dot(), "to_graphviz")

    def to_svg(self, engine: str | None = None) -> str:
        """Return the picture as SVG.

        Parameters
        ----------
        engine : {"dot", "own"}, optional
            Graphviz's program ``dot`` draws large graphs best; by default it does if it is installed.

        Raises
        ------
        ValueError
            The engine does not exist.
        RuntimeError
            ``dot`` is requested but not installed, or fails.
        """
        if engine not in (None, "dot", "own"):
            raise ValueError(f"to_svg: engine must be 'dot', 'own' or None; got {engine!r}")
        if engine == "own" or (engine is None and not dot.installed()):
            return svg.svg_text(self)
        return dot.svg_by_dot(self.to_dot())

    def to_mermaid(self) -> str:
        """Return the picture as a flowchart of Mermaid, which the Markdown of many sites shows."""
        return mermaid.mermaid_text(self)

    def _repr_html_(self) -> str:
        return page.framed(self.to_svg("own"), self.notes)

    def __repr__(self) -> str:
        return f"<Picture {self.name}: {len(self.boxes):,} boxes, {len(self.arrows):,} arrows>"

    def collapsed(self, most: int = MAX_BOXES) -> "Picture":
        """Return a picture of at most `most` boxes in which repeated parts are drawn once, with their counts."""
        return self if len(self.boxes) <= most else collapse.collapsed(self, most)
