"""No six lines of the engine are repeated, not counting docstrings, comments, imports and lone brackets."""

import ast
from collections import defaultdict
from pathlib import Path

import xpgrad.graph

ENGINE = sorted(Path(xpgrad.graph.__file__).parent.glob("*.py"))
LENGTH = 6


def counted_lines(source: str) -> list[tuple[int, str]]:
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            docstrings.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    lines = ((number, line.strip()) for number, line in enumerate(source.splitlines(), 1) if number not in docstrings)
    return [
        (number, text) for number, text in lines if len(text) > 1 and not text.startswith(("#", "import ", "from "))
    ]


def repeated(sources: dict[str, str]) -> list[list[str]]:
    found = defaultdict(list)
    for name, source in sources.items():
        lines = counted_lines(source)
        for start in range(len(lines) - LENGTH + 1):
            found[tuple(text for _, text in lines[start : start + LENGTH])].append(f"{name}:{lines[start][0]}")
    return [places for places in found.values() if len(places) > 1]


def test_no_six_lines_of_the_engine_are_repeated() -> None:
    assert repeated({path.name: path.read_text(encoding="utf-8") for path in ENGINE}) == []


def test_six_equal_lines_are_found() -> None:
    lines = "\n".join(f"x = {i}" for i in range(LENGTH))
    assert repeated({"a.py": lines, "b.py": f'"""One."""\n{lines}\n'}) == [["a.py:1", "b.py:2"]]
