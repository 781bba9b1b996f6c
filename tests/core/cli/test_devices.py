"""`xpgrad devices`."""

import json
import subprocess
import sys
from typing import Any

import pytest
from click.testing import CliRunner

from xpgrad.backend.plugins import plugins
from xpgrad.cli import main

LIST = """
import sys
from click.testing import CliRunner
from xpgrad.cli import main
print(CliRunner(env={"COLUMNS": "60"}).invoke(main, ["devices"]).output)
assert "array_api_strict" not in sys.modules and "torch" not in sys.modules and "jax" not in sys.modules
"""


def _rows(*words: str) -> dict[str, dict[str, Any]]:
    return {row["backend"]: row for row in json.loads(CliRunner().invoke(main, ["devices", "--json", *words]).output)}


def _lines(width: int, *words: str) -> list[str]:
    result = CliRunner(env={"COLUMNS": str(width)}).invoke(main, ["devices", *words])
    assert result.exit_code == 0
    return result.output.splitlines()


def test_the_list_of_all_imports_no_library() -> None:
    done = subprocess.run([sys.executable, "-c", LIST], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (strict,) = (line for line in done.stdout.splitlines() if line.startswith("strict "))
    assert "not loaded" in strict
    assert "@strict" in strict
    assert "`xpgrad devices NAME` loads one, --versions all of them" in done.stdout


def test_versions_list_active_features_and_reasons_for_inactive_features() -> None:
    rows = _rows("--versions")
    assert rows["numpy"]["state"] == "on"
    assert rows["numpy"]["devices"] == ["@numpy"]
    assert rows["numpy"]["reason"] is None
    assert rows["chx"]["devices"][:2] == ["native:0", "native:1"]
    if rows["cupy"]["state"] == "off":
        assert rows["cupy"]["reason"].startswith("cupy: ")
    assert rows["numpy"]["seconds"] >= 0


def test_backend_that_is_named_is_loaded() -> None:
    rows = _rows("@strict:cpu", "numpy")
    assert list(rows) == ["strict", "numpy"]
    assert rows["strict"]["devices"][0] == "@strict:cpu"


def test_name_that_is_not_installed_is_an_error() -> None:
    result = CliRunner().invoke(main, ["devices", "xyzzy"])
    assert result.exit_code == 2
    assert "no backend xyzzy is installed; installed: " in result.output


@pytest.mark.parametrize("width", [60, 120, 1000])
def test_columns_are_kept_in_a_terminal_of_any_width(width: int) -> None:
    head, *lines = _lines(width, "numpy", "chx")
    assert head.split()[:5] == ["backend", "state", "library", "plugin", "devices"]
    assert max(map(len, (head, *lines))) <= width
    assert any("native" in line[head.index("devices") :] for line in lines)


def test_each_backend_is_listed_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda root: None)
    monkeypatch.setattr(plugins, "records", {})
    lines = _lines(60)
    (strict,) = (line for line in lines if line.startswith("strict: "))
    assert strict.split(maxsplit=1)[1].strip() == "array_api_strict is not installed"


@pytest.mark.parametrize("words", [[], ["devices"], ["demo"], ["demo", "digits"]])
def test_help_has_no_line_that_was_cut(words: list[str]) -> None:
    result = CliRunner().invoke(main, [*words, "--help"])
    assert result.exit_code == 0
    assert not [line for line in result.output.splitlines()[1:] if line.endswith("...")]
