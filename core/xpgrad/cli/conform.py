"""`xpgrad conform`: the conformance suite, a distribution of its own, run on a backend."""

from pathlib import Path

import click
from rich.console import Console

from xpgrad.backend.plugins import plugins
from xpgrad.cli.demo import Unusable
from xpgrad.errors import XpgradError

MISSING = "conform: the conformance suite is not installed; pip install 'xpgrad[conformance]'"


def _share(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[int, int] | None:
    """Return the numbers of one part of the suite, written as 3/16."""
    if value is None:
        return None
    number, slash, parts = value.partition("/")
    if not (slash and number.isdecimal() and parts.isdecimal()):
        raise click.BadParameter(f"expected a part such as 3/16, got {value!r}", context, parameter)
    return int(number), int(parts)


@click.command()
@click.argument("backend", metavar="NAME|DEVICE")
@click.option("--family", "families", multiple=True, help="Only this family, by letter or name; may be repeated.")
@click.option("--case", "cases", multiple=True, help="Only this case of the table; may be repeated.")
@click.option("--share", callback=_share, metavar="I/N", help="Only the I-th of N parts of the suite, of one length.")
@click.option("--profile", type=click.Choice(["quick", "full", "soak"]), default="full", show_default=True)
@click.option("--minutes", type=float, default=10, show_default=True, help="How long to soak.")
@click.option(
    "--report", type=click.Path(file_okay=False, path_type=Path), help="Write the report into this directory."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of everything random.")
@click.option("--jobs", type=click.IntRange(min=0), help="Processes; 0: this one. [default: one for each core]")
@click.option("--timeout", type=float, default=120, show_default=True, help="Seconds for one check.")
def conform(
    backend: str,
    families: tuple[str, ...],
    cases: tuple[str, ...],
    share: tuple[int, int] | None,
    profile: str,
    minutes: float,
    report: Path | None,
    seed: int,
    jobs: int | None,
    timeout: float,
) -> None:
    """Certify a backend.

    Exit codes: 0 certified (or nothing failed, in a part of the suite), 1 failures, 2 nothing ran or the backend cannot
    be used, 3 declared and probed capabilities disagree.
    """
    try:
        from xpgrad_conformance.command import cores, devices_of, run  # an extra
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "xpgrad_conformance":
            raise
        raise Unusable(MISSING) from None
    try:
        devices_of(backend)
    except (XpgradError, TypeError) as error:
        known = "" if plugins.knows(backend) else f"; backends: {', '.join(sorted(plugins.names()))}"
        raise Unusable(f"{error}{known}; `xpgrad doctor {backend}` looks closer") from None
    try:
        code = run(
            backend,
            Console(highlight=False, markup=False),
            report,
            families=families or None,
            cases=cases or None,
            share=share,
            profile=profile,
            minutes=minutes,
            seed=seed,
            jobs=cores() if jobs is None else jobs,
            timeout=timeout,
        )
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    raise SystemExit(code)
