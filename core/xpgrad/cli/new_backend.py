"""`xpgrad new-backend`: writes the distribution of a backend that installs, loads and passes its tests immediately."""

import keyword
import re
import subprocess
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name

import click

from xpgrad.backend.discovery import Installed, scan
from xpgrad.backend.loading import root_of
from xpgrad.cli.scaffold import STAND_IN, Scaffold
from xpgrad.errors import XpgradError

NAME = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*")


@click.command("new-backend", short_help="Write a first version of a backend.")
@click.argument("name")
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="A new or empty folder; xpgrad-NAME by default.",
)
@click.option(
    "--library",
    default=STAND_IN,
    show_default=True,
    metavar="MODULE",
    help="The library's Array API namespace, as in an import; by default a placeholder, to be replaced.",
)
@click.option("--author", help="By default git's user.name.")
@click.option("--email", help="By default git's user.email.")
def new_backend(name: str, output: Path | None, library: str, author: str | None, email: str | None) -> None:
    """Write a distribution for the backend NAME: a plugin, its tests, packaging and continuous integration.

    It works immediately, over a copy of array-api-strict, which you replace with your library.
    """
    try:
        installed = scan()
    except XpgradError as error:  # an environment variable names a backend that is not installed
        raise click.UsageError(str(error)) from None
    arrays = STAND_IN if library == STAND_IN else _checked_library(library, installed)
    scaffold = Scaffold(name, library, arrays, *_person(author, email, f"The authors of xpgrad-{name}"))
    _check_name(scaffold, installed)
    target = (output or Path(scaffold.distribution)).absolute()
    try:
        if target.exists() and not (target.is_dir() and not any(target.iterdir())):
            raise click.UsageError(f"{target} exists and is not an empty folder; choose another")
        scaffold.write(target)
    except OSError as error:
        raise click.ClickException(f"{target} cannot be written; nothing was left there: {error}") from None
    click.echo(f"Wrote {scaffold.distribution} to {target}\n\nNext:")
    click.echo(f"  cd {target}\n  pip install --editable '.[test]'\n  xpgrad doctor {name}\n  pytest")


def _check_name(scaffold: Scaffold, installed: Installed) -> None:
    """Raise click's error for a name that a backend cannot have, or that is taken."""
    name = scaffold.name
    if NAME.fullmatch(name) is None:
        raise click.UsageError(
            "expected a name that begins with a lower-case letter and has only such letters, digits and single hyphens "
            f"or underscores between them, got {name!r}"
        )
    normal = name.replace("_", "-")
    if taken := next((each for each in installed.backends if each.lower().replace("_", "-") == normal), None):
        origins = ", ".join(sorted(entry.origin for entry in installed.backends[taken]))
        raise click.UsageError(f"{taken} is the name of an installed backend ({origins}); choose another name")
    if name in installed.prefixes:
        origin = installed.prefixes[name][0].origin
        raise click.UsageError(f"{name} is the prefix of device specifiers of {origin}; choose another name")
    if find_spec(scaffold.package) is not None:
        raise click.UsageError(f"there is a module {scaffold.package} already; choose another name")


def _checked_library(library: str, installed: Installed) -> str:
    """Return the first part of the module of a library's arrays; raise click's error if they have a backend already."""
    if not all(part.isidentifier() and not keyword.iskeyword(part) for part in library.split(".")):
        raise click.UsageError(f"--library: expected a module's name such as mylib.array_api, got {library!r}")
    root = _root_of_arrays(library)
    if serving := installed.modules.get(root):
        raise click.UsageError(
            f"--library: {serving[0].origin} serves the arrays of {library} already, and two backends may not list one "
            "type; a plugin with kernels or devices for them needs no backend: see docs/backends.md"
        )
    return root


def _root_of_arrays(library: str) -> str:
    """Return the first part of the module where the type of a library's arrays is made, which a wrapper does not make.

    If the library makes no array, its name is returned; if it cannot be imported, click's error is raised.
    """
    try:
        namespace = resolve_name(library)
    except Exception as error:  # a third-party library
        raise click.UsageError(f"--library: there is no module {library}, or it cannot be imported: {error}") from None
    try:
        return root_of(type(namespace.zeros(1)))
    except Exception:  # a third-party library
        return library.partition(".")[0]


def _person(author: str | None, email: str | None, otherwise: str) -> tuple[str, str]:
    """Return name and address of the author: given values, else git's settings, else `otherwise` and no address."""
    name = _git("user.name") if author is None else _one_line(author)
    address = _git("user.email") if email is None else email.strip()
    if email and not re.fullmatch(r"[^@\s]+@[^@\s]+", address):
        raise click.UsageError(f"--email: expected an address such as name@example.org, got {email!r}")
    return name or otherwise, address if "@" in address else ""


def _git(key: str) -> str:
    command = ["git", "config", "--get", key]
    try:
        done = subprocess.run(  # noqa: S603 - the user's git
            command, capture_output=True, text=True, check=False, timeout=5, encoding="utf-8"
        )
    except (OSError, ValueError, subprocess.SubprocessError):  # no git, or output that is not text
        return ""
    return _one_line(done.stdout) if done.returncode == 0 else ""


def _one_line(text: str) -> str:
    return " ".join(text.split())
