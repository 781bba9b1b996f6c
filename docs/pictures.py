"""Write the drawings of the documents: `python docs/pictures.py`. A test compares them with the code."""

import textwrap
from pathlib import Path

import generate

import xpgrad
from xpgrad import functions, links
from xpgrad.drawing import build_computational_graph

IMAGES = Path(__file__).parent / "img"
LINE, COLUMNS = 18, 64  # height of a line in pixels, and its width in characters
BANDS = {
    "testing": "Command line, tests",
    "backends": "Interoperation",
    "dataset": "Training",
    "reporter": "Models",
    "initializers": "Functions by area",
    "transforms": "Transforms",
    "array_api": "Functions",
    "utils": "Graph",
    "backend": "Raw arrays",
    "hints": "Foundations",
}
"""The lowest module of each group of layers, and the group's title."""


def graph() -> str:
    """Return the graph of a loss as SVG."""
    xp = xpgrad.get_device("@numpy").xp
    x, t = xpgrad.Variable(xp.ones((8, 4), dtype=xp.float32), name="x"), xp.ones((8, 1), dtype=xp.float32)
    model = xpgrad.Sequential(links.Linear(4, 3), functions.tanh, links.Linear(3, 1))
    loss = functions.mean_squared_error(model(x), xpgrad.Variable(t, name="t", requires_grad=False))
    loss.name = "loss"
    return build_computational_graph(loss).to_svg("own")


def layers() -> str:
    """Return the layers of the core as SVG: a band for each group in `BANDS`, with the modules of its layers."""
    found, shapes, y = generate.layer_names(), [], 0
    for lowest, title in BANDS.items():
        count = next(i for i, layer in enumerate(found) if lowest in layer) + 1
        names = ", ".join(name for layer in found[:count] for name in layer if name != "__main__")
        lines = textwrap.wrap(names, COLUMNS)
        found = found[count:]
        height = LINE * len(lines) + 16
        shapes += [
            f'<rect x="1" y="{y + 1}" width="758" height="{height - 4}" rx="4" fill="#eef2f7" stroke="#7d8590"/>',
            f'<text x="12" y="{y + LINE + 3}" font-weight="bold">{title}</text>',
        ]
        shapes += [
            f'<text x="210" y="{y + LINE * i + 3}" font-family="monospace">{line}</text>'
            for i, line in enumerate(lines, 1)
        ]
        y += height
    assert not found, "a layer is below the lowest band"
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 {y}" role="img" '
        'aria-label="layers of the core" font-family="sans-serif" font-size="13" fill="#1f2328">'
    )
    return "\n".join([head, *shapes, "</svg>"])


PICTURES = {"graph": graph, "layers": layers}


def main() -> None:
    """Write the pictures."""
    for name, picture in PICTURES.items():
        (IMAGES / f"{name}.svg").write_text(picture() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
