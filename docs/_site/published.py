"""Additional files of the site: sitemap.xml, robots.txt, and the versions for the switcher."""

import json
import re
from pathlib import Path
from urllib.parse import urlsplit
from xml.sax.saxutils import escape

from sphinx.application import Sphinx

RELATIVE = re.compile(r'((?:href|src|data-content_root)=")(?![a-z]+:|#|/)([^"]*)')
ROOT = Path(__file__).parents[2]

UNLISTED = ("404", "search", "genindex", "py-modindex")


def finish(app: Sphinx, exception: Exception | None) -> None:
    """Write these files if the pages were built as HTML."""
    if exception is None and app.builder.name in ("html", "dirhtml"):
        folder, base = Path(app.outdir), str(app.config.html_baseurl)
        docs = sorted(doc for doc in app.env.found_docs if doc not in UNLISTED)
        (folder / "sitemap.xml").write_text(sitemap(base, docs), encoding="utf-8")
        (folder / "robots.txt").write_text(f"User-agent: *\nAllow: /\n\nSitemap: {base}sitemap.xml\n", encoding="utf-8")
        (folder / "switcher.json").write_text(switcher(base, app.config.release, released()), encoding="utf-8")
        page = folder / "404.html"
        page.write_text(from_root(page.read_text(encoding="utf-8"), urlsplit(base).path), encoding="utf-8")


def sitemap(base: str, docs: list[str]) -> str:
    """Return the list of pages in the format of sitemaps.org."""
    rows = "".join(f"  <url><loc>{escape(base + doc)}.html</loc></url>\n" for doc in docs)
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
    return f"{head}{rows}</urlset>\n"


def released() -> list[str]:
    """Return the versions that CHANGELOG.md lists, the newest first."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    return re.findall(r"^## \[?v?(\d+\.\d+\.\d+)", text, re.MULTILINE)


def switcher(base: str, release: str, versions: list[str]) -> str:
    """Return the list of versions: the newest at the root of the site, each release in a directory named after it."""
    rows = [{"name": f"{release} (development)", "version": release, "url": base}]
    rows += [{"name": each, "version": each, "url": f"{base}{each}/"} for each in versions if each != release]
    return json.dumps(rows, indent=2) + "\n"


def from_root(page: str, root: str) -> str:
    """Return a page whose links start at the root: a server sends 404.html for addresses in any directory."""
    return RELATIVE.sub(lambda match: f"{match[1]}{root}{match[2].removeprefix('./')}", page)
