"""Certifies every backend as its user would: from wheels, in a fresh environment, in an empty directory.

    python plugins/certify.py                      build, install, run the suite, compare with docs/conformance
    python plugins/certify.py --write torch jax    do that for two backends, and keep the reports
    python plugins/certify.py --turn               for each backend, run this commit's part of the suite: on NumPy a
                                                   share; on one other, the families of the contract and a share
    python plugins/certify.py mlx                  do that for a backend that is certified only by name
    python plugins/certify.py --resume DIR jax     keep outcomes in DIR/jax; skip checks that passed before

Needs pip and a registry; the array libraries come from there. Ends with exit code 1 if a backend reaches a level below
the level in its committed report, or fails a check.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
CERTIFICATES = ROOT / "docs" / "conformance"
BUILT_IN = "numpy", "chx"
FROM_PLUGINS = "strict", "torch", "jax", "dask"
ON_REQUEST = {"mlx": ("mlx[cpu]",), "sparse": ()}
"""Certified only if they are named, with what is to be installed besides: MLX's wheel alone has no device on Linux."""
THIN = "jax", "dask", "sparse"
"""Certified by the profile thin: they compile or plan each call, and would take hours."""
FIRST = {"jax": "@jax:cpu:0", "dask": "@dask", "trace": "trace(numpy)", "batch": "batch(numpy)", "dual": "dual(numpy)"}
TRANSFORMATIONS = "trace", "batch", "dual"
"""The arrays of compile, vmap and jvp, over NumPy's: run in part only."""
CONTRACT = "LTVRX"
"""The families about the contract, not about functions one by one: load, transfer, device, pickle and random state,
exchange."""
PARTS = {"strict": 128, "torch": 128, "dask": 512, "jax": 512}
"""With `--turn`, each commit runs one of so many shares of the suite, by its hash; of others one of 64. By what the
whole takes, a share takes some twenty seconds of one core."""
TIMEOUT = 600
"""Seconds for one check: on a busy machine, jax compiles for two minutes in some."""
ENVIRONMENT = {
    "JAX_ENABLE_X64": "1",
    "JAX_PLATFORMS": "cpu",
    "XLA_FLAGS": "--xla_force_host_platform_device_count=2",
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    "DASK_ARRAY__CHUNK_SIZE": "64B",
    "DASK_XPGRAD__MOST_CHUNKS": "8",
    "DASK_SCHEDULER": "synchronous",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}
"""One thread for each process, since there is a process for each core; what jax must hear before it is imported; chunks
so small that dask's arrays have several, and so few that those of a million elements do not have thousands. jax
compiles every function for every shape, which is most of its time: all processes share what they compile, in a folder
of the run or in the one that JAX_COMPILATION_CACHE_DIR names. How jax compiles is left as its users have it."""


def main() -> int:
    """Certify backends, as described in the docstring of the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("backends", nargs="*", help="to be certified; by default all")
    parser.add_argument("--write", action="store_true", help="keep the reports in docs/conformance")
    parser.add_argument("--turn", action="store_true", help="no level: the parts of the suite that this commit runs")
    parser.add_argument("--resume", type=Path, metavar="DIR", help="keep outcomes here; skip checks that passed before")
    options = parser.parse_args()
    every = os.environ.get("XPGRAD_TESTS") == "all"
    others = [*BUILT_IN[1:], *FROM_PLUGINS, *TRANSFORMATIONS]
    parts = others if every else [others[commit() % len(others)]] if options.turn else []
    whole = [] if options.turn and not every else options.backends or [*BUILT_IN, *FROM_PLUGINS]
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        python = installed(place, [name for name in (*whole, *parts) if name not in (*BUILT_IN, *TRANSFORMATIONS)])
        good = [certified(name, python, place, write=options.write, resume=options.resume) for name in whole]
        good += [passed_in_part(name, python, place) for name in parts]
        good += [passed_a_share("numpy", python, place)] if options.turn else []
    if options.write:
        subprocess.run([sys.executable, ROOT / "docs" / "generate.py"], check=True)
    return 0 if all(good) else 1


def installed(place: Path, plugins: list[str]) -> Path:
    """Return the Python of a fresh environment with the wheels of xpgrad, the suite and some plugins."""
    sources = [ROOT, ROOT / "conformance", *(ROOT / "plugins" / f"xpgrad-{name}" for name in plugins)]
    pip = sys.executable, "-m", "pip", "-qq", "--disable-pip-version-check"
    wheels = place / "wheels"
    subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", wheels, *sources], check=True)
    venv.create(place / "env")
    python = place / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"
    constraints = place / "constraints.txt"
    constraints.write_text("\n".join(pins()), encoding="utf-8")
    besides = [requirement for name in plugins for requirement in ON_REQUEST.get(name, ())]
    # Not compiled: of PyTorch and JAX most modules are never imported.
    options = "--python", python, "install", "--no-compile", "--constraint", constraints
    subprocess.run([*pip, *options, *wheels.glob("*.whl"), *besides], check=True)
    return python


def pins() -> list[str]:
    """Return the exact version of PyTorch that the tests run on; its newest build may be for a GPU."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        groups = tomllib.load(file)["dependency-groups"]
    return [requirement for requirement in groups["test"] if "==" in requirement and "[" not in requirement]


