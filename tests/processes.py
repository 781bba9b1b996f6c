"""Programs of Python in new processes, where every cache is empty."""

import os
import re
import subprocess
import sys
from pathlib import Path


def output_of(*command: object, path: Path | None = None, **environment: str) -> str:
    """Return what a command of Python prints, which must succeed: ``output_of("-c", program)``.

    With `path`, it runs in that directory, which is on Python's path as well.
    """
    variables = {name: value for name, value in os.environ.items() if not name.startswith("XPGRAD_")}
    if path is not None:
        variables["PYTHONPATH"] = os.pathsep.join(filter(None, [str(path), variables.get("PYTHONPATH")]))
    words = [sys.executable, *map(str, command)]
    done = subprocess.run(words, cwd=path, env=variables | environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def programs_of_readme(file: str) -> list[str]:
    """Return the programs in the README of the distribution whose tests have this file."""
    text = (Path(file).parents[1] / "README.md").read_text()
    found = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert found
    return found
