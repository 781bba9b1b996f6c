"""The findings in array libraries: counted, ordered, with existing checks and short programs."""

import ast
import re

from tests.docs.documents import ROOT, blocks

from xpgrad_conformance.checks import CHECKS

PATH = ROOT / "docs" / "conformance" / "findings.md"
PAGE = PATH.read_text()
KINDS = ["Crash or hang", "Wrong result", "Lost precision", "Missing"]
ENTRIES = re.findall(r"^### \d+\. .*\n\n([\w ]+)\.(.*)$", PAGE, re.MULTILINE)


def kinds(text: str) -> list[int]:
    """Return the place among `KINDS` of each finding in a part of the page."""
    return [KINDS.index(kind) for kind in re.findall(r"^### .*\n\n([\w ]+)\.", text, re.MULTILINE)]


def test_the_table_counts_the_findings_of_each_library() -> None:
    rows = re.findall(r"^\| \[([\w-]+)\]\(#([\w-]+)\) \| (\S+) \| ([\d |]+) \|$", PAGE, re.MULTILINE)
    sections = re.split(r"^## (.*)$", PAGE, flags=re.MULTILINE)[1:]
    assert [f"{library} {version}" for library, _, version, _ in rows] == sections[::2]
    for (library, anchor, version, counts), text in zip(rows, sections[1::2], strict=True):
        found = kinds(text)
        assert anchor == f"{library} {version}".lower().replace(".", "").replace(" ", "-")
        assert counts == " | ".join(map(str, [*map(found.count, range(4)), len(found)]))
        assert found == sorted(found), library
    assert f"have found {len(ENTRIES)} deviations" in PAGE
    total = kinds(PAGE)
    assert f"| all | | {' | '.join(map(str, [*map(total.count, range(4)), len(total)]))} |" in PAGE


def test_the_checks_that_found_something_exist() -> None:
    named = {name for _, found in ENTRIES for name in re.findall(r"`([A-Z]\d\d)", found)}
    assert named
    assert named <= {check.id for check in CHECKS}


def test_each_finding_has_a_program_of_a_few_lines() -> None:
    programs = blocks(PATH)
    assert len(programs) == len(ENTRIES) > 0
    for program in programs:
        ast.parse(program)
        assert len([line for line in program.splitlines() if line.strip()]) <= 7, program
