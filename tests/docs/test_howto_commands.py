"""Commands of the how-to pages: the files are written where their commands run, with the documented output."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests.docs.documents import FILE, ROOT, list_as_installed, squeezed

CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
PYTHON = [sys.executable, "-W", "error"]
PROGRAMS = {"python": PYTHON, "xpgrad": [*PYTHON, "-m", "xpgrad"]}


def install(folder: Path, site: Path) -> list[Path]:
    """Do the work of ``pip install --editable`` without a network; return directories for Python's path."""
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    list_as_installed(site, project["name"], project["entry-points"], project["version"])
    return [site, folder / "src", folder]


def run(command: str, folder: Path, path: list[Path]) -> str:
    """Return the output of a command of a page, as a terminal of 80 columns shows it."""
    program, *words = shlex.split(command)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("XPGRAD_")}
    environment["COLUMNS"] = "80"
    environment["PYTHONPATH"] = os.pathsep.join(map(str, [*path, *filter(None, [environment.get("PYTHONPATH")])]))
    done = subprocess.run(
        [*PROGRAMS[program], *words], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == (1 if words[0] == "port" else 0), done.stdout + done.stderr
    return done.stdout


def write(files: list[tuple[str, str]], folder: Path) -> None:
    """Write the files of a page that belong into a directory; existing files must have the contents in the page."""
    for name, text in files:
        file = folder / name
        if file.exists():
            assert file.read_text() == text, name
        elif file.parent.is_dir():
            file.write_text(text)


@pytest.mark.exhaustive(1)
@pytest.mark.parametrize("name", ["port-from-chainer", "write-a-backend", "write-an-executor"])
def test_commands_have_the_documented_output(name: str, tmp_path: Path) -> None:
    """Three dots mark omitted output."""
    page = (ROOT / "docs" / "howto" / f"{name}.md").read_text()
    folder, path = tmp_path / "author", list[Path]()
    folder.mkdir()
    for command, expected in COMMAND.findall("".join(CONSOLE.findall(page))):
        if command.startswith("cd "):
            folder /= command.removeprefix("cd ")
            continue
        write(FILE.findall(page), folder)
        if command.startswith("pip install "):
            path = install(folder, tmp_path / "site")
        else:
            pattern = ".*".join(map(re.escape, squeezed(expected).split("...")))
            printed = run(command, folder, path)
            assert re.fullmatch(pattern, squeezed(printed)), f"{command}\n{printed}"
