"""What the tests of the site share: the tools that build it, and the site."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from tests.docs.documents import ROOT

DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS))  # as docs/conf.py does


@pytest.fixture(scope="session")
def site() -> Path:
    """The folder of the built site. It is built again, with warnings as errors; what has not changed is not."""
    if importlib.util.find_spec("sphinx") is None:
        pytest.skip("needs Sphinx: pip install '.[docs]'")
    folder = ROOT / "build" / "site"
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "-q", "-j", "2", DOCS, folder]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder
