"""Random indices of batches, of all kinds in all places: elements, writes and gradients compared with a loop."""

import numpy as np
import pytest

import xpgrad
from xpgrad import Variable
from xpgrad import array_api as xp
from xpgrad.transforms import vmap

SIZE = 3
NO_AXES = 860, 1321
"""Seeds of indices with an ellipsis of no axes between index arrays, which NumPy takes for a slice."""


def random_index(rng, shape):
    """Return an index as a function of its arrays, the arrays, and which of them differ between members."""
    items, arrays, flags, axis = [], [], [], 0
    together = tuple(rng.integers(1, 4, rng.integers(0, 3)))
    while axis < len(shape) and rng.random() < 0.85:
        length, kind = shape[axis], rng.choice(["int", "slice", "none", "array", "array", "array", "mask"])
        if kind == "int":
            items.append(int(rng.integers(-length, length)))
        elif kind == "slice":
            start, stop = (int(v) for v in rng.integers(-length - 1, length + 2, 2))
            items.append(slice(start, stop, int(rng.choice([-2, -1, 1, 2]))))
        elif kind == "none":
            items.append(None)
            continue
        elif kind == "mask" and not any(isinstance(item, tuple) for item in items):
            mask = np.zeros(length, bool)
            mask[: 1 if together and together[-1] != 1 else (together or (1,))[-1]] = True
            items.append(("array", len(arrays)))
            arrays.append(mask)
            flags.append(False)
        else:
            own = tuple(1 if rng.random() < 0.2 else n for n in together[rng.integers(0, len(together) + 1) :])
            differs = bool(rng.random() < 0.6)
            items.append(("array", len(arrays)))
            arrays.append(rng.integers(-length, length, (SIZE, *own) if differs else own))
            flags.append(differs)
        axis += 1
    if rng.random() < 0.3:
        items.insert(int(rng.integers(len(items) + 1)), ...)
    return items, arrays, flags


def filled(items, arrays):
    """Return an index with arrays in their places."""
    return tuple(arrays[item[1]] if isinstance(item, tuple) else item for item in items)


@pytest.mark.parametrize("seeds", [*(range(first, 150, 10) for first in range(10)), NO_AXES], ids=str)
def test_random_indices_agree_with_each_member(seeds):
    for seed in seeds:
        check(seed)


def check(seed):
    """Compare elements, writes and gradients of one index."""
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 5, rng.integers(1, 5)))
    items, arrays, flags = random_index(rng, shape)
    batched = rng.random() < 0.7 or not any(flags)
    x = rng.normal(size=(SIZE, *shape) if batched else shape)
    members = [
        (x[i] if batched else x, filled(items, [a[i] if f else a for a, f in zip(arrays, flags, strict=True)]))
        for i in range(SIZE)
    ]
    try:
        expected = np.stack([x[index] for x, index in members])
    except (IndexError, ValueError):
        return  # shapes of arrays do not broadcast

    axes = (0 if batched else None, *(0 if f else None for f in flags))
    got = vmap(lambda x, *arrays: x[filled(items, arrays)], in_axes=axes)(x, *arrays)
    np.testing.assert_array_equal(got, expected)

    u = rng.normal(size=expected.shape)
    unique = np.stack([np.zeros(shape) for _ in range(SIZE)])
    for total, value, (_, index) in zip(unique, u, members, strict=True):
        np.add.at(total, index, value)
    added = vmap(lambda x, u, *arrays: xpgrad.ops.scatter_add(x * 0, filled(items, arrays), u),
                 in_axes=(axes[0], 0, *axes[1:]))(x, u, *arrays)  # fmt: skip
    np.testing.assert_allclose(added, unique, atol=1e-12)

    def slope(x, u, *arrays):
        leaf = Variable(x.array)
        (gx,) = xpgrad.grad([xp.sum(leaf[filled(items, arrays)] * u)], [leaf])
        return gx + 0 * u[..., :0].sum()

    if u.ndim > 1:
        gradients = vmap(slope, in_axes=(axes[0], 0, *axes[1:]))(x, u, *arrays)
        np.testing.assert_allclose(gradients, unique, atol=1e-12)

    def written(x, u, *arrays):
        y = x * 1
        y[filled(items, arrays)] = u
        return y

    counts = np.zeros((SIZE, *shape))
    for total, (_, index) in zip(counts, members, strict=True):
        np.add.at(total, index, 1)
    for values in (np.arange(SIZE) + 7.0, *([u] if np.max(counts, initial=0) == 1 else [])):
        copies = [np.array(x) for x, _ in members]
        for y, value, (_, index) in zip(copies, values, members, strict=True):
            y[index] = value
        got = vmap(written, in_axes=(axes[0], 0, *axes[1:]))(x, values, *arrays)
        np.testing.assert_array_equal(got, np.stack(copies))
