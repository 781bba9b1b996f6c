"""The drawings of the documents equal the current output of the code."""

import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
PROGRAM = """
import pathlib, pictures
for name, picture in pictures.PICTURES.items():
    assert pathlib.Path(f"img/{name}.svg").read_text() == picture() + chr(10), name
"""


def test_pictures_agree_with_the_code() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=DOCS, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"run: python docs/pictures.py\n{done.stderr}"
