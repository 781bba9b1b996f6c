"""The self-test of the conformance suite: ``python -m tests.faults`` plants faults, and each must be found."""

from collections.abc import Callable, Sequence
from importlib import import_module

import click
from rich.console import Console
from rich.table import Table
from tests.faults import FAULTS, FREEDOMS, Fault, Freedom
from tests.faults.self_test import Verdict, self_test
from tests.faults.whole import baseline, whole
from tests.turn import part_of

from xpgrad_conformance.check import FAMILIES
from xpgrad_conformance.command import bar, cores
from xpgrad_conformance.plan import letter_of

PARTS = 3
"""With `--rotate`, `make check` runs a twelfth of one in so many parts of the faults and of the correct backends."""


@click.command()
@click.argument("ids", nargs=-1)
@click.option("--without", multiple=True, help="Leave this family out, which must then fail.")
@click.option(
    "--rotate", is_flag=True, help="One in 36 of the faults and of the correct backends, selected by the commit."
)
@click.option("--whole", "profile", type=click.Choice(["quick", "full"]), help="Run a whole profile on these faults.")
@click.option("--file", "files", multiple=True, help="With --whole: the faults of a file of tests/faults/seeded.")
@click.option("--seed", default=0, help="With --whole: the seed of all random numbers.")
@click.option(
    "--jobs", type=click.IntRange(min=0), help="Worker processes; 0 runs in this process. [default: one for each core]"
)
def main(
    ids: tuple[str, ...],
    without: tuple[str, ...],
    rotate: bool,
    profile: str | None,
    files: tuple[str, ...],
    seed: int,
    jobs: int | None,
) -> None:
    """Run the seeded faults: each family that a fault names must kill it.

    With --whole, run all checks of a profile on the faults IDS instead, each up to the first check that kills it.
    """
    console, wanted = Console(highlight=False, markup=False), cores() if jobs is None else jobs
    if profile is not None:
        raise SystemExit(_whole(console, _chosen(ids, files), quick=profile == "quick", seed=seed, jobs=max(wanted, 1)))
    if ids or files:
        raise click.UsageError("expected --whole quick or --whole full with names of faults or files")
    faults, freedoms = (part_of(FAULTS, PARTS), part_of(FREEDOMS, PARTS)) if rotate else (FAULTS, FREEDOMS)
    raise SystemExit(_run(console, without, faults, freedoms, wanted))


def _chosen(ids: Sequence[str], files: Sequence[str]) -> list[Fault]:
    """Return the faults of these names and of these files; by default all."""
    if unknown := set(ids) - {fault.id for fault in FAULTS}:
        raise click.UsageError(f"unknown fault {', '.join(sorted(unknown))}")
    found = {fault.id for fault in FAULTS if not files and not ids} | set(ids)
    for file in files:
        try:
            module = import_module(f"tests.faults.seeded.{file}")
        except ModuleNotFoundError:
            raise click.UsageError(f"the file tests/faults/seeded/{file}.py does not exist") from None
        found |= {value.id for value in vars(module).values() if isinstance(value, Fault)}
    return [fault for fault in FAULTS if fault.id in found]


def _whole(console: Console, faults: Sequence[Fault], *, quick: bool, seed: int, jobs: int) -> int:
    """Run a profile on each fault, print the check that killed it and the time, and return the exit code."""
    measured = baseline(quick=quick, seed=seed)
    for id, reason in measured.alarms.items():
        console.print(f"false alarm on a correct backend, not counted: {id}: {reason}", style="red", soft_wrap=True)
    survivors = 0
    for kill in whole(faults, measured, quick=quick, jobs=jobs, seed=seed):
        survivors += not kill.check
        verdict = f"killed by {kill.check}" if kill.check else "SURVIVES"
        console.print(f"{kill.id:40} {kill.seconds:6.1f} s  {verdict}", style="" if kill.check else "red")
        if kill.reason:
            console.print(f"{'':40} {kill.reason.splitlines()[0]}", style="dim", soft_wrap=True)
    summary = f"{len(faults) - survivors} of {len(faults)} faults killed by the {'quick' if quick else 'full'} profile"
    console.print(summary, style="red" if survivors else "green")
    return 1 if survivors else 0


def _run(
    console: Console, without: tuple[str, ...], faults: Sequence[Fault], freedoms: Sequence[Freedom], jobs: int
) -> int:
    """Run the seeded faults, print the kill matrix, and return the exit code."""
    try:
        letters = [letter_of(family) for family in without]
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    with bar(console) as progress_bar:
        task = progress_bar.add_task("seeded faults", total=len(faults) + len(freedoms))
        done: Callable[[str], None] = lambda name: progress_bar.update(task, advance=1)  # noqa: E731
        whole = len(faults) == len(FAULTS)
        verdict = self_test(without=letters, faults=faults, freedoms=freedoms, idle=whole, jobs=jobs, progress=done)
    _print_matrix(console, faults, verdict)
    for fault, letter in verdict.survivors:
        console.print(f"{fault} survives the family {letter}", style="red")
    for check in verdict.idle:
        console.print(f"the check {check} kills no fault", style="red")
    for freedom, _, reason in verdict.alarms:
        console.print(f"false alarm on a correct backend ({freedom}): {reason}", style="red", soft_wrap=True)
    killed = len(faults) - len({fault for fault, _ in verdict.survivors})
    chosen = "" if whole else f" (parts of {len(FAULTS)} and {len(FREEDOMS)})"
    console.print(
        f"{killed} of {len(faults)} faults killed by all their families; {len(freedoms)} correct backends with "
        f"{len(verdict.alarms)} false alarms{chosen}",
        style="green" if verdict.passed else "red",
        soft_wrap=True,
    )
    return 0 if verdict.passed else 1


def _print_matrix(console: Console, faults: Sequence[Fault], verdict: Verdict) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("fault", overflow="ellipsis", no_wrap=True)
    for family in FAMILIES:
        table.add_column(family.letter, justify="center")
    for fault, kills in zip(faults, verdict.kills, strict=True):
        cells = []
        for family in FAMILIES:
            killer = next((name[1:] for name in kills.failed if name.startswith(family.letter)), None)
            cells.append(killer or ("--" if family.letter in fault.families else ""))
        table.add_row(fault.id, *cells)
    console.print(table)
    console.print("number: the first check of the family that kills the fault; --: none does\n")


if __name__ == "__main__":
    main()
