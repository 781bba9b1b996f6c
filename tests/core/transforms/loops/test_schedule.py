"""The binomial schedule against the fewest steps that any schedule makes again, found by trying all."""

import functools

import pytest

from xpgrad.transforms.loops.schedule import interval, places, reach, split


@functools.cache
def fewest(steps: int, checkpoints: int) -> int:
    """Return the fewest steps made again to reverse so many, by trying each place of the next carry."""
    if steps <= 1:
        return 0
    if checkpoints == 1:
        return steps * (steps - 1) // 2
    return min(m + fewest(steps - m, checkpoints - 1) + fewest(m, checkpoints) for m in range(1, steps))


def made_again(steps: int, checkpoints: int) -> int:
    """Return how many steps the schedule makes again."""
    further = split(steps, checkpoints)
    if not further:
        return 0
    return further + made_again(steps - further, max(checkpoints - 1, 1)) + made_again(further, checkpoints)


@pytest.mark.parametrize("checkpoints", [1, 2, 3, 4, 7, 30])
def test_the_fewest_steps_are_made_again(checkpoints: int) -> None:
    for steps in range(1, 45):
        assert made_again(steps, checkpoints) == fewest(steps, checkpoints)


def test_no_more_carries_are_kept_than_allowed() -> None:
    for steps in range(1, 200):
        for checkpoints in (1, 2, 5, 300):
            found = places(steps, checkpoints)
            assert len(found) <= checkpoints
            assert found == sorted(set(found))
            assert found[0] == 0
            assert found[-1] < steps


def test_reach_of_few_carries() -> None:
    # Griewank and Walther (2000), section 2: three checkpoints, each step at most twice more
    assert reach(3, 2) == 10
    assert [split(1, 5), split(2, 5), split(10, 3)] == [0, 1, 4]


def test_an_interval_is_the_square_root() -> None:
    assert [interval(n) for n in (0, 1, 2, 100, 101, 10**5)] == [1, 1, 2, 10, 11, 317]
