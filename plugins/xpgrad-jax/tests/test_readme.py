import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "README.md"
PROGRAMS = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("number", range(2))
def test_the_programs_of_the_readme_run(number: int) -> None:
    exec(compile(PROGRAMS[number], PAGE.name, "exec"), {})
