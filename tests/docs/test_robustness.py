"""The tests that docs/robustness.md names exist."""

import re

from tests.docs.documents import ROOT

NAMED = re.findall(r"`([\w/]+\.py)::(\w+)`", (ROOT / "docs/robustness.md").read_text(encoding="utf-8"))


def test_each_named_test_exists() -> None:
    sources = {file: (ROOT / "tests" / file).read_text(encoding="utf-8") for file, _ in NAMED}
    assert [(file, name) for file, name in NAMED if f"def {name}(" not in sources[file]] == []
