"""`xpgrad doctor`: loads each plugin in a separate process, and reports problems and remedies."""

import difflib
import json
import sys

import click
from rich.console import Console

from xpgrad.backend.current import get_device
from xpgrad.backend.discovery import Installed, scan, to_install
from xpgrad.cli.console import plain_console
from xpgrad.cli.health.examination import examination
from xpgrad.cli.health.report import show
from xpgrad.errors import XpgradError


@click.command(short_help="Examine an installation.")
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--timeout",
    default=60.0,
    show_default=True,
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Time limit for each plugin.",
)
@click.option("--build", is_flag=True, help="First compile kernels in C, which otherwise begins at their first use.")
def doctor(name: str | None, as_json: bool, timeout: float, build: bool) -> None:
    """Examine the backend NAME, by default every installed backend.

    Each plugin is loaded in a separate process, so that hangs and crashes are also reported.

    The exit code is 0 without problems, 1 with problems, and 2 if there is no backend NAME. A backend that is off,
    because its library is missing or an environment variable disables it, counts as wrong only if NAME is given.
    """
    try:
        installed = scan()
    except XpgradError as error:  # an environment variable names a backend that is not installed
        raise click.UsageError(str(error)) from None
    names = _names(installed, name)
    if build:
        _build(names)
    console = plain_console()
    with Console(stderr=True).status("") as status:
        report = examination(installed, names, timeout, lambda each: status.update(f"examining {each}"))
    if as_json:
        click.echo(json.dumps(report, indent=2))
    else:
        show(report, console)
    bad = {"wrong"} if name is None else {"wrong", "off"}
    sys.exit(int(any(facts["verdict"] in bad for facts in report["backends"])))


def _build(names: list[str]) -> None:
    """Compile the kernels of backends, and print for which of them that was possible."""
    for name in names:
        try:
            built = get_device(f"@{name}").backend.build()
        except XpgradError:  # the examination reports missing or broken libraries
            continue
        if built is not None:
            click.echo(
                f"{name}: {'kernels in C are compiled' if built else 'kernels in C cannot be compiled'}", err=True
            )


def _names(installed: Installed, name: str | None) -> list[str]:
    """Return the backends to examine, or raise click's error with exit code 2."""
    known = sorted(installed.backends)
    if name is None:
        return known
    wanted = name.removeprefix("@")
    if wanted not in known:
        close = difflib.get_close_matches(wanted, known, 1)
        hint = f"did you mean {close[0]}?" if close else f"{to_install(wanted)};"
        raise click.UsageError(f"no backend {wanted!r} is installed; {hint} installed: {', '.join(known)}")
    return [wanted]
