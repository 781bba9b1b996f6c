"""The import graphs of backends and plugins have no circle, imports inside functions and for type checkers included."""

from pathlib import Path

import pytest
from tests.core.test_layers import circles, imported

ROOT = Path(__file__).parents[2]
PACKAGES = [*ROOT.glob("backends/*/xpgrad_*"), *ROOT.glob("plugins/*/src/xpgrad_*")]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_no_files_of_a_backend_import_each_other(package: Path) -> None:
    paths = {path.relative_to(package.parent).with_suffix(""): path for path in package.rglob("*.py")}
    sources = {".".join(parts.parts).removesuffix(".__init__"): path.read_text() for parts, path in paths.items()}
    assert len(sources) > 1
    assert circles({name: imported(source, sources.keys(), types=True) for name, source in sources.items()}) == []
