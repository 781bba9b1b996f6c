"""Files for verifying a release: the digests of its files, and a list of the installed packages."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from release.archives import digests
from release.distributions import Distribution
from release.smoke import installed

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
        python = installed(XPGRAD, dist, Path(directory))
        options = "--output-reproducible", "--output-format", "JSON", "--output-file", str(file)
        command = [sys.executable, "-m", "cyclonedx_py", "environment", *options, str(python)]
        subprocess.run(command, check=True, capture_output=True, text=True)
    found = json.loads(file.read_text(encoding="utf-8"))
    for component in found["components"]:  # the path from which the wheel was installed is not a source for users
        references = component.get("externalReferences", [])
        component["externalReferences"] = [each for each in references if not each["url"].startswith("file:")]
    file.write_text(json.dumps(found, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    return file


def audit(dist: Path) -> int:
    """Search the packages that the wheel installs for known vulnerabilities; return pip-audit's exit code."""
    with tempfile.TemporaryDirectory() as directory:
        python = installed(XPGRAD, dist, Path(directory))
        found = subprocess.run(
            [str(python), "-I", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        command = [sys.executable, "-m", "pip_audit", "--skip-editable", "--path", found.stdout.strip()]
        return subprocess.run(command, check=False).returncode
