"""Links from documents to files outside docs, rewritten to pages of the site or to the repository."""

import re
from collections.abc import Callable
from pathlib import Path
from posixpath import normpath, relpath

from sphinx.application import Sphinx
from sphinx.util import logging

ROOT = Path(__file__).parents[2]
FENCED = re.compile(r"(^ *```.*?^ *```\s*?$|`[^`\n]+`)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<=\]\()(?!\w+:)([^)\s#]+)(#[^)\s]*)?(?=\))")
PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "examples/README.md": "gallery/index.md",
}
"""Files of the repository that are pages of the site."""
TAKEN = {"contributing": "CONTRIBUTING.md", "changelog": "CHANGELOG.md"}
"""Pages that include such a file."""
log = logging.getLogger(__name__)


def read(app: Sphinx, docname: str, source: list[str]) -> None:
    """Rewrite the links of a page to files outside docs."""
    if docname in TAKEN:
        source[0] = (ROOT / TAKEN[docname]).read_text(encoding="utf-8")
        app.env.note_dependency(str(ROOT / TAKEN[docname]))
    if app.env.doc2path(docname).suffix == ".md":
        folder = "." if docname in TAKEN else Path("docs", docname).parent.as_posix()
        source[0] = inside(source[0], folder, docname, app.config.repository, log.warning)


def inside(text: str, folder: str, docname: str, repository: str, warn: Callable[[str], object]) -> str:
    """Return a page with links that are valid on the site.

    Parameters
    ----------
    text : str
    folder : str
        Directory in the repository that the links are relative to.
    docname : str
    repository : str
        The repository's address.
    warn : callable
        Called with the message if a file is not there.
    """
    here = Path("docs", docname).parent.as_posix()

    def replaced(match: re.Match[str]) -> str:
        path, anchor = normpath(f"{folder}/{match[1]}"), match[2] or ""
        if not (ROOT / path).exists():
            warn(f"{docname}: no such file: {match[0]}")
            return match[0]
        path = f"docs/{PAGES[path]}" if path in PAGES else path
        if path.startswith("docs/"):
            return relpath(path, here) + anchor
        return f"{repository}/{'tree' if (ROOT / path).is_dir() else 'blob'}/main/{path}{anchor}"

    parts = FENCED.split(text)
    parts[::2] = [LINK.sub(replaced, part) for part in parts[::2]]
    return "".join(parts)
