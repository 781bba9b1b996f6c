"""Files for verifying a release: the digests of its files, and a list of the installed packages."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from release.archives import digests
from release.distributions import Distribution
from release.smoke import installed, run

XPGRAD = Distribution(Path(), "xpgrad")
DIGESTS, CONTENTS = "SHA256SUMS", "xpgrad.cdx.json"


def write_digests(dist: Path, to: Path) -> Path:
    """Write the SHA-256 of each file of `dist` into the directory `to`, as ``sha256sum --check`` reads them."""
    to.mkdir(parents=True, exist_ok=True)
    file = to / DIGESTS
    file.write_text("".join(f"{digest}  {name}\n" for name, digest in digests(dist).items()), encoding="utf-8")
    return file


def write_contents(dist: Path, to: Path) -> Path:
    """Write the software bill of materials of an environment with only the wheel of xpgrad, in CycloneDX JSON."""
    to.mkdir(parents=True, exist_ok=True)
    file = to / CONTENTS
    with tempfile.TemporaryDirectory() as directory:
        python = environment(dist, Path(directory))
        options = "--output-reproducible", "--output-format", "JSON", "--output-file", str(file)
        command = [sys.executable, "-m", "cyclonedx_py", "environment", *options, str(python)]
        subprocess.run(command, check=True, capture_output=True, text=True)
    found = json.loads(file.read_text(encoding="utf-8"))
    for component in found["components"]:  # the path from which the wheel was installed is not a source for users
        references = component.get("externalReferences", [])
        component["externalReferences"] = [each for each in references if not each["url"].startswith("file:")]
    file.write_text(json.dumps(found, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    return file


def audit(dist: Path) -> list[str]:
    """Search the packages that the wheel installs for known vulnerabilities; return what was found."""
    with tempfile.TemporaryDirectory() as directory:
        python = environment(dist, Path(directory))
        packages = run(python, Path(directory), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
        options = "--progress-spinner", "off", "--format", "json", "--path", packages
        command = [sys.executable, "-m", "pip_audit", *options]
        done = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
    return findings(done.stdout) if done.stdout else [f"pip-audit ended with exit code {done.returncode}"]


def findings(report: str) -> list[str]:
    """Return a line for each vulnerability in a JSON report of pip-audit, and for each package that was not audited.

    xpgrad itself is not on an index before its first release, and may be left out.
    """
    lines = []
    for package in json.loads(report)["dependencies"]:
        name, version = package["name"], package.get("version", "")
        if "skip_reason" in package and name != XPGRAD.name:
            lines.append(f"{name}: {package['skip_reason']}")
        lines += [f"{name} {version}: {each['id']}" for each in package.get("vulns", ())]
    return lines


def environment(dist: Path, place: Path) -> Path:
    """Return the Python of a new environment with the wheel of xpgrad and its dependencies alone."""
    python = installed(XPGRAD, dist, place)
    run(python, place, "-m", "pip", "uninstall", "-qq", "--yes", "setuptools", "pip")  # they are no dependencies
    return python
