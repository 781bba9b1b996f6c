"""The program of the README runs as it stands there."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "README.md"


def test_the_program_of_the_readme_runs(capsys: pytest.CaptureFixture[str]) -> None:
    import dask

    (program,) = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    with dask.config.set({"array.chunk-size": "128MiB"}):
        exec(compile(program, str(PAGE), "exec"), {})
    assert capsys.readouterr().out.endswith(" (20,)\n")
