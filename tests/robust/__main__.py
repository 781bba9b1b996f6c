"""Tries wrong arguments at random for some minutes, after the tests that docs/robustness.md names: for each night."""

import os
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click
from tests.robust.arguments import fault
from tests.robust.test_arguments import FAMILIES
from tests.robust.wrong import WRONG

ROOT = Path(__file__).parents[2]


def named_tests() -> list[str]:
    """Return the tests that docs/robustness.md names."""
    text = (ROOT / "docs/robustness.md").read_text(encoding="utf-8")
    return [f"tests/{file}::{name}" for file, name in re.findall(r"`([\w/]+\.py)::(\w+)`", text)]


@click.command()
@click.option("--minutes", default=60.0, help="How long wrong arguments are tried.")
@click.option("--seed", default=0, help="Of the choice of calls and values.")
@click.option("--tests/--no-tests", default=True, help="Run the tests of docs/robustness.md first.")
def main(minutes: float, seed: int, tests: bool) -> None:
    """Run the robustness tests, and then calls with wrong arguments; the exit status is 1 if one fails."""
    code, found, count = 0, dict[tuple[str, object], str](), 0
    if tests:
        command = [sys.executable, "-m", "pytest", "-q", "-n", "0", *dict.fromkeys(named_tests())]
        code = subprocess.run(command, cwd=ROOT, env=os.environ | {"XPGRAD_TESTS": "all"}, check=False).returncode
    rng = random.Random(seed)
    known = [call for family in FAMILIES.values() for call in family()]
    end = time.monotonic() + 60 * minutes
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        while time.monotonic() < end:
            call, value = rng.choice(known), rng.choice(list(WRONG))
            place = rng.choice(list(call.places()) or [None])
            if place is None:
                continue
            if (text := fault(call, place, value)) and (call.name, place) not in found:
                found[call.name, place] = text
                print(f"{call.name}, {place!r}: {value}: {text}"[:500], flush=True)
            count += 1
        os.chdir(ROOT)
    print(f"{count} calls with wrong arguments, {len(found)} answered wrongly; seed {seed}")
    sys.exit(code or bool(found))


main()
