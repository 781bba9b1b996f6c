"""Tests of the wheels as installed by users: a new environment for each distribution, in an empty directory."""

import json
import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

from plugins.certify import ENVIRONMENT, FIRST, ON_REQUEST, pins

from release.distributions import Distribution, distributions

ON_REQUEST_ONLY = ("dpnp",)
"""Libraries of gigabytes: their wheels are built and looked into here, and tried by `make check-dpnp`."""
SUITE = "xpgrad-conformance"
CHECKS = "--family", "L", "--seed", "0", "--timeout", "300"
"""The family that loads the plugin, computes and differentiates; the whole suite is `make certify`."""
PROGRAM = """
import importlib.metadata, sys
import numpy as np
import xpgrad
loaded = {"click", "rich", "opt_einsum"} & set(sys.modules)
assert not loaded, f"import xpgrad loaded {loaded}"
assert xpgrad.__version__ == importlib.metadata.version("xpgrad"), xpgrad.__version__
x = xpgrad.Variable(np.array([1.0, 2.0, 3.0], np.float32))
(x**3).sum().backward()
assert x.grad.tolist() == [3.0, 12.0, 27.0] and x.grad.dtype == np.float32, x.grad
"""


class SmokeError(Exception):
    """A distribution fails to install, import or compute."""


def smoke(wheels: Path, names: tuple[str, ...] = ()) -> dict[str, str]:
    """Test the named distributions, by default all except `ON_REQUEST_ONLY`; return the outcome of each."""
    outcomes = {}
    for distribution in distributions():
        if names and distribution.name not in names:
            continue
        if not names and distribution.backend in ON_REQUEST_ONLY:
            outcomes[distribution.name] = "built and checked, not tried: its library is too large"
            continue
        start = time.perf_counter()
        tried(distribution, wheels)
        outcomes[distribution.name] = f"tried in {time.perf_counter() - start:.0f} s"
    return outcomes


def tried(distribution: Distribution, wheels: Path) -> None:
    """Install a distribution, import it, and compute with it; raise `SmokeError` on failure."""
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        python = installed(distribution, wheels, place)
        run(python, place, "-I", "-c", PROGRAM)
        xpgrad = "-I", "-m", "xpgrad"
        if distribution.backend is None:
            run(python, place, *xpgrad, "doctor", "numpy")
        else:
            run(python, place, "-I", "-c", f"import {distribution.name.replace('-', '_')}")
            report = json.loads(
                run(python, place, *xpgrad, "doctor", distribution.backend, "--json", "--timeout", "300")
            )
            assert report["xpgrad"], report
        if distribution.name != "xpgrad":
            backend = distribution.backend or "numpy"
            run(python, place, *xpgrad, "conform", FIRST.get(backend, backend), *CHECKS)


def installed(distribution: Distribution, wheels: Path, place: Path) -> Path:
    """Return the Python of a new environment with the wheels of a distribution and its dependencies."""
    wanted = ["xpgrad"] if distribution.name == "xpgrad" else ["xpgrad", SUITE, distribution.name]
    files = [wheel_of(name, wheels) for name in dict.fromkeys(wanted)]
    venv.create(place / "env", with_pip=True)
    python = place / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"
    (place / "constraints.txt").write_text("\n".join(pins()), encoding="utf-8")
    besides = ON_REQUEST.get(distribution.backend or "", ())
    options = "-qq", "--disable-pip-version-check", "--prefer-binary", "--constraint", str(place / "constraints.txt")
    run(python, place, "-m", "pip", "install", *options, *map(str, files), *besides)
    run(python, place, "-m", "pip", "check", "-q", "--disable-pip-version-check")
    return python


def wheel_of(name: str, wheels: Path) -> Path:
    """Return the wheel of a distribution."""
    found = list(wheels.glob(f"{name.replace('-', '_')}-*.whl"))
    if len(found) != 1:
        raise SmokeError(f"{name}: expected one wheel in {wheels}, got {len(found)}; run make dist")
    return found[0].resolve()


def run(python: Path, place: Path, *arguments: str) -> str:
    """Run Python in an empty directory, return its output, and raise `SmokeError` on failure."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "XPGRAD"))}
    with tempfile.TemporaryDirectory(dir=place) as empty:
        done = subprocess.run(
            [python, *arguments], cwd=empty, env=clean | ENVIRONMENT, capture_output=True, text=True, check=False
        )
    if done.returncode:
        print(done.stdout, done.stderr, file=sys.stderr)
        raise SmokeError(f"python {' '.join(arguments)[:200]}: expected exit code 0, got {done.returncode}")
    return done.stdout
