"""`examples/consumers.py`: third-party code differentiates unchanged, and docs/interop.md lists it."""

import os
import re
import shutil
import subprocess
import sys

import pytest
from tests.docs.documents import ROOT

pytestmark = pytest.mark.exhaustive(1)

EXAMPLE = ROOT / "examples" / "consumers.py"
DOCUMENT = ROOT / "docs" / "interop.md"
NEEDED = {"scipy.special", "scipy.stats", "array-api-extra", "einops", "autoray", "distmarg", "array-api-signal"}
"""Libraries that the test extra installs; other missing libraries are skipped."""


def run(*arguments):
    environment = os.environ | {"SCIPY_ARRAY_API": "1", "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, str(EXAMPLE), *arguments], capture_output=True, text=True, timeout=300, env=environment
    )


@pytest.fixture(scope="module")
def report():
    return run()


def test_every_call_behaves_as_listed(report):
    assert report.returncode == 0, report.stdout[-5000:] + report.stderr[-2000:]
    assert "all as their rows say" in report.stdout


def test_libraries_of_the_test_extra_are_installed(report):
    skipped = {line[:28].strip() for line in report.stdout.splitlines() if "skipped: no" in line}
    assert not skipped & NEEDED
    assert all(re.search(rf"^{re.escape(name)} .* ok ", report.stdout, re.MULTILINE) for name in NEEDED)


def test_a_call_that_differs_from_its_row_fails(tmp_path):
    shutil.copytree(EXAMPLE.parent / "consumed", tmp_path / "consumed")
    shutil.copy(EXAMPLE, tmp_path)
    table = tmp_path / "consumed" / "scipy_statistics.py"
    changed = table.read_text().replace("rankdata(x)  # constant: ranks", "rankdata(x)")
    table.write_text(changed.replace("gstd(x)\n", "gstd(x)  # nan: no\n"))
    done = subprocess.run(
        [sys.executable, str(tmp_path / "consumers.py"), "scipy.stats"], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 1
    assert re.search(r"expected 'ok', got scipy\.stats +rankdata", done.stdout)
    assert re.search(r"expected 'nan', got scipy\.stats +gstd", done.stdout)


def test_the_tables_of_the_document_are_the_examples():
    tables = run("--markdown").stdout.strip()
    assert tables
    assert DOCUMENT.read_text().partition("--markdown -->\n")[2].strip() == tables, (
        "docs/interop.md: expected the tables that `python examples/consumers.py --markdown` prints; put them there"
    )


def test_every_block_of_the_document_runs():
    script = (
        "from tests.docs.documents import ROOT, blocks, run_session\n"
        "names = {'__name__': 'document'}\n"
        "for block in blocks(ROOT / 'docs' / 'interop.md'): run_session(block, names)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=100, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-3000:]
