"""Runs random programs, and prints programs with different results; the exit status is 1 if it finds any."""

import collections
import sys
import time
from collections.abc import Callable

import click
import numpy as np
import torch
from tests.devices import device_or_skip
from tests.fuzz import checks
from tests.fuzz.batched import batched
from tests.fuzz.compiled import compiled, compiled_threads
from tests.fuzz.eager_c import for_any_size
from tests.fuzz.executors import executors, executors_threads
from tests.fuzz.forward import forward
from tests.fuzz.mixes import mixes
from tests.fuzz.modes import modes

FAMILIES: dict[str, Callable[..., str | None]] = {
    "graph": checks.graph, "threads": checks.threads, "ties": checks.ties, "half": checks.half,
    "compiled": compiled, "compiled threads": compiled_threads,
    "batched": batched, "forward": forward, "mixes": mixes, "modes": modes,
}  # fmt: skip
SHARES = {
    "graph": 0.24, "threads": 0.05, "ties": 0.12, "half": 0.02, "compiled": 0.16, "compiled threads": 0.02,
    "batched": 0.18, "forward": 0.12, "mixes": 0.05, "modes": 0.04,
}  # fmt: skip
IN_C: dict[str, Callable[..., str | None]] = {"compiled": executors, "compiled threads": executors_threads}


@click.command()
@click.option("--count", default=20_000, help="Number of programs.")
@click.option("--seed", default=0, help="Seed of the first program; differences are printed with their seeds.")
@click.option("--devices", default="@numpy,@torch,native:0", help="Devices of xpgrad, in turns.")
@click.option("--only", type=click.Choice(list(FAMILIES)), help="One family only.")
@click.option("--in-c", is_flag=True, help="Compile functions to C; by default they are exact.")
@click.option("--eager-c", is_flag=True, help="Run NumPy's eager kernels in C for arrays of any size.")
def main(count: int, seed: int, devices: str, only: str | None, in_c: bool, eager_c: bool) -> None:
    """Run random programs: against PyTorch and JAX, compiled against eager, batches against a loop, tangents."""
    torch.set_num_threads(1)
    if eager_c:
        for_any_size()
    places = [device_or_skip(name) for name in devices.split(",")]
    wrong, ran, start = 0, collections.Counter[str](), time.monotonic()
    for number in range(seed, seed + count):
        rng = np.random.default_rng(number)
        family = only or str(rng.choice(list(SHARES), p=list(SHARES.values())))
        device = places[number % len(places)]
        try:
            found = {**FAMILIES, **(IN_C if in_c else {})}[family](rng, device)
        except Exception as error:  # a failing program is a bug, not something to ignore
            found = f"{type(error).__name__}: {error}"
        ran[family] += 1
        if found:
            wrong += 1
            print(f"seed {number}, {family} on {device}: {found}"[:1500], flush=True)
    print(f"{sum(ran.values())} programs ({dict(ran)}), {wrong} differ, {time.monotonic() - start:.0f} s")
    sys.exit(bool(wrong))


main()
