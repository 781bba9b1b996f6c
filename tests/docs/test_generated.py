"""Generated parts of the pages agree with the code."""

import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
PROGRAM = """
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


def test_generated_pages_agree_with_the_code() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=DOCS, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"run: python docs/generate.py\n{done.stderr}"
