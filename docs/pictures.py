"""Write the drawings of docs/drawing.md: `python docs/pictures.py`. A test compares them with the code."""

from pathlib import Path

import xpgrad
from xpgrad import functions, links
from xpgrad.drawing import build_computational_graph

IMAGES = Path(__file__).parent / "img"


def graph() -> str:
    """Return the graph of a loss as SVG."""
    xp = xpgrad.get_device("@numpy").xp
    x, t = xpgrad.Variable(xp.ones((8, 4), dtype=xp.float32), name="x"), xp.ones((8, 1), dtype=xp.float32)
    model = xpgrad.Sequential(links.Linear(4, 3), functions.tanh, links.Linear(3, 1))
    loss = functions.mean_squared_error(model(x), xpgrad.Variable(t, name="t", requires_grad=False))
    loss.name = "loss"
    return build_computational_graph(loss).to_svg("own")


def main() -> None:
    """Write the pictures."""
    (IMAGES / "graph.svg").write_text(graph() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
