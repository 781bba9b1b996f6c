"""The program of the README, in a new process, where every cache is empty."""

import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[1] / "README.md"
PROGRAM = re.search(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)


def test_the_program_of_the_readme_runs(tmp_path: Path) -> None:
    assert PROGRAM is not None
    command = [sys.executable, "-c", PROGRAM[1]]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("(500,) ndarray\nCOO ")
