"""Pages of the notebooks in examples/notebooks, with their stored outputs."""

import json
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "examples" / "notebooks"


def pages() -> Iterator[tuple[str, str]]:
    """Yield the names of pages, without suffix, with their texts."""
    for path in sorted(FOLDER.glob("*.ipynb")):
        yield path.stem, page(path)


def page(path: Path) -> str:
    """Return a notebook as reStructuredText, with text, code and printed output."""
    text = ":html_theme.sidebar_secondary.remove: true\n\n"
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            text += _prose(source)
            continue
        text += _block("python", source)
        printed = "".join("".join(output["text"]) for output in cell["outputs"])
        if printed:
            text += _block("text", printed, "   :class: printed\n")
    return text + f"The notebook: :download:`{path.name} <../../examples/notebooks/{path.name}>`\n"


def _prose(source: str) -> str:
    """Return Markdown without links and lists as reStructuredText: a heading, paragraphs and code font."""
    lines = source.replace("`", "``").split("\n")
    if lines[0].startswith("# "):
        title = lines[0][2:]
        lines[0] = f"{title}\n{'=' * len(title)}"
    return "\n".join(lines) + "\n\n"


def _block(language: str, text: str, options: str = "") -> str:
    body = "".join(f"   {line}\n" if line else "\n" for line in text.rstrip().split("\n"))
    return f".. code-block:: {language}\n{options}\n{body}\n"
