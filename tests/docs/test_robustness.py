"""The tests that docs/robustness.md names exist."""

import re

import pytest
from tests.docs.documents import ROOT

NAMED = re.findall(r"`([\w/]+\.py)::(\w+)`", (ROOT / "docs/robustness.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("file", "name"), NAMED, ids=[name for _, name in NAMED])
def test_each_named_test_exists(file: str, name: str) -> None:
    assert f"def {name}(" in (ROOT / "tests" / file).read_text(encoding="utf-8")
