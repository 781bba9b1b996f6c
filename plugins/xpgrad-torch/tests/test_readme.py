"""The programs of the README run."""

from pathlib import Path

import pytest
from tests.processes import output_of, programs_of_readme

pytestmark = pytest.mark.exhaustive(1)

PROGRAMS = programs_of_readme(__file__)


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_the_programs_of_the_readme_run(number: int, tmp_path: Path) -> None:
    output_of("-c", PROGRAMS[number], path=tmp_path)
