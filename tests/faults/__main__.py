"""The self-test of the conformance suite: ``python -m tests.faults`` plants faults, and each must be found."""

import click
from rich.console import Console
from rich.table import Table
from tests.faults import FAULTS, FREEDOMS
from tests.faults.self_test import Verdict, self_test

from xpgrad_conformance.check import FAMILIES
from xpgrad_conformance.command import bar, cores
from xpgrad_conformance.plan import letter_of


@click.command()
@click.option("--without", multiple=True, help="Leave this family out, which must then fail.")
@click.option("--jobs", type=click.IntRange(min=0), help="Processes; 0: this one. [default: one for each core]")
def main(without: tuple[str, ...], jobs: int | None) -> None:
    """Run the seeded faults: each must be killed, by each family that it names."""
    raise SystemExit(_run(Console(highlight=False, markup=False), without, cores() if jobs is None else jobs))


def _run(console: Console, without: tuple[str, ...], jobs: int) -> int:
    """Run the seeded faults, print the kill matrix, and return the exit code."""
    try:
        letters = [letter_of(family) for family in without]
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    with bar(console) as progress_bar:
        task = progress_bar.add_task("seeded faults", total=len(FAULTS) + len(FREEDOMS))
        verdict = self_test(without=letters, jobs=jobs, progress=lambda name: progress_bar.update(task, advance=1))
    _print_matrix(console, verdict)
    for fault, letter in verdict.survivors:
        console.print(f"{fault} survives the family {letter}", style="red")
    for check in verdict.idle:
        console.print(f"the check {check} kills no fault", style="red")
    for freedom, _, reason in verdict.alarms:
        console.print(f"false alarm on a correct backend ({freedom}): {reason}", style="red", soft_wrap=True)
    killed = len(FAULTS) - len({fault for fault, _ in verdict.survivors})
    console.print(
        f"{killed} of {len(FAULTS)} faults killed by all their families; {len(FREEDOMS)} correct backends with "
        f"{len(verdict.alarms)} false alarms",
        style="green" if verdict.passed else "red",
    )
    return 0 if verdict.passed else 1


def _print_matrix(console: Console, verdict: Verdict) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("fault", overflow="ellipsis", no_wrap=True)
    for family in FAMILIES:
        table.add_column(family.letter, justify="center")
    for fault, kills in zip(FAULTS, verdict.kills, strict=True):
        cells = []
        for family in FAMILIES:
            killer = next((name[1:] for name in kills.failed if name.startswith(family.letter)), None)
            cells.append(killer or ("--" if family.letter in fault.families else ""))
        table.add_row(fault.id, *cells)
    console.print(table)
    console.print("number: the first check of the family that kills the fault; --: none does\n")


if __name__ == "__main__":
    main()
