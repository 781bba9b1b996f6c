"""`benchmarks/frames.py`: small operations call no more Python functions than their limits say."""

import pytest
from benchmarks.frames import Case, Frames, cases, frames

import xpgrad

CASES = cases()


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.limit is not None])
def test_a_warm_call_has_no_more_frames_than_its_limit(name):
    with xpgrad.using_config("detect_mutation", False):  # which the tests switch on
        found = frames(CASES[name])
    count = len(found.calls)
    assert count <= CASES[name].limit, f"{name}\n{found}"


def test_calls_are_counted_with_their_depth():
    def inner() -> None:
        pass

    def outer() -> None:
        inner()

    def run() -> None:
        outer()
        inner()

    found = frames(Case(inner, run))
    assert [depth for depth, _ in found.calls] == [0, 1, 0]
    assert "outer\n  " in str(found)
    assert isinstance(found, Frames)
    assert found.returns == 0
