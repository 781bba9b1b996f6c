"""The program of the README runs."""

from pathlib import Path

from tests.processes import output_of, programs_of_readme


def test_the_program_of_the_readme_runs(tmp_path: Path) -> None:
    program = programs_of_readme(__file__)[0]
    assert output_of("-c", program, path=tmp_path).endswith(" (20,)")
