"""The how-to pages: their programs print what they say, and both columns of their tables compute the same."""

import io
import linecache
import warnings
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from tests.docs.documents import ROOT, programs, squeezed

PAGES = sorted((ROOT / "docs" / "howto").glob("*.md"))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_programs_print_what_the_page_says(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The programs of a page are one file, program.py, whose lines messages name."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "program"}
    before = ""
    for source, expected in programs(path):
        Path("program.py").write_text(before + source)
        linecache.checkcache("program.py")
        printed = io.StringIO()
        with redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's, of divisions by zero
            exec(compile("\n" * before.count("\n") + source, "program.py", "exec"), names)
        assert squeezed(printed.getvalue()) == squeezed(expected), source
        before += source
