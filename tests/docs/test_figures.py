"""Numbers in the text of README and docs agree with the current code, data and tables."""

import re
import sys
from types import ModuleType

import pytest
from tests.docs.documents import ROOT

pytest.importorskip("scipy", minversion="1.17")  # whose special functions are counted
pytest.importorskip("sklearn")


@pytest.fixture(scope="module")
def figures() -> ModuleType:
    """The module that computes them."""
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        import figures
    finally:
        sys.path.remove(str(ROOT / "docs"))
    return figures


def test_every_figure_agrees_with_its_computation(figures: ModuleType) -> None:
    for page in figures.pages():
        text = figures.page_text(page)
        assert figures.written(page, text) == text, f"{page}; run: python docs/generate.py"


def test_a_figure_that_differs_is_written_anew(figures: ModuleType) -> None:
    text = figures.page_text("README.md")
    changed = re.sub(r"\d+ calls into", "7 calls into", text)
    assert changed != text
    assert figures.written("README.md", changed) == text
    with pytest.raises(ValueError, match=r"README\.md: expected .* calls into SciPy' once, got it 0 times"):
        figures.written("README.md", text.replace("calls into", "uses of"))


def test_the_special_functions_that_are_lacking_are_all_listed(figures: ModuleType) -> None:
    assert figures.lacking(figures.page_text("docs/interop.md")) == figures.ufuncs() - figures.supported()


def test_a_special_function_is_dropped_from_that_list_when_it_comes(figures: ModuleType) -> None:
    text = figures.page_text("docs/interop.md")
    assert figures.written("docs/interop.md", text.replace("| `hankel1e`", "| `erf` `hankel1e`")) == text


def test_the_cost_of_an_operation_agrees_with_the_benchmarks(figures: ModuleType) -> None:
    assert "costs one to three microseconds above" in figures.page_text("README.md")
    costs = figures.overheads()
    assert len(costs) > 4
    assert 0.5 < min(costs) <= max(costs) < 3


def test_a_plugin_has_some_thirty_lines(figures: ModuleType) -> None:
    assert "of some thirty lines" in figures.page_text("README.md")
    assert 25 <= figures.plugin_lines() <= 35


@pytest.mark.parametrize("page", ["docs/benchmarks.md", "docs/scaling.md"])
def test_measurements_are_only_in_tables(figures: ModuleType, page: str) -> None:
    prose = figures.prose(page)
    found = re.findall(r"\b\d[\d.,]*(?:h\b|t\b| (?:µs|ns|ms|s|MB|GB|B/op)\b)", prose)
    assert not found, f"{page}: expected measured figures between markers only"
