"""What lets users verify a release: pinned tools, digests, uploads without a password, and security rules."""

import hashlib
import json
import re
import tomllib
from pathlib import Path

import pytest
from release.evidence import findings, write_digests

ROOT = Path(__file__).parents[2]
PYPROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
SECURITY = re.compile(r'"S\d*"')


def test_all_tools_of_a_release_are_held_by_version_and_hash() -> None:
    text = (ROOT / "release/requirements.txt").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    held = {re.split(r"[=\[]", line)[0] for line in lines}
    assert all(re.match(r"[\w.\[\],-]+==\S+ .*--hash=sha256:[0-9a-f]{64}", line) for line in lines)
    named = tomllib.loads(PYPROJECT)["dependency-groups"]["release"]
    assert {re.split(r"[=<>\[]", name)[0] for name in named} <= held


def test_digests_are_those_of_the_files(tmp_path: Path) -> None:
    (tmp_path / "dist").mkdir()
    content = {"a.whl": b"wheel", "a.tar.gz": b"source"}
    for name, data in content.items():
        (tmp_path / "dist" / name).write_bytes(data)
    lines = write_digests(tmp_path / "dist", tmp_path / "to").read_text(encoding="utf-8").splitlines()
    assert sorted(lines) == sorted(f"{hashlib.sha256(data).hexdigest()}  {name}" for name, data in content.items())


def test_vulnerabilities_and_packages_that_were_not_audited_are_findings() -> None:
    packages = [
        {"name": "numpy", "version": "2.4", "vulns": []},
        {"name": "click", "version": "8.0", "vulns": [{"id": "PYSEC-1"}, {"id": "PYSEC-2"}]},
        {"name": "rich", "skip_reason": "not found"},
        {"name": "xpgrad", "skip_reason": "not found"},
    ]
    assert findings(json.dumps({"dependencies": packages, "fixes": []})) == [
        "click 8.0: PYSEC-1", "click 8.0: PYSEC-2", "rich: not found",
    ]  # fmt: skip


def test_a_release_is_audited_attested_and_uploaded_without_a_password() -> None:
    text = (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
    assert text.index("make dist-evidence") < text.index("gh-action-pypi-publish")
    assert "release audit" in (ROOT / "Makefile").read_text(encoding="utf-8")
    assert text.count("attest-build-provenance") == 2
    assert "password" not in text.split("jobs:")[1]
    assert "secrets." not in text


@pytest.mark.parametrize("table", ["[tool.ruff.lint]", "[tool.ruff.lint.per-file-ignores]"])
def test_each_exception_of_the_security_rules_has_a_reason(table: str) -> None:
    lines = PYPROJECT[PYPROJECT.index(table) :].split("\n\n")[0].splitlines()
    found = [i for i, line in enumerate(lines) if SECURITY.search(line.partition("#")[0])]
    assert found
    assert not [lines[i] for i in found if "#" not in lines[i] and not lines[i - 1].startswith("#")]
    assert '"S",' in PYPROJECT[PYPROJECT.index("select = [") :].split("]")[0]


def test_each_exception_of_a_line_has_a_reason() -> None:
    for folder in "core", "backends", "conformance/src", "plugins", "release":
        for file in (ROOT / folder).rglob("*.py"):
            for line in file.read_text(encoding="utf-8").splitlines():
                assert not re.search(r"noqa: [\w, ]*\bS\d{3}(?! - \w)(?!, )", line), (file, line)
