"""The import graph of the core, read from its source, imports inside functions included: no circle, and none upward."""

import ast
import tomllib
from pathlib import Path

import pytest

import xpgrad

ROOT = Path(xpgrad.__file__).parent
PROJECT = Path(__file__).parents[2] / "pyproject.toml"
CONTRACTS = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
LAYERS = next(contract["layers"] for contract in CONTRACTS if contract["id"] == "layers")[::-1]
"""Packages and modules of the core, lowest first; modules of one layer do not import each other."""
PACKAGE_OF_ALL = "xpgrad"
WITHOUT_CIRCLES = "xpgrad.transforms.batch", "xpgrad.transforms.enclosing"
"""Packages whose modules do not import each other for type checkers, either."""


def name_of(path):
    parts = ("xpgrad", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_type_checking(test):
    name = getattr(test, "id", None) or getattr(test, "attr", "")
    return name.lstrip("_") == "TYPE_CHECKING"


def import_statements(tree, types):
    """Yield the imports that run, at the top or inside functions, in the order of the source; with `types`, all."""
    if isinstance(tree, ast.If) and is_type_checking(tree.test) and not types:
        children = tree.orelse
    else:
        children = list(ast.iter_child_nodes(tree))
    if isinstance(tree, (ast.Import, ast.ImportFrom)):
        yield tree
    for child in children:
        yield from import_statements(child, types)


def imported(source, known, types=False):
    """Return the modules among `known` that a source imports, with `types` also imports for type checkers."""
    found = set()
    for statement in import_statements(ast.parse(source), types):
        if isinstance(statement, ast.Import):
            found |= {alias.name for alias in statement.names}
        else:
            assert not statement.level, "imports are absolute"
            for alias in statement.names:
                module = f"{statement.module}.{alias.name}"
                found.add(module if module in known else statement.module)
    return found & known


@pytest.fixture(scope="module")
def edges():
    sources = {name_of(path): path.read_text(encoding="utf-8") for path in ROOT.rglob("*.py")}
    return {name: imported(source, sources.keys()) for name, source in sources.items()}


def circles(edges):
    """Return the sets of modules that import each other: repeatedly drop modules that import no remaining module."""
    left = dict(edges)
    while True:
        ends = {name for name, targets in left.items() if not (targets & left.keys()) - {name}}
        starts = left.keys() - {target for name, targets in left.items() for target in targets - {name}}
        if not ends | starts:
            return sorted(left)
        left = {name: targets for name, targets in left.items() if name not in ends | starts}


def rank_of(module):
    _, _, rest = module.partition(".")
    top = rest.partition(".")[0]
    return next(rank for rank, layer in enumerate(LAYERS) if top in layer.split(" | "))


def test_no_modules_import_each_other(edges) -> None:
    assert circles({name: targets for name, targets in edges.items() if name != PACKAGE_OF_ALL}) == []


@pytest.mark.parametrize("package", WITHOUT_CIRCLES)
def test_no_modules_of_a_package_know_each_other_by_type(package) -> None:
    paths = ROOT.joinpath(*package.split(".")[1:]).rglob("*.py")
    sources = {name_of(path): path.read_text(encoding="utf-8") for path in paths}
    assert circles({name: imported(source, sources.keys(), types=True) for name, source in sources.items()}) == []


def test_imports_point_down(edges) -> None:
    upward = [
        f"{name} -> {target}"
        for name, targets in edges.items()
        for target in targets
        if PACKAGE_OF_ALL not in (name, target) and name.split(".")[1] != target.split(".")[1]
        if rank_of(target) >= rank_of(name)
    ]
    assert upward == []


def test_circles_and_imports_inside_functions_are_found() -> None:
    known = {"xpgrad.a", "xpgrad.b"}
    inside = "def f():\n    from xpgrad import b\n"
    typing = "if TYPE_CHECKING:\n    from xpgrad import b\nelse:\n    import xpgrad.a\n"
    assert imported(inside, known) == {"xpgrad.b"}
    assert imported(typing, known) == {"xpgrad.a"}
    assert imported(typing, known, types=True) == known
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c"]
    assert circles({"a": {"b"}, "b": {"c"}, "c": set()}) == []
