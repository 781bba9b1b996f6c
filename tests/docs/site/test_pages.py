"""The built pages: links and anchors lead somewhere, and what visitors and search engines look for is there."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest


class Links(HTMLParser):
    """The links of a page, and its anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        self.anchors |= {value for name in ("id", "name") if (value := known.get(name))}
        self.links += [value for name in ("href", "src") if (value := known.get(name))]


def html_files(site: Path) -> list[Path]:
    """The pages, without the theme's templates."""
    return [path for path in site.rglob("*.html") if "_static" not in path.parts]


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Links]:
    """Links and anchors of each page."""
    return {path: Links(path.read_text(encoding="utf-8")) for path in html_files(site) if path.name != "404.html"}


def test_links_within_the_site_lead_somewhere(site: Path, pages: dict[Path, Links]) -> None:
    dead = set()
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            anchor = unquote(parts.fragment)
            if not target.exists() or (anchor and target in pages and anchor not in pages[target].anchors):
                dead.add((str(path.relative_to(site)), link))
    assert sorted(dead) == []


def test_every_page_is_in_the_sitemap(site: Path) -> None:
    urls = re.findall(r"<loc>(.*?)</loc>", (site / "sitemap.xml").read_text())
    listed = {url.split("/", 4)[4] for url in urls}  # without https://host/project/
    unlisted = {"404.html", "search.html", "genindex.html", "py-modindex.html"}
    found = {path.relative_to(site).as_posix() for path in html_files(site)}
    assert found - unlisted == listed


def test_robots_versions_and_favicon_exist(site: Path) -> None:
    assert "Sitemap: https://" in (site / "robots.txt").read_text()
    assert all({"version", "url"} <= set(row) for row in json.loads((site / "switcher.json").read_text()))
    assert 'rel="icon"' in (site / "index.html").read_text()
    assert (site / "_static" / "favicon.svg").exists()


def test_the_page_404_has_links_from_the_root(site: Path) -> None:
    page = Links((site / "404.html").read_text(encoding="utf-8"))
    assert [link for link in page.links if not link.startswith(("/", "#", "http"))] == []


def test_pages_describe_themselves(site: Path) -> None:
    for name in ("index.html", "tutorial.html", "reference/xpgrad.grad.html"):
        text = (site / name).read_text(encoding="utf-8")
        assert '<meta name="description"' in text
        assert '<meta property="og:title"' in text
