"""The home page: its program prints what the page says."""

import re

import pytest
from tests.docs.documents import ROOT, blocks

PAGE = ROOT / "docs" / "index.md"


def test_program_has_the_documented_output(capsys: pytest.CaptureFixture[str]) -> None:
    (program,) = blocks(PAGE)
    exec(compile(program, "index.md", "exec"), {"__name__": "home"})
    (said,) = re.findall(r":class: printed\n\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert capsys.readouterr().out == said


def test_the_program_is_short() -> None:
    (program,) = blocks(PAGE)
    assert len([line for line in program.splitlines() if line.strip()]) <= 20
