import ast
import graphlib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = [*ROOT.glob("backends/*/xpgrad_*"), *ROOT.glob("plugins/*/src/xpgrad_*")]


def imported(tree: ast.AST) -> Iterator[str]:
    """Yield the modules that a file may import, including imports inside functions and for type checkers."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def import_graph(files: dict[str, str]) -> dict[str, set[str]]:
    """Return which of the modules imports which, from their sources by name."""
    graph: dict[str, set[str]] = {}
    for name, source in files.items():
        found = imported(ast.parse(source))
        targets = (target if target in files else target.rpartition(".")[0] for target in found)
        graph[name] = {target for target in targets if target in files and target != name}
    return graph


def sources(package: Path) -> dict[str, str]:
    paths = {path.relative_to(package.parent).with_suffix(""): path for path in package.rglob("*.py")}
    return {".".join(parts.parts).removesuffix(".__init__"): path.read_text() for parts, path in paths.items()}


def order(files: dict[str, str]) -> list[str]:
    return list(graphlib.TopologicalSorter(import_graph(files)).static_order())


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_imports_between_the_files_of_a_backend_have_no_cycle(package: Path) -> None:
    files = sources(package)
    assert len(order(files)) == len(files) > 1


@pytest.mark.parametrize(
    "later",
    [
        "import pkg.b",
        "from pkg import b",
        "from pkg.b import f",
        "def f():\n    from pkg.b import f",
        "if TYPE_CHECKING:\n    from pkg.b import f",
    ],
)
def test_an_import_cycle_is_found_in_any_scope(later: str) -> None:
    assert order({"pkg": "", "pkg.a": "", "pkg.b": "from pkg.a import g"})[-1] == "pkg.b"
    with pytest.raises(graphlib.CycleError):
        order({"pkg": "", "pkg.a": later, "pkg.b": "from pkg.a import g"})
