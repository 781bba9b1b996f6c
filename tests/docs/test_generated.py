"""Generated parts of the pages, and drawings, agree with the code."""

import subprocess
import sys

import pytest
from tests.docs.documents import ROOT

PAGES = """
import pathlib, generate
page = pathlib.Path("certification.md").read_text()
assert pathlib.Path("kernels.md").read_text() == generate.kernels(), "kernels.md"
assert pathlib.Path("compatibility.md").read_text() == generate.compatibility(), "compatibility.md"
assert page == generate.certification(page), "certification.md"
assert "| `negative_steps` | x[::-1] |" in page
page = pathlib.Path("chainer.md").read_text()
assert page == generate.chainer(page), "chainer.md"
assert "relu6" in page
page = pathlib.Path("design.md").read_text()
assert page == generate.design(page), "design.md"
assert "| `graph` |" in page
page = pathlib.Path("scipy.md").read_text()
assert page == generate.scipy(page), "scipy.md"
assert "| `linalg.expm` | matrix | 2 | yes | all |" in page
"""
PICTURES = """
import pathlib, pictures
for name, picture in pictures.PICTURES.items():
    assert pathlib.Path(f"img/{name}.svg").read_text() == picture() + chr(10), name
"""


@pytest.mark.parametrize(("program", "script"), [(PAGES, "generate.py"), (PICTURES, "pictures.py")])
def test_generated_pages_and_pictures_agree_with_the_code(program: str, script: str) -> None:
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT / "docs", capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"run: python docs/{script}\n{done.stderr}"
