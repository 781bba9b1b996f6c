"""The how-to pages: their programs have the documented output, and both columns of their tables compute the same."""

import io
import linecache
import re
import warnings
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.docs.documents import ROOT, programs, squeezed

PAGES = sorted((ROOT / "docs" / "howto").glob("*.md"))
ROW = re.compile(r"^\| (`.+`) \| (`.+`) \|$", re.MULTILINE)
PORTS = {"autograd": "autograd", "chainer": None, "jax": "jax", "pytorch": "torch"}
"""The library that a page ports from, which its left column is run with; Chainer runs on no NumPy of today."""


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_programs_have_the_documented_output(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The programs of a page are one file, program.py, whose lines messages name."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "program"}
    before = ""
    for source, expected in programs(path):
        Path("program.py").write_text(before + source)
        linecache.checkcache("program.py")
        printed = io.StringIO()
        with redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # NumPy warnings about divisions by zero
            exec(compile("\n" * before.count("\n") + source, "program.py", "exec"), names)
        assert squeezed(printed.getvalue()) == squeezed(expected), source
        before += source


def column(cells: list[str]) -> list[Any]:
    """Run the code of a column, and return the value of the last expression of each cell, None for statements."""
    names: dict[str, Any] = {}
    values = []
    for cell in cells:
        value = None
        for code in re.findall(r"`([^`]+)`", cell):
            try:
                value = eval(code, names)
            except SyntaxError:
                exec(code, names)
        values.append(value)
    return values


def leaves(value: Any) -> list[Any]:
    """Return the arrays and numbers of a tree in order, as NumPy arrays."""
    if isinstance(value, dict):
        value = [value[key] for key in sorted(value)]
    if isinstance(value, list | tuple):
        return [leaf for each in value for leaf in leaves(each)]
    value = getattr(value, "array", value)
    return [np.asarray(value.detach() if hasattr(value, "detach") else value)]


@pytest.mark.parametrize("page", PORTS)
def test_both_columns_of_a_table_give_the_same(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "howto" / f"port-from-{page}.md").read_text()
    theirs, ours = zip(*ROW.findall(text), strict=True)
    results = column(list(ours))
    library = PORTS[page]
    if library is None:
        return
    pytest.importorskip(library)
    for code, expected, result in zip(theirs, column(list(theirs)), results, strict=True):
        if result is not None:
            for y, leaf in zip(leaves(expected), leaves(result), strict=True):
                np.testing.assert_allclose(leaf, y, rtol=1e-5, atol=1e-6, err_msg=code)
