"""Parts of HTML for notebooks: tables of facts, text, and pictures in scrollable frames."""

import html
from collections.abc import Iterable, Mapping

CELL = "text-align:left;padding:1px 10px 1px 0;font-weight:normal"


def framed(svg: str, notes: Iterable[str] = ()) -> str:
    """Return an SVG in a frame that scrolls where it is large; notes describe the picture for screen readers."""
    title = html.escape(" ".join(notes))
    return f'<div style="overflow:auto;max-height:60em" title="{title}">{svg}</div>'


def titled(text: str) -> str:
    """Return the first line."""
    return f'<div style="font-weight:bold;padding-bottom:2px">{html.escape(text)}</div>'


def preformatted(text: str) -> str:
    """Return preformatted text, with its line breaks."""
    return f'<pre style="overflow:auto;max-height:24em;margin:0 0 4px 0">{html.escape(text)}</pre>'


def folded(summary: str, inner: str, *, opened: bool = False) -> str:
    """Return HTML that a reader unfolds."""
    return f"<details{' open' if opened else ''}><summary>{html.escape(summary)}</summary>{inner}</details>"


def facts(items: Mapping[str, str | None]) -> str:
    """Return a table of names and values; values of None are left out."""
    rows = "".join(
        f'<tr><th style="{CELL};opacity:0.7">{html.escape(name)}</th><td style="{CELL}">{html.escape(value)}</td></tr>'
        for name, value in items.items()
        if value is not None
    )
    return f'<table style="border-collapse:collapse;margin:0">{rows}</table>' if rows else ""


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table with a head."""
    cells = "".join(f'<th style="{CELL};opacity:0.7">{html.escape(name)}</th>' for name in head)
    lines = "".join(
        "<tr>" + "".join(f'<td style="{CELL}">{html.escape(cell)}</td>' for cell in row) + "</tr>" for row in rows
    )
    return f'<table style="border-collapse:collapse;margin:0"><tr>{cells}</tr>{lines}</table>'


def whole(*parts: str) -> str:
    """Return the parts below each other."""
    return f'<div style="font-size:small">{"".join(parts)}</div>'