def certified(name: str, python: Path, place: Path, *, write: bool, resume: Path | None) -> bool:
    """Run the profile full or thin on a backend; return whether it is certified at the level of the kept report."""
    report = place / "reports" / name
    seed = () if write else ("--seed", "0")  # each certificate looks somewhere new, each change at the same
    earlier = ("--resume", str((resume / name).resolve())) if resume else ()
    code = conform(name, python, place, "--report", str(report), *seed, *profile_of(name), *earlier)
    if not (report / "conformance.json").exists():
        print(f"{name}: no report; exit code {code}")
        return False
    level, kept = level_of(report), CERTIFICATES / name
    if code == 0 and write:
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(report, kept)
        return True
    wanted = level_of(kept) if kept.exists() else None
    if code != 0 or level is None or (wanted is not None and level < wanted):
        print(f"{name}: level {level}, exit code {code}; the committed report says level {wanted}")
        return False
    return True


def passed_in_part(name: str, python: Path, place: Path) -> bool:
    """Run the families of the contract, and a share of the suite, on the first device; return whether all passed."""
    families = [option for letter in CONTRACT for option in ("--family", letter)]
    code = conform(FIRST.get(name, name), python, place, "--seed", "0", *profile_of(name), *families)
    if code:
        print(f"{name}: exit code {code} from the families of the contract")
    return passed_a_share(name, python, place) and not code


def passed_a_share(name: str, python: Path, place: Path) -> bool:
    """Run this commit's share of the suite on the first device; return whether every check passed."""
    parts = PARTS.get(name, 64)
    share = f"{commit() // 8 % parts + 1}/{parts}"  # not by the bits that choose the backend
    print(f"{name}: the share {share} of the suite", flush=True)
    code = conform(FIRST.get(name, name), python, place, "--seed", "0", *profile_of(name), "--share", share)
    if code:
        print(f"{name}: exit code {code} from the share {share}")
    return not code


def profile_of(name: str) -> tuple[str, ...]:
    """Return the options for the profile that certifies a backend."""
    return ("--profile", "thin") if name in THIN else ()


def commit() -> int:
    """Return the hash of the commit as an integer; 0 outside a repository."""
    found = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    return int(found.stdout, 16) if found.returncode == 0 else 0


def conform(what: str, python: Path, place: Path, *options: str) -> int:
    """Run the suite on a backend or a device, in an empty directory; return the exit code."""
    empty = Path(tempfile.mkdtemp(dir=place))
    command = [str(python.with_name("xpgrad")), "conform", what, "--timeout", str(TIMEOUT), *options]
    compiled = {"JAX_COMPILATION_CACHE_DIR": str(place / "compiled")}
    return subprocess.run(command, cwd=empty, env={**compiled, **os.environ, **ENVIRONMENT}, check=False).returncode


def level_of(report: Path) -> int | None:
    """Return the level that a report certifies."""
    return json.loads((report / "conformance.json").read_text(encoding="utf-8"))["level"]  # type: ignore[no-any-return]  # JSON


if __name__ == "__main__":
    raise SystemExit(main())
