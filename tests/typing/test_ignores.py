"""Suppressions of type checkers: few, and always with a code and a reason."""

import re

from tests.docs.documents import ROOT

FOLDERS = "core", "backends", "plugins", "conformance"
MAX_IGNORES = 100
IGNORES = {
    f"{path.relative_to(ROOT)}:{number}": line
    for folder in FOLDERS
    for path in sorted((ROOT / folder).rglob("*.py"))
    for number, line in enumerate(path.read_text().splitlines(), 1)
    if re.search(r"#\s*(type|pyright):\s*ignore", line)
}


def test_each_has_its_code_and_its_reason() -> None:
    form = re.compile(r"  # (type|pyright): ignore\[[A-Za-z-]+(,[A-Za-z-]+)*\]  # \S.*$")
    assert [place for place, line in IGNORES.items() if not form.search(line)] == []


def test_number_of_ignores_is_limited() -> None:
    assert len(IGNORES) <= MAX_IGNORES
