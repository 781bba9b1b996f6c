"""Commands of the Makefile's targets `bump`, `dist` and `dist-check`: `python -m release`."""

import argparse
import subprocess
import sys
from pathlib import Path

from release import versions
from release.archives import build_twice, changes, digests
from release.distributions import ROOT
from release.evidence import audit, write_contents, write_digests
from release.smoke import smoke

DIST, EVIDENCE = ROOT / "dist", ROOT / "build" / "release"


def main() -> int:
    """Run a command; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m release", description="Make and check the distributions.")
    commands = parser.add_subparsers(dest="command", required=True)
    shown = commands.add_parser("version", help="print the version, which all places must agree on")
    shown.add_argument("--tag", help="fail if this is not the tag of the version")
    commands.add_parser("bump", help="set the version everywhere").add_argument("version")
    commands.add_parser("build", help="build all distributions of the commit twice, and compare")
    commands.add_parser("check", help="check the metadata and the contents of the archives")
    tried = commands.add_parser("smoke", help="install each wheel into a fresh environment, and try it")
    tried.add_argument("names", nargs="*", help="distributions; by default all except distributions of gigabytes")
    commands.add_parser("evidence", help="write the digests and the bill of materials of the archives")
    commands.add_parser("audit", help="search the installed packages for known vulnerabilities")
    options = parser.parse_args()
    try:
        return COMMANDS[options.command](options)
    except Exception as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1


def show_version(options: argparse.Namespace) -> int:
    """Print the version."""
    if options.tag:
        versions.check_tag(options.tag)
    print(versions.version())
    return 0


def bump(options: argparse.Namespace) -> int:
    """Set the version."""
    for file in versions.bump(options.version):
        print(file.relative_to(ROOT))
    return 0


def build(_: argparse.Namespace) -> int:
    """Build all distributions."""
    if changes():
        print("build: there are changes that are not committed; they are not in the archives", file=sys.stderr)
    build_twice(DIST)
    for name, digest in digests(DIST).items():
        print(f"{(DIST / name).stat().st_size / 1024:8,.1f} KiB  {digest[:16]}  {name}")
    print("Two builds are equal, byte by byte.")
    return 0


def check(_: argparse.Namespace) -> int:
    """Check metadata and contents."""
    files = sorted(map(str, DIST.iterdir()))
    wheels = [file for file in files if file.endswith(".whl")]
    own = [wheel for wheel in wheels if Path(wheel).name.startswith("xpgrad-")]
    others = [wheel for wheel in wheels if wheel not in own]
    python = [sys.executable, "-m"]
    commands = (
        [*python, "twine", "check", "--strict", *files],
        [*python, "check_wheel_contents", "--config", str(ROOT / "pyproject.toml"), *own],
        [*python, "check_wheel_contents", "--no-config", *others],
    )
    return max(subprocess.run(command, check=False).returncode for command in commands)


def smoke_(options: argparse.Namespace) -> int:
    """Try the wheels."""
    for name, outcome in smoke(DIST, tuple(options.names)).items():
        print(f"{name}: {outcome}")
    return 0


def evidence(_: argparse.Namespace) -> int:
    """Write the files for verifying a release."""
    for file in (write_digests(DIST, EVIDENCE), write_contents(DIST, EVIDENCE)):
        print(file.relative_to(ROOT))
    return 0


def audit_(_: argparse.Namespace) -> int:
    """Look for known vulnerabilities."""
    found = audit(DIST)
    print("\n".join(found) or "Every package was audited; no vulnerability is known.")
    return 1 if found else 0


COMMANDS = {
    "version": show_version, "bump": bump, "build": build, "check": check, "smoke": smoke_, "evidence": evidence,
    "audit": audit_,
}  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(main())
