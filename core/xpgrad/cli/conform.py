"""`xpgrad conform`: runs the conformance suite, a separate distribution, on a backend."""

import difflib
import re
from pathlib import Path
from typing import Any

import click

from xpgrad.backend.discovery import to_install
from xpgrad.backend.plugins import plugins
from xpgrad.cli.console import plain_console
from xpgrad.cli.demo import Unusable
from xpgrad.errors import XpgradError

TRANSFORMATIONS = "trace", "batch", "dual"
MISSING = "conform: the conformance suite is not installed; pip install 'xpgrad[conformance]'"


def _share(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[int, int] | None:
    """Return the two numbers of a part of the suite, given as 3/16."""
    if value is None:
        return None
    number, slash, parts = value.partition("/")
    if not (slash and number.isdecimal() and parts.isdecimal()):
        raise click.BadParameter(f"expected a part such as 3/16, got {value!r}", context, parameter)
    return int(number), int(parts)


def _seconds(context: click.Context, parameter: click.Parameter, value: str | None) -> float | None:
    """Return the seconds of a duration, given as 90s, 10m, 1h or 1h30m."""
    if value is None:
        return None
    found = re.fullmatch(r"(?=.)(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?", value)
    seconds = sum(int(n or 0) * unit for n, unit in zip(found.groups(), (3600, 60, 1), strict=True)) if found else 0
    if not seconds:
        raise click.BadParameter(f"expected a time such as 90s, 10m or 1h, got {value!r}", context, parameter)
    return float(seconds)


@click.command(short_help="Certify a backend.")
@click.argument("backend", metavar="NAME|DEVICE")
@click.option(
    "--over", metavar="NAME", help="For trace, batch, dual: the backend of the arrays within. [default: numpy]"
)
@click.option("--family", "families", multiple=True, help="Only this family, by letter or name; may be repeated.")
@click.option("--case", "cases", multiple=True, help="Only this case of the table; may be repeated.")
@click.option(
    "--operation", "operations", multiple=True, help="Only this function on generated inputs; may be repeated."
)
@click.option("--share", callback=_share, metavar="I/N", help="Only the I-th of N equal parts of the suite.")
@click.option(
    "--since",
    type=click.Path(path_type=Path),
    metavar="REPORT",
    help="First run checks that failed in an earlier report, a directory or its conformance.json.",
)
@click.option(
    "--resume",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Keep outcomes in this directory, and skip checks that passed in an earlier run with it.",
)
@click.option(
    "--time",
    "seconds",
    callback=_seconds,
    metavar="TIME",
    help="Stop after 90s, 10m or 1h; the most revealing checks run first.",
)
@click.option("--profile", type=click.Choice(["quick", "thin", "full", "soak"]), default="full", show_default=True)
@click.option("--minutes", type=float, default=10, show_default=True, help="Duration of the profile soak.")
@click.option(
    "--report", type=click.Path(file_okay=False, path_type=Path), help="Write the report into this directory."
)
@click.option("--declare", is_flag=True, help="Print a declaration of capabilities that agrees with the probes.")
@click.option("--accept", is_flag=True, help="Certify even if one reason is given for more than five capabilities.")
@click.option("--seed", type=int, help="Seed of all random numbers. [default: different for each run]")
@click.option(
    "--jobs",
    type=click.IntRange(min=0),
    help="Number of worker processes; 0 runs in this process. [default: one more than cores]",
)
@click.option("--timeout", type=float, default=120, show_default=True, help="Seconds per check.")
def conform(backend: str, over: str | None, report: Path | None, **options: Any) -> None:
    """Certify a backend; `trace`, `batch`, `dual`: the arrays of compile, vmap, jvp over another backend.

    Exit codes: 0 certified (in a part of the suite, no failures), 1 failures, 2 no checks ran or the backend cannot
    be used, 3 declared and probed capabilities disagree.
    """
    try:
        from xpgrad_conformance.command import cores, devices_of, run  # an extra
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "xpgrad_conformance":
            raise
        raise Unusable(MISSING) from None
    if backend in TRANSFORMATIONS:
        backend = f"{backend}({over or 'numpy'})"
    elif over is not None:
        raise click.UsageError(f"--over is for {', '.join(TRANSFORMATIONS)} only, got {backend}")
    try:
        devices_of(backend)
    except (XpgradError, TypeError) as error:
        raise Unusable(_unusable(backend, error)) from None
    options |= {name: options[name] or None for name in ("families", "cases", "operations")}  # None: all
    options["jobs"] = cores() + 1 if options["jobs"] is None else options["jobs"]
    try:
        code = run(backend, plain_console(), report, **options)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    raise SystemExit(code)


def _unusable(backend: str, error: Exception) -> str:
    """Return why the suite does not run, and a remedy: the backend is unknown or cannot be used."""
    within = re.sub(r"^(\w+\()+|\)+$", "", backend)  # a transformation is over a backend: trace(numpy)
    name = within.removeprefix("@").partition(":")[0]
    if plugins.knows(name):
        return f"{error}; `xpgrad doctor {name}` shows more"
    if name in plugins.installed.prefixes:
        return str(error)
    known = sorted(plugins.names())
    close = difflib.get_close_matches(name, known, 1)
    advice = f"did you mean {close[0]}?" if close else f"{to_install(name)}, or write it with xpgrad new-backend;"
    return f"conform: no backend {name!r} is installed; {advice} installed: {', '.join(known)}"
