"""The order of a sweep: by rank, then by discovery; a single candidate may run immediately."""

import random
from dataclasses import dataclass

import pytest

from xpgrad.graph.queue import RankQueue


@dataclass(frozen=True)
class Function:
    rank: int
    number: int = 0


def sweep(start, inputs):
    """Return the order in which the sweep runs functions; `inputs(f)` lists those that f discovers."""
    queue, order, seen = RankQueue(), [], {start}
    queue.push(start)
    f = queue.pop()
    while f is not None:
        order.append(f)
        candidate = None
        for creator in inputs(f):
            if creator not in seen:
                seen.add(creator)
                candidate = creator if candidate is None else queue.candidate(candidate, creator)
        if candidate is not None and (queue.batch or (queue.ranks and candidate.rank <= -queue.ranks[0])):
            queue.push(candidate)
            candidate = None
        f = queue.pop() if candidate is None else candidate
    return order


def by_definition(start, inputs):
    """Do the same by a search for the highest rank, among equal ones for the first that was discovered."""
    waiting, order, seen = [start], [], {start}
    while waiting:
        f = max(waiting, key=lambda each: each.rank)  # the first of several
        waiting.remove(f)
        order.append(f)
        new = [creator for creator in inputs(f) if creator not in seen]
        waiting += dict.fromkeys(new)
        seen.update(new)
    return order


@pytest.mark.parametrize("seed", range(60))
def test_the_order_is_by_rank_and_then_by_discovery(seed) -> None:
    draw = random.Random(seed)
    depth = draw.randint(1, 12)
    layers = {rank: [Function(rank, n) for n in range(draw.randint(1, 4))] for rank in range(depth)}
    below = {
        f: [draw.choice(layers[draw.randrange(rank)]) for _ in range(draw.randint(0, 4))]
        for rank in range(1, depth)
        for f in layers[rank]
    }
    start = Function(depth)
    below[start] = [draw.choice(layers[draw.randrange(depth)]) for _ in range(5)]
    inputs = lambda f: below.get(f, [])  # noqa: E731
    assert sweep(start, inputs) == by_definition(start, inputs)


def test_functions_of_one_rank_come_in_the_order_in_which_they_were_added() -> None:
    queue, functions = RankQueue(), [Function(3, n) for n in range(4)]
    for f in functions[:2]:
        queue.push(f)
    assert queue.pop() is functions[0]
    assert repr(queue) == "<RankQueue: 1 in the batch, waiting ranks []>"
    assert [queue.pop(), queue.pop()] == [functions[1], None]


def test_a_candidate_of_higher_rank_stays_one_and_of_equal_rank_waits() -> None:
    queue = RankQueue()
    high, low, other = Function(2), Function(1), Function(2, 1)
    assert queue.candidate(high, low) is high
    assert queue.candidate(high, None) is high
    assert queue.candidate(high, other) is None
    assert [queue.pop() for _ in range(4)] == [high, other, low, None]
    assert queue.candidate(low, high) is high
    assert [queue.pop(), queue.pop()] == [low, None]


def test_functions_added_during_a_batch_run_after_it() -> None:
    queue, batch, found = RankQueue(), [Function(5, 0), Function(5, 1)], Function(4)
    for f in batch:
        queue.push(f)
    assert queue.pop() is batch[0]
    queue.push(found)
    assert queue.pop() is batch[1]
    assert queue.pop() is found
