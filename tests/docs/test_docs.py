"""Every Python block of README, CONTRIBUTING and docs runs, from top to bottom, with the documented output."""

import contextlib
import warnings
from pathlib import Path
from typing import Any

import pytest
from tests.devices import device_or_skip
from tests.docs.documents import ROOT, blocks, examples, is_session, printed_by, run_session
from tests.turn import part_of

import xpgrad

OWN_TEST = {
    "backends.md": "its files form a distribution, which has its own tests",
    "executors.md": "as those of backends.md",
    "interop.md": "its programs need other libraries, in a separate environment (tests/examples)",
}
"""Pages whose blocks are run by other tests, with the reason."""
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
FOLDERS = ROOT / "docs" / "design", ROOT / "docs" / "howto", ROOT / "docs" / "reference" / "examples"
OTHERS = [path for folder in FOLDERS for path in sorted(folder.glob("*.md"))]
SWITCHED = [path for path in [*DOCUMENTS, *OTHERS] if path.name not in OWN_TEST]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The programs write to a folder of their own."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("path", [p for p in DOCUMENTS if p.name not in OWN_TEST], ids=lambda path: path.name)
def test_every_block_runs(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {"__name__": "document"}
    for block in blocks(path):
        if is_session(block):
            run_session(block, names)
        else:
            exec(compile(block, path.name, "exec"), names)


@pytest.mark.parametrize("device", ["@torch", "@jax", "@strict", "native:0", "@dask", "@mlx"])
@pytest.mark.parametrize("path", part_of(SWITCHED, 8), ids=lambda path: path.name)
def test_every_block_runs_on_the_device_that_is_chosen(path: Path, device: str) -> None:
    """As with XPGRAD_DEVICE; values that blocks print differ there, so they are not compared, and warnings are not."""
    names: dict[str, Any] = {"__name__": "document"}
    with contextlib.ExitStack() as stack:
        if device == "@jax":
            stack.enter_context(pytest.importorskip("jax").enable_x64(True))
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore", RuntimeWarning)  # of pages about NaN; dask's come after np.errstate
        stack.enter_context(xpgrad.using_device(device_or_skip(device)))
        for block in blocks(path):
            for source in [source for source, _ in examples(block)] if is_session(block) else [block]:
                printed_by(source, names)


def test_documents_have_code_blocks() -> None:
    assert sum(len(blocks(path)) for path in DOCUMENTS) > 10


def test_readme_prints_the_documented_output(capsys: pytest.CaptureFixture[str]) -> None:
    block = next(block for block in blocks(ROOT / "README.md") if "print" in block)
    exec(compile(block, "README.md", "exec"), {})
    printed = capsys.readouterr().out.split("\n")
    said = [line.split("# ", 1)[1] for line in block.splitlines() if line.startswith("print")]
    assert all(comment.startswith(line) for line, comment in zip(printed, said, strict=False))
    assert len(said) == 2
