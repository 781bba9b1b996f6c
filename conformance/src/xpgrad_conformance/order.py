"""The order of a plan: earlier failures first, then the checks that find most errors in limited time."""

from collections import deque
from collections.abc import Collection, Iterable, Sequence

from xpgrad_conformance.plan import Item

WIDE = "float64", "complex128"
"""The dtypes of a case that come first by value."""
Batch = deque[int]
"""Numbers of items that run in one process, one after the other."""


def batches(
    items: Sequence[Item], *, first: Collection[str] = (), by_value: bool = False, without: Collection[str] = ()
) -> list[Batch]:
    """Return the numbers of a plan's items in batches for one process each, in the order in which they are to run.

    The items of a case on one device stay together. Most checks of a case call the same functions on the same shapes,
    and a library may have to compile these once for each process: for jax, all takes a third of the time this way.

    Parameters
    ----------
    items : sequence of Item
    first : collection of str
        Ids of items that run first.
    by_value : bool
        One check of each kind and one case of each function run before further cases, dtypes and devices; then each
        dtype of a case is a separate batch.
    without : collection of str
        Ids of items that do not run.
    """
    wanted, done = set(first).difference(without), set(without)
    before = [number for number, item in enumerate(items) if item.id in wanted]
    after = [number for number, item in enumerate(items) if item.id not in wanted and item.id not in done]
    if not by_value:
        return [*_together(before, items), *_together(after, items)]
    ranks = _ranks(items)
    rest = sorted(_by_dtype(after, items), key=lambda batch: min(ranks[number] for number in batch))
    return [*_together(before, items), *rest]


def _together(numbers: Iterable[int], items: Sequence[Item]) -> list[Batch]:
    groups: dict[tuple[str, str], Batch] = {}
    for number in numbers:
        groups.setdefault(items[number].group, deque()).append(number)
    return list(groups.values())


def _by_dtype(numbers: Iterable[int], items: Sequence[Item]) -> list[Batch]:
    groups: dict[tuple[str, ...], Batch] = {}
    for number in numbers:
        groups.setdefault((*items[number].group, items[number].dtype or ""), deque()).append(number)
    return list(groups.values())


def _ranks(items: Sequence[Item]) -> list[int]:
    """Return for each item how much of its kind comes before it: 0 for the first of a check without a case.

    Checks of level 3, which wait and start threads or processes, run after the first case of each function.
    """
    devices = {name: place for place, name in enumerate(dict.fromkeys(item.device.name for item in items))}
    dtypes: dict[str, dict[str | None, int]] = {}
    for item in sorted(items, key=lambda item: item.case is not None and item.dtype not in WIDE):
        about = item.case or item.operation
        seen = dtypes.setdefault(item.check.id if about is None else about.name, {})
        seen.setdefault(item.dtype, len(seen))
    cases: dict[str, dict[str, int]] = {}
    ranks = []
    for item in items:
        about = item.case or item.operation
        name = item.check.id if about is None else about.name
        rank = 2 * dtypes[name][item.dtype] + 20 * devices[item.device.name]
        if about is None:
            rank += item.check.level == 3
        else:
            variants = cases.setdefault(name.partition("-")[0], {})
            rank += 1 + 2 * min(variants.setdefault(name, len(variants)), 1)
        ranks.append(rank)
    return ranks
