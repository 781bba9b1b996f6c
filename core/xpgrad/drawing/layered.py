"""`layered`: places for boxes in layers, so that all arrows point one way.

Longest paths give the layers, barycenters the order within each, and isotonic regression the places (Sugiyama et al.,
1981, in its simplest form).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xpgrad.drawing.boxes import Arrow, neighbours

GAP, LAYER_GAP = 18.0, 34.0
ORDER_SWEEPS, PLACE_SWEEPS, LAST_SWEEPS = 8, 12, 12
WIDTH_OF_LINE = 6.0

Point = tuple[float, float]


@dataclass(slots=True)
class LayeredLayout:
    """Where things are.

    Attributes
    ----------
    places : list of (float, float)
        The centre of each box.
    paths : list of list of (float, float)
        The points through which each arrow goes, in pairs: at these it is straight.
    width, height : float
    """

    places: list[Point]
    paths: list[list[Point]]
    width: float
    height: float


def layered(sizes: Sequence[Point], arrows: Sequence[Arrow], rankdir: str) -> LayeredLayout:
    """Return places for boxes of these widths and heights."""
    flat = rankdir in ("LR", "RL")
    across = [size[1] if flat else size[0] for size in sizes]
    along = [size[0] if flat else size[1] for size in sizes]
    layers = layers_of(len(sizes), arrows)
    chains = [list(range(layers[a.tail] + 1, layers[a.head])) for a in arrows]  # layers that an arrow crosses
    edges: list[tuple[int, int]] = []
    own_layer = list(layers)
    for arrow, crossed in zip(arrows, chains, strict=True):
        previous = arrow.tail
        for i, layer in enumerate(crossed):
            own_layer.append(layer)
            across.append(WIDTH_OF_LINE)
            crossed[i] = len(own_layer) - 1
            edges.append((previous, crossed[i]))
            previous = crossed[i]
        edges.append((previous, arrow.head))
    rows: list[list[int]] = [[] for _ in range(max(own_layer, default=-1) + 1)]
    for i, layer in enumerate(own_layer):
        rows[layer].append(i)
    around = neighbours(len(own_layer), [Arrow(tail, head) for tail, head in edges])
    order(rows, around)
    x = placed(rows, around, across)
    thickness = [max(along[i] for i in row if i < len(sizes)) for row in rows]
    starts = [sum(thickness[:k]) + k * LAYER_GAP for k in range(len(rows))]
    total = sum(thickness) + LAYER_GAP * max(0, len(rows) - 1)
    width = max((x[i] + across[i] / 2 for i in range(len(across))), default=0.0)
    reverse = rankdir in ("BT", "RL")

    def turned(a: float, b: float) -> Point:
        b = total - b if reverse else b
        return (b, a) if flat else (a, b)

    def middle(i: int) -> float:
        return starts[own_layer[i]] + thickness[own_layer[i]] / 2

    places = [turned(x[i], middle(i)) for i in range(len(sizes))]
    paths = []
    for arrow, crossed in zip(arrows, chains, strict=True):
        path = [(x[arrow.tail], middle(arrow.tail) + along[arrow.tail] / 2)]
        for i in crossed:
            top = starts[own_layer[i]]
            path += [(x[i], top), (x[i], top + thickness[own_layer[i]])]
        path.append((x[arrow.head], middle(arrow.head) - along[arrow.head] / 2))
        paths.append([turned(*point) for point in path])
    return LayeredLayout(places, paths, *((total, width) if flat else (width, total)))


def layers_of(count: int, arrows: Sequence[Arrow]) -> list[int]:
    """Return the layer of each box, below the layers of its predecessors.

    A box with no more arrows to it than from it is just above the first of its heads, which makes no arrow longer.
    """
    before, after = neighbours(count, arrows)
    waiting = [len(tails) for tails in before]
    ready = [i for i, tails in enumerate(waiting) if not tails]
    layer = [0] * count
    for i in ready:
        for head in after[i]:
            layer[head] = max(layer[head], layer[i] + 1)
            waiting[head] -= 1
            if not waiting[head]:
                ready.append(head)
    if len(ready) < count:
        raise ValueError("a picture in layers has no circles")
    for i in reversed(ready):
        if after[i] and len(before[i]) <= len(after[i]):
            layer[i] = min(layer[head] for head in after[i]) - 1
    return layer


def order(rows: list[list[int]], around: tuple[list[list[int]], list[list[int]]]) -> None:
    """Order each row by the barycenters of adjacent boxes in the rows before and after."""
    position = {i: k for row in rows for k, i in enumerate(row)}
    for sweep in range(ORDER_SWEEPS):
        nexts = around[sweep % 2]
        for row in rows if sweep % 2 == 0 else reversed(rows):
            keys = {i: _mean([position[j] for j in nexts[i]], position[i]) for i in row}
            row.sort(key=keys.__getitem__)
            position.update((i, k) for k, i in enumerate(row))


def placed(
    rows: list[list[int]], around: tuple[list[list[int]], list[list[int]]], across: Sequence[float]
) -> list[float]:
    """Return the centre of each item: as close to the centres of its neighbours as the order of its row allows."""
    x = [0.0] * len(across)
    for row in rows:
        _row(row, x, dict.fromkeys(row, 0.0), across)
    for sweep in range(PLACE_SWEEPS + LAST_SWEEPS):
        last = sweep >= PLACE_SWEEPS  # then both sides count
        for row in rows if sweep % 2 == 0 else reversed(rows):
            near = around[sweep % 2]
            wanted = {}
            for i in row:
                places = [x[j] for j in near[i]]
                if last or not places:
                    places += [x[j] for j in around[1 - sweep % 2][i]]
                wanted[i] = _mean(places, x[i])
            _row(row, x, wanted, across)
    before, after = around
    for row in rows:  # chains are straight
        straight = {i: before[i][0] for i in row if len(before[i]) == 1 and len(after[before[i][0]]) == 1}
        _row(row, x, {i: x[straight.get(i, i)] for i in row}, across)
    left = min((x[i] - across[i] / 2 for i in range(len(across))), default=0.0)
    return [value - left for value in x]


def _row(row: list[int], x: list[float], wanted: dict[int, float], across: Sequence[float]) -> None:
    """Fit the centres of a row to `wanted` by least squares without overlaps (pool adjacent violators)."""
    offset, previous = 0.0, None
    blocks: list[tuple[float, int]] = []  # mean, and number of items
    offsets = []
    for i in row:
        if previous is not None:
            offset += (across[previous] + across[i]) / 2 + GAP
        offsets.append(offset)
        previous = i
        value, count = wanted[i] - offset, 1
        while blocks and blocks[-1][0] > value:
            other, number = blocks.pop()
            value, count = (value * count + other * number) / (count + number), count + number
        blocks.append((value, count))
    values = [value for value, count in blocks for _ in range(count)]
    for i, value, shift in zip(row, values, offsets, strict=True):
        x[i] = value + shift


def _mean(values: Sequence[float], default: float) -> float:
    return sum(values) / len(values) if values else default
