"""The command line as a module: ``python -m xpgrad``."""

import subprocess
import sys


def test_the_package_runs_as_a_program() -> None:
    done = subprocess.run([sys.executable, "-m", "xpgrad", "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Usage: python -m xpgrad")
    assert "new-backend" in done.stdout
