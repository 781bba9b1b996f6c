"""docs/half-a-standard.md: its files are written side by side, and its programs run."""

import re
from pathlib import Path

import pytest
from tests.docs.documents import FILE, ROOT, list_as_installed
from tests.processes import output_of

FILES = dict(FILE.findall((ROOT / "docs" / "half-a-standard.md").read_text()))
PRINTED = {
    "use.py": r"1\.33 on @lean:cpu\n0\.94 on @lean:cpu\n0\.76 on @lean:cpu",
    "check.py": r"nothing failed; a level takes a run of the full profile on all devices\b.*",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the library, its plugin, which is listed as installed there, and the programs."""
    folder = tmp_path_factory.mktemp("site")
    groups = "xpgrad.backends", "xpgrad.array_modules"
    list_as_installed(folder, "xpgrad-lean", {group: {"lean": "xpgrad_lean.plugin"} for group in groups})
    (folder / "xpgrad_lean").mkdir()
    (folder / "xpgrad_lean" / "__init__.py").touch()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize("program", PRINTED)
def test_programs_run_over_a_library_with_part_of_the_standard(site: Path, program: str) -> None:
    assert re.fullmatch(PRINTED[program], output_of("-W", "error", program, path=site))


def test_every_program_of_the_page_is_run() -> None:
    assert {name for name in FILES if "/" not in name} == {"lean.py", *PRINTED}
