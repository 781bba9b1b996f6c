"""Programs of dpnp's that may hang end, each in a fresh process."""

import subprocess
import sys

import pytest

SECONDS = 120

FIRST_CALLS = """
import threading, xpgrad, xpgrad.array_api as xp
xpgrad.use("@dpnp")
x = xpgrad.Variable(xpgrad.get_device("@dpnp").backend.xp.ones((2, 2)))
barrier = threading.Barrier(8)
def run():
    barrier.wait()
    xp.linalg.inv(xp.sum(x) * x + xp.eye(2))
threads = [threading.Thread(target=run, daemon=True) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
"""

GATHERS = """
import xpgrad, xpgrad.array_api as xp
x = xpgrad.get_device("@dpnp").backend.xp.ones((3, 3))
i = xpgrad.get_device("@dpnp").backend.xp.asarray([0, 1])
for n in range(300):
    for _ in range(n % 60):
        xp.take(x, i, axis=0), xpgrad.Variable(x)[i]
    x @ x + x
"""


@pytest.mark.parametrize("program", [FIRST_CALLS, GATHERS], ids=["first calls", "gathers"])
def test_a_program_ends(program: str) -> None:
    subprocess.run([sys.executable, "-c", program], check=True, timeout=SECONDS)
