"""Families S and P, stories: random calls with writes, moves, copies and refusals between them."""

import functools
import time
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from xpgrad.errors import MissingFunction
from xpgrad_conformance.check import check
from xpgrad_conformance.checks.together import COUNT, in_rounds, switching_often
from xpgrad_conformance.generated.sample import raised
from xpgrad_conformance.generated.stories import Story, drawn, smallest, story_error, story_text
from xpgrad_conformance.subject import Subject

STORIES = {True: 40, False: 600}
"""How many, in the quick profile and in the full one."""
SECONDS = {True: 8.0, False: 60.0}
"""Time after which no other story begins: libraries that compile each call have fewer."""
TURNS = {True: 3, False: 20}
"""Sets of stories that threads run at once."""


def _story(s: Subject, number: int) -> Story:
    rng = np.random.default_rng([zlib.crc32(s.dtype.encode()), s.seed, number])
    return drawn(rng, s, s.dtype, s.has)


@check("S09", scope="dtype", dtypes=("float64", "float32"), generated=True)
def stories(s: Subject) -> None:
    """Random calls, with writes, moves, copies, refusals and arrays that go between them, have NumPy's values."""
    start = time.monotonic()
    for number in range(STORIES[s.quick]):
        story = _story(s, number)
        wrong = _error(s, story)
        if wrong is not None:
            story, wrong = smallest(s, story, wrong)
            raise AssertionError(f"a story: {wrong}\n{story_text(s, story, wrong)}")
        if time.monotonic() - start > SECONDS[s.quick]:
            return


@check("P60", scope="dtype", dtypes=("float64", "float32"), needs=("threads",), generated=True)
def stories_at_once(s: Subject) -> None:
    """Eight threads that make different random calls, with writes, moves and errors, get the values of NumPy."""
    start = time.monotonic()
    for turn in range(TURNS[s.quick]):
        told = [_story(s, COUNT * turn + i) for i in range(COUNT)]
        told = [story for story in told if _error(s, story) is None]  # S09 reports the remaining sequences
        if time.monotonic() - start > SECONDS[s.quick] or not told:
            return
        calls: list[Callable[[], Any]] = [functools.partial(_error, s, story) for story in told]
        with switching_often():
            results = in_rounds([calls, calls[::-1]])
        for story, *found in zip(told, results[0], results[1][::-1], strict=True):
            wrong = next((each for each in found if each is not None), None)
            assert wrong is None, f"a story, beside others in other threads: {wrong}\n{story_text(s, story, wrong)}"


def _error(s: Subject, story: Story) -> str | None:
    """Return the error of a call sequence as text; None if it is right or needs a function that is declared missing."""
    try:
        return story_error(s, story)
    except MissingFunction as error:
        return raised(error) if s.has(error.function) else None
