"""The drawings of docs/drawing.md equal the current output of the code."""

import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
PROGRAM = "import pathlib, pictures; assert pathlib.Path('img/graph.svg').read_text() == pictures.graph() + chr(10)"


def test_pictures_agree_with_the_code() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=DOCS, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"run: python docs/pictures.py\n{done.stderr}"
