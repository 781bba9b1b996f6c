"""What `dir` lists, for those who complete names by the tab key."""

import subprocess
import sys

import pytest

LATE = {
    "xpgrad": {"ops", "transforms", "scipy", "cuda", "backends", "plugin", "testing", "gradient_check"},
    "xpgrad.functions": {"lstm", "convolution_2d", "batch_normalization", "erf"},
    "xpgrad.array_api": {"special", "linalg", "zeros", "float64"},
}


@pytest.mark.parametrize("module", LATE)
def test_dir_lists_what_is_loaded_late_and_nothing_that_is_not_there(module: str) -> None:
    program = f"""
import importlib
module = importlib.import_module("{module}")
assert {LATE[module]!r} <= set(dir(module)), {LATE[module]!r} - set(dir(module))
assert not [name for name in dir(module) if not hasattr(module, name)]
if module.__name__ == "xpgrad.functions":
    assert set(dir(module)) == set(module.__all__)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
