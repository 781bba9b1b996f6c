"""`xpgrad.scipy` without SciPy, and by its second name."""

import subprocess
import sys

import pytest

import xpgrad


def run(program):
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)


def test_without_scipy_vectors_work_and_matrices_raise():
    done = run("""
import sys
sys.modules["scipy"] = None
import numpy as np, xpgrad
value, gradient = xpgrad.scipy.value_and_grad(lambda x: (x * x).sum())(np.asarray([1.0, 2.0]))
assert (value, gradient.tolist()) == (5.0, [2.0, 4.0])
for name in ("minimize", "least_squares", "root", "solve_ivp"):
    try:
        getattr(xpgrad.scipy, name)
    except ImportError as error:
        assert str(error) == f"{name}: needs SciPy, which is not installed; pip install scipy", error
    else:
        raise AssertionError(name)
""")
    assert done.returncode == 0, done.stderr


def test_scipy_is_imported_by_its_first_use():
    done = run("""
import sys, xpgrad
xpgrad.scipy.ravel
xpgrad.interop.scipy
assert "scipy" not in sys.modules
xpgrad.scipy.minimize
assert "scipy.optimize" in sys.modules and "rich" not in sys.modules
""")
    assert done.returncode == 0, done.stderr


def test_library_has_a_second_name():
    assert xpgrad.interop.scipy is xpgrad.scipy
    with pytest.raises(
        AttributeError, match=r"module 'xpgrad.scipy' has no attribute 'minimise'; did you mean 'minimize'"
    ):
        getattr(xpgrad.scipy, "minimise")  # noqa: B009
