"""A function touches three places: CONTRIBUTING.md's example is added to a copy of the tree, and everything sees it."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = (
    "core", "conformance/src", "backends/numpy_backend", "backends/cupy_backend", "backends/chx_like",
    "backends/c_executor", "backends/fusion", "plugins/xpgrad-strict/src",
)  # fmt: skip
PLACE = re.compile(r"^\d\. .*?`(?P<file>[\w/]+\.py)`.*?\n\s*```py\n(?P<code>.*?)\n\s*```", re.MULTILINE | re.DOTALL)
NAME = "sech"
PROGRAM = """
import numpy as np, xpgrad
from xpgrad import Variable, array_api as xp
from xpgrad.backend.kernels import check_kernels
from xpgrad.interop.numpy.ufuncs import UFUNCS
from xpgrad_conformance.cases import CASES
from xpgrad_conformance.table.scenario import dtypes_of
from xpgrad_conformance.table.table import assertions_of, run

(case,) = [case for case in CASES if case.name == {name!r}]
for specifier in ("@numpy", "@strict:cpu", "native:0"):
    device = xpgrad.get_device(specifier)
    for dtype in dtypes_of(case):
        for assertion in assertions_of(case, dtype):
            run(case, device, dtype, assertion)
            print(specifier, assertion)

assert {name!r} in xp.__all__ and {name!r} in dir(xp) and {name!r} in dir(Variable(np.ones(2)).__array_namespace__())
assert UFUNCS[{name!r}] is xp.{name} is xpgrad.{name}
check_kernels({{{name!r}: abs, "{name}.x": lambda gy, x, y: gy}}, "a plugin", "numpy")
try:
    Variable(np.ones(2)).{name}()
except AttributeError as error:
    assert "use xpgrad.array_api.{name}(v)" in str(error), error
"""


def added(text: str, file: str, code: str) -> str:
    """Return the text of a file with the code of the example: a case joins the table, other code is appended."""
    if "/cases/" in file:
        start = text.index("CASES = (\n") + len("CASES = (\n")
        return f"{text[:start]}    {code},\n{text[start:]}"
    if code.startswith("from "):
        start = text.index("\nfrom xpgrad") + 1
        return f"{text[:start]}{code}\n{text[start:]}"
    return f"{text}\n\n{code}\n"


def test_a_new_function_needs_only_the_example_of_contributing(tmp_path: Path) -> None:
    section = (ROOT / "CONTRIBUTING.md").read_text().partition("## Adding a function")[2].partition("\n## ")[0]
    places = [
        (found["file"], re.sub(r"^ {3}", "", found["code"], flags=re.MULTILINE)) for found in PLACE.finditer(section)
    ]
    assert len(places) == 3
    for source in SOURCES:
        shutil.copytree(ROOT / source, tmp_path / source, ignore=shutil.ignore_patterns("__pycache__", "build"))
    for file, code in places:
        path = tmp_path / file
        path.write_text(added(path.read_text(), file, code))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(str(tmp_path / source) for source in SOURCES)}
    command = [sys.executable, "-c", PROGRAM.format(name=NAME)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {"@numpy value", "@strict:cpu gradient", "native:0 value"} <= set(done.stdout.splitlines()), done.stdout
