"""The reference: every public name is in the inventory and on a page, and the examples print what they say."""

import ast
import html
import re
from pathlib import Path
from typing import Any

import pytest
from tests.docs.documents import ROOT, blocks, is_session, run_session

EXAMPLES = ROOT / "docs" / "reference" / "examples"
HEADING = re.compile(r"^## `([\w.]+)`\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
SNIPPETS = [
    (path.stem, name, text)
    for path in sorted(EXAMPLES.glob("*.md"))
    for name, text in HEADING.findall(path.read_text())
]
public = pytest.importorskip("_site.public", reason="needs docs on the path")
PLUGINS = ROOT / "plugins"
INTERNAL = {
    "xpgrad-chainer": {
        "xpgrad.backend.levels", "xpgrad.backend.modules", "xpgrad.backend.plugins", "xpgrad.backends",
        "xpgrad.cli.catalogue", "xpgrad.config", "xpgrad.dataset", "xpgrad.dataset.convert", "xpgrad.functions",
        "xpgrad.graph.application", "xpgrad.graph.assignments", "xpgrad.graph.backward", "xpgrad.graph.function_node",
        "xpgrad.initializers", "xpgrad.links.n_step", "xpgrad.links.parameters", "xpgrad.models.residence",
        "xpgrad.optimizers.hooks", "xpgrad.optimizers.packed", "xpgrad.training.updaters",
    },
    "xpgrad-jax": {
        "xpgrad.interop", "xpgrad.interop.foreign", "xpgrad.interop.framework", "xpgrad.interop.ours",
        "xpgrad.transforms.leaves", "xpgrad.transforms.trace.program", "xpgrad.transforms.trees",
    },
    "xpgrad-mlx": {"xpgrad.interop", "xpgrad.transforms.trace.program"},
    "xpgrad-torch": {
        "xpgrad.array_api.half_precision", "xpgrad.array_api.shared.axes", "xpgrad.config", "xpgrad.interop",
        "xpgrad.interop.foreign", "xpgrad.interop.framework", "xpgrad.interop.ours",
        "xpgrad.transforms.enclosing.array", "xpgrad.transforms.leaves", "xpgrad.transforms.trace.program",
        "xpgrad.transforms.trees",
    },
}  # fmt: skip
"""The modules from which a plugin imports other than public names; only these plugins do so."""


def test_the_reference_covers_all_public_modules() -> None:
    import importlib
    import inspect

    inside = set()
    for path in public.MODULES:
        module = importlib.import_module(path)
        for name in public.listed(module):
            try:
                value = getattr(module, name)
            except ImportError:  # a door to a library that is not installed
                continue
            if inspect.ismodule(value) and value.__name__.startswith("xpgrad."):
                inside.add(value.__name__)
    technical = {"xpgrad.interop.numpy.lib"}  # `lib`, which NumPy's functions look for
    containers = {
        "xpgrad.backends",
        "xpgrad.dataset.convert",
        "xpgrad.training.extension",
    }  # Chainer's, of no own names
    assert inside - technical - containers - set(public.MODULES) == set()


def internal_modules(source: str) -> set[str]:
    """Return the modules of xpgrad from which a source imports names that are not public."""
    known, found = public.paths().keys() | public.MODULES.keys(), set()
    for statement in ast.walk(ast.parse(source)):
        if isinstance(statement, ast.Import):
            found |= {each.name for each in statement.names if each.name not in known}
        elif isinstance(statement, ast.ImportFrom) and statement.module:
            imported = {f"{statement.module}.{each.name}" for each in statement.names}
            found |= set() if imported <= known else {statement.module}
    return {name for name in found if name.partition(".")[0] == "xpgrad"}


@pytest.mark.parametrize("plugin", sorted(path.parent.name for path in PLUGINS.glob("*/pyproject.toml")))
def test_plugins_import_public_names(plugin: str) -> None:
    sources = [path.read_text(encoding="utf-8") for path in PLUGINS.joinpath(plugin, "src").rglob("*.py")]
    assert sources
    assert set().union(*map(internal_modules, sources)) == INTERNAL.get(plugin, set())


def test_every_public_name_is_in_the_inventory(site: Path) -> None:
    from sphinx.util.inventory import InventoryFile

    with (site / "objects.inv").open("rb") as file:
        inventory = InventoryFile.load(file, "", lambda base, path: path)
    known = {
        name: entry for kind, names in inventory.items() if kind.startswith("py:") for name, entry in names.items()
    }
    assert [name.path for name in public.names() if name.path not in known] == []
    assert [path for path in public.MODULES if path not in known] == []
    for name in public.names():
        page, _, anchor = known[name.path].uri.partition("#")
        assert f'id="{anchor}"' in (site / page).read_text(encoding="utf-8"), name.path


def test_the_files_of_names_differ_in_more_than_case() -> None:
    from _site.reference import file_names

    stems = [stem.lower() for stem in file_names(public.names()).values()]
    assert len(stems) == len(set(stems)) > 1000


def test_signatures_show_the_types_of_the_source(site: Path) -> None:
    page = (site / "reference" / "xpgrad.array_api.tanh.html").read_text(encoding="utf-8")
    text = re.sub(r"\s", "", html.unescape(re.sub(r"<[^>]+>", "", page)))
    assert "tanh(x:AnyArray,/)→Variable" in text


@pytest.mark.parametrize(("module", "name", "text"), SNIPPETS, ids=lambda value: str(value)[:40].replace("\n", " "))
def test_example_has_the_documented_output(module: str, name: str, text: str) -> None:
    sessions = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert sessions
    names: dict[str, Any] = {"__name__": "session"}
    for session in sessions:
        assert is_session(session)
        run_session(session, names)


def test_an_example_is_on_the_page_of_its_name(site: Path) -> None:
    known = public.paths()
    for module, name, _ in SNIPPETS:
        page = (site / "reference" / f"{known[f'{module}.{name}']}.html").read_text(encoding="utf-8")
        assert "Examples" in page, name
    assert len(SNIPPETS) == sum(len(blocks(path)) for path in EXAMPLES.glob("*.md")) >= 40
