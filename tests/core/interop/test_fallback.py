"""Programs that a framework compiles, and that run in Python where its compiler fails."""

import numpy as np
import pytest

from xpgrad.interop.fallback import falling_back
from xpgrad.plugin import PluginWarning


def test_from_its_first_failure_on_a_program_runs_call_by_call_with_one_warning():
    failures = []

    def broken(*arrays):
        failures.append(arrays)
        raise RuntimeError("no compiler found")

    run = falling_back("torch.compile", broken, lambda x, y: (x + y,), (1.0,), "loss", finish=lambda *_: ())
    text = "^torch.compile of the program of loss failed, so it runs call by call: RuntimeError: no compiler"
    with pytest.warns(PluginWarning, match=text):
        assert run(2.0) == (3.0,)
    assert run(3.0) == (4.0,)
    assert failures == [(2.0, 1.0)]
    with pytest.raises(TypeError):
        run(None)


def test_an_error_of_the_calls_themselves_is_the_user_s_and_changes_nothing():
    def element(places):
        return (np.arange(3.0)[places],)

    run = falling_back("jit", lambda places: element(places), element, (), "f", finish=lambda y, x: (*y, *x))
    with pytest.raises(IndexError):
        run(5)
    assert run(1) == (1.0, 1)
    with pytest.raises(IndexError):
        falling_back("jit", lambda places: 1 / 0, element, (), "f")(5)
