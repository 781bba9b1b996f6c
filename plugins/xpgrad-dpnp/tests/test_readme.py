"""The programs of the README."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[1] / "README.md"


def test_the_programs_of_the_readme_run():
    programs = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert programs
    for program in programs:
        exec(compile(program, str(PAGE), "exec"), {})
