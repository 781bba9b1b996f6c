"""Code blocks of Markdown files, and how they are run."""

import ast
import io
import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^```\w+ file=(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROGRAM = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```)?", re.MULTILINE | re.DOTALL)


def blocks(path: Path) -> list[str]:
    """Return the Python blocks of a file; indented ones are moved to the left."""
    text = re.sub(r"^ {3}(?=```|(?:[^`\n]))", "", path.read_text(), flags=re.MULTILINE)
    return FENCE.findall(text)


def programs(path: Path) -> list[tuple[str, str]]:
    """Return the programs of a page, each with its documented output: the text block that follows it."""
    return PROGRAM.findall(path.read_text())


def list_as_installed(folder: Path, name: str, groups: dict[str, dict[str, str]], version: str = "1.0") -> None:
    """Write the metadata of a distribution with entry points, as if it were installed in a directory."""
    metadata = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = [f"[{group}]\n" + "".join(f"{x} = {y}\n" for x, y in points.items()) for group, points in groups.items()]
    (metadata / "entry_points.txt").write_text("\n".join(lines))


def is_session(block: str) -> bool:
    """Return whether a block is an interactive session."""
    return block.lstrip().startswith(">>>")


def examples(session: str) -> Iterator[tuple[str, str]]:
    """Yield the statements of a session, each with its documented output."""
    source, printed = [], []
    for line in [*session.splitlines(), ">>> pass"]:
        if line.startswith(">>> ") and source:
            yield "\n".join(source), "\n".join(printed)
            source, printed = [], []
        if line.startswith((">>> ", "... ")):
            source.append(line[4:])
        elif line == "...":
            source.append("")
        elif line.strip():
            printed.append(line)


def printed_by(source: str, names: dict[str, Any]) -> str:
    """Run a statement like an interactive interpreter, and return its output."""
    out = io.StringIO()
    with redirect_stdout(out):
        try:
            tree = ast.parse(source, mode="eval")
        except SyntaxError:
            exec(compile(source, "<document>", "exec"), names)
        else:
            value = eval(compile(tree, "<document>", "eval"), names)
            if value is not None:
                print(repr(value))
    return out.getvalue()


def squeezed(text: str) -> str:
    """Return text without differences of white space."""
    return re.sub(r"\s+", " ", re.sub(r"\[\s+", "[", text)).strip()


def run_session(session: str, names: dict[str, Any]) -> None:
    """Run a session, and compare the printed with the documented output."""
    for source, printed in examples(session):
        assert squeezed(printed_by(source, names)) == squeezed(printed), source
